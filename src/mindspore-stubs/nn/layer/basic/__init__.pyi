# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.basic means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import Dropout as _DropoutExt
DropoutExt = _DropoutExt
from mycel.mint.nn import Dropout2d as _Dropout2dExt
Dropout2dExt = _Dropout2dExt
