# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.normalization means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.mint.nn import LayerNorm as _LayerNormExt
LayerNormExt = _LayerNormExt
from mycel.nn.layers.normalization import _BatchNorm as _BatchNorm  # pyright: ignore
