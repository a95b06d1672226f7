# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.loss.loss means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import L1Loss as _L1LossExt
L1LossExt = _L1LossExt
from mycel.nn.loss import LossBase as __Loss  # pyright: ignore
_Loss = __Loss  # pyright: ignore
