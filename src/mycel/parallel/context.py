# SPDX-License-Identifier: Apache-2.0
"""MindSpore's settings for several devices: how they are set, and asked for."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base import log, processes
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import GLOBAL, ParallelMode, Settings, parallel
from mycel.parallel.effects import accepted_value, forget, tell_accepted
from mycel.parallel.pipeline import check_config
from mycel.parallel.placing import leave, use_devices

_ALGORITHM = {
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "fully_use_devices": False,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_SERVER = {
    "enable_ps": False,
    "config_file_path": "",
    "enable_ssl": False,
    "scheduler_manage_port": 11202,
    "client_password": "",
    "server_password": "",
}
_COST_MODEL = {
    "costmodel_alpha": 1.0,
    "costmodel_beta": 400.0,
    "costmodel_gamma": 0.001,
    "costmodel_communi_bias": 1024.0,
    "costmodel_communi_const": 3072.0,
    "costmodel_communi_threshold": 2048.0,
    "device_memory_capacity": 17179869184.0,
    "multi_subgraphs": False,
    "run_phase": 0,
}

_parallel = parallel
_algorithm = Settings("set_algo_parameters", _ALGORITHM)
_server = Settings("set_ps_context", _SERVER)
_cost_model = Settings("set_cost_model_context", _COST_MODEL)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Say how several processes share the work.

    Args:
        parallel_mode: a word of `ParallelMode`. In 'data_parallel' and 'hybrid_parallel' the steps
            of training (`nn.TrainOneStepCell`, `Model`) reduce gradients by themselves.
        gradients_mean: whether they take the mean; False, the default, takes the sum.
        parameter_broadcast: whether the first step gives all processes the Parameters of the first.
        device_num: what `get_group_size()` answers; in 'semi_auto_parallel' and 'auto_parallel',
            how many devices compute together, as many of each process, by default all.
        dataset_strategy: there, how batches are divided: 'data_parallel' (the first dimension among
            all devices), 'full_batch' (not at all), or a tuple with a strategy for each input.
            With several processes, each gives its part of what is divided among them.
        full_batch: there, whether batches are not divided.
        enable_parallel_optimizer: there, whether what optimisers keep of Parameters of 64 KiB and
            more (`parallel_optimizer_config`) is divided along the first dimension.
        strategy_ckpt_save_file: there, the strategy file that says how Parameters are divided; it
            is written when a Cell is called for the second time, or the program ends, and with
            `AutoParallel` behind the first call.
        strategy_ckpt_config: the same as `{"save_file": ..., "only_trainable_params": True}`.
        pipeline_stages: there, into how many stages of as many devices each those of the process
            are divided; a Cell belongs to one by its `pipeline_stage` (see docs/scale.md). Of
            several processes each computes all stages.
        pipeline_config: `{"pipeline_scheduler": "1f1b"}` or "gpipe", the order in which parts of a
            batch go through the stages.
        global_rank: what `get_rank()` answers.
        strategy_ckpt_load_file: there, the strategy file that says how Parameters lie whose layout
            the program does not say; `strategy_ckpt_config={"load_file": ...}` is the same.
        others: those of MindSpore; kept, and `ms.debug.ledger()` says who decides in their place.

    Raises:
        ValueError: another number of devices, another word, or no such setting.
        TypeError: a value of another type.

    Source: MindSpore's `mindspore.set_auto_parallel_context`.

    Example:
        >>> ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        >>> ms.get_auto_parallel_context("gradients_mean")
        True
        >>> ms.reset_auto_parallel_context()
    """
    mode = kwargs.get("parallel_mode", _parallel.get("parallel_mode"))
    # What is refused changes nothing: the division itself changes only when nothing is.
    with _parallel.all_or_none():
        for name, given in kwargs.items():
            value = accepted_value(_parallel.known(name), given)
            if name in ("device_num", "global_rank") and type(value) is int:
                _check_number(name, value, mode)
            if name == "pipeline_config":
                check_config(value, "set_auto_parallel_context: pipeline_config")
            _parallel.set(name, value)
        _divide(mode)
    tell_accepted()


