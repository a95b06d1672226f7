# SPDX-License-Identifier: Apache-2.0
"""Functions that MindSpore has in `mint` only, most of them combinations of other operators."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.base.dtypes import int64
from mycel.kernel.base.errors import wrong
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.kernel.spell.assign import assigned
from mycel.ops.array.axes import axes_in, axis_in, several
from mycel.ops.array.casting import cast
from mycel.ops.array.diagonals import trace
from mycel.ops.array.masking import nonzero
from mycel.ops.array.ordering import argsort, sort, topk
from mycel.ops.common import as_float, promoted
from mycel.ops.math.accumulation import cumsum
from mycel.ops.math.argminmax import cummin
from mycel.ops.math.comparison import where
from mycel.ops.math.lengths import length
from mycel.ops.math.linear import cdist
from mycel.ops.math.reduction import count_nonzero
from mycel.ops.nn.activation import log_softmax, softmax
from mycel.ops.nn.convolution import mint_conv
from mycel.ops.nn.pooling import adaptive_max_pool2d
from mycel.ops.nn.volumes import adaptive_max_pool_image


def _whole(x) -> bool:
    return not x.dtype.is_inexact


@composite("mint.count_nonzero(input=x, dim=axis)")
def count_nonzero_int64(x, axis=None):
    """As `ops.count_nonzero`, but Int64.

    Example:
        >>> print(mint.count_nonzero(Tensor([0, 2, 3])))
        2
    """
    return count_nonzero(x, axis, False, "int64")


@composite("mint.cumsum(input=x, dim=axis, dtype=dtype)")
def cumsum_int64(x, axis, dtype=None):
    """Running sums along an axis; those of integers are Int64.

    Args:
        x: any shape.
        axis: the dimension along which elements are added.
        dtype: the element type of the result; None, the default, for Int64 of integers and
            booleans, and for that of `x` otherwise.

    Example:
        >>> print(mint.cumsum(Tensor([1, 2, 3]), 0))
        [1 3 6]
    """
    return cumsum(x, axis, int64 if dtype is None and _whole(x) else dtype)


@composite("mint.cummin(input=x, dim=axis)")
def cummin_int64(x, axis) -> tuple[Tensor, Tensor]:
    """As `ops.cummin`, but with Int64 indices.

    Example:
        >>> print(*mint.cummin(Tensor([5, 1, 4]), 0))
        [5 1 1] [0 1 1]
    """
    smallest, index = cummin(x, axis)
    return smallest, cast(index, int64)


@composite("mint.trace(input=x)")
def trace_int64(x):
    """As `ops.trace`, but Int64 of integers.

    Example:
        >>> print(mint.trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    return trace(cast(x, int64) if _whole(x) else x)


@composite("mint.where(condition, input=x, other=y)")
def where_or_nonzero(condition, x=None, y=None) -> Any:
    """x where the condition holds, y elsewhere; without them, where the condition holds.

    The positions where it holds are a tuple of index vectors, one for each dimension.

    Args:
        condition: a Bool Tensor; in one of numbers, 0 counts as False.
        x: a Tensor or a number; the shapes are broadcast. Left out with `y`.
        y: a Tensor or a number. Left out with `x`.

    Raises:
        TypeError: only one of the two is given.

    Example:
        >>> print(*mint.where(Tensor([True, False, True])))
        [0 2]
    """
    if x is None and y is None:
        return nonzero(condition, True)
    if x is None or y is None:
        raise wrong(TypeError, "mint.where", "called with both `input` and `other`", "one of them")
    return where(x, y, condition)


@op("mint.nn.functional.normalize(input=x, p=order, dim=axis, eps=epsilon)")
def normalize(x, *, order=2.0, axis=1, epsilon=1e-12):
    """x divided by its p-norm along a dimension.

    Args:
        x: any shape; integers are taken as Float32.
        order: the p of the norm, 2 by default.
        axis: the dimension, or a tuple of several; 1 by default.
        epsilon: the least value of the norm, 1e-12 by default; it keeps the divisor from 0.

    Example:
        >>> print(mint.nn.functional.normalize(Tensor([[3.0, 4.0]])))
        [[0.6 0.8]]
    """
    x = as_float(x)
    axes = axes_in(axis, x.ndim)
    most = length(x, order, axes, True)
    return x / jnp.maximum(most, jnp.array(epsilon, most.dtype))


def _dimension(dim, rank):
    """The dimension that PyTorch chooses where none is given."""
    return (0 if rank in (0, 1, 3) else 1) if dim is None else dim


@composite(
    "mint.softmax(input=x, dim=dim, dtype=dtype)",
    "mint.nn.functional.softmax(input=x, dim=dim, dtype=dtype)",
)
def mint_softmax(x, dim=None, dtype=None):
    """exp(x), divided by its sum along `dim`; None is the first for 0, 1 and 3 dimensions of x,
    else the second.

    Args:
        x: any shape, real.
        dim: the dimension along which the results add up to 1; None, the default, for 0 if `x` has
            0, 1 or 3 dimensions, and for 1 otherwise.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(mint.softmax(Tensor([1.0, 1.0]), -1))
        [0.5 0.5]
    """
    return softmax(x, _dimension(dim, x.ndim), dtype)


@composite(
    "mint.nn.functional.log_softmax(input=x, dim=dim, dtype=dtype)",
    "mint.special.log_softmax(input=x, dim=dim, dtype=dtype)",
)
def mint_log_softmax(x, dim=None, dtype=None):
    """The logarithm of softmax along a dimension, computed without underflow.

    Args:
        x: any shape, real.
        dim: the dimension along which the softmax adds up to 1; None, the default, for 0 if `x` has
            0, 1 or 3 dimensions, and for 1 otherwise.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(mint.nn.functional.log_softmax(Tensor([1.0, 1.0]), -1))
        [-0.6931472 -0.6931472]
    """
    return log_softmax(x, _dimension(dim, x.ndim), dtype)


@op(
    indices=lambda x, index, *, lengths: [
        Bounds(1, 0, lengths[0] * lengths[1], operator="max_unpool2d")
    ]
)
def unpooled_maxima(x, index, *, lengths):
    """Zeros (…, H, W) with the elements of x at positions counted through H and W.

    Example:
        >>> from mycel.ops.spelled.mint_variants import unpooled_maxima
        >>> print(unpooled_maxima(Tensor([[[[5.0]]]]), Tensor([[[[1]]]]), (1, 2)))
        [[[[0. 5.]]]]
    """
    front = x.shape[:-2]
    made = jnp.zeros((*front, lengths[0] * lengths[1]), x.dtype)
    flat = x.reshape(*front, -1)
    made = jnp.put_along_axis(made, index.reshape(flat.shape), flat, -1, inplace=False)
    return made.reshape(*front, *lengths)


@composite(
    "mint.nn.functional.max_unpool2d(input=x, indices=index, kernel_size=kernel_size,"
    " stride=None, padding=0, output_size=None)"
)
def mint_max_unpool2d(x, index, kernel_size, stride=None, padding=0, output_size=None):
    """Maxima (…, H', W') back at their positions in (…, H, W), zeros elsewhere.

    Args:
        x: [..., H', W'].
        index: the positions, counted through H and W, as `max_pool2d` gives them.
        kernel_size, stride, padding: those of the pooling.
        output_size: (H, W), or a shape that ends so; None is the least that was pooled.

    Raises:
        ValueError: the shapes differ, or `output_size` is further than a stride from the usual one.

    Example:
        >>> found = mint.nn.functional.max_unpool2d(Tensor([[[4.0]]]), Tensor([[[3]]]), 2)
        >>> print(found)
        [[[0. 0.]
          [0. 4.]]]
    """
    if x.shape != index.shape or x.ndim not in (3, 4):
        raise ValueError(f"input {x.shape} and indices {index.shape} must be [N, C, H, W] alike.")
    kernel = several(kernel_size, 2, "kernel_size")
    stride = kernel if stride is None else several(stride, 2, "stride")
    padding = several(padding, 2, "padding")
    steps = zip(x.shape[-2:], stride, padding, kernel, strict=True)
    usual = tuple((n - 1) * s - 2 * p + k for n, s, p, k in steps)
    lengths = usual if output_size is None else tuple(output_size)[-2:]
    apart = zip(lengths, usual, stride, strict=True)
    if any(not n - s < wanted < n + s for wanted, n, s in apart):
        raise ValueError(f"output_size {lengths} must be less than a stride from {usual}.")
    return unpooled_maxima(x, index, lengths)


@composite(
    "ops.adaptive_max_pool2d(input=x, output_size=output_size, return_indices=positions)",
    "mint.nn.functional.adaptive_max_pool2d(input=x, output_size=output_size,"
    " return_indices=positions)",
)
def adaptive_max_pool2d_with_indices(x, output_size, positions=False) -> Any:
    """The maxima of regions that cover H and W, on request with their positions.

    Args:
        x: [N, C, H, W] or [C, H, W].
        output_size: the number of regions along H and W, one number or two; None keeps a length.
        positions: whether the positions of the maxima, counted through H and W, are given too,
            Int64; False by default.

    Example:
        >>> print(mint.nn.functional.adaptive_max_pool2d(Tensor([[[1.0, 3.0]]]), 1, True)[1])
        [[[1]]]
    """
    pooled = adaptive_max_pool_image if positions else adaptive_max_pool2d
    return pooled(x, output_size)


# -- single functions ----------------------------------------------------------------------


@op("mint.select(input=x, dim=axis, index=index)")
def select_slice(x, *, axis, index):
    """The slice of x at one position along a dimension, without that dimension.

    Args:
        x: at least one dimension.
        axis: the dimension.
        index: the position; a negative one counts from the end.

    Raises:
        ValueError: the position is out of range.

    Example:
        >>> print(mint.select(Tensor([[1, 2], [3, 4]]), 1, -1))
        [2 4]
    """
    axis = axis_in(axis, x.ndim)
    length = x.shape[axis]
    if not -length <= index < length:
        raise ValueError(
            f"The index {index} is out of range for dimension {axis} of length {length}."
        )
    return lax.index_in_dim(x, index % length, axis, keepdims=False)


@composite("mint.cdist(x1=x, x2=y, p=order, compute_mode=how)")
def mint_cdist(x, y, order=2.0, how="use_mm_for_euclid_dist_if_necessary"):
    """The distances of all rows of x and y: (…, n, k) and (…, m, k) give (…, n, m).

    Args:
        x: [..., N, K].
        y: [..., M, K]; the result is [..., N, M].
        order: p, the order of the lengths.
        how: `compute_mode`, accepted: lengths are never found by products here.

    Raises:
        ValueError: `compute_mode` is unknown, or the lengths of the rows differ.

    Example:
        >>> print(mint.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [[5.]]
    """
    known = "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist"
    if how not in (*known, "donot_use_mm_for_euclid_dist"):
        raise ValueError(f"compute_mode must be one of {known} and their opposite, not {how!r}.")
    return cdist(x, y, float(order))


@composite("mint.sort(input=x, dim=(axis, -1), descending=False, stable=False)")
def sort_int64(x, axis=-1, descending=False, stable=False) -> tuple[Tensor, Tensor]:
    """x in order along `dim`, and where each element was, Int64.

    Args:
        x: any shape.
        axis: the dimension in which elements are ordered, the last one by default.
        descending: whether the largest come first; False by default.
        stable: accepted; equal elements always keep their order here.

    Example:
        >>> print(mint.sort(Tensor([3, 1, 2]))[1])
        [1 2 0]
    """
    del stable
    made, places = sort(x, axis, descending)
    return made, cast(places, int64)


@composite("mint.argsort(input=x, dim=(axis, -1), descending=False, stable=False)")
def argsort_int64(x, axis=-1, descending=False, stable=False):
    """Where the elements of x in order are, along `dim`, Int64.

    Args:
        x: any shape.
        axis: the dimension in which elements are ordered, the last one by default.
        descending: whether the largest come first; False by default.
        stable: accepted; equal elements always keep their order here.

    Example:
        >>> print(mint.argsort(Tensor([3, 1, 2])))
        [1 2 0]
    """
    del stable
    return cast(argsort(x, axis, descending), int64)


@composite("mint.topk(input=x, k=k, dim=axis, largest=True, sorted=True)")
def topk_int64(x, k, axis=-1, largest=True, sorted=True) -> tuple[Tensor, Tensor]:
    """The k largest elements along a dimension, in order, and their Int64 positions.

    Args:
        x: any shape.
        k: how many elements, from 0 to the length of the dimension.
        axis: the dimension, the last one by default.
        largest: False takes the smallest.
        sorted: no effect; the elements always come in order.

    Example:
        >>> print(mint.topk(Tensor([3, 1, 2]), 2)[1])
        [0 2]
    """
    made, places = topk(x, k, axis, largest, sorted)
    return made, cast(places, int64)


@op("mint.vdot(input=x, other=y)")
def vdot(x, y):
    """The sum of products of two vectors, of which the first is conjugated.

    Raises:
        ValueError: an input is not a vector, or their lengths differ.

    Example:
        >>> print(mint.vdot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
        11.0
    """
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"vdot needs two vectors of one length, not {x.shape} and {y.shape}.")
    x, y = promoted(x, y)
    return jnp.vdot(x, y)


