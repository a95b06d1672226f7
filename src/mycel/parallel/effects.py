# SPDX-License-Identifier: Apache-2.0
"""Settings for several devices: which values they take, and who decides where one has no effect.

Nothing is without effect in silence: the ledger has a line for each setting that was accepted
while something else decides (`ms.debug.ledger()`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mycel.kernel.base import log, processes
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import GLOBAL, LOCAL, ParallelMode, parallel
from mycel.parallel.layout import Layout
from mycel.report.ledger import ledger

WHERE = "set_auto_parallel_context"
XLA_DECIDES = "accepted, XLA decides"
_AS_ON_ONE = "accepted: a gradient is that of the whole batch, as on one device"
_NO_NORMS = "accepted: no norm is printed or written; a hook on a Parameter sees its gradient"
_ONE_VECTOR = "accepted: gradients are reduced as one vector for each element type"
_ORDER = "accepted: it says when stages compute, not what"
_OWN = "accepted, without effect where each process has Tensors of its own"
# What has an effect where Tensors are whole (`semi_auto_parallel`, `auto_parallel`).
IN_WHOLE = (
    "dataset_strategy", "device_num", "enable_parallel_optimizer", "full_batch", "global_rank",
    "optimizer_weight_shard_size", "parallel_mode", "parallel_optimizer_config", "pipeline_stages",
    "strategy_ckpt_config", "strategy_ckpt_load_file", "strategy_ckpt_save_file",
)  # fmt: skip
# What has an effect where each process has its own (`data_parallel`, `hybrid_parallel`).
IN_OWN = (
    "device_num", "global_rank", "gradients_mean", "parallel_mode", "parameter_broadcast",
    "strategy_ckpt_load_file",
)  # fmt: skip
# Who decides in place of the others; by default XLA there, and nobody here.
_INSTEAD_IN_WHOLE = {
    "auto_parallel_new_interface": "accepted: there is one interface here",
    "auto_pipeline": "accepted: pipeline_stages says how many there are",
    "dump_device_local_norm": _NO_NORMS,
    "dump_local_norm": _NO_NORMS,
    "dump_local_norm_path": _NO_NORMS,
    "gradients_mean": _AS_ON_ONE,
    "group_ckpt_save_file": "accepted: no file is written, as slices can be read without one",
    "init_param_in_compile": "accepted: Parameters get their values where they are made",
    "loss_repeated_mean": _AS_ON_ONE,
    "mirror_mean": _AS_ON_ONE,
    "optimizer_weight_shard_aggregated_save": "accepted: files have whole arrays, or slices",
    "parameter_broadcast": "accepted: Parameters are the same in all processes, or it is an error",
    "pipeline_config": _ORDER,
    "pipeline_interleave": _ORDER,
    "pipeline_result_broadcast": "accepted: every process has the results",
    "pipeline_scheduler": _ORDER,
    "pipeline_segments": _ORDER,
}
_INSTEAD_IN_OWN: dict[str, str] = {
    "all_reduce_fusion_config": _ONE_VECTOR,
    "comm_fusion": _ONE_VECTOR,
}
_SEARCHES = ("recursive_programming", "dynamic_programming", "sharding_propagation")
_LEVELS = ("level1", "level2", "level3")
_told: set[tuple[str, str, str]] = set()


def tell_accepted() -> None:
    """Let the ledger say which settings have no effect in the mode that is set."""
    mode = parallel.get("parallel_mode")
    if mode in GLOBAL and division.enter is not None:
        effective, instead, otherwise = IN_WHOLE, _INSTEAD_IN_WHOLE, XLA_DECIDES
        if parallel.get("pipeline_stages") > 1:  # see parallel.pipeline
            effective = (*effective, "pipeline_config", "pipeline_result_broadcast")
    elif mode in LOCAL and processes.count() > 1:
        effective, instead, otherwise = IN_OWN, _INSTEAD_IN_OWN, _OWN
    else:
        effective, instead, otherwise = ("parallel_mode",), {}, ""
    for name in sorted(parallel.chosen.difference(effective)):
        value = parallel.values[name]
        key = otherwise, name, repr(value)
        if value == parallel.defaults[name] or key in _told:
            continue
        _told.add(key)
        if otherwise:
            ledger.accepted(f"{WHERE}({name}={value!r})", instead.get(name, otherwise))
        elif name != "strategy_ckpt_load_file":  # load_distributed_checkpoint asks for it
            log.note_once(f"{WHERE}({name}={value!r}) has no effect on one device")


def forget() -> None:
    """The settings were set back."""
    _told.clear()


def accepted_value(name: str, value: Any) -> Any:
    """A value of a setting as it is kept.

    Raises:
        TypeError, ValueError: it is none of those that the setting takes.
    """
    what = f"{WHERE}: {name}"
    if name in _WORDS and value not in _WORDS[name]:
        raise wrong(ValueError, what, f"one of {', '.join(_WORDS[name])}", repr(value))
    if name in _KEYS:
        _check_keys(what, value, _KEYS[name])
    if name == "strategy_ckpt_config":
        return {**parallel.get(name), **value}
    if name == "dataset_strategy":
        _check_dataset_strategy(what, value)
    if name in ("device_num", "grad_accumulation_step") and type(value) is int and value < 1:
        raise wrong(ValueError, what, "1 or more", value)
    if name == "grad_accumulation_step" and type(value) is int and value > 1:
        raise wrong(ValueError, what, "1; nn.GradAccumulationCell takes the parts", value)
    return value


def _check_keys(what: str, value: Any, keys: Mapping[str, Callable[[Any], bool]]) -> None:
    if not isinstance(value, dict):
        raise wrong(TypeError, what, "a dictionary", repr(value))
    for key, part in value.items():
        if key not in keys:
            raise wrong(ValueError, f"A key of {what}", f"one of {', '.join(keys)}", repr(key))
        if not keys[key](part):
            text = f"{what}: {key}"
            raise wrong(ValueError, text, _EXPECTED[key], repr(part))


def _check_dataset_strategy(what: str, value: Any) -> None:
    if isinstance(value, str):
        if value not in ("data_parallel", "full_batch"):
            raise wrong(ValueError, what, "'data_parallel' or 'full_batch'", repr(value))
        return
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        numbers = isinstance(part, tuple) and all(type(n) is int for n in part)
        if not numbers and not isinstance(part, Layout):
            expected = "'data_parallel', 'full_batch', or a tuple with a strategy for each input"
            raise wrong(TypeError, what, expected, repr(value))


def _whole_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_fusion(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= {"mode", "config"}


_WORDS: dict[str, tuple[str, ...]] = {
    "auto_parallel_search_mode": _SEARCHES,
    "communi_parallel_mode": (
        "all_group_parallel", "same_server_group_parallel", "no_group_parallel"
    ),
    "parallel_mode": ParallelMode.MODE_LIST,
    "search_mode": _SEARCHES,
}  # fmt: skip
_KEYS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "comm_fusion": {
        "openstate": lambda value: isinstance(value, bool),
        "allreduce": _is_fusion,
        "allgather": _is_fusion,
        "reducescatter": _is_fusion,
    },
    "parallel_optimizer_config": {
        "gradient_accumulation_shard": lambda value: isinstance(value, bool),
        "parallel_optimizer_threshold": _whole_number,
        "optimizer_weight_shard_size": lambda value: value == -1 or _whole_number(value),
        "optimizer_level": lambda value: value in _LEVELS,
    },
    "strategy_ckpt_config": {
        "load_file": lambda value: isinstance(value, str),
        "save_file": lambda value: isinstance(value, str),
        "only_trainable_params": lambda value: isinstance(value, bool),
    },
}
_FUSION = "a dictionary with mode and config"
_EXPECTED = {
    "openstate": "True or False",
    "allreduce": _FUSION,
    "allgather": _FUSION,
    "reducescatter": _FUSION,
    "gradient_accumulation_shard": "True or False",
    "parallel_optimizer_threshold": "a number of KiB, 0 or more",
    "optimizer_weight_shard_size": "a number of devices, or -1 for all",
    "optimizer_level": f"one of {', '.join(_LEVELS)}",
    "load_file": "a string",
    "save_file": "a string",
    "only_trainable_params": "True or False",
}
