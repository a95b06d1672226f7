# SPDX-License-Identifier: Apache-2.0
"""A Tensor with one part replaced: a slice, a diagonal, rows, an element; or with another size."""

from __future__ import annotations

from math import prod

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import add_member, composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.array.scatter import with_index_added
from mycel.ops.spelled.in_place_places import index_copy


def _check_alike(x, part, shape: tuple, what: str) -> None:
    if part.dtype is not x.dtype:
        raise wrong(TypeError, what, f"of the type of the Tensor, {x.dtype}", part.dtype)
    if part.shape != shape:
        raise wrong(ValueError, what, f"of shape {shape}", part.shape)


def _axis(axis, x, what: str) -> int:
    if not isinstance(axis, int) or not -x.ndim <= axis < x.ndim:
        raise wrong(ValueError, what, f"a dimension of a Tensor {x.shape}", repr(axis))
    return axis % x.ndim


@op()
def with_slice(x, part, *, axis, start, stop, step):
    """x with the elements start, start + step, … of a dimension replaced."""
    place = (slice(None),) * axis + (slice(start, stop, step),)
    return x.at[place].set(part.astype(x.dtype))


@composite(
    "ops.slice_scatter(input=x, src=part, axis=0, start=None, end=None, step=1)",
    "Tensor.slice_scatter(x, src=part, axis=0, start=None, end=None, step=1)",
)
def slice_scatter(x, part, axis=0, start=None, end=None, step=1):
    """x with `src` in the place of `x[start:end:step]` along a dimension.

    Args:
        x: any shape with at least one dimension.
        part: of the type of `x` and the shape of its slice.
        axis: the dimension that is sliced.
        start: the first position, as in a slice of Python; None for the beginning.
        end: the position before which the slice stops, as in Python; None for the end.
        step: the distance of positions, from 1.

    Raises:
        ValueError: `src` has another shape, or there is no such dimension or step.
        TypeError: `src` has another type.

    Example:
        >>> print(ops.slice_scatter(Tensor([1, 2, 3]), Tensor([8, 9]), start=1))
        [1 8 9]
    """
    axis = _axis(axis, x, "slice_scatter: axis")
    if not isinstance(step, int) or step < 1:
        raise wrong(ValueError, "slice_scatter: step", "a number from 1", repr(step))
    start, stop, step = slice(start, end, step).indices(x.shape[axis])
    length = len(range(start, stop, step))
    _check_alike(x, part, x.shape[:axis] + (length,) + x.shape[axis + 1 :], "slice_scatter: src")
    return with_slice(x, part, axis, start, max(start, stop), step)


@composite(
    "ops.select_scatter(input=x, src=part, axis=axis, index=index)",
    "Tensor.select_scatter(x, src=part, axis=axis, index=index)",
)
def select_scatter(x, part, axis, index):
    """x with `src` in the place of its slice at one position of a dimension.

    Args:
        x: any shape with at least one dimension.
        part: of the type of `x` and of its shape without `axis`.
        axis: the dimension in which the position is counted.
        index: the position, an integer; a negative one counts from the end.

    Raises:
        ValueError: `src` has another shape, or there is no such position.
        TypeError: `src` has another type.

    Example:
        >>> print(ops.select_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]), 1, 0))
        [[8 2]
         [9 4]]
    """
    axis = _axis(axis, x, "select_scatter: axis")
    length = x.shape[axis]
    if not isinstance(index, int) or not -length <= index < length:
        expected = f"a position among {length}"
        raise wrong(ValueError, "select_scatter: index", expected, repr(index))
    _check_alike(x, part, x.shape[:axis] + x.shape[axis + 1 :], "select_scatter: src")
    index %= length
    return with_slice(x, part.expand_dims(axis), axis, index, index + 1, 1)


