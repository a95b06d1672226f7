# SPDX-License-Identifier: Apache-2.0
"""Weights of other libraries. Oracle: files that Hugging Face's transformers 5.24 and PyTorch 2.13
have written, and what their networks answer; they have read what is written here."""

from __future__ import annotations

import hashlib
import json
import pathlib
import pickle
import shutil
import zipfile

import numpy as np
import pytest
import safetensors.numpy

import mycel as ms
from harness import run_everywhere
from mycel import nn
from mycel.checkpoint import (
    Stored,
    WeightReport,
    load_weights,
    save_weights,
    torch_format,
    weight_files,
)
from support import hugging_face_cells as cells

RECORDED = pathlib.Path(__file__).parent.parent / "fixtures" / "weights"
TOLD = json.loads((RECORDED / "answers.json").read_text())
# `torch.load(path, weights_only=True)` has read this file and found every name and value of BERT.
WRITTEN_BERT = "4936ee59c588a59c627577082cce8db491cec6bae117f6eab28f0254fc08fefc"
BERT_QKV = [(r"qkv", Stored("query", "key", "value"))]
GPT2_QKV = [
    (rf"attn\.{letter}\.", Stored("attn.c_attn.", parts=3, part=part))
    for part, letter in enumerate("qkv")
]
LLAMA_QKV = {"qkv_proj": Stored("q_proj", "k_proj", "v_proj", parts=(2, 1, 1))}
VARIANTS = {
    "bert": (lambda config: cells.Bert(config, cells.FusedSelfAttention), BERT_QKV),
    "gpt2": (lambda config: cells.Gpt2(config, cells.SeparateCausal), GPT2_QKV),
    "llama": (lambda config: cells.Llama(config, cells.FusedLlamaAttention), LLAMA_QKV),
}
CASES = {name: (name, kind, None) for name, kind in cells.CELLS.items()}
CASES |= {f"{name}, otherwise": (name, *variant) for name, variant in VARIANTS.items()}


def config(name):
    return json.loads((RECORDED / name / "config.json").read_text())


def recorded(name):
    """The tensors in the files of a network, read with the libraries they belong to."""
    found = {}
    for path in sorted((RECORDED / name).glob("*.safetensors")):
        found |= safetensors.numpy.load_file(path)
    return found or torch_format.read(RECORDED / name / "pytorch_model.bin")


def question(name):
    kind = np.float32 if name in ("vit", "resnet") else np.int32
    return np.array(TOLD[name]["x"], kind)


def same_arrays(actual, expected):
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert (actual[name].dtype, actual[name].shape) == (array.dtype, array.shape), name
        np.testing.assert_array_equal(actual[name], array, name)


@pytest.mark.parametrize("case", CASES)
def test_a_network_answers_as_in_transformers(case):
    name, kind, rules = CASES[case]
    net = kind(config(name))
    report = load_weights(net, RECORDED / name, rules)
    assert report.exact
    assert len(report.matched) == len(list(net.get_parameters()))
    expected = [np.array(y, np.float32) for y in TOLD[name]["y"]]
    for execution, actual in run_everywhere(net, question(name)).items():
        actual = actual if isinstance(actual, tuple) else (actual,)
        for mine, theirs in zip(actual, expected, strict=True):
            # An answer is a sum of what may be larger, in another order on another processor.
            assert mine.dtype == theirs.dtype
            allowed = 2e-6 * np.abs(theirs).max()
            np.testing.assert_allclose(mine, theirs, 2e-5, allowed, err_msg=f"{case}, {execution}")


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_what_was_read(case, tmp_path):
    name, kind, rules = CASES[case]
    net = kind(config(name))
    load_weights(net, RECORDED / name, rules, dtype="file")
    save_weights(net, tmp_path / "folder", rules, like=RECORDED / name, max_shard_size="6KB")
    save_weights(net, tmp_path / "one.safetensors", rules, layout=name)
    save_weights(net, tmp_path / "one.pth", rules, layout=name)
    same_arrays(weight_files.read(tmp_path / "folder").arrays, recorded(name))
    same_arrays(safetensors.numpy.load_file(tmp_path / "one.safetensors"), recorded(name))
    same_arrays(torch_format.read(tmp_path / "one.pth"), recorded(name))
    assert (tmp_path / "folder" / "model.safetensors.index.json").exists()
    assert json.loads((tmp_path / "folder" / "config.json").read_text()) == config(name)
    if name == "bert":
        digest = hashlib.sha256((tmp_path / "one.pth").read_bytes()).hexdigest()
        assert digest == WRITTEN_BERT or rules