def _divide(mode: str) -> None:
    """Begin or end to divide arrays, as a mode says."""
    if mode not in GLOBAL:
        leave()
        return
    use_devices(_parallel.get("device_num") if "device_num" in _parallel.chosen else None)


def _check_number(name: str, value: int, mode: str) -> None:
    """Raise unless a number is what the launcher said: how many processes, or which one."""
    count, rank = processes.count(), processes.number()
    if name == "device_num" and mode in GLOBAL and value > 0:
        return  # devices of all processes: see use_devices
    right = count if name == "device_num" else rank
    if value != right:
        told = {"device_num": f"{count} device{'s' if count > 1 else ''}", "global_rank": f"{rank}"}
        expected = f"{told[name]}: this program computes on {'one' if count == 1 else count}"
        raise wrong(ValueError, f"set_auto_parallel_context: {name}", expected, value)


def get_auto_parallel_context(attr_key: str):
    """The value of one of those settings.

    Raises:
        ValueError: no such setting.

    Source: MindSpore's `mindspore.get_auto_parallel_context`.

    Example:
        >>> ms.get_auto_parallel_context("parallel_mode")
        'stand_alone'
    """
    return _parallel.get(attr_key)


def reset_auto_parallel_context() -> None:
    """Set all of those settings back.

    Source: MindSpore's `mindspore.reset_auto_parallel_context`.

    Example:
        >>> ms.reset_auto_parallel_context()
    """
    _parallel.reset()
    forget()
    leave()


class AutoParallelContext:
    """The same settings as methods: `get_` or `set_` and the name of the setting.

    Example:
        >>> from mycel.parallel.context import auto_parallel_context
        >>> auto_parallel_context().get_device_num()
        1
    """

    def get_device_num_is_set(self) -> bool:
        """Whether somebody said how many devices there are: the number is known anyhow."""
        return True

    def set_all_reduce_fusion_split_indices(self, indices, group: str = "") -> None:
        """Accepted: there is nothing to fuse."""
        log.note_once(f"set_all_reduce_fusion_split_indices({indices!r}) has no effect on 1 device")

    def __getattr__(self, name: str):
        verb, _, setting = name.partition("_")
        if setting == "strategy_search_mode":
            setting = "search_mode"
        if name == "get_full_batch_is_set":
            return lambda: "full_batch" in _parallel.chosen
        if verb == "get" and setting in _parallel.defaults:
            return lambda: _parallel.get(setting)
        if verb == "set" and setting in _parallel.defaults:
            return lambda value: set_auto_parallel_context(**{setting: value})
        raise AttributeError(
            f"auto_parallel_context() has no {name!r}; it has get_ and set_ of "
            f"{', '.join(sorted(_parallel.defaults))}."
        )


_context = AutoParallelContext()


def auto_parallel_context() -> AutoParallelContext:
    """The settings for several devices as an object.

    Source: MindSpore's `mindspore.parallel._auto_parallel_context.auto_parallel_context`.

    Example:
        >>> from mycel.parallel.context import auto_parallel_context
        >>> auto_parallel_context().get_parallel_mode()
        'stand_alone'
    """
    return _context


def set_algo_parameters(**kwargs: Any) -> None:
    """Keep parameters of MindSpore's search for a division of the work; there is none.

    Source: MindSpore's `mindspore.set_algo_parameters`.

    Example:
        >>> ms.set_algo_parameters(fully_use_devices=False)
    """
    _algorithm.set_all(kwargs)


def get_algo_parameters(attr_key: str):
    """The value of one of those parameters.

    Source: MindSpore's `mindspore.get_algo_parameters`.

    Example:
        >>> ms.get_algo_parameters("fully_use_devices")
        False
    """
    return _algorithm.get(attr_key)


def reset_algo_parameters() -> None:
    """Set all of those parameters back.

    Source: MindSpore's `mindspore.reset_algo_parameters`.

    Example:
        >>> ms.reset_algo_parameters()
    """
    _algorithm.reset()


