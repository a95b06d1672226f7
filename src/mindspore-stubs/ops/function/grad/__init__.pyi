# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.function.grad means here; written by `python -m tools.stubs`, which see."""


from mycel import *
from mycel.ops import *
