# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint.nn.functional are; written by `python -m tools.stubs`, which see."""

from mycel.ops.array.masking import (
    mint_one_hot as one_hot,
)
from mycel.ops.array.shape import (
    flatten,
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
    mint_conv as conv1d, mint_conv as conv2d, mint_conv as conv3d,
)
from mycel.ops.nn.embedding import (
    embedding,
)
from mycel.ops.nn.loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, mint_cross_entropy as
    cross_entropy, mint_nll_loss as nll_loss,
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
    adaptive_avg_pool as adaptive_avg_pool1d, adaptive_avg_pool as adaptive_avg_pool2d,
    adaptive_avg_pool as adaptive_avg_pool3d, avg_pool as avg_pool1d, avg_pool as avg_pool2d,
    avg_pool as avg_pool3d, max_pool2d, unfold,
)
from mycel.ops.nn.regression_loss import (
    l1_loss, mse_loss, smooth_l1_loss,
)
from mycel.ops.nn.resizing import (
    mint_interpolate as interpolate, mint_interpolate as upsample,
)
from mycel.ops.nn.sampling import (
    grid_sample,
)
from mycel.ops.nn.transposed import (
    conv_transpose as conv_transpose2d,
)
from mycel.ops.nn.volumes import (
    mint_adaptive_max_pool1d as adaptive_max_pool1d,
)
from mycel.ops.spelled.in_place import (
    mint_dropout as dropout, mint_dropout2d as dropout2d,
)
from mycel.ops.spelled.mint_variants import (
    adaptive_max_pool2d_with_indices as adaptive_max_pool2d, mint_log_softmax as log_softmax,
    mint_max_unpool2d as max_unpool2d, mint_softmax as softmax, normalize,
)
