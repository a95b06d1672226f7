# SPDX-License-Identifier: Apache-2.0
"""Quantiles and medians, histograms, and other counts."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import int32, int64, numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.ordering import places_in_order, searchsorted
from mycel.ops.common import as_float, as_wide, is_half, quotient, sum_of
from mycel.ops.math.argminmax import pick
from mycel.ops.math.reduction import first_given


@op("ops.median(input=x, axis=axis, keepdims=keepdims)")
def median(x, *, axis=-1, keepdims=False) -> tuple[Array, Array]:
    """The median along a dimension, the lower of the two middle elements, and its Int64 index.

    Args:
        x: any shape.
        axis: the dimension, the last one by default.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*ops.median(Tensor([[3, 1, 2]])))
        [2] [2]
    """
    axis = axis_in(axis, x.ndim)
    if not x.ndim:
        return x, jnp.zeros((), np.int64)
    if not x.shape[axis]:
        raise ValueError(f"There is no median of {x.shape} along axis {axis}.")
    order = jnp.argsort(x, axis)
    middle = (x.shape[axis] - 1) // 2
    index = lax.slice_in_dim(order, middle, middle + 1, axis=axis).astype(np.int64)
    # Among others NaN has no place in the order: the first one is the answer.
    missing = x != x
    first = jnp.argmax(missing, axis, keepdims=True).astype(np.int64)
    index = jnp.where(jnp.any(missing, axis, keepdims=True), first, index)
    value = pick(x, index, axis)
    return (value, index) if keepdims else (value.squeeze(axis), index.squeeze(axis))


@composite("Tensor.median(x, axis=axis, keepdims=keepdims, dim=dim, keepdim=keepdim)")
def median_method(x, axis=-1, keepdims=False, dim=None, keepdim=None) -> tuple[Tensor, Tensor]:
    """The median along a dimension, the lower of the two middle elements, and its Int64 index.

    Args:
        x: any shape.
        axis: the dimension, the last one by default.
        keepdims: whether the dimension stays, with length 1; False by default.
        dim: another name for `axis`.
        keepdim: another name for `keepdims`.

    Example:
        >>> print(*Tensor([[3, 1, 2]]).median())
        [2] [2]
    """
    return median(x, first_given(dim, axis), bool(first_given(keepdim, keepdims)))


@composite("mint.median(input=x, dim=dim, keepdim=keepdim)")
def median_of_all(x, dim=None, keepdim=False):
    """The median along a dimension and its Int64 index; or the median of all elements alone.

    Args:
        x: any shape.
        dim: the dimension; None, the default, for all elements, without an index.
        keepdim: whether the dimension stays, with length 1; False by default.

    Example:
        >>> print(mint.median(Tensor([3, 1, 2])))
        2
    """
    return median(x.reshape(-1))[0] if dim is None else median(x, dim, bool(keepdim))


@op()
def quantiles(x, q, *, axis, keepdims, missing):
    """The values below which the shares q of x lie; see `quantile`.

    Example:
        >>> from mycel.ops.math.quantiles import quantiles
        >>> print(quantiles(Tensor([1.0, 3.0]), Tensor(0.5), None, False, False))
        2.0
    """
    find = jnp.nanquantile if missing else jnp.quantile
    return find(as_float(x), q.astype(as_float(x).dtype), axis, keepdims=keepdims)


def _quantile(x, q, axis, keepdims, missing):
    if not isinstance(q, Tensor):
        outside = [n for n in np.ravel(q) if not 0 <= n <= 1]
        if outside:
            raise errors.wrong(ValueError, "q of a quantile", "from 0 to 1", str(outside[0]))
        real = x.dtype.name in ("float32", "float64")
        q = Tensor(np.asarray(q, numpy_dtype(x.dtype) if real else np.float32))
    return quantiles(x, q, axis, keepdims, missing)


@composite(
    "ops.quantile(input=x, q=q, axis=axis, keepdims=keepdims)",
    "Tensor.quantile(x, q=q, axis=axis, keepdims=keepdims)",
)
def quantile(x, q, axis=None, keepdims=False):
    """The value below which the fraction q of x lies, interpolated between two elements if need be.

    Args:
        x: any shape; integers are taken as Float32.
        q: a number from 0 to 1, or a vector of them: then the first dimension of the result is
            theirs.
        axis: the dimension along which; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.

    Raises:
        ValueError: q is not from 0 to 1.

    Example:
        >>> print(ops.quantile(Tensor([1.0, 2.0, 4.0]), 0.75))
        3.0
    """
    return _quantile(x, q, axis, keepdims, False)


@composite(
    "ops.nanquantile(input=x, q=q, axis=axis, keepdims=keepdims)",
    "Tensor.nanquantile(x, q=q, axis=axis, keepdims=keepdims)",
)
def nanquantile(x, q, axis=None, keepdims=False):
    """`ops.quantile` of the elements that are not NaN.

    Args:
        x: any shape; integers are taken as Float32.
        q: a number from 0 to 1, or a vector of them: then the first dimension of the result is
            theirs.
        axis: the dimension along which; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.

    Example:
        >>> print(ops.nanquantile(Tensor([1.0, float("nan"), 2.0]), 0.5))
        1.5
    """
    return _quantile(x, q, axis, keepdims, True)


@composite("Quantile(dim=axis, keep_dims=keepdims, ignore_nan=missing)(x, q)")
def quantile_primitive(x, q, axis=None, keepdims=False, missing=False):
    """The value below which the fraction q of x lies, interpolated between two elements if need be.

    Args:
        x: any shape; integers are taken as Float32.
        q: a number from 0 to 1, or a vector of them: then the first dimension of the result is
            theirs.
        axis: the dimension along which; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        missing: `ignore_nan`: whether NaN is left out; False, the default, gives NaN where there is
            one.

    Example:
        >>> print(ops.Quantile()(Tensor([1.0, 2.0]), Tensor(0.5)))
        1.5
    """
    return _quantile(x, q, axis, keepdims, missing)


@op("ops.nanmedian(input=x, axis=axis, keepdims=keepdims)",
    "Tensor.nanmedian(x, axis=axis, keepdims=keepdims)")  # fmt: skip
def nanmedian(x, *, axis=-1, keepdims=False) -> tuple[Array, Array]:
    """The median of the elements that are not NaN, the lower of two, and its Int64 index.

    Args:
        x: any shape.
        axis: the dimension along which, the last one by default.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*ops.nanmedian(Tensor([3.0, float("nan"), 1.0, 2.0])))
        2.0 3
    """
    axis = axis_in(axis, x.ndim)
    if not x.ndim:
        return x, jnp.zeros((), np.int64)
    order = jnp.argsort(x, axis)  # NaN comes last.
    count = jnp.sum(~jnp.isnan(x), axis, keepdims=True, dtype=np.int64)
    middle = jnp.maximum(count - 1, 0) // 2
    index = jnp.take_along_axis(order, middle, axis).astype(np.int64)
    value = jnp.take_along_axis(x, index, axis)
    return (value, index) if keepdims else (value.squeeze(axis), index.squeeze(axis))


@composite(
    "Median(global_median=whole, axis=axis, keep_dims=keepdims, ignore_nan=missing)(x)"
)  # fmt: skip
def median_primitive(
    x, whole=False, axis=0, keepdims=False, missing=False
) -> tuple[Tensor, Tensor]:
    """The middle element along an axis, the lower of two, and its Int64 index.

    Args:
        x: any shape.
        whole: `global_median`: whether the median is that of all elements, with the index 0; False
            by default.
        axis: the dimension along which, 0 by default.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        missing: `ignore_nan`: whether NaN is left out; False by default.

    Example:
        >>> print(*ops.Median()(Tensor([3.0, 1.0, 2.0])))
        2.0 2
    """
    find = nanmedian if missing else median
    if whole:
        value, index = find(x.reshape(-1), 0)
        return value, index * 0
    return find(x, axis, keepdims)


@op(
    "ops.histc(input=x, bins=bins, min=low, max=high)",
    "Histogram(bins=bins, min=low, max=high)(x)",
    "Tensor.histc(x, bins=bins, min=low, max=high)",
    "mint.histc(input=x, bins=bins, min=(low, 0), max=(high, 0))",
)
def histc(x, *, bins=100, low=0.0, high=0.0):
    """How many elements lie in each of `bins` equal intervals between two bounds, in the type of x.

    If both bounds are 0, they are the least and the largest element; other equal bounds are moved
    apart, by 1 each. Halves are counted in Float32.

    Args:
        x: any shape.
        bins: the number of intervals, 100 by default.
        low: the lower bound, 0 by default.
        high: the upper bound, 0 by default; an element equal to it counts in the last interval.

    Raises:
        ValueError: `bins` is not positive, or the bounds are in the wrong order.

    Example:
        >>> print(ops.histc(Tensor([1.0, 2.0, 1.0]), bins=4, min=0.0, max=3.0))
        [0. 2. 1. 0.]
    """
    if bins < 1 or low > high:
        raise ValueError(f"histc needs bins and ascending bounds, not {bins} from {low} to {high}.")
    wide = x.reshape(-1).astype(np.float64)
    if low == high:
        low, high = (wide.min(), wide.max()) if low == 0 and x.size else (low, high)
        low, high = (jnp.where(low == high, n + step, n) for n, step in ((low, -1), (high, 1)))
    place = jnp.floor(quotient(wide - low, high - low) * bins)
    place = jnp.where(wide == high, bins - 1, place)
    kind = np.dtype(np.float32) if is_half(x.dtype) else x.dtype
    return _counted(jnp.where((wide >= low) & (wide <= high), place, bins), bins, kind)


def _counted(places, count, dtype):
    made = jnp.zeros(count, dtype)
    return made.at[places.astype(np.int32)].add(jnp.ones((), dtype), mode="drop")


@op("HistogramFixedWidth(nbins=bins, dtype=dtype)(x, range=bounds)")
def histogram_fixed_width(x, bounds, *, bins, dtype="int32"):
    """How many elements lie in each of `bins` equal intervals of a range.

    What lies outside counts in the first and in the last interval.

    Args:
        x: any shape.
        bounds: a Tensor of two numbers, the ends of the range.
        bins: the number of intervals.
        dtype: the integer type of the result, Int32 by default.

    Example:
        >>> print(ops.HistogramFixedWidth(3)(Tensor([0.5, 9.0]), Tensor([0.0, 3.0])))
        [1 0 1]
    """
    low, high = bounds.astype(x.dtype)
    place = jnp.clip(jnp.floor(quotient(x.reshape(-1) - low, high - low) * bins), 0, bins - 1)
    return _counted(place, bins, np.dtype(dtype))


@op("Bincount()(array=x, size=size, weights=weights)")
def bincount_primitive(x, weights, *, size):
    """The sums of the weights of each number from 0 to size - 1; larger numbers are ignored.

    Args:
        x: integers from 0.
        weights: one for each element of `x`; an empty Tensor counts each as 1.
        size: the length of the result.

    Example:
        >>> print(ops.Bincount()(Tensor([0, 2, 2]), 3, Tensor([1.0, 2.0, 3.0])))
        [1. 0. 5.]
    """
    if not weights.size:
        weights = jnp.ones_like(x, weights.dtype)
    wide = as_wide(weights)
    return jnp.zeros(int(size), wide.dtype).at[x].add(wide, mode="drop").astype(weights.dtype)


@op(
    "ops.bucketize(input=x, boundaries=bounds, right=right)",
    "Bucketize(boundaries=bounds, right=(right, True))(input=x)",
)
def bucketize(x, *, bounds, right=False):
    """The index of the bucket between sorted bounds in which each element lies, Int32.

    Args:
        x: any shape.
        bounds: numbers in ascending order.
        right: whether an element that equals a bound belongs to the bucket after it; False by
            default.

    Example:
        >>> print(ops.bucketize(Tensor([0.5, 1.0, 2.5]), [1.0, 2.0]))
        [0 0 2]
    """
    real = x.dtype if x.dtype.kind in "fV" else np.dtype(np.float32)
    ordered = jnp.asarray(np.asarray(bounds, real).reshape(-1))
    return jnp.searchsorted(ordered, x.astype(real), "right" if right else "left").astype(np.int32)


@composite("SearchSorted(dtype=dtype, right=right)(sorted_sequence=ordered, values=values, sorter=sorter)")  # noqa: E501  # fmt: skip
def search_sorted(ordered, values, sorter=None, dtype=int64, right=False):
    """Where values can be inserted into sorted rows; see `ops.searchsorted`.

    Args:
        ordered: [..., N], each row in ascending order.
        values: [..., M] with the leading dimensions of `ordered`; any shape if that has one
            dimension.
        sorter: integers of the shape of `ordered`: positions that bring its rows into order; None,
            the default, if they are in order.
        dtype: Int64, the default, or Int32: the type of the result.
        right: whether to insert after equal elements instead of before; False by default.

    Example:
        >>> print(ops.SearchSorted()(Tensor([1, 3]), Tensor([2])))
        [1]
    """
    return searchsorted(ordered, values, dtype is int32, right, sorter=sorter)


@composite("LowerBound(out_type=dtype)(sorted_x=ordered, values=values)")
def lower_bound(ordered, values, dtype=int32):
    """Where values can be inserted into sorted rows, before equal elements.

    Args:
        ordered: [..., N], each row in ascending order.
        values: [..., M] with the leading dimensions of `ordered`; any shape if that has one
            dimension.
        dtype: Int32, the default, or Int64: the type of the result.

    Example:
        >>> print(ops.LowerBound()(Tensor([[1, 3]]), Tensor([[3]])))
        [[1]]
    """
    return places_in_order(ordered, values, "left", dtype is int32)


@composite("UpperBound(out_type=dtype)(sorted_x=ordered, values=values)")
def upper_bound(ordered, values, dtype=int32):
    """Where values can be inserted into sorted rows, after equal elements.

    Args:
        ordered: [..., N], each row in ascending order.
        values: [..., M] with the leading dimensions of `ordered`; any shape if that has one
            dimension.
        dtype: Int32, the default, or Int64: the type of the result.

    Example:
        >>> print(ops.UpperBound()(Tensor([[1, 3]]), Tensor([[3]])))
        [[2]]
    """
    return places_in_order(ordered, values, "right", dtype is int32)


@op("NthElement(reverse=reverse)(input=x, n=n)")
def nth_element(x, *, n, reverse=False):
    """The n-th smallest element along the last axis, or the n-th largest.

    Args:
        x: at least one dimension.
        n: which element, counted from 0; a number below the length of the last dimension.
        reverse: whether the n-th largest is meant; False by default.

    Raises:
        ValueError: n is not below the length of the last dimension.

    Example:
        >>> print(ops.NthElement()(Tensor([3.0, 1.0, 2.0]), 1))
        2.0
    """
    if not 0 <= n < x.shape[-1]:
        raise ValueError(f"There is no element {n} in the last axis of {x.shape}.")
    return jnp.sort(x, -1)[..., x.shape[-1] - 1 - n if reverse else n]


@op("EqualCount()(x, y)")
def equal_count(x, y):
    """How many elements of x and y are equal, as one element of their type.

    Example:
        >>> print(ops.EqualCount()(Tensor([1, 2, 3]), Tensor([1, 2, 4])))
        [2]
    """
    return sum_of(x == y, dtype=x.dtype).reshape(1)
