# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of Tensor are; written by `python -m tools.stubs`, which see."""

from mycel.init.initializer import (
    init_data,
)
from mycel.ops.array.bands import (
    fill_diagonal, fill_diagonal as fill_diagonal_,
)
from mycel.ops.array.casting import (
    astype, is_complex, is_floating_point, is_signed, to_bfloat16 as bfloat16, to_bool as bool,
    to_float16 as half, to_float32 as float, to_float64 as double, to_int16 as short, to_int32 as
    int, to_int64 as long, to_type as type, to_uint8 as byte, type_as,
)
from mycel.ops.array.combinatorics import (
    unique_with_pad,
)
from mycel.ops.array.copying import (
    contiguous, detach, identity as clone, identity as copy, is_contiguous,
)
from mycel.ops.array.creation import (
    fill_method as fill, fill_method as fills, new_empty, new_full, new_ones, new_zeros,
)
from mycel.ops.array.diagonals import (
    diag_embed, diagflat, diagonal, tril, triu,
)
from mycel.ops.array.joining import (
    chunk, dsplit, hsplit, split, tensor_split, unbind, vsplit,
)
from mycel.ops.array.masking import (
    argwhere, masked_fill, masked_fill as masked_fill_, masked_select, nonzero,
)
from mycel.ops.array.ordering import (
    argsort, bincount, msort, searchsorted_method as searchsorted, sort, topk as top_k, topk,
    unique_consecutive, unique_sorted as unique,
)
from mycel.ops.array.replacing import (
    diagonal_scatter, inplace_update, resize, select_scatter, slice_scatter,
)
from mycel.ops.array.scatter import (
    index_fill, index_fill as index_fill_, tensor_scatter_add, tensor_scatter_div as scatter_div,
    tensor_scatter_div, tensor_scatter_max as scatter_max, tensor_scatter_max, tensor_scatter_min as
    scatter_min, tensor_scatter_min, tensor_scatter_mul as scatter_mul, tensor_scatter_mul,
    tensor_scatter_sub as scatter_sub, tensor_scatter_sub, tensor_scatter_update,
    unsorted_segment_max, unsorted_segment_min, with_index_added as index_add_,
)
from mycel.ops.array.selection import (
    choose, gather_elements, gather_nd, index_select, narrow,
)
from mycel.ops.array.shape import (
    broadcast_to, broadcast_to as expand, expand_as, expand_dims, expand_dims as unsqueeze,
    flatten_method as flatten, flip as reverse, fliplr, flipud, movedim as moveaxis, movedim,
    ndimension, numel as nelement, numel, ravel, repeat, repeat_interleave, reshape, reshape_as,
    reshape_as as view_as, reverse_sequence, roll, rot90, squeeze, swapaxes, swapaxes as swapdims, t,
)
from mycel.ops.math.accumulation import (
    cumprod, cumsum_method as cumsum, diff, logcumsumexp,
)
from mycel.ops.math.argminmax import (
    amax, amin, aminmax, argmax_method as argmax, argmax_with_value_method as argmax_with_value,
    argmin_method as argmin, argmin_with_value_method as argmin_with_value, cummax, cummin,
    max_method as max, min_method as min, ptp,
)
from mycel.ops.math.arithmetic import (
    abs as __abs__, abs, abs as absolute, add as __add__, add as __iadd__, add as __radd__,
    add_multiple as add, add_multiple as add_, divide as div, divide as div_, divide, floor_divide
    as __floordiv__, floor_divide as __ifloordiv__, floor_divide as __rfloordiv__, floor_divide,
    floor_divide as floor_divide_, fmod, maximum, minimum, mul as __imul__, mul as __mul__, mul as
    __rmul__, mul, mul as mul_, mul as multiply, neg as __neg__, neg, neg as negative, positive as
    __pos__, positive, remainder as __imod__, remainder as __mod__, remainder as __rmod__,
    remainder, remainder as remainder_, sign as sgn, sign, sign as sign_, sub as __isub__, sub as
    __rsub__, sub as __sub__, sub_multiple as sub, sub_multiple as sub_, sub_multiple as subtract,
    true_divide as __itruediv__, true_divide as __rtruediv__, true_divide as __truediv__,
    true_divide,
)
from mycel.ops.math.comparison import (
    allclose, approximate_equal, bitwise_and as __and__, bitwise_and as __iand__, bitwise_and as
    __rand__, bitwise_and, bitwise_left_shift as __ilshift__, bitwise_left_shift as __lshift__,
    bitwise_left_shift as __rlshift__, bitwise_left_shift, bitwise_not, bitwise_not as invert,
    bitwise_or as __ior__, bitwise_or as __or__, bitwise_or as __ror__, bitwise_or,
    bitwise_right_shift as __irshift__, bitwise_right_shift as __rrshift__, bitwise_right_shift as
    __rshift__, bitwise_right_shift, bitwise_xor as __ixor__, bitwise_xor as __rxor__, bitwise_xor
    as __xor__, bitwise_xor, differs as __ne__, equal as eq, equal, equals as __eq__, greater as
    __gt__, greater, greater as gt, greater_equal as __ge__, greater_equal as ge, greater_equal,
    isclose, less as __lt__, less, less as lt, less_equal as __le__, less_equal as le, less_equal,
    logical_and, logical_not as __invert__, logical_not, logical_or, logical_xor, not_equal as ne,
    not_equal, where,
)
from mycel.ops.math.complex_numbers import (
    angle, conj, imag, real,
)
from mycel.ops.math.decompositions import (
    cholesky, det, det as matrix_determinant, eigvals, geqrf, inverse, logdet, orgqr, ormqr,
    qr_method as qr, slogdet as log_matrix_determinant, slogdet, svd,
)
from mycel.ops.math.distances import (
    renorm,
)
from mycel.ops.math.elementwise import (
    addcdiv, addcmul, ceil, clamp, clamp as clip, copysign, digamma, erf, erfc, erfinv, erfinv as
    erfinv_, floor, floor as floor_, frac, gcd, heaviside, isfinite, isinf, isnan, isneginf,
    isposinf, isreal, lcm, lerp, lgamma, logit, nan_to_num, nextafter, round as __round__, round,
    signbit, trunc,
)
from mycel.ops.math.linear import (
    addbmm, addmm, addmm as addmm_, addmv, addr, baddbmm, bmm, cross, inner, matmul as __imatmul__,
    matmul as __matmul__, matmul as __rmatmul__, matmul, matrix_power, mm, outer as ger, outer,
    vector_dot as dot,
)
from mycel.ops.math.powers import (
    exp, exp as exp_, expm1, float_power, hypot, ldexp, log, log as log_, log10, log1p, log2,
    logaddexp, logaddexp2, pow as __rpow__, power as __ipow__, power as __pow__, power as pow,
    reciprocal, rsqrt, sqrt, square, xdivy, xlogy,
)
from mycel.ops.math.products import (
    adjoint, cov,
)
from mycel.ops.math.quantiles import (
    histc, median_method as median, nanmedian, nanquantile, quantile,
)
from mycel.ops.math.quotients import (
    fmax, fmin, inv,
)
from mycel.ops.math.reduction import (
    all_method as all, any_method as any, count_nonzero_method as count_nonzero, logsumexp,
    mean_method as mean, nanmean, nansum, prod_method as prod, sum_method as sum, sum_to_size,
)
from mycel.ops.math.segments import (
    unsorted_segment_prod,
)
from mycel.ops.math.solving import (
    cholesky_inverse, cholesky_solve, lstsq, lu_solve, triangular_solve,
)
from mycel.ops.math.special import (
    bessel_i0, bessel_i0 as i0, bessel_i0e, bessel_i1, bessel_i1e, bessel_j0, bessel_j1, bessel_k0,
    bessel_k0e, bessel_k1, bessel_k1e, igamma, igammac, mvlgamma, polygamma,
)
from mycel.ops.math.statistics import (
    norm, std_method as std, var_method as var,
)
from mycel.ops.math.trigonometry import (
    acos, acos as arccos, acosh, acosh as arccosh, asin as arcsin, asin, asinh as arcsinh, asinh,
    atan as arctan, atan, atan2 as arctan2, atan2, atanh as arctanh, atanh, cos, cosh, deg2rad,
    rad2deg, sin, sinc, sinh, tan,
)
from mycel.ops.nn.activation import (
    hardshrink, log_softmax, relu, sigmoid, sigmoid as sigmoid_, softmax, softshrink as soft_shrink,
    tanh, tanh as tanh_,
)
from mycel.ops.nn.patches import (
    col2im, fold,
)
from mycel.ops.nn.pooling import (
    unfold,
)
from mycel.ops.random.choices import (
    multinomial, random_categorical,
)
from mycel.ops.random.distributions import (
    cauchy, log_normal, uniform_like as uniform,
)
from mycel.ops.random.drawing import (
    mint_bernoulli as bernoulli,
)
from mycel.ops.sparse.sparse_functions import (
    dense_to_sparse_coo as to_coo, dense_to_sparse_csr as to_csr,
)
from mycel.ops.spelled.in_place_methods import (
    bernoulli_, clamp_, copy_, exponential_, fill_, normal_, random_, uniform_, zero_,
)
from mycel.ops.spelled.in_place_places import (
    index_copy as index_copy_, index_put, index_put as index_put_, masked_scatter, masked_scatter as
    masked_scatter_, put_, scatter_, scatter_add_, scatter_add_of as scatter_add,
)
from mycel.ops.spelled.members import (
    assign_value, data_sync, flush_from_cache, get_bytes, hooks, is_init, is_pinned, is_shared,
    requires_grad_, set_const_arg, set_init_flag, storage_offset, stride, to_tensor, wait_pipeline,
)
from mycel.ops.spelled.mint_variants import (
    kthvalue,
)
from mycel.ops.spelled.overloads import (
    diag_method as diag, flip_method as flip, gather_method as gather, index_add_method as
    index_add, move_to, permute_method as permute, scatter_method as scatter, select_method as
    select, take_method as take, tile_method as tile, to_, trace_method as trace, view,
)
