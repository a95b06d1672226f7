# SPDX-License-Identifier: Apache-2.0
"""MindSpore's `mint.nn`: layers and losses with PyTorch's arguments, functions in `functional`."""

from mycel.mint.nn import functional
from mycel.mint.nn.activation import *
from mycel.mint.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose2d
from mycel.mint.nn.linear import (
    Dropout,
    Dropout2d,
    Embedding,
    Fold,
    Linear,
    Unfold,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from mycel.mint.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
)
from mycel.mint.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    LayerNorm,
    SyncBatchNorm,
)
from mycel.mint.nn.padding import ZeroPad1d, ZeroPad3d
from mycel.mint.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool2d,
    MaxUnpool2d,
)
from mycel.nn.cell import Cell
from mycel.nn.layers.linear import Flatten, Identity
from mycel.nn.layers.padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad2d,
)
from mycel.nn.layers.resizing import PixelShuffle

__all__ = ["functional"]
__all__ += [name for name in dir() if name[0].isupper()]
