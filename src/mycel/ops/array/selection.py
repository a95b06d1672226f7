# SPDX-License-Identifier: Apache-2.0
"""Picking elements by position: gather, take, index_select, narrow."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.define.bounds import counted, integers, rows_of
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_wide, promoted

# Positions count from either end; XLA clamps those that are not there, which the bounds declared
# beside each operator rule out. They are converted to integers because the machine differentiates
# integer inputs as real numbers; halves are picked as Float32, in which their gradients are added.


def positions_in(x, index, *_, axis=None, **__):
    """The bounds of positions along `axis`, or among all elements."""
    return [counted(1, x.size if axis is None else x.shape[axis])]


def places_in(x, index, *_, **__):
    """The bounds of rows of positions."""
    return [rows_of(1, x.shape[: index.shape[-1]])] if index.ndim else []


def _positions(index, length: int):
    index = index.astype(np.int64)
    return jnp.where(index < 0, index + length, index)


@op(
    "ops.gather(input_params=x, input_indices=index, axis=axis, batch_dims=batch)",
    "Gather(batch_dims=(batch, 0))(input_params=x, input_indices=index, axis=axis)",
    "GatherV2()(input_params=x, input_indices=index, axis=axis, batch_dims=(batch, 0))",
    indices=positions_in,
)
def gather(x, index, *, axis, batch=0):
    """The slices of x along `axis` at the positions of `index`.

    Args:
        x: any shape.
        index: integers of any shape, which takes the place of the dimension `axis`; negative ones
            count from the end.
        axis: the dimension in which positions are counted.
        batch: how many leading dimensions `x` and `index` have in common, at most `axis`; a
            negative number counts from the dimensions of `index`.

    Raises:
        ValueError: there is no such axis, or the batch dimensions differ.

    Example:
        >>> print(ops.gather(Tensor([5, 6, 7]), Tensor([2, 0]), 0))
        [7 5]
    """
    axis = axis_in(axis, x.ndim)
    batch = batch + index.ndim if batch < 0 else batch
    if x.shape[:batch] != index.shape[:batch] or batch > axis:
        raise ValueError(
            f"x {x.shape} and index {index.shape} must agree in {batch} batch dimensions "
            f"in front of axis {axis}."
        )
    _something(x, index, axis)
    return _gathered(x, _positions(index, x.shape[axis]), axis, batch)


def _something(x, index, axis):
    if index.size and not x.shape[axis]:
        raise ValueError(f"There is nothing to take from axis {axis} of a Tensor {x.shape}.")


def _taken(x, index, axis):
    return jnp.take(as_wide(x), index, axis, mode="clip").astype(x.dtype)


def _gathered(x, index, axis, batch):
    if not batch:
        return _taken(x, index, axis)
    common, rest_of_index = index.shape[:batch], index.shape[batch:]
    front, rest = x.shape[batch:axis], x.shape[axis + 1 :]
    index = index.reshape(*common, *(1,) * len(front), -1, *(1,) * len(rest))
    elements = jnp.take_along_axis(as_wide(x), index, axis, mode="clip").astype(x.dtype)
    return elements.reshape(*common, *front, *rest_of_index, *rest)


@op(
    "ops.gather_d(x, dim=axis, index=index)",
    "ops.gather_elements(input=x, dim=axis, index=index)",
    "GatherD()(x, dim=axis, index=index)",
    "Tensor.gather_elements(x, dim=axis, index=index)",
    "mint.gather(input=x, dim=axis, index=index)",
    indices=positions_in,
)
def gather_elements(x, index, *, axis):
    """For every place of `index`, the element of x at that place with `axis` replaced.

    Args:
        x: any shape.
        index: integers, as many dimensions as `x` and none longer except `axis`; negative ones
            count from the end.
        axis: the dimension in which positions are counted.

    Raises:
        ValueError: `index` has another number of dimensions than x, or is longer in another
            dimension than `axis`.

    Example:
        >>> print(ops.gather_elements(Tensor([[1, 2], [3, 4]]), 1, Tensor([[0], [1]])))
        [[1]
         [4]]
    """
    axis = axis_in(axis, x.ndim)
    if not x.ndim and not index.ndim:
        return x
    longer = any(i != axis and n > x.shape[i] for i, n in enumerate(index.shape[: x.ndim]))
    if index.ndim != x.ndim or longer:
        raise ValueError(f"index {index.shape} does not fit x {x.shape} beside axis {axis}.")
    index = _positions(index, x.shape[axis])
    cut = [n if i == axis else m for i, (n, m) in enumerate(zip(x.shape, index.shape, strict=True))]
    x = lax.slice(x, (0,) * x.ndim, cut)
    return jnp.take_along_axis(as_wide(x), index, axis, mode="clip").astype(x.dtype)


@op(
    "ops.gather_nd(input_x=x, indices=index)",
    "GatherNd()(input_x=x, indices=index)",
    "Tensor.gather_nd(x, indices=index)",
    indices=places_in,
)
def gather_nd(x, index):
    """The slices of x that the rows of `index` (its last dimension) point to.

    Raises:
        ValueError: the rows of `index` are longer than the shape of x.

    Example:
        >>> print(ops.gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]])))
        [2 3]
    """
    return as_wide(x).at[rows_in(x, index)].get(mode="clip").astype(x.dtype)


def rows_in(x, index) -> tuple:
    """The rows of an index as one index array for each leading dimension of x."""
    depth = index.shape[-1] if index.ndim else 0
    if not 0 < depth <= x.ndim:
        raise ValueError(f"The rows of an index {index.shape} do not fit a Tensor {x.shape}.")
    return tuple(_positions(index[..., i], x.shape[i]) for i in range(depth))


@op(
    "ops.index_select(input=x, axis=axis, index=index)",
    "Tensor.index_select(x, axis=axis, index=index)",
    "mint.index_select(input=x, dim=axis, index=index)",
    indices=positions_in,
)
def index_select(x, index, *, axis):
    """The slices of x along `axis` at the positions of a vector.

    Args:
        x: any shape.
        index: [M] or one integer; negative ones count from the end.
        axis: the dimension in which positions are counted.

    Raises:
        ValueError: index has more than one dimension.

    Example:
        >>> print(ops.index_select(Tensor([5, 6, 7]), 0, Tensor([2, 0])))
        [7 5]
    """
    if index.ndim > 1:
        raise ValueError(f"index must be a vector, not {index.shape}.")
    axis = axis_in(axis, x.ndim)
    _something(x, index, axis)
    index = _positions(index, x.shape[axis]).reshape(-1)
    return _taken(x, index, axis)


@op("ops.take(input=x, index=index)", "mint.take(input=x, index=index)", indices=positions_in)
def take(x, index, *, axis=None):
    """The elements of x, counted through all dimensions, or its slices along `axis`.

    Args:
        x: any shape.
        index: integers of any shape; negative ones count from the end.
        axis: the dimension in which positions are counted; None counts through all dimensions in C
            order.

    Example:
        >>> print(ops.take(Tensor([[5, 6], [7, 8]]), Tensor([3])))
        [8]
    """
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = axis_in(axis, x.ndim)
    _something(x, index, axis)
    return _taken(x, _positions(index, x.shape[axis]), axis)


def _any(x, index, **_):
    return [integers(1)]


@op(indices=_any)
def nearest(x, index, *, axis=None):
    """As `take`; a position that is not there stands for the first or the last.

    Example:
        >>> from mycel.ops.array.selection import nearest
        >>> print(nearest(Tensor([5, 6, 7]), Tensor([-9, 9]), None))
        [5 7]
    """
    return take.definition.function(x, index, axis=axis)


@op(indices=_any)
def nearest_elements(x, index, *, axis):
    """As `gather_elements`; a position that is not there stands for the first or the last.

    Example:
        >>> from mycel.ops.array.selection import nearest_elements
        >>> print(nearest_elements(Tensor([5, 6, 7]), Tensor([-9, 9]), 0))
        [5 7]
    """
    return gather_elements.definition.function(x, index, axis=axis)


@composite("ops.narrow(input=x, axis=axis, start=start, length=length)",
           "Tensor.narrow(x, axis, start, length)",
           "mint.narrow(input=x, dim=axis, start=start, length=length)")  # fmt: skip
def narrow(x, axis, start, length):
    """Slices of x at consecutive positions along `axis`.

    Args:
        x: any shape.
        axis: the dimension that is cut.
        start: the first position, an integer or a Tensor of one, which is read; a negative one
            counts from the end.
        length: how many slices.

    Raises:
        ValueError: the slices reach beyond the end.

    Example:
        >>> print(ops.narrow(Tensor([5, 6, 7]), 0, 1, 2))
        [6 7]
    """
    axis = axis_in(axis, x.ndim)
    start = int(start)
    begin = start + x.shape[axis] if start < 0 else start
    if begin < 0 or length < 0 or begin + length > x.shape[axis]:
        raise ValueError(
            f"{length} elements from {start} on reach beyond axis {axis} of {x.shape}."
        )
    return x[(slice(None),) * axis + (slice(begin, begin + length),)]


@composite("ops.slice(input_x=x, begin=begin, size=size)",
           "Slice()(input=x, begin=begin, size=size)")  # fmt: skip
def slice_(x, begin, size):
    """A block of x.

    Args:
        x: any shape.
        begin: the first position in each dimension, integers from 0.
        size: the length in each dimension, integers; -1 takes what is left.

    Raises:
        ValueError: the block reaches beyond x.

    Example:
        >>> print(ops.slice(Tensor([5, 6, 7]), (1,), (2,)))
        [6 7]
    """
    ends = []
    for start, length, whole in zip(begin, size, x.shape, strict=True):
        end = whole if length == -1 else start + length
        if not 0 <= start <= end <= whole:
            raise ValueError(f"A block of {size} at {begin} reaches beyond a Tensor {x.shape}.")
        ends.append(end)
    return x[tuple(slice(a, b) for a, b in zip(begin, ends, strict=True))]


@composite(
    "ops.strided_slice(input_x=x, begin=begin, end=end, strides=strides, begin_mask=0, end_mask=0,"
    " ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)",
    "StridedSlice(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)"
    "(input_x=x, begin=begin, end=end, strides=strides)",
)
def strided_slice(
    x,
    begin,
    end,
    strides,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
):
    """x[begin : end : strides] in each dimension; bit i of a mask speaks for entry i.

    Args:
        x: any shape.
        begin: the first position of each entry, a tuple of integers; a negative one counts from the
            end.
        end: the position before which each entry stops, as many integers; a negative one counts
            from the end.
        strides: the step of each entry, as many integers, not 0.
        begin_mask: bits of the entries that start at the beginning of their dimension.
        end_mask: bits of the entries that go on to the end of their dimension.
        ellipsis_mask: bits of the entries that stand for an Ellipsis.
        new_axis_mask: bits of the entries that stand for a new dimension of length 1.
        shrink_axis_mask: bits of the entries that stand for the one position `begin`, whose
            dimension is dropped.

    Raises:
        ValueError: begin, end and strides have different lengths.

    Example:
        >>> print(ops.strided_slice(Tensor([5, 6, 7]), (0,), (3,), (2,)))
        [5 7]
    """
    if not len(begin) == len(end) == len(strides):
        raise ValueError(f"begin {begin}, end {end} and strides {strides} differ in length.")
    entries = []
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            entries.append(Ellipsis)
        elif new_axis_mask & bit:
            entries.append(None)
        elif shrink_axis_mask & bit:
            entries.append(first)
        else:
            start = None if begin_mask & bit else first
            entries.append(slice(start, None if end_mask & bit else last, step))
    return x[tuple(entries)]


@composite("SparseGatherV2()(input_params=x, input_indices=index, axis=axis)")
def sparse_gather(x, index, axis):
    """`ops.gather` under an older name.

    Args:
        x: any shape.
        index: integers of any shape, which takes the place of the dimension `axis`; negative ones
            count from the end.
        axis: the dimension in which positions are counted.

    Example:
        >>> print(ops.SparseGatherV2()(Tensor([5, 6, 7]), Tensor([2, 0]), 0))
        [7 5]
    """
    return gather(x, index, axis)


@op()
def chosen_elements(x, *choices, mode):
    """The element of the choice that x names; see `choose`."""
    return jnp.choose(x, list(promoted_all(choices)), mode=mode)


def promoted_all(tensors):
    """All in the type they meet in."""
    tensors = list(tensors)
    for i in range(1, len(tensors)):
        tensors[0], tensors[i] = promoted(tensors[0], tensors[i])
    return [part.astype(tensors[0].dtype) for part in tensors]


@composite("Tensor.choose(x, choices, mode='clip')")
def choose(x, choices, mode="clip"):
    """At each place the element of the choice that x names there.

    Args:
        x: integers of any shape: numbers of choices.
        choices: a sequence of Tensors or numbers that broadcast with `x`.
        mode: what numbers outside mean: 'clip' takes the first or the last choice, 'wrap' counts on
            from the other end.

    Example:
        >>> print(Tensor([0, 1]).choose([Tensor([1, 2]), Tensor([5, 6])]))
        [1 6]
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"mode must be 'clip' or 'wrap', not {mode!r}.")
    parts = [part if isinstance(part, Tensor) else Tensor(part) for part in choices]
    return chosen_elements(x, tuple(parts), mode)
