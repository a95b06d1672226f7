# SPDX-License-Identifier: Apache-2.0
"""What mindspore.profiler.profiling means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.profiler import *
