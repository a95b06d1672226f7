# SPDX-License-Identifier: Apache-2.0
"""What mindspore.profiler.profiler means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.profiler import *
