# SPDX-License-Identifier: Apache-2.0
"""What mindspore.profiler means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.profiler import *
from mindspore.profiler import profiler as profiler
from mindspore.profiler import profiling as profiling
from mycel.debug.profiler import ExperimentalConfig as __ExperimentalConfig  # pyright: ignore
_ExperimentalConfig = __ExperimentalConfig  # pyright: ignore
