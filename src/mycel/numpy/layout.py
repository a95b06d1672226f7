# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order; joining Tensors and taking them apart."""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_tensor,
    axes_of,
    axis_of,
    broadcast_shape,
)
from mycel.numpy.declare import unary
from mycel.ops.array.creation import as_size

# fmt: off
reshape = unary("numpy.reshape(x, new_shape)", ops.reshape,
    "The elements in another shape; one length may be -1 and is worked out.",
    "reshape(Tensor([1, 2, 3, 4]), (2, -1)).shape", "(2, 2)")
swapaxes = unary("numpy.swapaxes(x, axis1, axis2)", ops.swapaxes, "Two dimensions exchanged.",
    "swapaxes(Tensor([[1, 2, 3]]), 0, 1).shape", "(3, 1)")
tile = unary("numpy.tile(a, reps)", ops.tile, "Laid out `reps` times along the dimensions.",
    "tile(Tensor([1, 2]), (2, 2))", "[[1 2 1 2]\n [1 2 1 2]]")
repeat = unary("numpy.repeat(a, repeats, axis=None)", ops.repeat_interleave,
    "Every element several times in a row, along `axis` or, without one, of all elements.",
    "repeat(Tensor([1, 2]), 2)", "[1 1 2 2]")
# fmt: on


def ravel(x):
    """The elements in one dimension.

    Example:
        >>> print(ms.numpy.ravel(Tensor([[1, 2], [3, 4]])))
        [1 2 3 4]
    """
    return ops.reshape(as_tensor(x, "x"), (-1,))


def expand_dims(a, axis):
    """New dimensions of length 1 at the places `axis` of the result.

    Example:
        >>> ms.numpy.expand_dims(Tensor([1, 2]), (0, 2)).shape
        (1, 2, 1)
    """
    a = as_tensor(a, "a")
    if not isinstance(axis, (tuple, list)):
        return ops.expand_dims(a, axis)
    for place in sorted(axes_of(axis, a.ndim + len(axis))):
        a = ops.expand_dims(a, place)
    return a


def squeeze(a, axis=None):
    """Without the dimensions of length 1: all of them, or those of `axis`.

    Raises:
        ValueError: a dimension of `axis` is longer.

    Example:
        >>> ms.numpy.squeeze(Tensor([[1], [2]])).shape
        (2,)
    """
    a = as_tensor(a, "a")
    if axis is not None and any(a.shape[i] != 1 for i in axes_of(axis, a.ndim)):
        raise errors.wrong(ValueError, "axis", "of length 1", f"{axis} of shape {a.shape}")
    return ops.squeeze(a, axis)


def transpose(a, axes=None):
    """The dimensions in the given order; without one, reversed.

    Example:
        >>> ms.numpy.transpose(Tensor([[1, 2, 3]])).shape
        (3, 1)
    """
    return ops.transpose(as_tensor(a, "a"), () if axes is None else axes)


