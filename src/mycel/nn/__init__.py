# SPDX-License-Identifier: Apache-2.0
"""Networks: Cell, containers, layers and losses. Optimisers are added by the package root."""

from mycel.nn.cell import Cell
from mycel.nn.containers import CellDict, CellList, SequentialCell
from mycel.nn.layers.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    FastGelu,
    Hardtanh,
    HShrink,
    HSigmoid,
    HSwish,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    SeLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    SoftShrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
    get_activation,
)
from mycel.nn.layers.basic import Dropout, Dropout2d, Embedding, OneHot, Pad, Unflatten
from mycel.nn.layers.convolution import Conv1d, Conv2d
from mycel.nn.layers.images import (
    MSSSIM,
    PSNR,
    SSIM,
    CentralCrop,
    ImageGradients,
)
from mycel.nn.layers.joined import (
    BiDense,
    Conv2dBnAct,
    DenseBnAct,
    TimeDistributed,
)
from mycel.nn.layers.linear import Dense, Flatten, Identity, MatMul
from mycel.nn.layers.lookup import (
    EmbeddingLookup,
    MultiFieldEmbeddingLookup,
)
from mycel.nn.layers.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    SyncBatchNorm,
)
from mycel.nn.layers.operators import (
    LRN,
    ChannelShuffle,
    ClipByNorm,
    Dropout1d,
    Dropout3d,
    L1Regularizer,
    Moments,
    Norm,
    Range,
    ReduceLogSumExp,
    Roll,
    Tril,
    Triu,
)
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
from mycel.nn.layers.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from mycel.nn.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from mycel.nn.layers.resizing import PixelShuffle, PixelUnshuffle, ResizeBilinear, Unfold, Upsample
from mycel.nn.layers.second_order import (
    Conv2dThor,
    DenseThor,
    EmbeddingLookupThor,
    EmbeddingThor,
)
from mycel.nn.layers.sparse import SparseTensorDenseMatmul, SparseToDense
from mycel.nn.layers.special import (
    DiGamma,
    IGamma,
    Jvp,
    LBeta,
    LGamma,
    MatDet,
    MatInverse,
    MatrixDiag,
    MatrixDiagPart,
    MatrixSetDiag,
    Vjp,
)
from mycel.nn.layers.transformer import (
    FlashAttention,
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from mycel.nn.layers.transposed import Conv1dTranspose, Conv2dTranspose, Conv3dTranspose
from mycel.nn.layers.unpooling import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    LPPool1d,
    LPPool2d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from mycel.nn.layers.volumes import (
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool3d,
    AvgPool3d,
    Conv3d,
    MaxPool3d,
)
from mycel.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LossBase,
    MAELoss,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    RMSELoss,
    SmoothL1Loss,
    SoftmaxCrossEntropyWithLogits,
)
from mycel.nn.loss_scale import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
)
from mycel.nn.margin_loss import (
    CTCLoss,
    DiceLoss,
    FocalLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    MultiClassDiceLoss,
    MultilabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    PoissonNLLLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from mycel.nn.sampled_loss import (
    SampledSoftmaxLoss,
)
from mycel.nn.wrap import (
    ForwardValueAndGrad,
    TrainOneStepCell,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)

__all__ = ["get_activation"]
__all__ += [name for name in dir() if name[0].isupper()]
