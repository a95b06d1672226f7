# SPDX-License-Identifier: Apache-2.0
"""Weighted means, covariances, histograms and places in an order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, int32
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import as_tensor, axes_of, in_type, meeting_type
from mycel.numpy.creation import linspace
from mycel.numpy.layout import concatenate
from mycel.ops.array.selection import nearest
from mycel.ops.math.arithmetic import real_div
from mycel.ops.math.reduction import reduce_sum


def average(x, axis=None, weights=None, returned=False) -> Any:
    """The weighted mean over `axis`; on demand also the sum of the weights.

    Args:
        weights: of the shape of x, or a vector along `axis`; without them all are 1.

    Example:
        >>> print(ms.numpy.average(Tensor([1.0, 4.0]), weights=Tensor([2.0, 1.0])))
        2.0
    """
    x = as_tensor(x, "x")
    axes = axes_of(axis, x.ndim)
    if weights is None:
        mean = ops.mean(x, axes)
        count = math.prod(x.shape[i] for i in axes)
        return (mean, ops.full_like(mean, count)) if returned else mean
    weights = as_tensor(weights, "weights")
    if weights.shape != x.shape:
        if weights.ndim != 1 or axis is None or len(axes) != 1:
            expected = "of the shape of x, or a vector beside one axis"
            raise errors.wrong(TypeError, "weights", expected, f"shape {weights.shape}")
        weights = ops.reshape(weights, (-1, *(1,) * (x.ndim - axes[0] - 1)))
    total = reduce_sum(ops.mul(x, weights), axes)
    share = reduce_sum(ops.broadcast_to(weights, x.shape), axes)
    mean = real_div(total, share)
    return (mean, share) if returned else mean


def _rows(m, rowvar, name):
    m = ops.cast(as_tensor(m, name), float32)
    if m.ndim > 2:
        raise errors.wrong(ValueError, name, "of at most two dimensions", m.ndim)
    if not isinstance(rowvar, bool):
        raise errors.wrong(TypeError, "rowvar", "True or False", repr(rowvar))
    if m.ndim < 2:
        m = ops.reshape(m, (1, -1))
    return m if rowvar or m.shape[0] == 1 else ops.swapaxes(m, 0, 1)


def _weights(weights, count: int, name: str):
    weights = as_tensor(weights, name)
    if weights.shape != (count,):
        raise errors.wrong(RuntimeError, name, f"a vector of {count}", f"shape {weights.shape}")
    return ops.abs(ops.cast(weights, float32))


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariances of the rows of m (and of y), Float32.

    Args:
        rowvar: a row is a variable; otherwise a column is.
        bias, ddof: the divisor is the count of observations less `ddof`: 1, or 0 if `bias`.
        fweights, aweights: how often each observation counts, and how much.

    Example:
        >>> print(ms.numpy.cov(Tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    m = _rows(m, rowvar, "m")
    if y is not None:
        m = concatenate((m, _rows(y, rowvar, "y")), 0)
    observations = m.shape[1]
    ddof = (0 if bias else 1) if ddof is None else ddof
    often = None if fweights is None else _weights(fweights, observations, "fweights")
    much = None if aweights is None else _weights(aweights, observations, "aweights")
    covariance = ops.cov(m, correction=ddof, fweights=often, aweights=much)
    return in_type(ops.squeeze(covariance), dtype)


def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The correlations of the rows of x (and of y), from -1 to 1, Float32.

    Example:
        >>> print(ms.numpy.corrcoef(Tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])))
        [[ 1. -1.]
         [-1.  1.]]
    """
    covariance = cov(x, y, rowvar)
    if not covariance.ndim:
        return in_type(ops.true_divide(covariance, covariance), dtype)
    size = ops.sqrt(ops.diagonal(covariance))
    covariance = covariance / ops.expand_dims(size, 1) / ops.expand_dims(size, 0)
    return in_type(ops.clip(covariance, -1, 1), dtype)


def searchsorted(a, v, side="left", sorter=None):
    """Where values can be put into a vector so that it stays in order, Int32.

    Args:
        side: 'left' in front of equal elements, 'right' behind them.
        sorter: positions that bring `a` into order.

    Example:
        >>> print(ms.numpy.searchsorted([1, 3], [0, 3, 4]))
        [0 1 2]
    """
    a, v = as_tensor(a, "a"), as_tensor(v, "v")
    if a.ndim != 1:
        raise errors.wrong(ValueError, "a", "a vector", f"shape {a.shape}")
    if sorter is not None:
        sorter = as_tensor(sorter, "sorter")
        if sorter.shape != a.shape:
            raise errors.wrong(ValueError, "sorter", f"of shape {a.shape}", sorter.shape)
    return ops.searchsorted(a, v, out_int32=True, side=side, sorter=sorter)


