# SPDX-License-Identifier: Apache-2.0
"""What mindspore._c_expression means here; written by `python -m tools.stubs`, which see."""


from mycel import *
from mindspore._c_expression import amp as amp
from mindspore._c_expression import typing as typing
from mycel.compat.internals import empty_instance as __empty_instance  # pyright: ignore
_empty_instance = __empty_instance  # pyright: ignore
from mycel.compat.internals import pyboost_empty as pyboost_empty
from mycel.compat.internals import reset_op_id as reset_op_id
from mycel.debug.profiler import step_begins as __framework_profiler_step_start  # pyright: ignore
_framework_profiler_step_start = __framework_profiler_step_start  # pyright: ignore
from mycel.debug.profiler import step_ends as __framework_profiler_step_end  # pyright: ignore
_framework_profiler_step_end = __framework_profiler_step_end  # pyright: ignore
from mycel.compat.executor import ParamInfo as ParamInfo
from mycel import Tensor as _TensorPy
TensorPy = _TensorPy
from mycel.compat.initializers import fill_normal as __random_normal  # pyright: ignore
_random_normal = __random_normal  # pyright: ignore
from mycel.compat.initializers import fill_uniform as __random_uniform  # pyright: ignore
_random_uniform = __random_uniform  # pyright: ignore
from mycel.compat.initializers import fill_truncated_normal as __truncated_normal  # pyright: ignore
_truncated_normal = __truncated_normal  # pyright: ignore
from mycel.compat.older import MSContext as MSContext
from mycel.compat.older import disable_multi_thread as disable_multi_thread
from mycel.compat.older import ms_memory_recycle as __ms_memory_recycle  # pyright: ignore
_ms_memory_recycle = __ms_memory_recycle  # pyright: ignore
from mycel.nn.cell import Cell as _Cell_
Cell_ = _Cell_