def test_a_smaller_folder_has_no_shards_of_a_larger_one(tmp_path):
    net = nn.SequentialCell(nn.Dense(4, 4), nn.Dense(4, 4))
    save_weights(net, tmp_path, max_shard_size=80)
    assert len(list(tmp_path.iterdir())) == 3
    net[0].weight.set_data(ms.ops.ones((4, 4)))
    save_weights(net, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    again = nn.SequentialCell(nn.Dense(4, 4), nn.Dense(4, 4))
    load_weights(again, tmp_path)
    assert again[0].weight.asnumpy().all()


def test_a_head_of_its_own_gets_the_weights_of_the_embedding(tmp_path):
    net = cells.Gpt2(config("gpt2"), tied=False)
    assert load_weights(net, RECORDED / "gpt2").exact
    save_weights(net, tmp_path, like=RECORDED / "gpt2")
    assert load_weights(cells.Gpt2(config("gpt2")), tmp_path).exact
    head, table = net.lm_head.weight.asnumpy(), net.transformer.wte.embedding_table.asnumpy()
    np.testing.assert_array_equal(head, table)


def test_a_head_that_is_not_tied_is_missing(tmp_path):
    """Oracle: `tie_word_embeddings` is false where transformers has written LLaMA."""
    state = recorded("llama")
    del state["lm_head.weight"]
    safetensors.numpy.save_file(state, tmp_path / "model.safetensors")
    for told in ({}, {"tie_word_embeddings": False}, {"tie_word_embeddings": True}):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", **told}))
        report = load_weights(cells.Llama(config("llama")), tmp_path, strict=False)
        tied = told.get("tie_word_embeddings")
        assert report.missing == ([] if tied else ["lm_head.weight"])


def test_one_parameter_and_two_values(tmp_path):
    state = recorded("gpt2")
    state["lm_head.weight"] = state["transformer.wte.weight"]
    net = cells.Gpt2(config("gpt2"))
    safetensors.numpy.save_file(state, tmp_path / "model.safetensors")
    assert load_weights(net, tmp_path, layout="gpt2").exact
    state["lm_head.weight"] = state["lm_head.weight"] + 1
    safetensors.numpy.save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"one value +another in lm_head.weight"):
        load_weights(net, tmp_path, layout="gpt2")


class Classifier(nn.Cell):
    """BERT below a head that the file does not have."""

    def __init__(self):
        super().__init__()
        self.bert = cells.Bert(config("bert"))
        self.classifier = nn.Dense(16, 2)


def test_prefixes(tmp_path):
    report = load_weights(Classifier(), RECORDED / "bert", strict=False)
    assert (report.prefix, report.missing) == ("-bert.", ["classifier.weight", "classifier.bias"])
    theirs = {f"module.bert.{name}": array for name, array in recorded("bert").items()}
    theirs["module.cls.bias"] = np.zeros(2, np.float32)
    safetensors.numpy.save_file(theirs, tmp_path / "x.safetensors")
    report = load_weights(cells.Bert(config("bert")), tmp_path / "x.safetensors", strict=False)
    assert (report.prefix, report.unused) == ("module.bert.", ["module.cls.bias"])
    report = load_weights(Classifier(), tmp_path, prefix="module.", strict=False)
    assert report.missing == ["classifier.weight", "classifier.bias"]


def pair():
    return nn.SequentialCell(nn.Dense(2, 3, "zeros"), nn.LayerNorm((3,)))


def write(path, **arrays):
    names = {name.replace("_", "."): np.asarray(a, np.float32) for name, a in arrays.items()}
    safetensors.numpy.save_file(names, path)
    return path


TEXT = """\
{path}: 1 matched, 2 missing, 1 unused, 1 of another shape or type
Parameter  in the file  expected  actual
0.weight   0.weight     (3, 2)    (2, 3)
Parameter without a value
0.bias
1.beta
not used of the file
head"""


def test_what_does_not_fit_is_told_and_changes_nothing(tmp_path, caplog):
    arrays = {"0_weight": np.ones((2, 3)), "1_weight": np.full(3, 2.0), "head": [1.0]}
    path = write(tmp_path / "x.safetensors", **arrays)
    net = pair()
    with pytest.raises(ValueError, match="does not fit SequentialCell, and nothing was") as error:
        load_weights(net, path)
    assert TEXT.format(path=path) in str(error.value)
    assert net[1].gamma.asnumpy().tolist() == [1, 1, 1]
    report = load_weights(net, path, strict=False)
    assert isinstance(report, WeightReport)
    assert str(report) == TEXT.format(path=path)
    assert str(report) in caplog.text
    assert report.table().splitlines()[1].split() == ["1.gamma", "1.weight", "(3,)", "float32"]
    assert net[1].gamma.asnumpy().tolist() == [2, 2, 2]
    assert not net[0].weight.asnumpy().any()


