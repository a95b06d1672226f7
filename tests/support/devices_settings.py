# SPDX-License-Identifier: Apache-2.0
"""Settings for several devices: each has its effect, or is told, or is an error.

Oracle: the names of MindSpore 2.10 and 2.7, and the promise of `docs/scale.md`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial

import numpy as np

import mycel as ms
from mycel import nn, ops
from mycel.compat.transformers import get_lambda_func
from mycel.parallel import AutoParallel
from mycel.parallel.configurations import TransformerOpParallelConfig
from support.devices_checks import SEMI_AUTO, Megatron, begin, init, parts_of, raises


def of_strategy_file(net, grid_of, settings):
    folder = tempfile.mkdtemp()
    path = f"{folder}/strategy.json"
    begin(**SEMI_AUTO, full_batch=True, strategy_ckpt_save_file=path)
    divided = grid_of()
    for _ in range(2):
        divided(ms.Tensor(init(16, 16)))
    begin(**SEMI_AUTO, full_batch=True, **settings(path))
    net(ms.Tensor(init(16, 16)))
    return parts_of(ms.debug.layouts(net))


class Products(nn.Cell):
    """Megatron's products without strategies."""

    def __init__(self):
        super().__init__()
        self.up = ms.Parameter(ms.Tensor(init(16, 64)), name="up")
        self.down = ms.Parameter(ms.Tensor(init(64, 16)), name="down")

    def construct(self, x):
        return ops.matmul(ops.relu(ops.matmul(x, self.up)), self.down)


def check_parameters_lie_as_a_file_says():
    expected = {"up": (1, 4), "down": (4, 1)}
    for settings in (
        lambda path: {"strategy_ckpt_load_file": path},
        lambda path: {"strategy_ckpt_config": {"load_file": path}},
    ):
        net = Products()
        assert of_strategy_file(net, Megatron, settings) == expected
    x = ms.Tensor(init(16, 16))
    np.testing.assert_allclose(net(x).asnumpy(), Megatron()(x).asnumpy(), rtol=1e-5, atol=1e-5)
    begin()
    path = ms.get_auto_parallel_context("strategy_ckpt_load_file")
    assert path == ""
    other = tempfile.mkdtemp() + "/four.json"
    with open(other, "w") as file:
        file.write('{"parallel_layout_item": {"up": {"dev_matrix": [4], "tensor_map": [-1, 0]}}}')
    begin(**SEMI_AUTO, full_batch=True, strategy_ckpt_load_file=other)
    raises(ValueError, lambda: Products()(x), "four.json", "of 8 devices", "4")
    begin(**SEMI_AUTO, strategy_ckpt_load_file="nowhere.json")
    raises(ValueError, lambda: Products()(x), "nowhere.json", "exists")


# Every setting of MindSpore 2.7 and 2.10 with a value that is not its default: None where it has
# its effect, which another check has seen; an error; or what the ledger says.
SETTINGS = {
    "all_reduce_fusion_config": ([8, 160], "XLA decides"),
    "auto_parallel_new_interface": (True, "one interface"),
    "auto_parallel_search_mode": ("sharding_propagation", "XLA decides"),
    "auto_pipeline": (True, "pipeline_stages"),
    "comm_fusion": ({"allreduce": {"mode": "size", "config": 32}}, "XLA decides"),
    "communi_parallel_mode": ("no_group_parallel", "XLA decides"),
    "dataset_strategy": ("full_batch", None),
    "device_num": (4, None),
    "dump_device_local_norm": (True, "hook"),
    "dump_local_norm": (True, "hook"),
    "dump_local_norm_path": ("norms", "hook"),
    "enable_alltoall": (True, "XLA decides"),
    "enable_parallel_optimizer": (True, None),
    "force_fp32_communication": (True, "XLA decides"),
    "full_batch": (True, None),
    "global_rank": (1, ValueError),
    "grad_accumulation_step": (2, ValueError),
    "gradient_fp32_sync": (False, "XLA decides"),
    "gradients_mean": (True, "as on one device"),
    "group_ckpt_save_file": ("groups", "no file is written"),
    "init_param_in_compile": (False, "where they are made"),
    "loss_repeated_mean": (False, "as on one device"),
    "optimizer_weight_shard_aggregated_save": (True, "slices"),
    "optimizer_weight_shard_size": (2, None),
    "parallel_mode": ("semi_auto_parallel", None),
    "parallel_optimizer_config": ({"optimizer_level": "level2"}, None),
    "parameter_broadcast": (True, "the same in all processes"),
    "pipeline_config": (
        {"pipeline_interleave": True, "pipeline_scheduler": "1f1b"},
        "when stages compute",
    ),
    "pipeline_result_broadcast": (True, "every process"),
    "pipeline_segments": (2, "when stages compute"),
    "pipeline_stages": (2, None),
    "search_mode": ("sharding_propagation", "XLA decides"),
    "sharding_propagation": (True, "XLA decides"),
    "strategy_ckpt_config": ({"only_trainable_params": False}, None),
    "strategy_ckpt_load_file": ("", None),
    "strategy_ckpt_save_file": ("", None),
}  # fmt: skip
# What MindSpore's setters raise for, and what raises here.
REFUSED = (
    (ValueError, {"comm_fusion": {"reduce": {}}}, "allreduce, allgather"),
    (ValueError, {"comm_fusion": {"allreduce": {"size": 3}}}, "mode and config"),
    (ValueError, {"dataset_strategy": "whole"}, "'full_batch'"),
    (TypeError, {"dataset_strategy": ((1, "2"),)}, "a strategy for each input"),
    (ValueError, {"device_num": 0}, "1 or more"),
    (ValueError, {"parallel_optimizer_config": {"treshold": 3}}, "parallel_optimizer_threshold"),
    (ValueError, {"parallel_optimizer_config": {"optimizer_level": "level4"}}, "level3"),
    (ValueError, {"parallel_optimizer_config": {"parallel_optimizer_threshold": -1}}, "KiB"),
    (ValueError, {"search_mode": "random"}, "sharding_propagation"),
    (ValueError, {"strategy_ckpt_config": {"file": "a"}}, "load_file"),
    (TypeError, {"strategy_ckpt_config": "a"}, "a dictionary"),
    (ValueError, {"stages": 2}, "A setting of"),
)


