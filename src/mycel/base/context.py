# SPDX-License-Identifier: Apache-2.0
"""What `set_context` sets: the mode, the device, and how operators are run."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Callable

from mycel.base import backend, errors
from mycel.base.places import user_place

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_log = logging.getLogger("mycel")

# Settings of MindSpore that mean nothing on XLA: accepted, and noted once in the log.
WITHOUT_EFFECT = frozenset(
    """
    aoe_config aoe_tune_mode ascend_config auto_tune_mode check_bprop compile_cache_path
    debug_level deterministic disable_format_transform enable_auto_mixed_precision
    enable_compile_cache enable_debug_runtime enable_dump enable_graph_kernel enable_mem_reuse
    enable_profiling enable_reduce_precision enable_sparse env_config_path exec_order gpu_config
    grad_for_scalar graph_kernel_flags graph_memory_max_size host_scheduling_max_threshold
    inter_op_parallel_num jit_config jit_enable_inplace_ops jit_level jit_syntax_level
    load_compile_cache max_call_depth max_device_memory memory_offload memory_optimize_level
    mempool_block_size op_timeout precompile_only print_file_path profiling_options recompute
    reserve_class_name_in_scope runtime_num_threads save_dump_path save_graphs save_graphs_path
    support_binary variable_memory_max_size
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


class Context:
    """The settings of this process; read by the machine as plain attributes."""

    __slots__ = ("accepted", "before_device_change", "device_id", "device_target", "direct", "mode")

    def __init__(self):
        self.mode = PYNATIVE_MODE
        self.device_target = ""
        self.device_id = 0
        # True runs every operator by itself to its end: MindSpore's pynative_synchronize.
        self.direct = False
        self.accepted: dict = {}
        self.before_device_change: Callable[[], None] = lambda: None


context = Context()


def set_context(**settings) -> None:
    """Set how programs run; MindSpore's `mindspore.set_context`.

    Args:
        mode: `PYNATIVE_MODE` (1, the default: operators run as they are called) or
            `GRAPH_MODE` (0: the outermost call of a Cell is remembered and compiled).
        device_target: "CPU", "GPU", "TPU" or "Ascend"; MYCEL_DEVICE overrides it.
        device_id: which device of that target.
        pynative_synchronize: run every operator by itself to its end.

    Raises:
        ValueError: a value that is not allowed, or a device this machine does not have.

    Example:
        >>> import mycel as ms
        >>> ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
        >>> ms.get_context("mode") == ms.PYNATIVE_MODE
        True
    """
    for name, value in settings.items():
        setter = _SETTERS.get(name)
        if setter is not None:
            setter(value)
        elif name in WITHOUT_EFFECT:
            if name not in context.accepted:
                _log.info("set_context(%s=%r) has no effect here", name, value)
            context.accepted[name] = value
        else:
            near = difflib.get_close_matches(name, [*_SETTERS, *WITHOUT_EFFECT], 1)
            raise ValueError(
                errors.UNKNOWN_CONTEXT.format(
                    name=name,
                    place=user_place(2),
                    nearest=near[0] if near else "none",
                    known=", ".join(_SETTERS),
                )
            )


def get_context(name: str):
    """The value of one setting; MindSpore's `mindspore.get_context`.

    Raises:
        ValueError: no such setting.
    """
    if name == "mode":
        return context.mode
    if name == "device_target":
        return context.device_target or backend.default_target()
    if name == "device_id":
        return context.device_id
    if name == "pynative_synchronize":
        return context.direct
    if name in WITHOUT_EFFECT:
        return context.accepted.get(name)
    raise ValueError(f"get_context has no setting {name!r}; it knows {', '.join(_SETTERS)}.")


def _set_mode(value) -> None:
    if value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise errors.wrong(
            ValueError,
            "The mode",
            expected="mycel.GRAPH_MODE (0) or mycel.PYNATIVE_MODE (1)",
            actual=repr(value),
        )
    context.mode = value


def _set_target(value) -> None:
    if value not in backend.PLATFORMS:
        raise ValueError(
            errors.UNKNOWN_TARGET.format(
                known=", ".join(backend.PLATFORMS), target=value, place=user_place(3)
            )
        )
    target = os.environ.get(backend.DEVICE_VARIABLE) or value
    context.before_device_change()
    if not backend.use_target(target, context.device_id):
        raise ValueError(
            errors.UNKNOWN_DEVICE.format(
                target=target,
                available=", ".join(backend.available_targets()),
                variable=backend.DEVICE_VARIABLE,
                place=user_place(3),
            )
        )
    context.device_target = target


def _set_device_id(value) -> None:
    context.device_id = int(value)
    if context.device_target:
        _set_target(context.device_target)


def _set_synchronize(value) -> None:
    context.before_device_change()
    context.direct = bool(value)


_SETTERS = {
    "mode": _set_mode,
    "device_target": _set_target,
    "device_id": _set_device_id,
    "pynative_synchronize": _set_synchronize,
}
