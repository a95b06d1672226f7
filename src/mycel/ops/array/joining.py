# SPDX-License-Identifier: Apache-2.0
"""Joining Tensors and taking them apart: concat, stack, split, chunk, unbind."""

from __future__ import annotations

import functools
import itertools

import jax.numpy as jnp
from jax import lax

from mycel.kernel.base.promotion import promote_dtypes
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.kernel.spell.write import listed
from mycel.ops.array.axes import axis_in
from mycel.ops.array.shape import expand_dims, reshape


def _alike(tensors, what: str, axis=0):
    """The arrays in the type they all meet in."""
    if isinstance(axis, tuple):
        raise TypeError(f"{what} takes the Tensors as one tuple: {what}((x, y)).")
    if not tensors:
        raise ValueError(f"{what} needs at least one Tensor.")
    meeting = functools.reduce(promote_dtypes, [x.dtype for x in tensors])
    return [x.astype(meeting) for x in tensors]


@op(
    "ops.concat(tensors, axis=0)",
    "ops.cat(tensors, axis=0)",
    "Concat(axis=0)(tensors)",
    "ParallelConcat()(values=tensors)",
    "mint.concat(tensors, dim=(axis, 0))",
    "mint.cat(tensors, dim=(axis, 0))",
)
def concat(*tensors, axis=0):
    """The Tensors joined along one dimension.

    Args:
        tensors: a tuple or list of Tensors whose shapes agree except along `axis`; they meet in one
            element type.
        axis: the dimension along which they are joined.

    Raises:
        ValueError: there are no Tensors, or their shapes differ in another dimension than `axis`.

    Example:
        >>> print(ops.concat((Tensor([1, 2]), Tensor([3]))))
        [1 2 3]
    """
    arrays = _alike(tensors, "concat", axis)
    if not arrays[0].ndim:
        raise ValueError("Single numbers have no axis to be joined along; use `stack`.")
    axis = axis_in(axis, arrays[0].ndim)
    rest = [(*x.shape[:axis], *x.shape[axis + 1 :]) for x in arrays]
    if any(x.ndim != arrays[0].ndim for x in arrays) or len(set(rest)) > 1:
        raise ValueError(
            f"concat along axis {axis} needs shapes that agree elsewhere, "
            f"not {', '.join(str(x.shape) for x in arrays)}."
        )
    return lax.concatenate(arrays, axis)


@op(
    "ops.stack(tensors, axis=0)",
    "Stack(axis=0)(tensors)",
    "mint.stack(tensors, dim=(axis, 0))",
)
def stack(*tensors, axis=0):
    """Tensors of equal shape, joined along a new dimension.

    Raises:
        ValueError: there are no Tensors, or their shapes differ.
        TypeError: the element types differ.

    Example:
        >>> ops.stack((Tensor([1, 2]), Tensor([3, 4])), axis=1).shape
        (2, 2)
    """
    arrays = _alike(tensors, "stack", axis)
    if len({x.dtype for x in tensors}) > 1:
        raise TypeError(f"stack needs one type, not {', '.join(str(x.dtype) for x in tensors)}.")
    if len({x.shape for x in arrays}) > 1:
        raise ValueError(
            f"stack needs equal shapes, not {', '.join(str(x.shape) for x in arrays)}."
        )
    axis = axis_in(axis, arrays[0].ndim + 1)
    return lax.concatenate([lax.expand_dims(x, (axis,)) for x in arrays], axis)


def _at_least(x, ndim: int):
    if x.ndim >= ndim:
        return x
    if ndim == 3 and x.ndim == 2:
        return expand_dims(x, 2)
    if ndim == 3 and x.ndim == 1:
        return reshape(x, (1, x.shape[0], 1))
    return reshape(x, (1,) * (ndim - x.ndim) + x.shape)


def _each_at_least(inputs, ndim: int):
    if isinstance(inputs, (tuple, list)):
        return tuple(_at_least(x, ndim) for x in inputs)
    return _at_least(inputs, ndim)


@composite("ops.atleast_1d(inputs)")
def atleast_1d(inputs):
    """A Tensor, or several, with at least one dimension.

    Example:
        >>> ops.atleast_1d(Tensor(1)).shape
        (1,)
    """
    return _each_at_least(inputs, 1)


@composite("ops.atleast_2d(inputs)")
def atleast_2d(inputs):
    """A Tensor, or several, with at least two dimensions; new ones in front.

    Example:
        >>> ops.atleast_2d(Tensor([1, 2])).shape
        (1, 2)
    """
    return _each_at_least(inputs, 2)


@composite("ops.atleast_3d(inputs)")
def atleast_3d(inputs):
    """A Tensor, or several, with at least three dimensions; a vector becomes [1, n, 1].

    Example:
        >>> ops.atleast_3d(Tensor([1, 2])).shape
        (1, 2, 1)
    """
    return _each_at_least(inputs, 3)


