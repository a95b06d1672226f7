# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint.nn.functional are; written by `python -m tools.stubs`, which see."""

from mycel.ops.array.masking import (
    one_hot_classes as one_hot,
)
from mycel.ops.array.shape import (
    flatten,
)
from mycel.ops.math.distances import (
    embedding,
)
from mycel.ops.math.linear import (
    dense as linear,
)
from mycel.ops.nn.activation import (
    elu, elu as elu_, gelu, glu, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh as
    hardtanh_, leaky_relu, logsigmoid, mish, prelu, relu, relu as relu_, relu6, selu, sigmoid,
    sigmoid as sigmoid_, silu, softplus, softshrink, tanh, threshold, threshold as threshold_,
)
from mycel.ops.nn.convolution import (
    padded_conv as conv1d, padded_conv as conv2d, padded_conv as conv3d,
)
from mycel.ops.nn.loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy_of_mint as cross_entropy,
    kl_div, l1_loss, mse_loss, nll_loss_of_mint as nll_loss, smooth_l1_loss,
)
from mycel.ops.nn.margins import (
    cosine_embedding_loss, soft_margin_loss,
)
from mycel.ops.nn.normalization import (
    batch_norm, group_norm, layer_norm,
)
from mycel.ops.nn.padding import (
    pad,
)
from mycel.ops.nn.patches import (
    fold, pixel_shuffle,
)
from mycel.ops.nn.pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, avg_pool1d, avg_pool2d, max_pool2d, unfold,
)
from mycel.ops.nn.resizing import (
    interpolate_exactly as interpolate, interpolate_exactly as upsample,
)
from mycel.ops.nn.sampling import (
    grid_sample,
)
from mycel.ops.nn.transposed import (
    conv_transpose as conv_transpose2d,
)
from mycel.ops.nn.volumes import (
    adaptive_avg_pool3d, adaptive_max_pool_line as adaptive_max_pool1d, avg_pool3d,
)
from mycel.ops.spelled.in_place import (
    dropout_of as dropout, dropout_of_channels as dropout2d,
)
from mycel.ops.spelled.only_in_mint import (
    adaptive_max_pool_with_positions as adaptive_max_pool2d, log_softmax_along as log_softmax,
    max_unpool_image as max_unpool2d, normalize, softmax_along as softmax,
)