def test_other_types_are_told(tmp_path):
    safetensors.numpy.save_file({"weight": np.ones((1, 1), np.int32)}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match=r"weight +weight +Float32 +int32"):
        load_weights(nn.Dense(1, 1, has_bias=False), tmp_path)


def test_element_types(tmp_path):
    values = np.array([[1 / 3]], np.float32)
    net = nn.Dense(1, 1, has_bias=False)
    save_weights(write_net(values), tmp_path / "half.safetensors", dtype=ms.bfloat16)
    load_weights(net, tmp_path / "half.safetensors")
    rounded = values.astype(ms.bfloat16.numpy)
    assert (net.weight.dtype, net.weight.asnumpy().item()) == (ms.float32, float(rounded.item()))
    load_weights(net, tmp_path / "half.safetensors", dtype="file")
    assert net.weight.dtype is ms.bfloat16
    load_weights(net, tmp_path / "half.safetensors", dtype=ms.float16)
    assert net.weight.dtype is ms.float16
    with pytest.raises(TypeError):
        load_weights(net, tmp_path / "half.safetensors", dtype="fil")
    for call in (load_weights, save_weights):
        with pytest.raises(ValueError, match="a type of floats, but Int32"):
            call(net, tmp_path / "half.safetensors", dtype=ms.int32)


def write_net(values):
    net = nn.Dense(1, 1, has_bias=False)
    net.weight.set_data(ms.Tensor(values))
    return net


def test_rules(tmp_path):
    net = pair()
    path = write(tmp_path / "x.safetensors", a_w=np.ones((2, 3)), a_b=np.ones(3), n_w=np.ones(3))
    names = {"0.weight": Stored("a.w", transposed=True), "0.bias": "a.b", "1.weight": "n.w"}
    for rules in (names.get, {"^1.bias$": None, **{f"^{n}$": to for n, to in names.items()}}):
        report = load_weights(net, path, rules)
        assert (report.exact, report.left_out) == (True, ["1.beta"])
        save_weights(net, tmp_path / "y.safetensors", rules)
        same_arrays(*map(safetensors.numpy.load_file, (tmp_path / "y.safetensors", path)))
    for wrong, kind in [([("a", 3)], TypeError), (["a"], TypeError), ([("(", "a")], ValueError),
                        (lambda name: 3, TypeError), (3, TypeError),
                        ({"weight": r"\3"}, ValueError)]:  # fmt: skip
        with pytest.raises(kind, match="rules"):
            load_weights(net, path, wrong)
    with pytest.raises(ValueError, match=r"written twice: for 0.weight and for 0.bias"):
        save_weights(net, tmp_path / "y.safetensors", lambda name: "same")
    with pytest.raises(ValueError, match=r"needs the parts \[1\] of 2"):
        rules = {"0.weight": Stored("qk", parts=2, part=0)}
        save_weights(net, tmp_path / "y.safetensors", rules)
    for arguments in ({}, {"parts": 2}, {"parts": 2, "part": 2}, {"parts": (0, 1), "part": 0}):
        with pytest.raises(ValueError, match="Stored"):
            Stored(*(["x"] if arguments else []), **arguments)


def test_files_of_mindspore_and_old_names(tmp_path):
    net = nn.SequentialCell(nn.Embedding(3, 2), nn.BatchNorm2d(2), nn.Conv1d(1, 2, 3))
    for parameter in net.get_parameters():
        parameter.set_data(parameter + 1)
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    save_weights(net, tmp_path / "net.pt")
    assert torch_format.read(tmp_path / "net.pt")["2.weight"].shape == (2, 1, 3)
    for name in ("net.ckpt", "net.pt"):
        again = nn.SequentialCell(nn.Embedding(3, 2), nn.BatchNorm2d(2), nn.Conv1d(1, 2, 3))
        assert load_weights(again, tmp_path / name).exact
        for ours, theirs in zip(again.get_parameters(), net.get_parameters(), strict=True):
            np.testing.assert_array_equal(ours.asnumpy(), theirs.asnumpy())


def copy_of_llama(folder, change):
    shutil.copytree(RECORDED / "llama", folder)
    path = folder / "model.safetensors.index.json"
    told = json.loads(path.read_text())
    change(told["weight_map"])
    path.write_text(json.dumps(told))
    return folder


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.update({"model.norm.weight": "../secret.safetensors"}), "not in the folder"),
        (lambda m: m.update({"model.norm.weight": 3}), "no weight_map"),
        (lambda m: m.update({"more": "model-00001-of-00002.safetensors"}), "'more' is not in"),
        (lambda m: m.update({"more": "none.safetensors"}), "There is no file"),
    ],
)
def test_an_index_that_lies(change, reason, tmp_path):
    folder = copy_of_llama(tmp_path / "llama", change)
    with pytest.raises(ValueError, match=reason):
        load_weights(cells.Llama(config("llama")), folder)


