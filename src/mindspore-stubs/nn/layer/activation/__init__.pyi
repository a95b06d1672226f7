# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.activation means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import PReLU as _PReLUExt
PReLUExt = _PReLUExt
from mycel.mint.nn import LogSoftmax as _LogSoftmaxExt
LogSoftmaxExt = _LogSoftmaxExt
from mycel.nn.layers.activation import ACTIVATIONS as __activation  # pyright: ignore
_activation = __activation  # pyright: ignore
