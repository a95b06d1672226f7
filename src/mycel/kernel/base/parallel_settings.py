# SPDX-License-Identifier: Apache-2.0
"""MindSpore's settings for several devices, which networks, optimisers and steps ask for."""

from __future__ import annotations

import copy
import difflib

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
    "pipeline_stages": 1,
    "search_mode": "recursive_programming",
    "sharding_propagation": False,
    "strategy_ckpt_config": {"load_file": "", "save_file": "", "only_trainable_params": True},
    "strategy_ckpt_load_file": "",
    "strategy_ckpt_save_file": "",
}
# What has an effect where several processes compute; the rest is kept, and noted once.
_EFFECTIVE = ("parallel_mode", "gradients_mean", "parameter_broadcast", "device_num", "global_rank")
# The smallest and the largest value of a setting.
BOUNDS = {
    "algo_approxi_epsilon": (1e-30, 1.0),
    "tensor_slice_align_size": (1, 1024),
}


class Settings:
    """Settings of one family: kept, and noted once where they have no effect."""

    def __init__(self, setter: str, defaults: dict):
        self.setter = setter
        self.defaults = defaults
        self.values = copy.deepcopy(defaults)

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
            expected = "from {:g} to {:g}".format(*BOUNDS[name])
            raise wrong(ValueError, f"{self.setter}: {name}", expected, repr(value))
        effective = name in _EFFECTIVE and processes.count() > 1
        if value != self.values[name] and not effective:
            log.note_once(f"{self.setter}({name}={value!r}) has no effect on one device")
        self.values[name] = value

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


parallel = Settings("set_auto_parallel_context", _DEFAULTS)
_GLOBAL = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
_NOT_YET = (
    "parallel_mode={mode!r} divides Tensors among processes, and this version does not among the "
    "{count} processes that were started. With several processes 'data_parallel', "
    "'hybrid_parallel' and 'stand_alone' work; with one process, {mode!r} does."
)


def check_mode() -> None:
    """Raise for a mode that several processes cannot have.

    Raises:
        NotImplementedError: it divides Tensors.
    """
    mode, count = parallel.values["parallel_mode"], processes.count()
    if count > 1 and mode in _GLOBAL:
        raise NotImplementedError(_NOT_YET.format(mode=mode, count=count))


def reduces_gradients() -> bool:
    """Whether steps of training reduce gradients among processes by themselves."""
    mode = parallel.values["parallel_mode"]
    shared = mode in (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
    return shared and processes.count() > 1
