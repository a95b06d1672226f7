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
    """Where the extreme stands along an axis, or in x laid flat."""
    if axis is not None:
        axis = axis_in(axis, x.ndim)
    if not (x.size if axis is None else as_vector(x).shape[axis]):
        raise ValueError(f"Nothing is largest or smallest in a Tensor {x.shape}, axis {axis}.")
    return argument(x, axis=axis if x.ndim else None, keepdims=keepdims)


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
def max_pair(x, axis=None, keepdims=False, initial=None, where=None) -> tuple[Tensor, Tensor]:
    """The largest elements along `axis` and their indices; of all elements, with index 0, if None.

    Args:
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
        return reduce_max(x, (), keepdims), zeros((), int64)
    return max_with_index(x, axis, keepdims)


@composite(
    "ops.amax(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
    "Tensor.amax(x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def amax(x, axis=None, keepdims=False, initial=None, where=None):
    """The largest elements along `axis`, one or several; equal ones share the gradient.

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

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).max(axis=1))
        [5 4]
    """
    pair = dim is not None and keepdims is None and initial is None and where is None
    chosen = first_given(axis, dim)
    keep = bool(first_given(keepdims, keepdim))
    if chosen is not None and (pair or return_indices):
        return ExtremePair(max_pair(x, chosen, keep, initial, where))
    return amax(x, chosen, keep, initial, where)


@composite("mint.max(input=x, dim=dim, keepdim=keepdim)")
def max_of(x, dim=None, keepdim=False):
    """The largest of all elements; along `dim` with indices; or, given a Tensor, of two.

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
    """The indices of the largest elements along one axis, and the elements.

    Example:
        >>> print(*ops.ArgMaxWithValue(1)(Tensor([[1, 5], [4, 3]])))
        [1 0] [5 4]
    """
    value, index = max_with_index(x, axis, keepdims)
    return index, value


