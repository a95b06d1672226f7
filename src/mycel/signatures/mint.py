# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint are; written by `python -m tools.stubs`, which see."""

from mycel.ops.array.copying import (
    identity as clone,
)
from mycel.ops.array.creation import (
    arange, empty, empty_like, eye, full_like, full_of as full, linspace, ones, ones_like, zeros,
    zeros_like,
)
from mycel.ops.array.diagonals import (
    diag_matrix as diag, tril, triu,
)
from mycel.ops.array.joining import (
    chunk, concat as cat, concat, dstack, hstack, split, stack, unbind,
)
from mycel.ops.array.masking import (
    masked_select, nonzero,
)
from mycel.ops.array.ordering import (
    searchsorted, unique_consecutive, unique_sorted as unique, whole_counts as bincount,
)
from mycel.ops.array.scatter import (
    scatter_elements as scatter, scatter_elements as scatter_add, with_index_added as index_add,
)
from mycel.ops.array.selection import (
    gather_elements as gather, index_select, narrow, take,
)
from mycel.ops.array.shape import (
    broadcast_to, expand_dims as unsqueeze, flatten, flip, ravel, repeat_interleave, reshape, roll,
    squeeze, swapaxes, swapaxes as transpose, t, tile, transpose as permute,
)
from mycel.ops.math.accumulation import (
    cumprod, diff,
)
from mycel.ops.math.arithmetic import (
    abs, add_multiple as add, divide as div, divide, floor_divide, fmod, maximum, minimum, mul, neg,
    neg as negative, remainder, sign, sub_multiple as sub,
)
from mycel.ops.math.comparison import (
    allclose, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, equal as eq, greater, greater as
    gt, greater_equal as ge, greater_equal, isclose, less, less as lt, less_equal as le, less_equal,
    logical_and, logical_not, logical_or, logical_xor, not_equal as ne, not_equal, same as equal,
)
from mycel.ops.math.complex_numbers import (
    imag, polar, real,
)
from mycel.ops.math.decompositions import (
    inverse,
)
from mycel.ops.math.elementwise import (
    addcdiv, addcmul, ceil, clamp, clamp as clip, erf, erfc, erfinv, floor, frac, gcd, isfinite,
    isinf, isnan, isneginf, lerp, nan_to_num, round, trunc,
)
from mycel.ops.math.extremes import (
    argmax, cummax, long_argmin as argmin, max_of as max, median_method as median, min_of as min,
)
from mycel.ops.math.linear import (
    addbmm, addmm, addmv, addr as addr_, baddbmm, batch_mat_mul as bmm, cross, einsum, inner,
    matmul, mm, mv, outer, vector_dot as dot,
)
from mycel.ops.math.powers import (
    exp, exp2, expm1, float_power, log, log10, log1p, log2, logaddexp, logaddexp2, raised as pow,
    reciprocal, rsqrt, sqrt, square, xlogy,
)
from mycel.ops.math.quantiles import (
    histc,
)
from mycel.ops.math.reduction import (
    all, any, logsumexp, mean, nansum, prod, reduce_max as amax, reduce_min as amin, sum,
)
from mycel.ops.math.solving import (
    triangular_solve,
)
from mycel.ops.math.statistics import (
    norm_of as norm, std, std_mean, var, var_mean,
)
from mycel.ops.math.trigonometry import (
    acos, acos as arccos, acosh, acosh as arccosh, asin as arcsin, asin, asinh as arcsinh, asinh,
    atan as arctan, atan, atan2 as arctan2, atan2, atanh as arctanh, atanh, cos, cosh, sin, sinc,
    sinh, tan,
)
from mycel.ops.nn.activation import (
    gelu as npu_gelu, sigmoid, tanh,
)
from mycel.ops.nn.convolution import (
    padded_conv as conv2d,
)
from mycel.ops.random.drawing import (
    bernoulli_of as bernoulli, multinomial_of as multinomial, normal_of as normal, rand, rand_like,
    randint_like_of as randint_like, randint_of as randint, randn, randn_like, randperm,
)
from mycel.ops.spelled.only_in_mint import (
    channel_statistics as batch_norm_stats, conjugate_dot as vdot, conv_time_first as conv_tbc,
    distances as cdist, gathered_batch_statistics as batch_norm_gather_stats_with_counts,
    greatest_with_places as topk, kth_smallest as kthvalue, long_count as count_nonzero, long_cummin
    as cummin, long_cumsum as cumsum, long_trace as trace, normalised_channels as batch_norm_elemt,
    one_slice as select, softmax_along as softmax, sorted_with_places as sort, sorting_places as
    argsort, where_or_nonzero as where,
)