def newly_told(call):
    """The lines that the ledger has more of when it was called."""

    def lines():
        told = [line for line in ms.debug.ledger().lines if line.kind == "accepted"]
        return Counter({(f"{one.name}: {one.what}", one.place): one.count for one in told})

    before = lines()
    call()
    return [text for text, _ in lines() - before]


def check_no_setting_is_without_effect_in_silence():
    for name, (value, told) in SETTINGS.items():
        if isinstance(told, type):
            begin(**SEMI_AUTO)
            raises(told, lambda n=name, v=value: ms.set_auto_parallel_context(**{n: v}), name)
            continue
        if told is None:
            continue
        begin()
        ms.set_auto_parallel_context(**{name: value})
        # Whichever is set first.
        new = newly_told(lambda: ms.set_auto_parallel_context(**SEMI_AUTO))
        assert [line for line in new if f"({name}=" in line and told in line], (name, new)
    for kind, settings, text in REFUSED:
        begin(**SEMI_AUTO)
        raises(kind, lambda given=settings: ms.set_auto_parallel_context(**given), text)


METHODS = (
    ("comm_fusion", ({"allreduce": {"mode": "auto", "config": None}},), "XLA decides"),
    ("disable_gradient_fp32_sync", (), "XLA decides"),
    ("disable_loss_repeated_mean", (), "as on one device"),
    ("dump_local_norm", ("norms",), "hook"),
    ("enable_device_local_norm", (), "hook"),
    ("enable_fp32_communication", (), "XLA decides"),
    ("enable_gradients_mean", (), "as on one device"),
    ("load_operator_strategy_file", ("/tmp/operators.json",), "XLA decides"),
    ("no_init_parameters_in_compile", (), "where they are made"),
    ("print_local_norm", (), "hook"),
    ("save_operator_strategy_file", ("/tmp/operators.json",), "XLA decides"),
    ("set_group_ckpt_save_file", ("groups",), "no file is written"),
    ("transformer_opt", ("speed.json",), "XLA decides"),
)


def check_no_method_is_without_effect_in_silence():
    """All methods of MindSpore 2.10's AutoParallel."""
    for name, arguments, told in METHODS:
        begin()
        net = AutoParallel(nn.ReLU())
        new = newly_told(partial(getattr(net, name), *arguments))
        assert [line for line in new if told in line], (name, new)
    net = AutoParallel(nn.ReLU())
    for kind, call, text in (
        (TypeError, lambda: net.load_param_strategy_file(3), "a string"),
        (TypeError, lambda: net.save_operator_strategy_file(3), "a string"),
        (KeyError, lambda: net.save_operator_strategy_file("a.json"), "from the root"),
        (KeyError, lambda: net.load_operator_strategy_file("/a.ckpt"), "json"),
        (ValueError, lambda: net.hsdp(0), "shard_size"),
        (ValueError, lambda: net.hsdp(threshold=-1), "KiB"),
        (ValueError, lambda: net.hsdp(optimizer_level="level0"), "level3"),
        (AttributeError, lambda: net.no_such_method, "no_such_method"),
    ):
        raises(kind, call, text)
    begin()


def check_configurations_of_transformers_are_told():
    begin(**SEMI_AUTO)
    made = partial(TransformerOpParallelConfig, 2, 4, optimizer_shard=True, vocab_emb_dp=False)
    new = newly_told(made)
    assert made().dp_mp_config.model_parallel == 4
    for text in ("data_parallel=2", "model_parallel=4", "optimizer_shard=True", "vocab_emb_dp"):
        assert any(text in line and "XLA decides" in line for line in new), (text, new)
    raises(ValueError, lambda: TransformerOpParallelConfig(16), "from 1 to 8")
    raises(ValueError, lambda: TransformerOpParallelConfig(pipeline_stage=2), "pipeline_stage")


def check_layers_of_transformers_in_stages():
    """Oracle: MindSpore 2.7.0's stages of 2, 3, 7 and 12 layers."""
    for stages, layers, expected in (
        (2, 3, [0, 1, 1]),
        (2, 7, [0, 0, 0, 1, 1, 1, 1]),
        (4, 7, [0, 1, 2, 3, 3, 3, 3]),
        (4, 12, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]),
    ):
        begin(**SEMI_AUTO, pipeline_stages=stages)
        config = TransformerOpParallelConfig(pipeline_stage=stages)
        cells = [nn.ReLU() for _ in range(layers)]
        for number, cell in enumerate(cells):
            get_lambda_func()(cell, number, 0, config, layers)
        assert [cell.pipeline_stage for cell in cells] == expected
    raises(ValueError, lambda: get_lambda_func()(cells[0], 0, 0, config, 3), "at least 4 stages")
    begin()
    begin()
    raises(ValueError, lambda: TransformerOpParallelConfig(2), "1, for one device")
