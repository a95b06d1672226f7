# SPDX-License-Identifier: Apache-2.0
"""MindSpore's settings for several devices: how they are set, and asked for."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base import log, processes
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import ParallelMode, Settings, check_mode, parallel

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
        device_num: what `get_group_size()` answers.
        global_rank: what `get_rank()` answers.
        others: those of MindSpore; kept, and noted once in the log.

    Raises:
        ValueError: another number of devices, another word, or no such setting.
        TypeError: a value of another type.
        NotImplementedError: a mode that divides Tensors, with several processes.

    Source: MindSpore's `mindspore.set_auto_parallel_context`.

    Example:
        >>> ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        >>> ms.get_auto_parallel_context("gradients_mean")
        True
        >>> ms.reset_auto_parallel_context()
    """
    for name, value in kwargs.items():
        if name in ("device_num", "global_rank") and type(value) is int:
            _check_number(name, value)
        if name == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            expected = f"one of {', '.join(ParallelMode.MODE_LIST)}"
            raise wrong(ValueError, "set_auto_parallel_context: parallel_mode", expected, value)
        _parallel.set(name, value)
    check_mode()


def _check_number(name: str, value: int) -> None:
    """Raise unless a number is what the launcher said: how many processes, or which one."""
    count, rank = processes.count(), processes.number()
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
    for name, value in kwargs.items():
        _algorithm.set(name, value)


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
    for name, value in kwargs.items():
        if name == "enable_ps" and value is True:
            expected = "False: there is no parameter server here"
            raise wrong(ValueError, "set_ps_context: enable_ps", expected, value)
        _server.set(name, value)


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
    for name, value in kwargs.items():
        _cost_model.set(name, value)


def set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    """Keep whether several compiled programs share the search; there is no search."""
    _cost_model.set("multi_subgraphs", multi_subgraph)


# What programs import from `mindspore.parallel._utils`, each under its name with an underscore.


def get_device_num() -> int:
    """How many devices compute together in the present mode."""
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
    """Into how many stages the network would be divided."""
    return _parallel.get("pipeline_stages")


def get_stage_device_num() -> int:
    """How many devices compute one stage: all."""
    return processes.count()


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
