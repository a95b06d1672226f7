# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.nn means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.nn import *
from mindspore.mint.nn import functional as functional
from mindspore.mint.nn import layer as layer