def digitize(x, bins, right=False):
    """The number of the bin that each value lies in, Int32; bins go up or down.

    Args:
        right: whether a bin contains its right end instead of its left.

    Example:
        >>> print(ms.numpy.digitize([0.5, 1.0, 7.0], [1.0, 2.0]))
        [0 1 2]
    """
    x, bins = as_tensor(x, "x"), as_tensor(bins, "bins")
    if bins.ndim != 1:
        raise errors.wrong(ValueError, "bins", "a vector", f"shape {bins.shape}")
    if not bins.size:
        return ops.zeros(x.shape, int32)
    side = "left" if right else "right"
    up = searchsorted(bins, x, side)
    down = ops.sub(bins.size, searchsorted(ops.flip(bins, 0), x, side))
    return ops.where(ops.less_equal(bins[0], bins[-1]), up, down)


def interp(x, xp, fp, left=None, right=None):
    """The line through the points (xp, fp) at the places x, Float32, unless x is wider.

    Args:
        left, right: the values outside the points; those of the first and last by default.

    Example:
        >>> print(ms.numpy.interp([0.0, 1.5], [1.0, 2.0], [3.0, 5.0]))
        [3. 4.]
    """
    x = as_tensor(x, "x")
    xp, fp = (ops.cast(as_tensor(p, "xp and fp"), float32) for p in (xp, fp))
    if xp.ndim != 1 or fp.shape != xp.shape:
        shown = f"shapes {xp.shape} and {fp.shape}"
        raise errors.wrong(ValueError, "xp and fp", "vectors of one length", shown)
    upper = ops.clip(searchsorted(xp, x), 0, xp.size - 1)
    lower = ops.clip(ops.sub(upper, 1), 0, xp.size - 1)
    x_0, x_1, y_0, y_1 = (nearest(p, i, 0) for p in (xp, fp) for i in (lower, upper))
    width = ops.sub(x_1, x_0)
    same = ops.equal(width, 0)
    share = ops.true_divide(ops.sub(x, x_0), ops.where(same, 1.0, width))
    values = ops.add(y_0, ops.mul(ops.sub(y_1, y_0), ops.where(same, 0.0, share)))
    outside = ((ops.less(x, xp[0]), left, 0), (ops.greater(x, xp[-1]), right, -1))
    for there, value, end in outside:
        values = ops.where(there, fp[end] if value is None else as_tensor(value), values)
    return values


def bincount(x, weights=None, minlength=0, length=None):
    """How often each number from 0 on comes, or the sum of its weights, Float32.

    Negative numbers count as 0.

    Args:
        length: how many numbers there are; without it the largest is read.

    Example:
        >>> print(ms.numpy.bincount([0, 2, 2]))
        [1. 0. 2.]
    """
    x = as_tensor(x, "x")
    if x.ndim != 1:
        raise errors.wrong(ValueError, "x", "a vector", f"shape {x.shape}")
    if x.dtype.is_inexact or x.dtype.name == "bool":
        raise errors.wrong(TypeError, "x", "of integers", x.dtype)
    x = ops.clip(x, 0, None)
    if length is None:
        length = max(int(ops.amax(x)) if x.size else -1, minlength - 1) + 1
    if weights is None:
        weights = ops.ones(x.shape, float32)
    weights = ops.cast(as_tensor(weights, "weights"), float32)
    if weights.shape != x.shape:
        raise errors.wrong(ValueError, "weights", f"of shape {x.shape}", weights.shape)
    return _counted(x, weights, length)