@composite("ops.hstack(tensors)", "mint.hstack(tensors)")
def hstack(tensors):
    """Tensors joined along the second dimension, vectors along their only one.

    Example:
        >>> print(ops.hstack((Tensor([1]), Tensor([2, 3]))))
        [1 2 3]
    """
    tensors = _each_at_least(tuple(listed(tensors, "hstack")), 1)
    return concat(tensors, 0 if not tensors or tensors[0].ndim == 1 else 1)


@composite("ops.vstack(inputs)", "ops.row_stack(tensors=inputs)")
def vstack(inputs):
    """Tensors joined along the first dimension, vectors as rows.

    Example:
        >>> ops.vstack((Tensor([1, 2]), Tensor([3, 4]))).shape
        (2, 2)
    """
    return concat(_each_at_least(tuple(listed(inputs, "vstack")), 2), 0)


@composite("ops.dstack(tensors)", "mint.dstack(tensors)")
def dstack(tensors):
    """Tensors joined along the third dimension.

    Example:
        >>> ops.dstack((Tensor([1, 2]), Tensor([3, 4]))).shape
        (1, 2, 2)
    """
    return concat(_each_at_least(tuple(listed(tensors, "dstack")), 3), 2)


@composite("ops.column_stack(tensors)")
def column_stack(tensors):
    """Vectors as the columns of a matrix; matrices joined along their second dimension.

    Example:
        >>> ops.column_stack((Tensor([1, 2, 3]), Tensor([4, 5, 6]))).shape
        (3, 2)
    """
    given = listed(tensors, "column_stack")
    return concat([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in given], 1)


@op()
def split_at(x, *, bounds, axis):
    """The pieces of x between neighbouring `bounds` along `axis`.

    Example:
        >>> from mycel.ops.array.joining import split_at
        >>> [piece.shape for piece in split_at(Tensor([1, 2, 3]), (0, 1, 3), 0)]
        [(1,), (2,)]
    """
    pairs = itertools.pairwise(bounds)
    return tuple(lax.slice_in_dim(x, start, max(start, end), axis=axis) for start, end in pairs)


def _axis_of_pieces(axis, x):
    """The axis that x is cut along; one number cannot be cut."""
    if not x.ndim:
        raise ValueError("A single number cannot be cut into pieces.")
    return axis_in(axis, x.ndim)


def _pieces(x, lengths, axis):
    bounds = [0]
    for length in lengths:
        bounds.append(bounds[-1] + length)
    return split_at(x, tuple(bounds), axis)