def moveaxis(a, source, destination):
    """The dimensions `source` moved to `destination`; the others keep their order.

    Example:
        >>> ms.numpy.moveaxis(ms.numpy.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    a = as_tensor(a, "a")
    start, end = axes_of(source, a.ndim, "source"), axes_of(destination, a.ndim, "destination")
    if len(start) != len(end):
        raise errors.wrong(ValueError, "destination", f"{len(start)} dimensions", destination)
    return ops.moveaxis(a, start, end)


def rollaxis(x, axis, start=0):
    """One dimension moved in front of the dimension `start`.

    Example:
        >>> ms.numpy.rollaxis(ms.numpy.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    x = as_tensor(x, "x")
    axis = axis_of(axis, x.ndim)
    start = x.ndim if start == x.ndim else axis_of(start, x.ndim, "start")
    return ops.moveaxis(x, axis, start - 1 if axis < start else start)


def flip(m, axis=None):
    """In reverse order along some dimensions, or all.

    Example:
        >>> print(ms.numpy.flip(Tensor([[1, 2], [3, 4]])))
        [[4 3]
         [2 1]]
    """
    m = as_tensor(m, "m")
    return ops.flip(m, axes_of(axis, m.ndim))


def flipud(m):
    """The first dimension reversed.

    Example:
        >>> print(ms.numpy.flipud(Tensor([1, 2, 3])))
        [3 2 1]
    """
    return flip(m, 0)


def fliplr(m):
    """The second dimension reversed.

    Example:
        >>> print(ms.numpy.fliplr(Tensor([[1, 2, 3]])))
        [[3 2 1]]
    """
    return flip(m, 1)


def rot90(a, k=1, axes=(0, 1)):
    """Turned by 90 degrees k times in the plane of two dimensions.

    Example:
        >>> print(ms.numpy.rot90(Tensor([[1, 2], [3, 4]])))
        [[2 4]
         [1 3]]
    """
    a = as_tensor(a, "a")
    if isinstance(k, bool) or not isinstance(k, int):
        raise errors.wrong(TypeError, "k", "an integer", repr(k))
    plane = axes_of(axes, a.ndim, "axes")
    if len(plane) != 2:
        raise errors.wrong(ValueError, "axes", "two dimensions", axes)
    return ops.rot90(a, k % 4, plane)


def roll(a, shift, axis=None):
    """Shifted along dimensions, what leaves at one end coming in at the other.

    Example:
        >>> print(ms.numpy.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    a = as_tensor(a, "a")
    if axis is not None:
        several = axis if isinstance(axis, (tuple, list)) else (axis,)
        for one in several:
            axis_of(one, a.ndim)
    return ops.roll(a, shift, axis)


def broadcast_to(array, shape):
    """Repeated along dimensions of length 1, and along new ones in front.

    Example:
        >>> print(ms.numpy.broadcast_to(Tensor([1, 2]), (2, 2)))
        [[1 2]
         [1 2]]
    """
    return ops.broadcast_to(as_tensor(array, "array"), as_size(shape))


def broadcast_arrays(*args) -> list[Tensor]:
    """All in the one shape they can be broadcast to.

    Example:
        >>> [x.shape for x in ms.numpy.broadcast_arrays(Tensor([1, 2]), Tensor([[3]]))]
        [(1, 2), (1, 2)]
    """
    tensors = [as_tensor(x, "args") for x in args]
    shape = broadcast_shape(*(x.shape for x in tensors))
    return [ops.broadcast_to(x, shape) for x in tensors]


def _tensors(arrays, name: str) -> list:
    if not isinstance(arrays, (tuple, list)):
        raise errors.wrong(TypeError, name, "a tuple or list of Tensors", type(arrays).__name__)
    if not arrays:
        raise errors.wrong(ValueError, name, "at least one Tensor", "none")
    return [as_tensor(x, name) for x in arrays]


def concatenate(arrays, axis: int | None = 0):
    """Tensors one behind the other along `axis`, or of all elements if it is None.

    One Tensor is taken apart along its first dimension.

    Example:
        >>> print(ms.numpy.concatenate((Tensor([1, 2]), Tensor([3]))))
        [1 2 3]
    """
    if isinstance(arrays, Tensor):
        if axis is None:
            return ravel(arrays)
        arrays = ops.unbind(arrays, 0)
    tensors = _tensors(arrays, "arrays")
    if axis is None:
        tensors, axis = [ravel(x) for x in tensors], 0
    axis_of(axis, tensors[0].ndim)
    return tensors[0] if len(tensors) == 1 else ops.concat(tensors, axis)


def append(arr, values, axis=None):
    """Values behind a Tensor along `axis`, or of all elements if it is None.

    Example:
        >>> print(ms.numpy.append(Tensor([1, 2]), Tensor([3])))
        [1 2 3]
    """
    arr, values = as_tensor(arr, "arr"), as_tensor(values, "values")
    if axis is not None and arr.ndim != values.ndim:
        raise errors.wrong(ValueError, "values", f"{arr.ndim} dimensions", values.ndim)
    return concatenate((arr, values), axis)


def stack(arrays, axis=0):
    """Tensors of one shape side by side along a new dimension.

    One Tensor is taken apart along its first dimension.

    Example:
        >>> ms.numpy.stack((Tensor([1, 2]), Tensor([3, 4])), axis=1).shape
        (2, 2)
    """
    if isinstance(arrays, Tensor):
        return moveaxis(arrays, 0, axis)
    tensors = _tensors(arrays, "arrays")
    axis = axis_of(axis, tensors[0].ndim + 1)
    return ops.concat([ops.expand_dims(x, axis) for x in tensors], axis)


def vstack(tup):
    """Joined along the first dimension, vectors as rows.

    Example:
        >>> ms.numpy.vstack((Tensor([1, 2]), Tensor([3, 4]))).shape
        (2, 2)
    """
    return tup if isinstance(tup, Tensor) else ops.vstack(_tensors(tup, "tup"))


def hstack(tup):
    """Joined along the second dimension, vectors along their only one.

    Example:
        >>> print(ms.numpy.hstack((Tensor([1]), Tensor([2, 3]))))
        [1 2 3]
    """
    return tup if isinstance(tup, Tensor) else ops.hstack(_tensors(tup, "tup"))


def dstack(tup):
    """Joined along the third dimension.

    Example:
        >>> ms.numpy.dstack((Tensor([1, 2]), Tensor([3, 4]))).shape
        (1, 2, 2)
    """
    if isinstance(tup, Tensor):
        return tup
    return ops.concat([atleast_3d(x) for x in _tensors(tup, "tup")], 2)


def column_stack(tup):
    """Vectors as the columns of a matrix; matrices joined along their second dimension.

    Example:
        >>> ms.numpy.column_stack((Tensor([1, 2, 3]), Tensor([4, 5, 6]))).shape
        (3, 2)
    """
    return tup if isinstance(tup, Tensor) else ops.column_stack(_tensors(tup, "tup"))


def _each(function, arys):
    results = [function(as_tensor(x, "arys")) for x in arys]
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys) -> Any:
    """With at least one dimension; several arguments give a list.

    Example:
        >>> ms.numpy.atleast_1d(Tensor(1)).shape
        (1,)
    """
    return _each(ops.atleast_1d, arys)


def atleast_2d(*arys) -> Any:
    """With at least two dimensions, new ones in front; several arguments give a list.

    Example:
        >>> ms.numpy.atleast_2d(Tensor([1, 2])).shape
        (1, 2)
    """
    return _each(ops.atleast_2d, arys)


def atleast_3d(*arys) -> Any:
    """With at least three dimensions, a vector along the second; several arguments give a list.

    Example:
        >>> ms.numpy.atleast_3d(Tensor([1, 2])).shape
        (1, 2, 1)
    """
    return _each(ops.atleast_3d, arys)


def _cuts(x, positions, axis):
    """The pieces between positions; none may be empty."""
    length = x.shape[axis]
    ends = [n + length if n < 0 else n for n in positions]
    sizes = [end - start for start, end in zip([0, *ends], [*ends, length], strict=True)]
    if min(sizes) <= 0:
        expected = f"positions that leave no piece of {length} elements empty"
        raise errors.wrong(ValueError, "indices_or_sections", expected, tuple(positions))
    return list(ops.split(x, sizes, axis))


def split(x, indices_or_sections, axis=0) -> tuple[Tensor, ...] | list[Tensor]:
    """As many equal pieces, a tuple, or the pieces between the positions of a list, a list.

    Example:
        >>> [piece.shape for piece in ms.numpy.split(Tensor([1, 2, 3, 4]), 2)]
        [(2,), (2,)]
    """
    return _split(x, indices_or_sections, axis, equal=True)


def array_split(x, indices_or_sections, axis=0) -> tuple[Tensor, ...] | list[Tensor]:
    """As `split`, but the number need not divide the length: the first pieces are longer by one.

    Example:
        >>> [piece.shape for piece in ms.numpy.array_split(Tensor([1, 2, 3]), 2)]
        [(2,), (1,)]
    """
    return _split(x, indices_or_sections, axis, equal=False)


def _split(x, sections, axis, equal: bool):
    x = as_tensor(x, "x")
    axis = axis_of(axis, x.ndim)
    if isinstance(sections, (tuple, list)):
        return _cuts(x, sections, axis)
    if isinstance(sections, bool) or not isinstance(sections, int):
        expected = "an integer, or a tuple or list of them"
        raise errors.wrong(TypeError, "indices_or_sections", expected, repr(sections))
    length = x.shape[axis]
    if not 0 < sections <= length or (equal and length % sections):
        expected = f"a number of pieces of {length} elements"
        raise errors.wrong(ValueError, "indices_or_sections", expected, sections)
    return ops.tensor_split(x, sections, axis)


def vsplit(x, indices_or_sections) -> tuple[Tensor, ...] | list[Tensor]:
    """`split` along the first dimension.

    Example:
        >>> len(ms.numpy.vsplit(Tensor([[1], [2]]), 2))
        2
    """
    return split(x, indices_or_sections, 0)


def hsplit(x, indices_or_sections) -> tuple[Tensor, ...] | list[Tensor]:
    """`split` along the second dimension.

    Example:
        >>> len(ms.numpy.hsplit(Tensor([[1, 2]]), 2))
        2
    """
    return split(x, indices_or_sections, 1)


def dsplit(x, indices_or_sections) -> tuple[Tensor, ...] | list[Tensor]:
    """`split` along the third dimension.

    Example:
        >>> len(ms.numpy.dsplit(Tensor([[[1, 2]]]), 2))
        2
    """
    return split(x, indices_or_sections, 2)
