# SPDX-License-Identifier: Apache-2.0
"""MindSpore's settings that mean nothing here, and its functions for single ones."""

from __future__ import annotations

import os

from mycel.kernel.base import backend, errors
from mycel.kernel.base import context as settings
from mycel.kernel.base.context import context

# How much of Python MindSpore's compiler takes; here all of it, always.
STRICT = 0
COMPATIBLE = 1
LAX = 2

# What is accepted without effect, and what `get_context` answers for those that were not set: what
# MindSpore answers.
WITHOUT_EFFECT: dict[str, object] = {
    "aoe_config": {},
    "aoe_tune_mode": "",
    "ascend_config": {},
    "auto_tune_mode": None,
    "check_bprop": False,
    "debug_level": 0,
    "disable_format_transform": False,
    "enable_auto_mixed_precision": None,
    "enable_compile_cache": None,
    "enable_debug_runtime": False,
    "enable_dump": None,
    "enable_dynamic_mem_pool": None,
    "enable_dynamic_memory": None,
    "enable_graph_kernel": False,
    "enable_hccl": None,
    "enable_loop_sink": None,
    "enable_mem_reuse": None,
    "enable_profiling": False,
    "enable_reduce_precision": True,
    "enable_sparse": None,
    "enable_task_sink": None,
    "env_config_path": "",
    "exec_order": "bfs",
    "gpu_config": {},
    "grad_for_scalar": None,
    "graph_kernel_flags": "",
    "graph_memory_max_size": None,
    "host_scheduling_max_threshold": "",
    "inter_op_parallel_num": 0,
    "ir_fusion_flag": None,
    "jit_config": {},
    "jit_enable_inplace_ops": None,
    "jit_level": "",
    "jit_syntax_level": LAX,
    "load_compile_cache": None,
    "max_device_memory": 1024.0,
    "memory_offload": None,
    "memory_optimize_level": 0,
    "mempool_block_size": 1.0,
    "op_timeout": 900,
    "precision_mode": "",
    "precompile_only": None,
    "print_file_path": "",
    "profiling_options": "training_trace",
    "recompute": None,
    "reserve_class_name_in_scope": True,
    "runtime_num_threads": os.cpu_count(),
    "save_compile_cache": None,
    "save_dump_path": None,
    "support_binary": False,
    "variable_memory_max_size": "0",
}


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Let functions call each other this deeply; MindSpore's `mindspore.set_recursion_limit`.

    Raises:
        TypeError: not an integer.
        ValueError: not above 0.

    Example:
        >>> ms.set_recursion_limit(2000)
        >>> ms.get_context("max_call_depth")
        2000
    """
    settings.set_call_depth(recursion_limit)


def set_deterministic(deterministic: bool) -> None:
    """Let programs give the same bits at each run; MindSpore's `mindspore.set_deterministic`.

    Raises:
        TypeError: neither True nor False.

    Example:
        >>> ms.set_deterministic(False)
    """
    if not isinstance(deterministic, bool):
        raise errors.wrong(TypeError, "deterministic", "True or False", repr(deterministic))
    settings.set_determinism("ON" if deterministic else "OFF")


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device; MindSpore's `mindspore.set_device`.

    Args:
        device_target: "CPU", "GPU", "TPU" or "Ascend"; MYCEL_DEVICE overrides it.
        device_id: which device of that target; the first by default.

    Raises:
        TypeError: a device_id that is not an integer.
        ValueError: a target that is not known, or a device that is not there.

    Example:
        >>> ms.set_device("CPU")
        >>> ms.get_current_device()
        ('CPU', 0)
    """
    if device_id is not None and (isinstance(device_id, bool) or not isinstance(device_id, int)):
        raise errors.wrong(TypeError, "device_id", "an integer", repr(device_id))
    before, context.device_id = context.device_id, device_id or 0
    try:
        settings.set_target(device_target)
    except ValueError:
        context.device_id = before
        raise


def get_current_device() -> tuple[str, int]:
    """(device target, device id); MindSpore's `mindspore.get_current_device`.

    Example:
        >>> ms.set_device("CPU", 0)
        >>> ms.get_current_device()
        ('CPU', 0)
    """
    return context.device_target or backend.default_target(), context.device_id


__all__ = [
    "COMPATIBLE",
    "LAX",
    "STRICT",
    "get_current_device",
    "set_deterministic",
    "set_device",
    "set_recursion_limit",
]
