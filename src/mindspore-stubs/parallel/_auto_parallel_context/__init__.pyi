# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._auto_parallel_context means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.context import *
