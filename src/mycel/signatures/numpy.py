# SPDX-License-Identifier: Apache-2.0
"""Where the functions of mycel.numpy are; written by `python -m tools.stubs`, which see."""

from mycel.numpy.arithmetic import (
    add, arctan2, bitwise_and, bitwise_or, bitwise_xor, clip, copysign, divide, divide as
    true_divide, divmod, float_power, floor_divide, fmod, gcd, heaviside, hypot, invert as
    bitwise_not, invert, lcm, logaddexp, logaddexp2, maximum, minimum, multiply, power, remainder as
    mod, remainder, subtract,
)
from mycel.numpy.choosing import (
    apply_along_axis, apply_over_axes, argwhere, array_str, choose, in1d, intersect1d, isin,
    piecewise, ravel_multi_index, select, setdiff1d, size, take, take_along_axis, unique,
    unravel_index, where,
)
from mycel.numpy.creation import (
    arange, array, asarray, asfarray, copy, empty, empty_like, full, full_like, geomspace, linspace,
    logspace, ones, ones_like, rand, randint, randn, zeros, zeros_like,
)
from mycel.numpy.differences import (
    diff, ediff1d, gradient, polyadd, polyder, polyint, polymul, polysub, polyval, trapz, unwrap,
)
from mycel.numpy.dtypes import (
    promote_types, result_type,
)
from mycel.numpy.elementwise import (
    abs, abs as absolute, abs as fabs, arccos, arccosh, arcsin, arcsinh, arctan, arctanh, around,
    around as round, cbrt, ceil, cos, cosh, deg2rad, deg2rad as radians, exp, exp2, expm1, fix,
    floor, log, log10, log1p, log2, negative, positive, rad2deg, reciprocal, rint, sign, sin, sinh,
    sqrt, square, tan, tanh, trunc,
)
from mycel.numpy.grids import (
    bartlett, blackman, diag, diag_indices, diagflat, diagonal, eye, hamming, hanning, identity,
    indices, ix_, meshgrid, trace, tri, tril, tril_indices, tril_indices_from, triu, triu_indices,
    triu_indices_from, vander,
)
from mycel.numpy.layout import (
    append, array_split, atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_to,
    column_stack, concatenate, dsplit, dstack, expand_dims, flip, fliplr, flipud, hsplit, hstack,
    moveaxis, ravel, repeat, reshape, roll, rollaxis, rot90, split, squeeze, stack, swapaxes, tile,
    transpose, vsplit, vstack,
)
from mycel.numpy.logic import (
    array_equal, array_equiv, equal, greater, greater_equal, isclose, isfinite, isinf, isnan,
    isneginf, isposinf, isscalar, less, less_equal, logical_and, logical_not, logical_or,
    logical_xor, not_equal, signbit, sometrue,
)
from mycel.numpy.products import (
    cross, dot, inner, kron, matmul, matrix_power, multi_dot, norm, outer, tensordot,
)
from mycel.numpy.reduction import (
    amax, amax as max, amin, amin as min, argmax, argmin, count_nonzero, cumprod, cumsum, mean,
    nancumsum, nanmax, nanmean, nanmin, nanstd, nansum, nanvar, ptp, std, sum, var,
)
from mycel.numpy.signal import (
    convolve, correlate, pad,
)
from mycel.numpy.statistics import (
    average, bincount, corrcoef, cov, digitize, histogram, histogram2d, histogram_bin_edges,
    histogramdd, interp, searchsorted,
)