@op(
    "ops.diagonal_scatter(input=x, src=part, offset=offset, dim1=first, dim2=second)",
    "Tensor.diagonal_scatter(x, src=part, offset=offset, dim1=first, dim2=second)",
)
def diagonal_scatter(x, part, *, offset=0, first=0, second=1):
    """x with `src` on a diagonal of two of its dimensions.

    Args:
        x: two dimensions or more.
        part: of the shape of `ops.diagonal` with the same arguments; it gets the type of `x`.
        offset: how far above the main diagonal the chosen one lies; below for a negative number.
        first: the dimension of the rows.
        second: the dimension of the columns.

    Raises:
        ValueError: `src` has another shape.

    Example:
        >>> print(ops.diagonal_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    axes = axis_in(first, x.ndim), axis_in(second, x.ndim)
    matrices = jnp.moveaxis(x, axes, (-2, -1))
    height, width = matrices.shape[-2:]
    rows, columns = max(-offset, 0), max(offset, 0)
    length = max(0, min(height - rows, width - columns))
    shape = (*matrices.shape[:-2], length)
    if part.shape != shape:
        raise ValueError(f"diagonal_scatter: src must have the shape {shape}, not {part.shape}.")
    steps = np.arange(length)
    filled = matrices.at[..., rows + steps, columns + steps].set(part.astype(x.dtype))
    return jnp.moveaxis(filled, (-2, -1), axes)


# -- rows ----------------------------------------------------------------------------------------


def _rows(x, values, indices, name: str) -> Tensor:
    """The positions of rows as a Tensor."""
    if not x.ndim:
        raise wrong(ValueError, f"{name}: x", "a Tensor with rows", "one without dimensions")
    if not isinstance(indices, Tensor):
        places = (indices,) if isinstance(indices, int) else tuple(indices)
        if not all(isinstance(row, int) for row in places):
            raise wrong(TypeError, f"{name}: indices", "integers", repr(indices))
        indices = Tensor(np.array(places, np.int64))
    _check_alike(x, values, (indices.size, *x.shape[1:]), f"{name}: v")
    return indices


@composite(
    "ops.inplace_update(x, v=values, indices=indices)",
    "InplaceUpdate(indices)(x, v=values)",
    "InplaceUpdateV2()(x, indices=indices, v=values)",
    "Tensor.inplace_update(x, v=values, indices=indices)",
)
def inplace_update(x, values, indices):
    """x with the rows of `v` in the place of some of its own. Despite its name a new Tensor.

    Args:
        x: any shape with at least one dimension.
        values: a row for each of `indices`, [M, *x.shape[1:]], of the type of `x`.
        indices: positions of rows, an integer, a tuple of M or a Tensor of them; negative ones
            count from the end.

    Raises:
        ValueError: `v` has another shape, or there is no such row.
        TypeError: `v` has another type, or the indices are not integers.

    Example:
        >>> print(ops.inplace_update(Tensor([[1], [2]]), Tensor([[9]]), 0))
        [[9]
         [2]]
    """
    return index_copy(x, _rows(x, values, indices, "inplace_update"), values, 0)


@composite("ops.inplace_add(x, v=values, indices=indices)", "InplaceAdd(indices)(x, v=values)")
def inplace_add(x, values, indices):
    """x with the rows of `v` added to some of its own. Despite its name a new Tensor.

    Args:
        x: any shape with at least one dimension.
        values: a row for each of `indices`, [M, *x.shape[1:]], of the type of `x`.
        indices: positions of rows from 0, an integer, a tuple of M or a Tensor of them.

    Raises:
        ValueError: `v` has another shape, or there is no such row.
        TypeError: `v` has another type, or the indices are not integers.

    Example:
        >>> print(ops.inplace_add(Tensor([[1], [2]]), Tensor([[9]]), 0))
        [[10]
         [ 2]]
    """
    return with_index_added(x, _rows(x, values, indices, "inplace_add"), values, 0)


@composite("ops.inplace_sub(x, v=values, indices=indices)", "InplaceSub(indices)(x, v=values)")
def inplace_sub(x, values, indices):
    """x with the rows of `v` subtracted from some of its own. Despite its name a new Tensor.

    Args:
        x: any shape with at least one dimension.
        values: a row for each of `indices`, [M, *x.shape[1:]], of the type of `x`.
        indices: positions of rows from 0, an integer, a tuple of M or a Tensor of them.

    Raises:
        ValueError: `v` has another shape, or there is no such row.
        TypeError: `v` has another type, or the indices are not integers.

    Example:
        >>> print(ops.inplace_sub(Tensor([[1], [2]]), Tensor([[9]]), 0))
        [[-8]
         [ 2]]
    """
    return with_index_added(x, _rows(x, values, indices, "inplace_sub"), values, 0, -1)


# -- elements, and another size ------------------------------------------------------------------


def itemset(self, *args):
    """A new Tensor with one element replaced; x itself is left alone, as in MindSpore.

    Args:
        args: the number, for a Tensor of one element; or a position and the number: an integer
            counts the elements in C order, a tuple has one for each dimension.

    Raises:
        ValueError: there are no arguments, or more than two.
        IndexError: the position is out of range, or is missing for a Tensor of several elements.

    Source: MindSpore's `Tensor.itemset`; NumPy's changes its array.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).itemset((1, 0), 9))
        [[1 2]
         [9 4]]
    """
    if not 1 <= len(args) <= 2:
        raise wrong(ValueError, "itemset", "called with (number) or (position, number)", args)
    if len(args) == 1:
        if self.size != 1:
            raise wrong(IndexError, "itemset", "given a position for many elements", self.shape)
        place: tuple = (0,) * self.ndim
    elif isinstance(args[0], tuple):
        place = args[0]
    else:
        place = _counted(args[0], self)
    lengths = self.shape
    if len(place) != len(lengths) or any(
        not -n <= i < n for i, n in zip(place, lengths, strict=True)
    ):
        raise wrong(IndexError, "itemset: position", f"within a Tensor {lengths}", args[0])
    changed = self.copy()
    changed[place] = args[-1]
    return changed


def _counted(position, x) -> tuple:
    """The place of the element with a number in C order."""
    size = x.size
    if not isinstance(position, int) or not -size <= position < size:
        raise wrong(IndexError, "itemset: position", f"within {size} elements", repr(position))
    return tuple(int(i) for i in np.unravel_index(position % size, x.shape))


add_member("itemset", itemset)


@op()
def with_length(x, *, length):
    """The first elements of a vector; zeros stand for those it does not have."""
    return jnp.pad(x[:length], (0, max(0, length - x.shape[0])))


@composite("Tensor.resize(x, *new_shape)")
def resize(x, new_shape):
    """A new Tensor of another size: the elements of x in C order, followed by zeros.

    Args:
        x: any shape.
        new_shape: loose numbers or one tuple.

    Raises:
        TypeError: a length is not an integer.
        ValueError: a length is negative.

    Source: MindSpore's `Tensor.resize`; NumPy's changes its array.

    Example:
        >>> print(Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    if not isinstance(new_shape, tuple) or not all(isinstance(n, int) for n in new_shape):
        raise wrong(TypeError, "resize: new_shape", "integers", repr(new_shape))
    if min(new_shape, default=0) < 0:
        raise wrong(ValueError, "resize: new_shape", "integers from 0", repr(new_shape))
    if not new_shape:
        return x
    return with_length(x.reshape(-1), prod(new_shape)).reshape(new_shape)
