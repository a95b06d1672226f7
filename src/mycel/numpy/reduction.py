# SPDX-License-Identifier: Apache-2.0
"""Sums, means, extremes and their like over dimensions; `axis` None means all of them."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, float64, int32, uint32
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_real,
    as_tensor,
    axes_of,
    axis_of,
    element,
    in_type,
)
from mycel.ops.math.reduction import reduce_max, reduce_min, reduce_sum
from mycel.ops.math.statistics import root_of_squares

_SHORT = ("bool", "int8", "int16")
_SHORT_UNSIGNED = ("uint8", "uint16")


def sum(a, axis=None, dtype=None, keepdims=False, initial=None):
    """The sum over `axis`, beginning with `initial`; integers and booleans add up as Int64.

    Example:
        >>> print(ms.numpy.sum(Tensor([[1, 2], [3, 4]]), 0))
        [4 6]
    """
    a = as_tensor(a, "a")
    kind = None if dtype is None else element(dtype)
    total = ops.sum(a, axes_of(axis, a.ndim), keepdims, kind)
    return total if initial is None else in_type(ops.add(total, initial), total.dtype)


def mean(a, axis=None, keepdims=False, dtype=None):
    """The mean over `axis`; of integers without what lies behind the point, unless in a real type.

    Example:
        >>> print(ms.numpy.mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
        [2. 3.]
    """
    a = in_type(as_tensor(a, "a"), dtype)
    return ops.mean(a, axes_of(axis, a.ndim), keepdims)


def std(x, axis=None, ddof=0, keepdims=False):
    """The standard deviation over `axis`; integers give Float32.

    Example:
        >>> print(ms.numpy.std(Tensor([1.0, 3.0])))
        1.0
    """
    x = as_real(x)
    return ops.std(x, axes_of(axis, x.ndim), ddof, keepdims)


def var(x, axis=None, ddof=0, keepdims=False):
    """The variance over `axis`: squared distances from the mean, divided by count - `ddof`.

    Example:
        >>> print(ms.numpy.var(Tensor([1.0, 5.0])))
        4.0
    """
    x = as_real(x)
    return ops.var(x, axes_of(axis, x.ndim), ddof, keepdims)


def _extreme(operator, a, axis, keepdims, initial, where):
    a = as_tensor(a, "a")
    masked = where is not True and where is not None
    if masked and initial is None:
        raise errors.wrong(ValueError, "initial", "given beside `where`", "None")
    if initial is not None and not isinstance(initial, (bool, int, float, Tensor)):
        raise errors.wrong(TypeError, "initial", "a number", type(initial).__name__)
    mask = as_tensor(where, "where") if masked else None
    return operator(a, axes_of(axis, a.ndim), keepdims, initial, mask)


def amax(a, axis=None, keepdims=False, initial=None, where=True):
    """The largest element along `axis`, at least `initial`; equal ones share the gradient.

    Args:
        where: a Bool Tensor of the elements that count; it needs an `initial`.

    Example:
        >>> print(ms.numpy.amax(Tensor([[1, 2], [3, 4]]), 1))
        [2 4]
    """
    return _extreme(ops.amax, a, axis, keepdims, initial, where)


def amin(a, axis=None, keepdims=False, initial=None, where=True):
    """The smallest element along `axis`, at most `initial`; equal ones share the gradient.

    Args:
        where: a Bool Tensor of the elements that count; it needs an `initial`.

    Example:
        >>> print(ms.numpy.amin(Tensor([[1, 2], [3, 4]]), 1))
        [1 3]
    """
    return _extreme(ops.amin, a, axis, keepdims, initial, where)


max, min = amax, amin


def ptp(x, axis=None, keepdims=False):
    """The largest less the smallest element along `axis`.

    Example:
        >>> print(ms.numpy.ptp(Tensor([3, 7, 5])))
        4
    """
    return ops.sub(amax(x, axis, keepdims), amin(x, axis, keepdims))


def argmax(a, axis=None):
    """Where the first largest element along `axis` is, Int64.

    Example:
        >>> print(ms.numpy.argmax(Tensor([3, 7, 5])))
        1
    """
    return _place(ops.argmax, a, axis)


def argmin(a, axis=None):
    """Where the first smallest element along `axis` is, Int32.

    Example:
        >>> print(ms.numpy.argmin(Tensor([3, 7, 5])))
        0
    """
    return _place(ops.argmin, a, axis)


def _place(operator, a, axis):
    a = as_tensor(a, "a")
    if a.dtype.name == "bool":
        a = ops.cast(a, int32)
    return operator(a, None if axis is None else axis_of(axis, a.ndim))


def count_nonzero(x, axis=None, keepdims=False):
    """How many elements along `axis` are not zero, Int32.

    Example:
        >>> print(ms.numpy.count_nonzero(Tensor([0, 2, 3])))
        2
    """
    x = as_tensor(x, "x")
    return ops.count_nonzero(x, axes_of(axis, x.ndim), keepdims)


def cumsum(a, axis=None, dtype=None):
    """The sums of all elements up to each one along `axis`; short integers add up as Int32.

    Example:
        >>> print(ms.numpy.cumsum(Tensor([[1, 2], [3, 4]])))
        [ 1  3  6 10]
    """
    return _running(ops.cumsum, a, axis, dtype, (*_SHORT, *_SHORT_UNSIGNED), ())


def cumprod(a, axis=None, dtype=None):
    """The products of all elements up to each one along `axis`; short integers as Int32 or UInt32.

    Example:
        >>> print(ms.numpy.cumprod(Tensor([1, 2, 3])))
        [1 2 6]
    """
    a = a if isinstance(a, Tensor) else Tensor(a)
    return _running(ops.cumprod, a, axis, dtype, _SHORT, _SHORT_UNSIGNED)


def _running(operator, a, axis, dtype, signed, unsigned):
    a = as_tensor(a, "a")
    if axis is None:
        a, axis = ops.reshape(a, (-1,)), 0
    if dtype is not None:
        kind = element(dtype)
    elif a.dtype.name in signed:
        kind = int32
    else:
        kind = uint32 if a.dtype.name in unsigned else a.dtype
    return operator(a, axis_of(axis, a.ndim), kind)


# -- as if what is no number were not there ---------------------------------------------


def _numbers(a, instead) -> Tensor:
    """The Tensor with `instead` in the place of NaN."""
    return ops.where(ops.isnan(a), instead, a) if a.dtype.is_inexact else a


def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum over `axis` of all that are numbers, in the type of a.

    Example:
        >>> print(ms.numpy.nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    a = as_tensor(a, "a")
    return in_type(reduce_sum(_numbers(a, 0), axes_of(axis, a.ndim), keepdims), dtype)


def nancumsum(a, axis=None, dtype=None):
    """The sums of all elements up to each one along `axis`; what is no number counts as 0.

    Example:
        >>> print(ms.numpy.nancumsum(Tensor([1.0, float("nan"), 3.0])))
        [1. 1. 4.]
    """
    return cumsum(_numbers(as_tensor(a, "a"), 0), axis, dtype)


def _counted(a, axes, keepdims):
    """The Tensor in a real type of at least Float32, and how many numbers each sum has."""
    a = ops.cast(a, float64 if a.dtype is float64 else float32)
    there = ops.cast(ops.logical_not(ops.isnan(a)), a.dtype)
    return a, reduce_sum(there, axes, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=False):
    """The mean over `axis` of all that are numbers: Float32, of Float64 Float64.

    Example:
        >>> print(ms.numpy.nanmean(Tensor([1.0, float("nan"), 3.0])))
        2.0
    """
    a = as_tensor(a, "a")
    axes = axes_of(axis, a.ndim)
    a, count = _counted(a, axes, keepdims)
    return in_type(ops.true_divide(reduce_sum(_numbers(a, 0), axes, keepdims), count), dtype)


def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False):
    """The variance over `axis` of all that are numbers, Float32.

    Example:
        >>> print(ms.numpy.nanvar(Tensor([1.0, float("nan"), 5.0])))
        4.0
    """
    return in_type(_nan_variance(a, axis, ddof, keepdims), dtype or float32)


def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False):
    """The standard deviation over `axis` of all that are numbers, Float32.

    Example:
        >>> print(ms.numpy.nanstd(Tensor([1.0, float("nan"), 5.0])))
        2.0
    """
    return in_type(root_of_squares(_nan_variance(a, axis, ddof, keepdims)), dtype or float32)


def _nan_variance(a, axis, ddof, keepdims):
    a = as_tensor(a, "a")
    axes = axes_of(axis, a.ndim)
    middle = nanmean(a, axes, keepdims=True)
    a, count = _counted(a, axes, keepdims)
    apart = ops.square(_numbers(ops.sub(a, middle), 0))
    return ops.true_divide(reduce_sum(apart, axes, keepdims), ops.sub(count, ddof))


def nanmax(a, axis=None, dtype=None, keepdims=False):
    """The largest number along `axis`; NaN where there is none.

    Example:
        >>> print(ms.numpy.nanmax(Tensor([1.0, float("nan"), 3.0])))
        3.0
    """
    return in_type(_nan_extreme(reduce_max, a, axis, keepdims, float("-inf")), dtype)


def nanmin(a, axis=None, dtype=None, keepdims=False):
    """The smallest number along `axis`; NaN where there is none.

    Example:
        >>> print(ms.numpy.nanmin(Tensor([1.0, float("nan"), 3.0])))
        1.0
    """
    return in_type(_nan_extreme(reduce_min, a, axis, keepdims, float("inf")), dtype)


def _nan_extreme(operator, a, axis, keepdims, instead):
    a = as_tensor(a, "a")
    axes = axes_of(axis, a.ndim)
    if not a.dtype.is_inexact:
        return operator(a, axes, bool(keepdims))
    reduced = operator(_numbers(a, instead), axes, bool(keepdims))
    return ops.where(ops.all(ops.isnan(a), axes, bool(keepdims)), float("nan"), reduced)
