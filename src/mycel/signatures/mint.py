# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint are; written by `python -m tools.stubs`, which see."""

from mycel.ops.array.copying import (
    identity as clone,
)
from mycel.ops.array.creation import (
    arange, empty, empty_like, eye, full_like, linspace, mint_full as full, ones, ones_like, zeros,
    zeros_like,
)
from mycel.ops.array.diagonals import (
    mint_diag as diag, tril, triu,
)
from mycel.ops.array.joining import (
    chunk, concat as cat, concat, dstack, hstack, split, stack, unbind,
)
from mycel.ops.array.masking import (
    masked_select, nonzero,
)
from mycel.ops.array.ordering import (
    mint_bincount as bincount, searchsorted, unique_consecutive, unique_sorted as unique,
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
from mycel.ops.math.argminmax import (
    argmax, cummax, mint_argmin as argmin, mint_max as max, mint_min as min,
)
from mycel.ops.math.arithmetic import (
    abs, add_multiple as add, divide as div, divide, floor_divide, fmod, maximum, minimum, mul, neg,
    neg as negative, remainder, sign, sub_multiple as sub,
)
from mycel.ops.math.comparison import (
    allclose, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, equal as eq, greater, greater as
    gt, greater_equal as ge, greater_equal, isclose, less, less as lt, less_equal as le, less_equal,
    logical_and, logical_not, logical_or, logical_xor, mint_equal as equal, not_equal as ne,
    not_equal,
)
from mycel.ops.math.complex_numbers import (
    imag, polar, real,
)
from mycel.ops.math.decompositions import (
    inverse,
)
from mycel.ops.math.elementwise import (
    addcdiv, addcmul, ceil, clamp, clamp as clip, erf, erfc, erfinv, floor, frac, gcd, isfinite,
    isinf, isnan, isneginf, lerp, nan_to_num, round, trunc as fix, trunc,
)
from mycel.ops.math.linear import (
    addbmm, addmm, addmv, addr as addr_, baddbmm, cross, einsum, inner, matmul, mint_bmm as bmm, mm,
    mv, outer, vector_dot as dot,
)
from mycel.ops.math.powers import (
    exp, exp2, expm1, float_power, log, log10, log1p, log2, logaddexp, logaddexp2, power as pow,
    reciprocal, rsqrt, sqrt, square, xlogy,
)
from mycel.ops.math.quantiles import (
    histc, median_of_all as median,
)
from mycel.ops.math.reduction import (
    all, any, logsumexp, mean, nansum, prod, reduce_max as amax, reduce_min as amin, sum,
)
from mycel.ops.math.solving import (
    triangular_solve,
)
from mycel.ops.math.statistics import (
    mint_norm as norm, std, std_mean, var, var_mean,
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
    mint_conv as conv2d,
)
from mycel.ops.random.choices import (
    mint_multinomial as multinomial, randperm,
)
from mycel.ops.random.drawing import (
    mint_bernoulli as bernoulli, mint_normal as normal, mint_randint as randint, mint_randint_like
    as randint_like, rand, rand_like, randn, randn_like,
)
from mycel.ops.spelled.mint_variants import (
    argsort_int64 as argsort, batch_norm_elemt, batch_norm_gather_stats_with_counts,
    batch_norm_stats, conv_tbc, count_nonzero_int64 as count_nonzero, cummin_int64 as cummin,
    cumsum_int64 as cumsum, kthvalue, mint_cdist as cdist, mint_softmax as softmax, select_slice as
    select, sort_int64 as sort, topk_int64 as topk, trace_int64 as trace, vdot, where_or_nonzero as
    where,
)