@composite(
    "ops.split(tensor=x, split_size_or_sections=sizes, axis=0)",
    "Tensor.split(x, split_size=sizes, axis=0)",
    "mint.split(tensor=x, split_size_or_sections=sizes, dim=(axis, 0))",
)
def split(x, sizes, axis=0) -> tuple[Tensor, ...]:
    """x cut into pieces of given lengths.

    Args:
        x: any shape with at least one dimension.
        sizes: the length of each piece, the last one maybe shorter; or a list of all lengths.
        axis: the dimension that is cut.

    Raises:
        ValueError: a single length is not positive, or several are negative or do not add up to
            that of x.

    Example:
        >>> [piece.shape for piece in ops.split(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    axis = _axis_of_pieces(axis, x)
    length = x.shape[axis]
    if isinstance(sizes, (tuple, list)):
        if sum(sizes) != length or min(sizes) < 0:
            raise ValueError(f"The lengths {tuple(sizes)} do not add up to {length}.")
        return _pieces(x, sizes, axis)
    if isinstance(sizes, bool) or not isinstance(sizes, int):
        raise TypeError(f"split needs a length or a list of lengths, not {sizes!r}.")
    if sizes <= 0:
        raise ValueError(f"The length of a piece must be positive, not {sizes}.")
    starts = range(0, max(length, 1), sizes)
    return _pieces(x, [min(sizes, length - start) for start in starts], axis)


@composite("Split(axis=0, output_num=(count, 1))(input_x=x)")
def split_evenly(x, axis=0, count=1) -> tuple[Tensor, ...]:
    """x split into `count` pieces of equal length.

    Args:
        x: any shape with at least one dimension.
        axis: the dimension that is cut.
        count: the number of pieces.

    Raises:
        ValueError: `count` does not divide the length of the dimension.

    Example:
        >>> [piece.shape for piece in ops.Split(0, 2)(Tensor([1, 2]))]
        [(1,), (1,)]
    """
    axis = _axis_of_pieces(axis, x)
    length = x.shape[axis]
    if length % count:
        raise ValueError(f"A dimension of length {length} has no {count} equal pieces.")
    return _pieces(x, [length // count] * count, axis)


@composite(
    "ops.chunk(input=x, chunks=chunks, axis=0)",
    "Tensor.chunk(x, chunks, axis=0)",
    "mint.chunk(input=x, chunks=chunks, dim=(axis, 0))",
)
def chunk(x, chunks, axis=0) -> tuple[Tensor, ...]:
    """x split into at most `chunks` pieces of equal length, of which the last may be shorter.

    Args:
        x: any shape with at least one dimension.
        chunks: the greatest number of pieces, from 1.
        axis: the dimension that is cut.

    Raises:
        ValueError: `chunks` is not positive.

    Example:
        >>> [piece.shape for piece in ops.chunk(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    if chunks <= 0:
        raise ValueError(f"The number of chunks must be positive, not {chunks}.")
    length = x.shape[_axis_of_pieces(axis, x)]
    return split(x, max(1, -(-length // chunks)), axis)


@composite(
    "ops.tensor_split(input=x, indices_or_sections=sections, axis=0)",
    "Tensor.tensor_split(x, indices_or_sections=sections, axis=0)",
)
def tensor_split(x, sections, axis=0) -> tuple[Tensor, ...]:
    """x split into pieces of nearly equal length, or cut at given positions.

    Args:
        x: any shape with at least one dimension.
        sections: the number of pieces, of which the first ones may be longer by one; or a sequence
            of the positions to cut at, where negative ones count from the end.
        axis: the dimension that is cut.

    Example:
        >>> [piece.shape for piece in ops.tensor_split(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    axis = _axis_of_pieces(axis, x)
    length = x.shape[axis]
    if isinstance(sections, int):
        short, longer = divmod(length, sections)
        return _pieces(x, [short + (i < longer) for i in range(sections)], axis)
    cuts = [min(max(c + length if c < 0 else c, 0), length) for c in sections]
    return split_at(x, (0, *cuts, length), axis)


@composite("ops.hsplit(input=x, indices_or_sections=sections)",
           "Tensor.hsplit(x, indices_or_sections=sections)")  # fmt: skip
def hsplit(x, sections) -> tuple[Tensor, ...]:
    """`tensor_split` along the second dimension, or the only one.

    Example:
        >>> len(ops.hsplit(Tensor([[1, 2]]), 2))
        2
    """
    return tensor_split(x, sections, 0 if x.ndim == 1 else 1)


@composite("ops.vsplit(input=x, indices_or_sections=sections)",
           "Tensor.vsplit(x, indices_or_sections=sections)")  # fmt: skip
def vsplit(x, sections) -> tuple[Tensor, ...]:
    """`tensor_split` along the first dimension.

    Example:
        >>> len(ops.vsplit(Tensor([[1], [2]]), 2))
        2
    """
    return tensor_split(x, sections, 0)


@composite("ops.dsplit(input=x, indices_or_sections=sections)",
           "Tensor.dsplit(x, indices_or_sections=sections)")  # fmt: skip
def dsplit(x, sections) -> tuple[Tensor, ...]:
    """`tensor_split` along the third dimension.

    Example:
        >>> len(ops.dsplit(Tensor([[[1, 2]]]), 2))
        2
    """
    return tensor_split(x, sections, 2)


@op()
def slices_along(x, *, axis):
    """The slices of x along `axis`; see `unbind`.

    Example:
        >>> from mycel.ops.array.joining import slices_along
        >>> [row.shape for row in slices_along(Tensor([[1, 2]]), 0)]
        [(2,)]
    """
    count = x.shape[axis]
    return tuple(jnp.squeeze(lax.slice_in_dim(x, i, i + 1, axis=axis), axis) for i in range(count))


@composite(
    "ops.unbind(input=x, dim=axis)",
    "ops.unstack(input_x=x, axis=axis)",
    "Unstack(axis=axis, num=num)(input_x=x)",
    "Tensor.unbind(x, dim=axis)",
    "mint.unbind(input=x, dim=axis)",
)
def unbind(x, axis=0, num=None) -> tuple[Tensor, ...]:
    """The slices of x along `axis`, each without that dimension.

    Args:
        x: any shape with at least one dimension.
        axis: the dimension that is taken apart.
        num: the number of slices that is expected; None for no check.

    Raises:
        ValueError: `num` is given and is not the number of slices.

    Example:
        >>> [row.shape for row in ops.unbind(Tensor([[1, 2], [3, 4]]))]
        [(2,), (2,)]
    """
    axis = _axis_of_pieces(axis, x)
    count = x.shape[axis]
    if num is not None and num != count:
        raise ValueError(f"Dimension {axis} of a Tensor {x.shape} has {count} slices, not {num}.")
    return slices_along(x, axis) if count else ()
