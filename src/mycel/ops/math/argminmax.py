# SPDX-License-Identifier: Apache-2.0
"""The largest and the smallest element along an axis, and where they stand."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.base.dtypes import int64, numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import as_vector, axis_in
from mycel.ops.array.creation import zeros
from mycel.ops.math.arithmetic import maximum, minimum
from mycel.ops.math.comparison import where as where_op
from mycel.ops.math.extreme_pairs import ExtremePair
from mycel.ops.math.reduction import first_given, reduce_max, reduce_min


def pick(x, index, axis):
    """The elements of x at one index along `axis`, kept as a dimension of one.

    A mask instead of a gather: its reverse needs no scatter, which is slow.
    """
    there = lax.broadcasted_iota(index.dtype, x.shape, axis) == index
    zero = jnp.zeros((), x.dtype)
    return jnp.sum(jnp.where(there, x, zero), axis, x.dtype, keepdims=True)


def _with_index(x, argument, axis, keepdims):
    """Values and indices along an axis; without dimensions the element itself."""
    axis = axis_in(axis, x.ndim)
    if x.ndim == 0:
        return x, jnp.zeros((), np.int64)
    index = _place(x, argument, axis, True).astype(np.int64)
    value = pick(x, index, axis)
    return (value, index) if keepdims else (value.squeeze(axis), index.squeeze(axis))


def _place(x, argument, axis, keepdims):
    """Where the extreme stands along an axis, or in x laid flat: one number, as in MindSpore."""
    if axis is not None:
        axis = axis_in(axis, x.ndim)
    if not (x.size if axis is None else as_vector(x).shape[axis]):
        raise ValueError(f"There is no maximum or minimum of {x.shape} along axis {axis}.")
    if axis is None or not x.ndim:
        return argument(x)
    return argument(x, axis=axis, keepdims=keepdims)


@op()
def max_with_index(x, *, axis, keepdims=False):
    """The largest elements along one axis and their indices; the first of equal ones."""
    return _with_index(x, jnp.argmax, axis, keepdims)


@op()
def min_with_index(x, *, axis, keepdims=False):
    """The smallest elements along one axis and their indices; the first of equal ones."""
    return _with_index(x, jnp.argmin, axis, keepdims)


def _compared(x, operator, initial, mask):
    """x with what the extremes are compared with mixed in."""
    if mask is not None and mask is not True:
        if initial is None:
            raise ValueError(
                "`where` leaves elements out, so `initial` must say what they count as."
            )
        return where_op(operator(x, initial), initial, mask)
    return x if initial is None else operator(x, initial)


@composite(
    "ops.max(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def max_with_indices(
    x, axis=None, keepdims=False, initial=None, where=None
) -> tuple[Tensor, Tensor]:
    """The largest elements along `axis` and their indices; of all elements, with index 0, if None.

    Args:
        x: any shape.
        axis: a dimension; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        initial: what every result is compared with as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`.

    Returns:
        (values, Int64 indices).

    Example:
        >>> print(*ops.max(Tensor([[1, 5], [4, 3]]), 1))
        [5 4] [1 0]
    """
    x = _compared(x, maximum, initial, where)
    if axis is None:
        return reduce_max(x), zeros((), int64)
    return max_with_index(x, axis, keepdims)


@composite(
    "ops.amax(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
    "Tensor.amax(x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def amax(x, axis=None, keepdims=False, initial=None, where=None):
    """The largest elements along some dimensions; equal ones share the gradient.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        initial: a number with which every result is compared as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`. None, the default, for
            all.

    Example:
        >>> print(ops.amax(Tensor([[1, 5], [4, 3]]), 1))
        [5 4]
    """
    return reduce_max(_compared(x, maximum, initial, where), axis, keepdims)


@composite(
    "Tensor.max(x, dim=dim, keepdim=keepdim, axis=axis, keepdims=keepdims, initial=initial,"
    " where=where, return_indices=return_indices)"
)
def max_method(
    x, dim=None, keepdim=False, axis=None, keepdims=None, initial=None, where=None,
    return_indices=False,
) -> Any:  # fmt: skip
    """The largest elements; along `dim` with their indices, along `axis` without.

    Along `dim`, also by position, the result is a tuple (values, indices) that can be used as the
    values alone: `x.max(2) < 4`, `x.max(2).mean()`. Only `axis=`, by name, gives a Tensor.

    Args:
        x: any shape.
        dim: a dimension; unless `keepdims`, `initial` or `where` is given, the result is then a
            pair: the elements and their Int64 indices. Of several dimensions it is a Tensor.
        keepdim: whether the reduced dimension stays, with length 1; False by default.
        axis: a dimension, or several; None, the default, for all.
        keepdims: another name for `keepdim`.
        initial: a number with which every result is compared as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`. None, the default, for
            all.
        return_indices: whether the result is a pair for `axis` too; False by default.

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).max(axis=1))
        [5 4]
    """
    several = isinstance(dim, (tuple, list))
    pair = not (several or dim is None) and keepdims is initial is where is None
    chosen = first_given(axis, dim)
    keep = chosen is not None and bool(first_given(keepdims, keepdim))
    if chosen is not None and (pair or return_indices):
        return ExtremePair(max_with_indices(x, chosen, keep, initial, where))
    return amax(x, chosen, keep, initial, where)


@composite("mint.max(input=x, dim=dim, keepdim=keepdim)")
def mint_max(x, dim=None, keepdim=False):
    """The largest of all elements; along `dim` with indices; or the larger of two Tensors.

    Args:
        x: any shape.
        dim: a dimension, for a pair of the largest elements along it and their Int64 indices; a
            Tensor, for the larger of both, element by element; None, the default, for the largest
            element.
        keepdim: whether the dimension `dim` stays, with length 1; False by default.

    Example:
        >>> print(mint.max(Tensor([1, 5])))
        5
    """
    if dim is None:
        return reduce_max(x)
    if isinstance(dim, Tensor):
        return maximum(x, dim)
    return max_with_index(x, dim, keepdim)


@composite(
    "ArgMaxWithValue(axis=axis, keep_dims=keepdims)(input=x)",
)
def argmax_with_value(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The indices of the largest elements along a dimension, and the elements.

    Args:
        x: any shape.
        axis: the dimension, 0 by default.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*ops.ArgMaxWithValue(1)(Tensor([[1, 5], [4, 3]])))
        [1 0] [5 4]
    """
    value, index = max_with_index(x, axis, keepdims)
    return index, value


@composite("Tensor.argmax_with_value(x, axis=axis, keep_dims=keepdims)")
def argmax_with_value_method(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The largest elements along a dimension, and their indices.

    Args:
        x: any shape.
        axis: the dimension, 0 by default; None for all elements, with index 0.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*Tensor([[1, 5], [4, 3]]).argmax_with_value(1))
        [5 4] [1 0]
    """
    if axis is None:
        return reduce_max(x), zeros((), int64)
    return max_with_index(x, axis, keepdims)


@composite(
    "ops.min(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def min_with_indices(
    x, axis=None, keepdims=False, initial=None, where=None
) -> tuple[Tensor, Tensor]:
    """The smallest elements along `axis` and their indices; of all elements, with index 0, if None.

    Args:
        x: any shape.
        axis: a dimension; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        initial: what every result is compared with as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`.

    Returns:
        (values, Int64 indices).

    Example:
        >>> print(*ops.min(Tensor([[1, 5], [4, 3]]), 1))
        [1 3] [0 1]
    """
    x = _compared(x, minimum, initial, where)
    if axis is None:
        return reduce_min(x), zeros((), int64)
    return min_with_index(x, axis, keepdims)


@composite(
    "ops.amin(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
    "Tensor.amin(x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def amin(x, axis=None, keepdims=False, initial=None, where=None):
    """The smallest elements along some dimensions; equal ones share the gradient.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        initial: a number with which every result is compared as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`. None, the default, for
            all.

    Example:
        >>> print(ops.amin(Tensor([[1, 5], [4, 3]]), 1))
        [1 3]
    """
    return reduce_min(_compared(x, minimum, initial, where), axis, keepdims)


@composite(
    "Tensor.min(x, dim=dim, keepdim=keepdim, axis=axis, keepdims=keepdims, initial=initial,"
    " where=where, return_indices=return_indices)"
)
def min_method(
    x, dim=None, keepdim=False, axis=None, keepdims=None, initial=None, where=None,
    return_indices=False,
) -> Any:  # fmt: skip
    """The smallest elements; along `dim` with their indices, along `axis` without.

    Along `dim`, also by position, the result is a tuple (values, indices) that can be used as the
    values alone: `x.min(2) < 4`, `x.min(2).mean()`. Only `axis=`, by name, gives a Tensor.

    Args:
        x: any shape.
        dim: a dimension; unless `keepdims`, `initial` or `where` is given, the result is then a
            pair: the elements and their Int64 indices. Of several dimensions it is a Tensor.
        keepdim: whether the reduced dimension stays, with length 1; False by default.
        axis: a dimension, or several; None, the default, for all.
        keepdims: another name for `keepdim`.
        initial: a number with which every result is compared as well; needed with `where`.
        where: a Bool Tensor; elements where it is False count as `initial`. None, the default, for
            all.
        return_indices: whether the result is a pair for `axis` too; False by default.

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).min(axis=1))
        [1 3]
    """
    several = isinstance(dim, (tuple, list))
    pair = not (several or dim is None) and keepdims is initial is where is None
    chosen = first_given(axis, dim)
    keep = chosen is not None and bool(first_given(keepdims, keepdim))
    if chosen is not None and (pair or return_indices):
        return ExtremePair(min_with_indices(x, chosen, keep, initial, where))
    return amin(x, chosen, keep, initial, where)


@composite("mint.min(input=x, dim=dim, keepdim=keepdim)")
def mint_min(x, dim=None, keepdim=False):
    """The smallest of all elements; along `dim` with indices; or the smaller of two Tensors.

    Args:
        x: any shape.
        dim: a dimension, for a pair of the smallest elements along it and their Int64 indices; a
            Tensor, for the smaller of both, element by element; None, the default, for the smallest
            element.
        keepdim: whether the dimension `dim` stays, with length 1; False by default.

    Example:
        >>> print(mint.min(Tensor([1, 5])))
        1
    """
    if dim is None:
        return reduce_min(x)
    if isinstance(dim, Tensor):
        return minimum(x, dim)
    return min_with_index(x, dim, keepdim)


@composite(
    "ArgMinWithValue(axis=axis, keep_dims=keepdims)(input=x)",
)
def argmin_with_value(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The indices of the smallest elements along a dimension, and the elements.

    Args:
        x: any shape.
        axis: the dimension, 0 by default.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*ops.ArgMinWithValue(1)(Tensor([[1, 5], [4, 3]])))
        [0 1] [1 3]
    """
    value, index = min_with_index(x, axis, keepdims)
    return index, value


@composite("Tensor.argmin_with_value(x, axis=axis, keep_dims=keepdims)")
def argmin_with_value_method(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The smallest elements along a dimension, and their indices.

    Args:
        x: any shape.
        axis: the dimension, 0 by default; None for all elements, with index 0.
        keepdims: whether it stays, with length 1; False by default.

    Example:
        >>> print(*Tensor([[1, 5], [4, 3]]).argmin_with_value(1))
        [1 3] [0 1]
    """
    if axis is None:
        return reduce_min(x), zeros((), int64)
    return min_with_index(x, axis, keepdims)


@op(
    "ops.argmax(input=x, dim=axis, keepdim=keepdims)",
    "mint.argmax(input=x, dim=axis, keepdim=keepdims)",
    "Argmax(axis=(axis, -1), output_type=(dtype, 'int32'))(input_x=x)",
)
def argmax(x, *, axis=None, keepdims=False, dtype="int64"):
    """The index of the largest element along a dimension; the first of equal ones.

    Args:
        x: any shape with at least one element.
        axis: a dimension; None counts through all elements of flattened `x`.
        keepdims: whether the dimension stays, with length 1; False by default.
        dtype: the integer type of the result.

    Example:
        >>> print(ops.argmax(Tensor([[1, 5], [4, 3]]), 1))
        [1 0]
    """
    return _place(x, jnp.argmax, axis, keepdims).astype(numpy_dtype(dtype))


@composite("Tensor.argmax(x, axis, keepdims=keepdims, dim=dim, keepdim=keepdim)")
def argmax_method(x, axis=None, keepdims=False, dim=None, keepdim=None):
    """The index of the largest element along a dimension; the first of equal ones; Int64.

    Args:
        x: any shape with at least one element.
        axis: a dimension; None, the default, counts through all elements of flattened `x`.
        keepdims: whether the dimension stays, with length 1; False by default.
        dim: another name for `axis`.
        keepdim: another name for `keepdims`.

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).argmax())
        1
    """
    return argmax(x, first_given(axis, dim), bool(first_given(keepdim, keepdims)))


@op(
    "ops.argmin(input=x, axis=axis, keepdims=keepdims)",
    "Argmin(axis=(axis, -1), output_type=(dtype, 'int32'))(x)",
)
def argmin(x, *, axis=None, keepdims=False, dtype="int32"):
    """The index of the smallest element along a dimension; the first of equal ones.

    Args:
        x: any shape with at least one element.
        axis: a dimension; None counts through all elements of flattened `x`.
        keepdims: whether the dimension stays, with length 1; False by default.
        dtype: the integer type of the result.

    Example:
        >>> print(ops.argmin(Tensor([[1, 5], [4, 3]]), 1))
        [0 1]
    """
    return _place(x, jnp.argmin, axis, keepdims).astype(numpy_dtype(dtype))


@composite("mint.argmin(input=x, dim=axis, keepdim=keepdims)")
def mint_argmin(x, axis=None, keepdims=False):
    """The index of the smallest element along a dimension; the first of equal ones; Int64.

    Args:
        x: any shape with at least one element.
        axis: a dimension; None, the default, counts through all elements of flattened `x`.
        keepdims: whether the dimension stays, with length 1; False by default.

    Example:
        >>> ms.mint.argmin(Tensor([4, 3])).dtype
        mindspore.int64
    """
    return argmin(x, axis, keepdims, "int64")


@composite("Tensor.argmin(x, axis, keepdims=keepdims, dim=dim, keepdim=keepdim)")
def argmin_method(x, axis=None, keepdims=False, dim=None, keepdim=None):
    """The index of the smallest element along a dimension; the first of equal ones; Int32.

    Args:
        x: any shape with at least one element.
        axis: a dimension; None, the default, counts through all elements of flattened `x`.
        keepdims: whether the dimension stays, with length 1; False by default.
        dim: another name for `axis`.
        keepdim: another name for `keepdims`.

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).argmin())
        0
    """
    return argmin(x, first_given(axis, dim), bool(first_given(keepdim, keepdims)))


def _numbers(x, axis, stand_in):
    """x with another value where NaN stands beside numbers."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    missing = jnp.isnan(x)
    beside = missing & ~jnp.all(missing, axis, keepdims=True)
    return jnp.where(beside, jnp.asarray(stand_in, x.dtype), x)


@op(
    "ops.aminmax(input=x, axis=axis, keepdims=keepdims)",
    "Tensor.aminmax(x, axis=axis, keepdims=keepdims)",
)
def aminmax(x, *, axis=0, keepdims=False) -> tuple[Array, Array]:
    """The smallest and the largest elements along a dimension.

    NaN does not count where there are other elements.

    Args:
        x: any shape.
        axis: the dimension, 0 by default; None for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.

    Example:
        >>> print(*ops.aminmax(Tensor([[1.0, 5.0], [4.0, float("nan")]])))
        [1. 5.] [4. 5.]
    """
    axis = None if axis is None else axis_in(axis, max(x.ndim, 1))
    if x.ndim == 0:
        axis = None
    low, high = (_numbers(x, axis, stand_in) for stand_in in (np.inf, -np.inf))
    if axis is None:
        return jnp.min(low, keepdims=keepdims), jnp.max(high, keepdims=keepdims)
    # Of several that are alike the first has the gradient, as in `ops.max` along an axis.
    places = (jnp.argmin(low, axis, keepdims=True), jnp.argmax(high, axis, keepdims=True))
    parts = zip((low, high), places, strict=True)
    low, high = (jnp.take_along_axis(part, place, axis) for part, place in parts)
    return (low, high) if keepdims else (low.squeeze(axis), high.squeeze(axis))


def _running(x, axis, accumulate, dtype):
    shape, axis = x.shape, axis_in(axis, x.ndim)
    x = as_vector(x)
    best = accumulate(x, axis)
    position = lax.broadcasted_iota(dtype, x.shape, axis)
    # NaN is the best from where it stands on, and equals nothing.
    here = (x == best) | (x != x)
    place = lax.cummax(jnp.where(here, position, 0), axis)
    return best.reshape(shape), place.reshape(shape)


@op(
    "ops.cummax(input=x, axis=axis)",
    "Cummax(axis=axis)(input=x)",
    "Tensor.cummax(x, axis)",
    "mint.cummax(input=x, dim=axis)",
)
def cummax(x, *, axis) -> tuple[Array, Array]:
    """The largest element so far along an axis, and its Int64 index; the last of equal ones.

    Example:
        >>> print(*ops.cummax(Tensor([1, 5, 4]), 0))
        [1 5 5] [0 1 1]
    """
    return _running(x, axis, lax.cummax, np.int64)


@op(
    "ops.cummin(input=x, axis=axis)",
    "Cummin(axis=axis)(input=x)",
    "Tensor.cummin(x, axis)",
)
def cummin(x, *, axis) -> tuple[Array, Array]:
    """The smallest element so far along an axis, and its Int32 index; the last of equal ones.

    Example:
        >>> print(*ops.cummin(Tensor([5, 1, 4]), 0))
        [5 1 1] [0 1 1]
    """
    return _running(x, axis, lax.cummin, np.int32)


@composite("Tensor.ptp(x, axis=None, keepdims=False)")
def ptp(x, axis=None, keepdims=False):
    """The largest element less the smallest one.

    Args:
        x: any shape.
        axis: a dimension or a tuple of them; None for all.
        keepdims: whether these dimensions stay, with length 1.

    Example:
        >>> print(Tensor([3, 1, 7]).ptp())
        6
    """
    axis = () if axis is None else axis
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)
