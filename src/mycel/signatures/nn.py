# SPDX-License-Identifier: Apache-2.0
"""Where the classes of mycel.nn are; written by `python -m tools.stubs`, which see."""

from mycel.nn.layers.activation import (
    CELU, ELU, FastGelu, GELU, GLU, HShrink, HSigmoid, HSwish, Hardtanh, LeakyReLU, LogSigmoid,
    LogSoftmax, Mish, PReLU, RReLU, ReLU, ReLU6, SeLU, SiLU, Sigmoid, SoftShrink, Softmax, Softmin,
    Softsign, Tanh, Tanhshrink, Threshold,
)
from mycel.nn.layers.basic import (
    Dropout, Dropout2d, Embedding, OneHot, Pad,
)
from mycel.nn.layers.convolution import (
    Conv1d, Conv2d,
)
from mycel.nn.layers.images import (
    MSSSIM, PSNR, SSIM,
)
from mycel.nn.layers.joined import (
    BiDense, Conv2dBnAct, DenseBnAct,
)
from mycel.nn.layers.linear import (
    Dense, Flatten,
)
from mycel.nn.layers.lookup import (
    EmbeddingLookup, MultiFieldEmbeddingLookup,
)
from mycel.nn.layers.normalization import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,
    InstanceNorm3d, LayerNorm, SyncBatchNorm,
)
from mycel.nn.layers.operators import (
    ChannelShuffle, Dropout1d, Dropout3d, LRN, Norm, Range,
)
from mycel.nn.layers.pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d,
)
from mycel.nn.layers.recurrent import (
    GRU, GRUCell, LSTM, RNN, RNNCell,
)
from mycel.nn.layers.resizing import (
    PixelShuffle, PixelUnshuffle, Unfold, Upsample,
)
from mycel.nn.layers.second_order import (
    Conv2dThor, DenseThor, EmbeddingLookupThor, EmbeddingThor,
)
from mycel.nn.layers.special import (
    DiGamma, IGamma, LGamma, MatDet, MatInverse,
)
from mycel.nn.layers.transformer import (
    FlashAttention, MultiheadAttention, Transformer, TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from mycel.nn.layers.transposed import (
    Conv1dTranspose, Conv2dTranspose, Conv3dTranspose,
)
from mycel.nn.layers.unpooling import (
    LPPool1d, LPPool2d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
)
from mycel.nn.layers.volumes import (
    AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool3d, AvgPool3d, Conv3d, MaxPool3d,
)
from mycel.nn.loss import (
    BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, HuberLoss, KLDivLoss, L1Loss,
    LossBase, MAELoss, MSELoss, MarginRankingLoss, NLLLoss, SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from mycel.nn.margin_loss import (
    CTCLoss, DiceLoss, FocalLoss, GaussianNLLLoss, HingeEmbeddingLoss, MultiClassDiceLoss,
    MultiLabelSoftMarginLoss, MultiMarginLoss, MultilabelMarginLoss, PoissonNLLLoss, SoftMarginLoss,
    TripletMarginLoss, TripletMarginWithDistanceLoss,
)
from mycel.nn.sampled_loss import (
    SampledSoftmaxLoss,
)
from mycel.optim.adam import (
    AdaMax, Adam, AdamOffload, AdamWeightDecay, LazyAdam,
)
from mycel.optim.adaptive import (
    Adadelta, Adagrad, FTRL, ProximalAdagrad, RMSProp,
)
from mycel.optim.averaged import (
    ASGD, Rprop,
)
from mycel.optim.factored import (
    AdaFactor,
)
from mycel.optim.layerwise import (
    LARS, Lamb,
)
from mycel.optim.momentum import (
    Momentum,
)
from mycel.optim.optimizer import (
    Optimizer,
)
from mycel.optim.sgd import (
    SGD,
)
