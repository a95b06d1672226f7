# SPDX-License-Identifier: Apache-2.0
"""MindSpore's settings for several devices, which networks, optimisers and steps ask for."""

from __future__ import annotations

import contextlib
import copy
import difflib
import math
from collections.abc import Iterator, Mapping
from typing import Any

from mycel.kernel.base import log, processes
from mycel.kernel.base.errors import wrong


class ParallelMode:
    """How MindSpore divides the work; with one process all of these are the same.

    Source: MindSpore's `mindspore.ParallelMode`.

    Example:
        >>> ms.ParallelMode.DATA_PARALLEL
        'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


_DEFAULTS: dict = {
    "all_reduce_fusion_config": [],
    "auto_parallel_new_interface": False,
    "auto_parallel_search_mode": "recursive_programming",
    "auto_pipeline": False,
    "comm_fusion": {
        "openstate": True,
        "allreduce": {"mode": "auto", "config": None},
        "allgather": {"mode": "auto", "config": None},
        "reducescatter": {"mode": "auto", "config": None},
    },
    "communi_parallel_mode": "all_group_parallel",
    "dataset_strategy": "data_parallel",
    "device_num": 1,
    "dump_device_local_norm": False,
    "dump_local_norm": False,
    "dump_local_norm_path": "",
    "enable_alltoall": False,
    "enable_parallel_optimizer": False,
    "force_fp32_communication": False,
    "full_batch": False,
    "global_rank": 0,
    "grad_accumulation_step": 1,
    "gradient_fp32_sync": True,
    "gradients_mean": False,
    "group_ckpt_save_file": "",
    "init_param_in_compile": True,
    "loss_repeated_mean": True,
    "mirror_mean": False,
    "optimizer_weight_shard_aggregated_save": False,
    "optimizer_weight_shard_size": -1,
    "parallel_mode": ParallelMode.STAND_ALONE,
    "parallel_optimizer_config": {},
    "parameter_broadcast": False,
    "pipeline_config": {},
    "pipeline_interleave": False,
    "pipeline_result_broadcast": False,
    "pipeline_scheduler": "1f1b",
    "pipeline_segments": 1,
    "pipeline_stages": 1,
    "search_mode": "recursive_programming",
    "sharding_propagation": False,
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
}
# The smallest and the largest value of a setting.
BOUNDS = {
    "pipeline_stages": (1, math.inf),
    "algo_approxi_epsilon": (1e-30, 1.0),
    "tensor_slice_align_size": (1, 1024),
}


class Settings:
    """Settings of one family: kept, and noted once if they have no effect.

    Args:
        setter: the function that sets them, for messages.
        noted: whether a setting is noted here; else who sets it tells.
    """

    def __init__(self, setter: str, defaults: dict, noted: bool = True):
        self.setter, self._noted = setter, noted
        self.defaults = defaults
        self.values = copy.deepcopy(defaults)
        # Which were set, and how often any was.
        self.chosen: set[str] = set()
        self.version = 0

    def set(self, name: str, value) -> None:
        """Keep a value of the type that the default has.

        Raises:
            ValueError: no such setting.
            TypeError: a value of another type.
        """
        default = self.defaults[self.known(name)]
        if type(value) is not type(default) and isinstance(default, (bool, int, float)):
            kind = type(default).__name__
            raise wrong(TypeError, f"{self.setter}: {name}", f"of type {kind}", repr(value))
        if name in BOUNDS and not BOUNDS[name][0] <= value <= BOUNDS[name][1]:
            low, high = BOUNDS[name]
            expected = f"from {low:g} to {high:g}" if high < math.inf else f"at least {low:g}"
            raise wrong(ValueError, f"{self.setter}: {name}", expected, repr(value))
        if self._noted and value != self.values[name]:
            log.note_once(f"{self.setter}({name}={value!r}) has no effect on one device")
        self.values[name] = value
        self.chosen.add(name)
        self.version += 1

    def set_all(self, given: Mapping[str, Any]) -> None:
        """Keep several values, or none of them where one is refused."""
        with self.all_or_none():
            for name, value in given.items():
                self.set(name, value)

    @contextlib.contextmanager
    def all_or_none(self) -> Iterator[None]:
        """What is set in the block is taken back if an error leaves it."""
        before = dict(self.values), set(self.chosen)
        try:
            yield
        except BaseException:
            self.values, self.chosen = before
            self.version += 1
            raise

    def known(self, name: str) -> str:
        """The name, if it is that of a setting.

        Raises:
            ValueError: it is not.
        """
        if name not in self.defaults:
            near = difflib.get_close_matches(name, self.defaults, 1) or sorted(self.defaults)
            raise wrong(
                ValueError, f"A setting of {self.setter}", f"one such as {near[0]!r}", repr(name)
            )
        return name

    def get(self, name: str):
        """The value of a setting."""
        return self.values[self.known(name)]

    def reset(self) -> None:
        """Set everything back."""
        self.values = copy.deepcopy(self.defaults)
        self.chosen.clear()
        self.version += 1


parallel = Settings("set_auto_parallel_context", _DEFAULTS, noted=False)
GLOBAL = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
LOCAL = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)


def reduces_gradients() -> bool:
    """Whether steps of training reduce gradients among processes by themselves."""
    return parallel.values["parallel_mode"] in LOCAL and processes.count() > 1


def shares_training() -> bool:
    """Whether several processes take part in one training: each with Tensors of its own, or with
    parts of whole ones."""
    return parallel.values["parallel_mode"] in (*LOCAL, *GLOBAL) and processes.count() > 1
