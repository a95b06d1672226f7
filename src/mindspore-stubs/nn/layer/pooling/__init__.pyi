# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.pooling means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import AvgPool1d as _AvgPool1dExt
AvgPool1dExt = _AvgPool1dExt
from mycel.mint.nn import AvgPool2d as _AvgPool2dExt
AvgPool2dExt = _AvgPool2dExt
from mycel.mint.nn import AvgPool3d as _AvgPool3dExt
AvgPool3dExt = _AvgPool3dExt
from mycel.mint.nn import MaxPool2d as _MaxPool2dExt
MaxPool2dExt = _MaxPool2dExt