def set_ps_context(**kwargs: Any) -> None:
    """Keep settings for a parameter server, of which there is none.

    Raises:
        ValueError: `enable_ps=True`, or no such setting.

    Source: MindSpore's `mindspore.set_ps_context`.

    Example:
        >>> ms.set_ps_context(enable_ps=False)
    """
    if kwargs.get("enable_ps") is True:
        expected = "False: there is no parameter server here"
        raise wrong(ValueError, "set_ps_context: enable_ps", expected, True)
    _server.set_all(kwargs)


def get_ps_context(attr_key: str):
    """The value of one of those settings.

    Source: MindSpore's `mindspore.get_ps_context`.

    Example:
        >>> ms.get_ps_context("enable_ps")
        False
    """
    return _server.get(attr_key)


def reset_ps_context() -> None:
    """Set all of those settings back.

    Source: MindSpore's `mindspore.reset_ps_context`.

    Example:
        >>> ms.reset_ps_context()
    """
    _server.reset()


def set_cost_model_context(**kwargs) -> None:
    """Keep what MindSpore's search reckons with; there is no search.

    Example:
        >>> from mycel.parallel.context import set_cost_model_context
        >>> set_cost_model_context(costmodel_gamma=0.001)
    """
    _cost_model.set_all(kwargs)


def set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Keep whether several compiled programs share the search; there is no search."""
    _cost_model.set("multi_subgraphs", multi_subgraph)


# What programs import from `mindspore.parallel._utils`, each under its name with an underscore.


def get_device_num() -> int:
    """How many devices compute together in the present mode."""
    if division.enter is not None and division.grid is not None:
        return len(division.grid.devices)
    alone = get_parallel_mode() == ParallelMode.STAND_ALONE
    return 1 if alone else max(_parallel.get("device_num"), processes.count())


def get_parallel_mode() -> str:
    """The word of `ParallelMode` that was set."""
    return _parallel.get("parallel_mode")


def get_gradients_mean() -> bool:
    """Whether gradients of several devices would be averaged."""
    return _parallel.get("gradients_mean")


def get_global_rank() -> int:
    """Which device this is, from 0."""
    return processes.number()


def get_full_batch() -> bool:
    """Whether every device would read the whole batch."""
    return _parallel.get("full_batch")


def get_enable_parallel_optimizer() -> bool:
    """Whether optimisers would be divided among devices."""
    return _parallel.get("enable_parallel_optimizer")


def get_parameter_broadcast() -> bool:
    """Whether Parameters would be sent to all devices at the start."""
    return _parallel.get("parameter_broadcast")


def get_pipeline_stages() -> int:
    """Into how many stages the network is divided."""
    return _parallel.get("pipeline_stages")


def get_stage_device_num() -> int:
    """How many devices compute one stage."""
    return get_device_num() // _parallel.get("pipeline_stages")


def is_sharding_propagation() -> bool:
    """Whether MindSpore would find divisions by propagation."""
    return _parallel.get("search_mode") == "sharding_propagation"


def is_in_auto_parallel_mode() -> bool:
    """Whether MindSpore would divide the network itself."""
    mode = get_parallel_mode()
    return mode in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def is_in_data_parallel_mode() -> bool:
    """Whether devices would share the batch."""
    return get_parallel_mode() == ParallelMode.DATA_PARALLEL


def is_in_hybrid_parallel_mode() -> bool:
    """Whether the program would divide the network itself."""
    return get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def is_pynative_parallel() -> bool:
    """Whether several devices compute in PyNative mode: there is one device."""
    return False


def is_parameter_server() -> bool:
    """Whether this process is a parameter server or its scheduler: it is not."""
    return False


def check_device_number(parallel_mode: str, device_number: int) -> None:
    """Raise unless so many devices compute.

    Raises:
        ValueError: another number of devices.
    """
    del parallel_mode
    if device_number != processes.count():
        raise wrong(ValueError, "The number of devices", str(processes.count()), device_number)


__all__ = [
    "ParallelMode",
    "get_algo_parameters",
    "get_auto_parallel_context",
    "get_ps_context",
    "reset_algo_parameters",
    "reset_auto_parallel_context",
    "reset_ps_context",
    "set_algo_parameters",
    "set_auto_parallel_context",
    "set_ps_context",
]
