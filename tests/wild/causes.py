# SPDX-License-Identifier: Apache-2.0
"""What stopped a program, in plain words, and whether MindSpore itself runs it."""

CAUSES: dict[str, str] = {
    "mindocr/psenet": (
        "Its loss takes an element beyond the end of a vector. MindSpore 2.7 stops there too, on a "
        "CPU."
    ),
    "mindocr/abinet": (
        "It unpacks three values into two names. MindSpore's Graph mode loses the third; its "
        "PyNative mode, and mycel, raise `ValueError`."
    ),
}
# Tried and left out of the table: something other than MindSpore is missing, or they do not run in
# MindSpore 2.7 on a CPU either.
LEFT_OUT: dict[str, str] = {
    "`official/cv/Arcface`": (
        "trains; SciPy refuses the repeated values that its evaluation interpolates"
    ),
    "`official/audio/DeepSpeech2`": "needs `deepspeech_pytorch`, which is in no package index",
    "`official/gnn/GCN`": (
        "reads a graph with `mindspore.dataset.GraphData`, which MindSpore 2.7 no longer has"
    ),
    "mindnlp 0.5": (
        "is PyTorch's interface over MindSpore's generated operators for a CPU "
        "(`gen_ops_prim.*_op`, `Generator().set_device('CPU')`), which are not here; in MindSpore "
        "2.7 it computes, but its `backward` left no gradient"
    ),
    "mindface's recognition": "imports `moxing`, which is in Huawei's cloud alone",
    "mindface's detection": "calls `ndarray.tostring`, which NumPy 2.3 no longer has",
    "mindaudio's Conv-TasNet": "multiplies float32 by float16; MindSpore refuses it too",
    "mindediting": "its table of networks does not hold the names that its configurations use",
    "`train.py` of mindrec's wide_deep": (
        "names a variable that it does not have; the row runs its `train_and_eval.py`"
    ),
    "wgan_gp and wgan_div of MindSpore-GAN": 'name a picture `...png"`, which matplotlib refuses',
    "PPO of DRL-MindSpore": (
        "its probabilities become 0 and 1, which MindSpore's `Categorical` refuses as well"
    ),
    "TD3 of DRL-MindSpore": "calls `Tensor.clip` with `xmin`, which MindSpore 2.7 refuses too",
    "FEDformer_MindSpore": "calls `Tensor.repeat` with `axis`; MindSpore 2.10 refuses it too",
    "denoising-diffusion-mindspore": (
        "calls `Tensor.split` with `output_num`, which MindSpore has not taken since 2.0"
    ),
    "elmo_mindspore": "calls a function of its own with two values where it takes one",
}
# What stopped cells of tutorials.
_MINDIR = "MindIR, the inner representation of MindSpore's own compiler"
_ON_PURPOSE = "errors on purpose"
TUTORIALS: dict[str, str] = {
    "comparisons with PyTorch": "signatures, two on each page, which are no programs",
    "others, that read data": "signatures; folders of data that are not there",
    "beginner/save_load": _MINDIR,
    "en/beginner/save_load": f"{_MINDIR}; spaces in two cells that are no spaces",
    "compile/statements": "`z += i` of a global `z`, which only a compiler of source text takes",
    "en/compile/statements": f"{_ON_PURPOSE}; `z += i` of a global `z`",
    "compile/static_graph": f"`dict.has_key`, which Python no longer has; {_ON_PURPOSE}",
    "en/compile/static_graph": f"`dict.has_key`, which Python no longer has; {_ON_PURPOSE}",
    "en/compile/static_graph_expert_programming": "parts of code; an object that is not callable",
    "dataset/cache": "a server of caches, started in a shell",
    "en/dataset/cache": "a server of caches, started in a shell; parts of code",
    "debug/error_analysis/minddata_debug": f"{_ON_PURPOSE}; parts of code; `pdb`",
    "debug/error_analysis/error_scenario_analysis": "parts of code and of messages",
    "debug/error_analysis/mindir": f"{_ON_PURPOSE}; code with the numbers of its lines",
    "debug/error_analysis/mindrt_debug": "texts of errors",
    "debug/dump": "parts of code that read files from Ascend hardware",
    "debug/profiler": "a network that the page does not have; files of Ascend's profiler",
    "debug/pynative": "parts of code",
    "debug/sdc": "a simulation of faults of Ascend hardware",
    "dataset/dataset_autotune": "parts of code; a file that is not there",
    "dataset/dataset_offload": "parts of code",
    "model_migration/model_migration": "PyTorch, and parts of code",
    "en/model_migration/model_migration": "PyTorch, and parts of code",
    "train_availability/fault_recover": _ON_PURPOSE,
    "train_availability/graceful_exit": "parts of code",
}
