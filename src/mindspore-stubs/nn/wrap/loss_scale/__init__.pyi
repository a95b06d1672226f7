# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.wrap.loss_scale means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.amp import *
from mycel.nn.loss_scale import *
from mycel.compat.internals import grad_scale as grad_scale
from mycel.compat.internals import grad_scale as __grad_scale  # pyright: ignore
_grad_scale = __grad_scale  # pyright: ignore
from mycel.compat.internals import shard_grad_scale as shard_grad_scale
from mycel.nn.loss_scale import gradient_overflow as __grad_overflow  # pyright: ignore
_grad_overflow = __grad_overflow  # pyright: ignore