@op("mint.kthvalue(input=x, k=k, dim=axis, keepdim=keepdims)",
    "Tensor.kthvalue(x, k=k, dim=axis, keepdim=keepdims)")  # fmt: skip
def kthvalue(x, *, k, axis=-1, keepdims=False) -> tuple[Array, Array]:
    """The k-th smallest element along a dimension, and its Int64 position.

    Args:
        x: at least one dimension.
        k: which element, counted from 1.
        axis: the dimension, the last one by default.
        keepdims: whether it stays, with length 1; False by default.

    Raises:
        ValueError: k lies outside the dimension.

    Example:
        >>> value, place = mint.kthvalue(Tensor([3.0, 1.0, 2.0]), 2)
        >>> print(value, place)
        2.0 2
    """
    axis = axis_in(axis, x.ndim)
    if not 1 <= k <= x.shape[axis]:
        raise ValueError(f"k must lie within 1 … {x.shape[axis]}, but it is {k}.")
    place = lax.slice_in_dim(jnp.argsort(x, axis), k - 1, k, axis=axis).astype(np.int64)
    value = jnp.take_along_axis(x, place, axis)
    return (value, place) if keepdims else (value.squeeze(axis), place.squeeze(axis))


@composite("mint.conv_tbc(input=x, weight=weight, bias=bias, pad=padding)")
def conv_tbc(x, weight, bias, padding=0):
    """Slide kernels along time: (time, batch, channels) to (time', batch, out channels).

    Args:
        x: [time, batch, channels].
        weight: (kernel, channels, out channels).
        bias: [out channels].
        padding: zeros at both ends.

    Example:
        >>> x, weight = ops.ones((3, 1, 2)), ops.ones((2, 2, 1))
        >>> print(mint.conv_tbc(x, weight, ops.ones(1)).reshape(-1))
        [5. 5.]
    """
    made = mint_conv(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, padding)
    return made.permute(2, 0, 1)


