# SPDX-License-Identifier: Apache-2.0
"""MindSpore's words for several devices."""

from mycel.parallel.context import (
    ParallelMode,
    get_algo_parameters,
    get_auto_parallel_context,
    get_ps_context,
    reset_algo_parameters,
    reset_auto_parallel_context,
    reset_ps_context,
    set_algo_parameters,
    set_auto_parallel_context,
    set_ps_context,
)
from mycel.parallel.layout import Layout
from mycel.parallel.layouts import AutoParallel, shard, sync_pipeline_shared_parameters

__all__ = [
    "AutoParallel",
    "Layout",
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
    "shard",
    "sync_pipeline_shared_parameters",
]