def test_folders_without_weights(tmp_path):
    net = pair()
    for path in (tmp_path, tmp_path / "none", tmp_path / "model.safetensors.index.json"):
        with pytest.raises(ValueError, match=r"no weights|There is no file"):
            load_weights(net, path)
    (tmp_path / "config.json").write_text("[" * 10**5)
    write(tmp_path / "model.safetensors", **{"0_weight": np.ones((3, 2))})
    with pytest.raises(ValueError, match=r"config.json is damaged: it is not JSON"):
        load_weights(net, tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="layout"):
        load_weights(net, tmp_path / "model.safetensors", layout="bort")
    for path in (tmp_path / "x.ckpt", tmp_path / "config.json"):
        with pytest.raises(ValueError, match="save_weights: path"):
            save_weights(net, path)
    for size in (0, "5", "xGB", -1):
        with pytest.raises(ValueError, match="max_shard_size"):
            save_weights(net, tmp_path / "new", max_shard_size=size)


# -- .pth files that somebody made up --------------------------------------------------------------


def archive(path, pickled, storages=(), compress=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compress) as file:
        file.writestr("a/data.pkl", pickled)
        for key, data in enumerate(storages):
            file.writestr(f"a/data/{key}", data)
    return path


def pickled(count=4, shape=(4,), strides=(1,), kind=b"ctorch\nFloatStorage\n", offset=0):
    """The pickle of a dictionary with one tensor."""
    plain = torch_format._plain
    pid = plain("storage") + kind + plain("0") + plain("cpu") + plain(count)
    tensor = b"(" + pid + b"tQ" + plain(offset) + plain(shape) + plain(strides)
    made = b"ctorch._utils\n_rebuild_tensor_v2\n(" + tensor + b"\x89NtR"
    return b"\x80\x02}(" + plain("x") + made + b"u."


DATA = np.arange(4, dtype=np.float32).tobytes()
BOMB = b"\x80\x02" + b"]" * 10 + b"a" * 9 + b"."
HOSTILE = {
    "a larger storage than there is": (pickled(5), r"another size"),
    "a tensor beyond its storage": (pickled(shape=(5,)), r"outside of its storage"),
    "a negative offset": (pickled(offset=-1), r"outside of its storage"),
    "a tensor of any size": (pickled(shape=(10**12,), strides=(0,)), r"repeats a storage of 4"),
    "strides that are missing": (pickled(strides=()), r"damaged"),
    "a storage of objects": (pickled(kind=b"X\x01\x00\x00\x00O"), r"no type of a storage"),
    "a type of another kind": (pickled(kind=b"ccollections\nOrderedDict\n"), r"damaged"),
    "a function": (pickled(kind=b"cos\nsystem\n"), r"os.system, which is not a tensor"),
    "a call": (b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00idtR.", r"os.system"),
    "lists in lists": (BOMB, r"no state dictionary but list"),
    "nothing": (b"", r"damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_clear_error(name, tmp_path):
    data, reason = HOSTILE[name]
    path = archive(tmp_path / "x.pth", data, [DATA])
    with pytest.raises(ValueError, match=rf"(?s)x\.pth.*{reason}"):
        load_weights(pair(), path)


def test_hostile_archives(tmp_path):
    path = archive(tmp_path / "x.pth", pickled(), [DATA], zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="is compressed"):
        load_weights(pair(), path)
    path = archive(tmp_path / "x.pth", pickled())
    with pytest.raises(ValueError, match=r"x.pth is damaged.*a/data/0"):
        load_weights(pair(), path)
    np.testing.assert_array_equal(
        torch_format.read(archive(path, pickled(shape=(2, 2), strides=(2, 1)), [DATA]))["x"],
        [[0, 1], [2, 3]],
    )


def test_any_bytes_are_an_error_of_value(tmp_path):
    whole = (RECORDED / "bert" / "pytorch_model.bin").read_bytes()
    start = whole.index(b"\x80\x02")
    generator = np.random.default_rng(5)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for place in generator.integers(start, start + 4000, 3):
            data[place] = generator.integers(256)
        (tmp_path / "x.bin").write_bytes(data)
        try:
            torch_format.read(tmp_path / "x.bin")
        except ValueError as error:
            assert "x.bin" in str(error)
            refused += 1
    assert refused > 200


def test_state_dictionaries_among_other_things(tmp_path):
    inner = pickled()[2:-1]
    for key in ("state_dict", "model_state_dict", "model"):
        data = b"\x80\x02}" + pickle.dumps(key, 2)[2:-1] + inner + b"s."
        found = torch_format.read(archive(tmp_path / "x.pth", data, [DATA]))
        assert found["x"].tolist() == [0, 1, 2, 3]