# -- the steps of a batch normalisation over several devices --------------------------------


def _of_channels(vector, x):
    return vector.reshape(1, -1, *[1] * (x.ndim - 2))


@op("mint.batch_norm_stats(input=x, eps=epsilon)")
def batch_norm_stats(x, *, epsilon) -> tuple[Array, Array]:
    """The mean of each channel of [N, C, …], and 1 / √(variance + eps).

    Example:
        >>> print(mint.batch_norm_stats(Tensor([[1.0], [3.0]]), 0.0))
        (Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00]),
         Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00]))
    """
    wide = x.astype(np.promote_types(np.float32, x.dtype))
    axes = (0, *range(2, x.ndim))
    return wide.mean(axes), lax.rsqrt(wide.var(axes) + epsilon)


@op("mint.batch_norm_elemt(input=x, weight=weight, bias=bias, mean=mean, invstd=inverse,"
    " eps=epsilon)")  # fmt: skip
def batch_norm_elemt(x, weight=None, bias=None, mean=None, inverse=None, *, epsilon=1e-5):
    """(x - mean) · invstd · weight + bias, with a number of each for each channel of [N, C, …].

    Args:
        x: [N, C, ...].
        weight, bias: [C]; None, the default, for 1 and 0.
        mean, inverse: [C], as `mint.batch_norm_stats` gives them.
        epsilon: accepted; it is part of invstd already.

    Example:
        >>> one = Tensor([1.0])
        >>> print(mint.batch_norm_elemt(Tensor([[3.0]]), one, one, one, one))
        [[3.]]
    """
    del epsilon
    if mean is not None:
        x = x - _of_channels(mean, x).astype(x.dtype)
    for factor in (inverse, weight):
        if factor is not None:
            x = x * _of_channels(factor, x).astype(x.dtype)
    return x if bias is None else x + _of_channels(bias, x).astype(x.dtype)


