# SPDX-License-Identifier: Apache-2.0
"""Where the classes of mycel.mint.nn are; written by `python -m tools.stubs`, which see."""

from mycel.mint.nn.activation import (
    GELU, Hardtanh, PReLU,
)
from mycel.mint.nn.convolution import (
    Conv1d, Conv2d, Conv3d, ConvTranspose2d,
)
from mycel.mint.nn.linear import (
    Dropout, Dropout2d, Embedding, Fold, Linear, Unfold,
)
from mycel.mint.nn.loss import (
    BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, KLDivLoss, NLLLoss,
)
from mycel.mint.nn.normalization import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, LayerNorm, SyncBatchNorm,
)
from mycel.mint.nn.pooling import (
    AdaptiveMaxPool2d, AvgPool1d, AvgPool2d, AvgPool3d, MaxPool2d, MaxUnpool2d,
)
from mycel.nn.layers.activation import (
    ELU, GLU, HShrink as Hardshrink, HSigmoid as Hardsigmoid, HSwish as Hardswish, LogSigmoid,
    LogSoftmax, Mish, ReLU, ReLU6, SeLU as SELU, SiLU, Sigmoid, SoftShrink as Softshrink, Softmax,
    Tanh, Threshold,
)
from mycel.nn.layers.linear import (
    Flatten,
)
from mycel.nn.layers.pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d,
)
from mycel.nn.layers.resizing import (
    PixelShuffle, Upsample,
)
from mycel.nn.layers.volumes import (
    AdaptiveAvgPool3d, AdaptiveMaxPool1d,
)
from mycel.nn.loss import (
    L1Loss, MSELoss, SmoothL1Loss,
)
from mycel.nn.margin_loss import (
    SoftMarginLoss,
)
