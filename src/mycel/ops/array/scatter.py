# SPDX-License-Identifier: Apache-2.0
"""Placing elements by position: the opposites of gather."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.define.bounds import LEAST, Bounds, integers, rows_of
from mycel.kernel.spell import op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.selection import places_in, positions_in, rows_in
from mycel.ops.common import as_wide, whole_quotient

# Positions become integers again because the machine differentiates integer inputs as reals.


@op(
    "ops.scatter_nd(indices=index, updates=updates, shape=shape)",
    "ScatterNd()(indices=index, updates=updates, shape=shape)",
    indices=lambda index, updates, *, shape: [rows_of(0, shape[: index.shape[-1]])],
)
def scatter_nd(index, updates, *, shape):
    """Zeros of a shape with updates added where the rows of `index` point.

    Args:
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `shape`.
        updates: one slice for each row of `index`, [..., *shape[D:]]; the result has their type.
        shape: a tuple of numbers.

    Raises:
        ValueError: the rows of `index` are longer than the shape.

    Example:
        >>> print(ops.scatter_nd(Tensor([[1], [1]]), Tensor([1.0, 2.0]), (3,)))
        [0. 3. 0.]
    """
    wide = as_wide(updates)
    made = _at_rows(jnp.zeros(shape, wide.dtype), index, wide).add(wide, mode="drop")
    return made.astype(updates.dtype)


def _at_rows(x, index, updates):
    depth = index.shape[-1] if index.ndim else 0
    if index.shape[:-1] + x.shape[depth:] != updates.shape:
        raise ValueError(
            f"Updates for rows {index.shape} into {x.shape} have the shape "
            f"{index.shape[:-1] + x.shape[depth:]}, but {updates.shape} was given."
        )
    return x.at[rows_in(x, index)]


def _scattered(x, index, updates, reduction):
    if reduction == "add":
        wide = as_wide(x)
        updates = updates.astype(x.dtype).astype(wide.dtype)
        return _at_rows(wide, index, updates).add(updates, mode="drop").astype(x.dtype)
    place = _at_rows(x, index, updates)
    updates = updates.astype(x.dtype)
    if reduction == "div" and not jnp.issubdtype(x.dtype, jnp.inexact):
        # The quotient of integers is one: towards 0, however many divide the same element.
        divisor = _at_rows(jnp.ones_like(x), index, updates).multiply(updates, mode="drop")
        return whole_quotient(lax.div, x, divisor)
    return getattr(place, _WORDS[reduction])(updates, mode="drop")


_WORDS = {
    "none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min", "div": "divide",
}  # fmt: skip


@op(
    "ops.tensor_scatter_update(input_x=x, indices=index, updates=updates)",
    "TensorScatterUpdate()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_update(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_update(x, index, updates):
    """x with the slices that the rows of `index` point to replaced.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_update(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [9 2]
    """
    return _scattered(x, index, updates, "none")


@op(
    "ops.tensor_scatter_add(input_x=x, indices=index, updates=updates)",
    "TensorScatterAdd()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_add(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_add(x, index, updates):
    """x with updates added to the slices that the rows of `index` point to.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_add(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [10  2]
    """
    return _scattered(x, index, updates, "add")


@op(
    "ops.tensor_scatter_sub(input_x=x, indices=index, updates=updates)",
    "TensorScatterSub()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_sub(x, indices=index, updates=updates)",
    "Tensor.scatter_sub(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_sub(x, index, updates):
    """x with updates subtracted from the slices that the rows of `index` point to.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_sub(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [-8  2]
    """
    return _scattered(x, index, -updates, "add")


@op(
    "ops.tensor_scatter_max(input_x=x, indices=index, updates=updates)",
    "TensorScatterMax()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_max(x, indices=index, updates=updates)",
    "Tensor.scatter_max(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_max(x, index, updates):
    """x with the larger of slice and update where the rows of `index` point.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_max(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [9 2]
    """
    return _scattered(x, index, updates, "max")


@op(
    "ops.tensor_scatter_min(input_x=x, indices=index, updates=updates)",
    "TensorScatterMin()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_min(x, indices=index, updates=updates)",
    "Tensor.scatter_min(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_min(x, index, updates):
    """x with the smaller of slice and update where the rows of `index` point.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_min(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [1 2]
    """
    return _scattered(x, index, updates, "min")


@op(
    "ops.tensor_scatter_mul(input_x=x, indices=index, updates=updates)",
    "TensorScatterMul()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_mul(x, indices=index, updates=updates)",
    "Tensor.scatter_mul(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_mul(x, index, updates):
    """x with the slices that the rows of `index` point to multiplied by updates.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_mul(Tensor([1, 2]), Tensor([[0]]), Tensor([9])))
        [9 2]
    """
    return _scattered(x, index, updates, "mul")


@op(
    "ops.tensor_scatter_div(input_x=x, indices=index, updates=updates)",
    "TensorScatterDiv()(input_x=x, indices=index, updates=updates)",
    "Tensor.tensor_scatter_div(x, indices=index, updates=updates)",
    "Tensor.scatter_div(x, indices=index, updates=updates)",
    indices=places_in,
)
def tensor_scatter_div(x, index, updates):
    """x with the slices that the rows of `index` point to divided by updates.

    Args:
        x: at least D dimensions.
        index: [..., D], integers from 0: rows of positions in the first D dimensions of `x`.
        updates: one slice for each row of `index`, [..., *x.shape[D:]]; they get the type of `x`.

    Example:
        >>> print(ops.tensor_scatter_div(Tensor([8.0]), Tensor([[0]]), Tensor([2.0])))
        [4.]
    """
    return _scattered(x, index, updates, "div")


@op(
    "ops.tensor_scatter_elements(input_x=x, indices=index, updates=updates, axis=0,"
    " reduction='none')",
    "TensorScatterElements(axis=0, reduction='none')(data=x, indices=index, updates=updates)",
    indices=lambda x, index, *_, **__: [integers(1)],
)
def tensor_scatter_elements(x, index, updates, *, axis=0, reduction="none"):
    """x with updates at the places of `index`, each with its position along `axis` replaced.

    Args:
        x: any shape.
        index: integers, as many dimensions as `x` and none longer except `axis`; negative ones
            count from the end, and beyond both ends they are left out.
        updates: of the shape of `index`, or a number; they get the type of `x`.
        axis: the dimension in which positions are counted.
        reduction: 'none' replaces, 'add' adds, 'mul' multiplies.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> print(ops.tensor_scatter_elements(Tensor([1, 2]), Tensor([1, 7]), Tensor([8, 9])))
        [1 8]
    """
    axis = axis_in(axis, x.ndim)
    if reduction not in ("none", "add", "mul"):
        raise ValueError(f"reduction must be 'none', 'add' or 'mul', not {reduction!r}.")
    updates = jnp.broadcast_to(updates, index.shape) if updates.ndim == 0 else updates
    if index.ndim != x.ndim or index.shape != updates.shape:
        raise ValueError(f"index {index.shape}, updates {updates.shape} do not fit x {x.shape}.")
    index = index.astype(np.int64)
    places = list(jnp.indices(index.shape, np.int64, sparse=True))
    length = x.shape[axis]
    # Whatever is beyond the end is dropped; below the begin it would count from the end again.
    index = jnp.where(index < -length, length, index)
    places[axis] = jnp.where(index < 0, index + length, index)
    updates = updates.astype(x.dtype)
    if reduction == "add":
        wide = as_wide(x)
        return wide.at[tuple(places)].add(as_wide(updates), mode="drop").astype(x.dtype)
    return getattr(x.at[tuple(places)], _WORDS[reduction])(updates, mode="drop")


@op(
    "ops.scatter(input=x, axis=axis, index=index, src=updates)",
    "mint.scatter(input=x, dim=axis, index=index, src=updates)",
    "mint.scatter_add(input=x, dim=axis, index=index, src=updates, reduction='add')",
    "ScatterAddWithAxis(axis=0, reduction='add')(input_x=x, indices=index, updates=updates)",
    indices=positions_in,
)
def scatter_elements(x, index, updates, *, axis=0, reduction="none"):
    """x with updates at the places of `index`, each with its position along `axis` replaced.

    Args:
        x: any shape.
        index: integers, as many dimensions as `x` and none longer except `axis`; negative ones
            count from the end.
        updates: of the shape of `index`, or a number; they get the type of `x`.
        axis: the dimension in which positions are counted.
        reduction: 'none' replaces, 'add' adds, 'mul' multiplies.

    Raises:
        ValueError: the shapes do not fit together, or the reduction is unknown.

    Example:
        >>> x = Tensor([[1, 2], [3, 4]])
        >>> print(ops.scatter(x, 1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[1 8]
         [9 4]]
    """
    function = tensor_scatter_elements.definition.function
    return function(x, index, updates, axis=axis, reduction=reduction)


def _from_begin(x, index, *_, axis, **__):
    return [Bounds(1, 0, x.shape[axis], operator="index_add")]


@op("mint.index_add(input=x, dim=axis, index=index, source=updates, alpha=alpha)",
    "Tensor.index_add_(x, dim=axis, index=index, source=updates, alpha=alpha) -> x",
    indices=_from_begin)  # fmt: skip
def with_index_added(x, index, updates, *, axis, alpha=1):
    """x with alpha · updates added to its slices along `axis` at the positions of a vector.

    Args:
        x: any shape.
        index: [M], integers from 0.
        updates: x's shape with length M along `axis`, or a number; they get the type of `x`.
        axis: the dimension in which positions are counted.
        alpha: the factor of `updates`, a number.

    Example:
        >>> print(mint.index_add(Tensor([1, 2]), 0, Tensor([0]), Tensor([9])))
        [10  2]
        >>> print(Tensor([1, 2]).index_add_(0, Tensor([0]), Tensor([9])))
        [10  2]
    """
    place, updates = positions_along(as_wide(x), index, updates.astype(x.dtype), axis)
    made = place.add(updates * jnp.array(alpha, updates.dtype), mode="drop")
    return made.astype(x.dtype)


def positions_along(x, index, updates, axis):
    """The slices of x at positions along a dimension, and what is to be written there."""
    axis = axis_in(axis, x.ndim)
    index = index.astype(np.int64).reshape(-1)
    shape = (*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :])
    if updates.ndim and updates.shape != shape:
        raise ValueError(f"Updates of shape {shape} are needed, not {updates.shape}.")
    index = jnp.where(index < 0, index + x.shape[axis], index)
    return x.at[(slice(None),) * axis + (index,)], updates.astype(x.dtype)


@op("ops.index_fill(x, axis=axis, index=index, value=value)",
    "IndexFill()(x, dim=axis, index=index, value=value)",
    "Tensor.index_fill(x, axis=axis, index=index, value=value)",
    "Tensor.index_fill_(x, dim=axis, index=index, value=value) -> x",
    indices=lambda x, index, value, *, axis: positions_in(x, index, axis=axis))  # fmt: skip
def index_fill(x, index, value, *, axis):
    """x with `value` in its slices along `axis` at the positions of a vector.

    Args:
        x: any shape.
        index: [M], integers; negative ones count from the end.
        value: a number.
        axis: the dimension in which positions are counted.

    Example:
        >>> print(ops.index_fill(Tensor([1, 2]), 0, Tensor([0]), 9))
        [9 2]
        >>> print(Tensor([1, 2]).index_fill_(0, Tensor([0]), 9))
        [9 2]
    """
    place, value = positions_along(x, index, value, axis)
    return place.set(value, mode="drop")


def segment_numbers(x, index, *, count):
    """The bounds of numbers of segments; a negative one belongs to none."""
    return [Bounds(1, LEAST, count, what="segment number")]


@op("ops.unsorted_segment_sum(input_x=x, segment_ids=index, num_segments=count)",
    "UnsortedSegmentSum()(input_x=x, segment_ids=index, num_segments=count)",
    indices=segment_numbers)  # fmt: skip
def unsorted_segment_sum(x, index, *, count):
    """The sum of the slices of x that have the same number.

    Args:
        x: any shape.
        index: the number of the segment of each slice, integers of the shape of x's leading
            dimensions; a negative one belongs to none.
        count: the number of segments.

    Example:
        >>> print(ops.unsorted_segment_sum(Tensor([1, 2, 3]), Tensor([0, 0, 1]), 2))
        [3 3]
    """
    wide = as_wide(x)
    return _segments(wide, index, count, 0).add(wide, mode="drop").astype(x.dtype)


def _segments(x, index, count, filler):
    if x.shape[: index.ndim] != index.shape:
        raise ValueError(f"Segment numbers {index.shape} do not fit a Tensor {x.shape}.")
    filled = jnp.full((count, *x.shape[index.ndim :]), filler, x.dtype)
    # A negative number belongs to no segment.
    index = index.astype(np.int64)
    return filled.at[jnp.where(index < 0, count, index)]


def _bound(dtype, word):
    limits = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype)
    return getattr(limits, word)


@op(
    "ops.unsorted_segment_max(x, segment_ids=index, num_segments=count)",
    "UnsortedSegmentMax()(x, segment_ids=index, num_segments=count)",
    "Tensor.unsorted_segment_max(x, segment_ids=index, num_segments=count)",
    indices=segment_numbers,
)
def unsorted_segment_max(x, index, *, count):
    """The maximum of the slices of x that have the same number; the lowest value for none.

    Args:
        x: any shape.
        index: the number of the segment of each slice, integers of the shape of x's leading
            dimensions; a negative one belongs to none.
        count: the number of segments.

    Example:
        >>> print(ops.unsorted_segment_max(Tensor([1, 2, 3]), Tensor([0, 0, 1]), 2))
        [2 3]
    """
    return _segments(x, index, count, _bound(x.dtype, "min")).max(x, mode="drop")


@op(
    "ops.unsorted_segment_min(x, segment_ids=index, num_segments=count)",
    "UnsortedSegmentMin()(x, segment_ids=index, num_segments=count)",
    "Tensor.unsorted_segment_min(x, segment_ids=index, num_segments=count)",
    indices=segment_numbers,
)
def unsorted_segment_min(x, index, *, count):
    """The minimum of the slices of x that have the same number; the highest value for none.

    Args:
        x: any shape.
        index: the number of the segment of each slice, integers of the shape of x's leading
            dimensions; a negative one belongs to none.
        count: the number of segments.

    Example:
        >>> print(ops.unsorted_segment_min(Tensor([1, 2, 3]), Tensor([0, 0, 1]), 2))
        [1 3]
    """
    return _segments(x, index, count, _bound(x.dtype, "max")).min(x, mode="drop")