@composite("Tensor.argmax_with_value(x, axis=axis, keep_dims=keepdims)")
def argmax_with_value_method(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The largest elements along one axis, and where; of all elements, with index 0, if None.

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
def min_pair(x, axis=None, keepdims=False, initial=None, where=None) -> tuple[Tensor, Tensor]:
    """The smallest elements along `axis` and their indices; of all elements, with index 0, if None.

    Args:
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
        return reduce_min(x, (), keepdims), zeros((), int64)
    return min_with_index(x, axis, keepdims)


@composite(
    "ops.amin(input=x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
    "Tensor.amin(x, axis=axis, keepdims=keepdims, initial=initial, where=where)",
)
def amin(x, axis=None, keepdims=False, initial=None, where=None):
    """The smallest elements along `axis`, one or several; equal ones share the gradient.

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

    Example:
        >>> print(Tensor([[1, 5], [4, 3]]).min(axis=1))
        [1 3]
    """
    pair = dim is not None and keepdims is None and initial is None and where is None
    chosen = first_given(axis, dim)
    keep = bool(first_given(keepdims, keepdim))
    if chosen is not None and (pair or return_indices):
        return ExtremePair(min_pair(x, chosen, keep, initial, where))
    return amin(x, chosen, keep, initial, where)


@composite("mint.min(input=x, dim=dim, keepdim=keepdim)")
def min_of(x, dim=None, keepdim=False):
    """The smallest of all elements; along `dim` with indices; or, given a Tensor, of two.

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
    """The indices of the smallest elements along one axis, and the elements.

    Example:
        >>> print(*ops.ArgMinWithValue(1)(Tensor([[1, 5], [4, 3]])))
        [0 1] [1 3]
    """
    value, index = min_with_index(x, axis, keepdims)
    return index, value


@composite("Tensor.argmin_with_value(x, axis=axis, keep_dims=keepdims)")
def argmin_with_value_method(x, axis=0, keepdims=False) -> tuple[Tensor, Tensor]:
    """The smallest elements along one axis, and where; of all elements, with index 0, if None.

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
    """The index of the largest element along `axis`, or in x laid flat; the first of equal ones.

    Example:
        >>> print(ops.argmax(Tensor([[1, 5], [4, 3]]), 1))
        [1 0]
    """
    return _place(x, jnp.argmax, axis, keepdims).astype(numpy_dtype(dtype))


@composite("Tensor.argmax(x, axis, keepdims=keepdims, dim=dim, keepdim=keepdim)")
def argmax_method(x, axis=None, keepdims=False, dim=None, keepdim=None):
    """The index of the largest element along `axis` (also called `dim`).

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
    """The index of the smallest element along `axis`, or in x laid flat; the first of equal ones.

    Example:
        >>> print(ops.argmin(Tensor([[1, 5], [4, 3]]), 1))
        [0 1]
    """
    return _place(x, jnp.argmin, axis, keepdims).astype(numpy_dtype(dtype))


@composite("mint.argmin(input=x, dim=axis, keepdim=keepdims)")
def long_argmin(x, axis=None, keepdims=False):
    """As `ops.argmin`, but Int64.

    Example:
        >>> ms.mint.argmin(Tensor([4, 3])).dtype
        mindspore.int64
    """
    return argmin(x, axis, keepdims, "int64")


@composite("Tensor.argmin(x, axis, keepdims=keepdims, dim=dim, keepdim=keepdim)")
def argmin_method(x, axis=None, keepdims=False, dim=None, keepdim=None):
    """The index of the smallest element along `axis` (also called `dim`).

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
    """The smallest and the largest elements along `axis`; of all elements, if None.

    As MindSpore documents it, NaN does not count where there are other elements.

    Example:
        >>> print(*ops.aminmax(Tensor([[1.0, 5.0], [4.0, float("nan")]])))
        [1. 5.] [4. 5.]
    """
    axis = None if axis is None else axis_in(axis, x.ndim)
    low, high = (_numbers(x, axis, stand_in) for stand_in in (np.inf, -np.inf))
    if axis is None:
        return jnp.min(low, keepdims=keepdims), jnp.max(high, keepdims=keepdims)
    # Of several that are alike the first has the gradient, as in `ops.max` along an axis.
    places = (jnp.argmin(low, axis, keepdims=True), jnp.argmax(high, axis, keepdims=True))
    parts = zip((low, high), places, strict=True)
    found = [jnp.take_along_axis(part, place, axis) for part, place in parts]
    return tuple(found if keepdims else [part.squeeze(axis) for part in found])


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


@op("ops.median(input=x, axis=axis, keepdims=keepdims)")
def median(x, *, axis=-1, keepdims=False) -> tuple[Array, Array]:
    """The middle element along an axis, the lower of two, and its Int64 index.

    Example:
        >>> print(*ops.median(Tensor([[3, 1, 2]])))
        [2] [2]
    """
    axis = axis_in(axis, x.ndim)
    if not x.ndim:
        return x, jnp.zeros((), np.int64)
    if not x.shape[axis]:
        raise ValueError(f"There is no middle element along axis {axis} of a Tensor {x.shape}.")
    order = jnp.argsort(x, axis)
    middle = (x.shape[axis] - 1) // 2
    index = lax.slice_in_dim(order, middle, middle + 1, axis=axis).astype(np.int64)
    # Among others NaN has no place in the order: the first one is the answer.
    missing = x != x
    first = jnp.argmax(missing, axis, keepdims=True).astype(np.int64)
    index = jnp.where(jnp.any(missing, axis, keepdims=True), first, index)
    value = pick(x, index, axis)
    return (value, index) if keepdims else (value.squeeze(axis), index.squeeze(axis))


@composite(
    "Tensor.median(x, axis=axis, keepdims=keepdims, dim=dim, keepdim=keepdim)",
    "mint.median(input=x, dim=(dim, None), keepdim=keepdim)",
)
def median_method(x, axis=None, keepdims=False, dim=None, keepdim=None):
    """The middle element along `axis` (also called `dim`) with its index, or that of all alone.

    Example:
        >>> print(mint.median(Tensor([3, 1, 2])))
        2
    """
    chosen = first_given(axis, dim)
    if chosen is None:
        return median(x.reshape(-1))[0]
    return median(x, chosen, bool(first_given(keepdim, keepdims)))