@op()
def combined_statistics(means, inverses, counts, *, epsilon):
    """Mean, 1 / √(variance + eps), unbiased variance of all, from those of several parts.

    Example:
        >>> from mycel.ops.spelled.mint_variants import combined_statistics
        >>> means, inverses = Tensor([[1.0], [3.0]]), Tensor([[1.0], [1.0]])
        >>> print(combined_statistics(means, inverses, Tensor([2.0, 2.0]), 0.0)[0])
        [2.]
    """
    counts = counts.astype(means.dtype).reshape(-1, 1)
    total = counts.sum()
    mean = (means * counts).sum(0) / total
    squares = (1 / jnp.square(inverses) - epsilon + jnp.square(means)) * counts
    variance = squares.sum(0) / total - jnp.square(mean)
    return mean, lax.rsqrt(variance + epsilon), variance * total / jnp.maximum(total - 1, 1)


@composite(
    "mint.batch_norm_gather_stats_with_counts(input=x, mean=means, invstd=inverses,"
    " running_mean=running_mean, running_var=running_var, momentum=0.1, eps=(epsilon, 1e-5),"
    " counts=counts)"
)
def batch_norm_gather_stats_with_counts(
    x,
    means,
    inverses,
    running_mean=None,
    running_var=None,
    momentum=0.1,
    epsilon=1e-5,
    counts=None,
) -> tuple[Tensor, Tensor]:
    """Mean and invstd of all parts of a batch, and the moving statistics moved towards them.

    Args:
        x: [N, C, ...], the part of the batch that is here.
        means, inverses: (parts, C), as `mint.batch_norm_stats` gives them for each part.
        running_mean, running_var: [C], the moving statistics, which are updated; None, the default,
            for none.
        momentum: the share of the batch in the new moving statistics, 0.1 by default.
        epsilon: what is added to the variance, 1e-5 by default.
        counts: [parts]: how many elements of each channel each part has; None, the default, for as
            many as `x`.

    Example:
        >>> x, means, inverses = ops.ones((2, 1)), Tensor([[1.0], [3.0]]), Tensor([[1.0], [1.0]])
        >>> found = mint.batch_norm_gather_stats_with_counts(
        ...     x, means, inverses, counts=Tensor([2.0, 2.0]))
        >>> print(found[0])
        [2.]
    """
    if counts is None:
        counts = Tensor(np.full(means.shape[0], x.size // x.shape[1], np.float32))
    mean, inverse, variance = combined_statistics(means, inverses, counts, epsilon)
    if running_mean is not None:
        assigned(running_mean, running_mean * (1 - momentum) + mean * momentum)
    if running_var is not None:
        assigned(running_var, running_var * (1 - momentum) + variance * momentum)
    return mean, inverse