def _counted(index, weights, length: int):
    """The sum of the weights of every number from 0 to before `length`."""
    inside = ops.logical_and(ops.greater_equal(index, 0), ops.less(index, length))
    index = ops.where(inside, index, length)
    return ops.unsorted_segment_sum(weights, index, length + 1)[:length]


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of bins of one width from the smallest to the largest element, Float32.

    Args:
        bins: how many; or the edges themselves.
        range: where the first bin begins and the last ends, instead.
        weights: accepted; it changes nothing.

    Example:
        >>> print(ms.numpy.histogram_bin_edges([0.0, 2.0], 2))
        [0. 1. 2.]
    """
    del weights  # Only widths that are worked out from the data would need them.
    if isinstance(bins, (tuple, list, Tensor)):
        bins = as_tensor(bins, "bins")
        if bins.ndim != 1:
            raise errors.wrong(ValueError, "bins", "a vector", f"shape {bins.shape}")
        return bins
    if isinstance(bins, bool) or not isinstance(bins, int):
        raise errors.wrong(NotImplementedError, "bins", "a number or edges", repr(bins))
    if range is None:
        a = ops.cast(ops.reshape(as_tensor(a, "a"), (-1,)), float32)
        start, end = ops.amin(a), ops.amax(a)
    else:
        if not isinstance(range, (tuple, list)) or len(range) != 2 or range[0] > range[1]:
            raise errors.wrong(ValueError, "range", "(start, end)", range)
        start, end = (ops.cast(as_tensor(n), float32) for n in range)
    half = ops.where(ops.equal(start, end), 0.5, 0.0)
    return linspace(ops.sub(start, half), ops.add(end, half), bins + 1)


def _bin_of(values, edges):
    """The bin of each value, from 1 on; 0 and the number of edges lie outside."""
    bins = searchsorted(edges, values, "right")
    return ops.where(ops.equal(values, edges[-1]), edges.size - 1, bins)


def histogram(a, bins=10, range=None, weights=None, density=False) -> tuple[Tensor, Tensor]:
    """How many elements lie in each bin, Float32, and the edges of the bins.

    Args:
        bins, range: see `histogram_bin_edges`.
        weights: what each element counts.
        density: divide so that the area is 1.

    Example:
        >>> print(*ms.numpy.histogram([0.0, 0.5, 2.0], 2))
        [2. 1.] [0. 1. 2.]
    """
    a = as_tensor(a, "a")
    sample = ops.reshape(a, (-1, 1))
    if weights is not None:
        weights = as_tensor(weights, "weights")
        if weights.shape != a.shape:
            raise errors.wrong(ValueError, "weights", f"of shape {a.shape}", weights.shape)
        weights = ops.reshape(weights, (-1,))
    count, edges = _histogram(sample, [bins], [range], weights, density)
    return count, edges[0]


def histogramdd(
    sample, bins=10, range=None, weights=None, density=False
) -> tuple[Tensor, list[Tensor]]:
    """How many points lie in each box, Float32, and a list of the edges along each dimension.

    Args:
        sample: a row for each point; or a sequence of vectors, one for each dimension.
        bins, range: as in `histogram`, one entry for each dimension, or a number of bins for all.
        weights: what each point counts.
        density: divide so that the volume is 1.

    Example:
        >>> count, edges = ms.numpy.histogramdd(Tensor([[0.0, 0.0], [1.0, 2.0]]), 2)
        >>> print(count)
        [[1. 0.]
         [0. 1.]]
    """
    if isinstance(sample, (tuple, list)):
        parts = [as_tensor(x, "sample") for x in sample]
        meeting = meeting_type(*parts)
        sample = ops.stack([ops.cast(x, meeting) for x in parts], -1)
    sample = as_tensor(sample, "sample")
    if sample.ndim != 2:
        raise errors.wrong(ValueError, "sample", "a row for each point", f"shape {sample.shape}")
    ndim = sample.shape[1]
    bins = [bins] * ndim if isinstance(bins, int) else bins
    range = [None] * ndim if range is None else range
    for name, given in (("bins", bins), ("range", range)):
        if len(given) != ndim:
            raise errors.wrong(ValueError, name, f"{ndim} entries", len(given))
    return _histogram(sample, bins, range, weights, density)


def _histogram(sample, bins, ranges, weights, density):
    columns = ops.unbind(sample, 1)
    edges = [
        histogram_bin_edges(column, count, span)
        for column, count, span in zip(columns, bins, ranges, strict=True)
    ]
    if weights is None:
        weights = ops.ones((sample.shape[0],), float32)
    weights = ops.cast(as_tensor(weights, "weights"), float32)
    # One bin more at each end takes what lies outside.
    shape = tuple(edge.size + 1 for edge in edges)
    index = None
    for column, edge, length in zip(columns, edges, shape, strict=True):
        place = _bin_of(column, edge)
        index = place if index is None else ops.add(ops.mul(index, length), place)
    count = ops.reshape(_counted(index, weights, int(np.prod(shape))), shape)
    count = count[(slice(1, -1),) * len(edges)]
    if density:
        count = ops.true_divide(count, ops.sum(count))
        for axis, edge in enumerate(edges):
            widths = ops.cast(ops.sub(edge[1:], edge[:-1]), float32)
            count = ops.true_divide(
                count, ops.reshape(widths, (-1, *[1] * (len(edges) - axis - 1)))
            )
    return count, edges


def histogram2d(
    x, y, bins=10, range=None, weights=None, density=False
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points lie in each rectangle, Float32, and the edges along both dimensions.

    Args:
        x, y: the coordinates of the points.
        bins, range, weights, density: see `histogramdd`.

    Example:
        >>> print(ms.numpy.histogram2d(Tensor([0.0, 1.0]), Tensor([0.0, 2.0]), 2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    count, (first, second) = histogramdd((x, y), bins, range, weights, density)
    return count, first, second
