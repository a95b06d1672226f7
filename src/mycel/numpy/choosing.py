# SPDX-License-Identifier: Apache-2.0
"""Picking elements by conditions and positions; functions along dimensions; sets of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import int32
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_tensor,
    axis_of,
    broadcast_shape,
    meeting_type,
    narrowed,
    operands,
    stacked,
)
from mycel.ops.array.selection import nearest, nearest_elements


def where(condition, x=None, y=None) -> Any:
    """x where the condition holds, y elsewhere, in the type they meet in.

    Raises:
        TypeError: x or y is missing; `argwhere` gives positions.

    Example:
        >>> print(ms.numpy.where(Tensor([True, False]), Tensor([1.0, 2.0]), 0))
        [1. 0.]
    """
    if x is None or y is None:
        expected = "given both (argwhere finds the positions of what is not zero)"
        raise errors.wrong(TypeError, "x and y", expected, "one value alone")
    return ops.where(as_tensor(condition, "condition"), *operands(x, y))


def select(condlist, choicelist, default=0):
    """For every place the choice of the first condition that holds there, or `default`.

    A list of choices is of at most 32 bits, as other lists are.

    Example:
        >>> x = Tensor([1, 2, 3])
        >>> print(ms.numpy.select([x < 2, x > 2], [x, x * 10]))
        [ 1  0 30]
    """
    conditions, choices = _listed(condlist, "condlist"), _listed(choicelist, "choicelist")
    if not isinstance(choicelist, Tensor):
        choices = [narrowed(choice) for choice in choices]
    return _chosen(conditions, choices, default)


def _chosen(conditions, choices, default):
    if len(conditions) != len(choices):
        raise errors.wrong(ValueError, "choicelist", f"{len(conditions)} choices", len(choices))
    meeting = meeting_type(*choices)
    shape = broadcast_shape(*(x.shape for x in (*conditions, *choices)))
    chosen = ops.broadcast_to(ops.cast(as_tensor(default, "default"), meeting), shape)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        chosen = ops.where(condition, ops.cast(choice, meeting), chosen)
    return chosen


def _listed(values, name: str) -> list:
    """The entries of a list, or the slices of a Tensor along its first dimension."""
    if isinstance(values, (list, tuple)):
        return [as_tensor(value, name) for value in values]
    values = as_tensor(values, name)
    if not values.ndim:
        raise errors.wrong(ValueError, name, "a list or a Tensor with a dimension", "a number")
    return list(ops.unbind(values, 0))


def piecewise(x, condlist, funclist, *args, **kw) -> Tensor:
    """For every place what the function of its condition gives there, or 0.

    Args:
        condlist: conditions, or one of them.
        funclist: a function of x (and of the further arguments) or a number for each condition;
            one more is for the places where none holds.

    Example:
        >>> x = Tensor([-2.0, 3.0])
        >>> print(ms.numpy.piecewise(x, [x < 0, x >= 0], [-1, 1]))
        [-1  1]
    """
    x = as_tensor(x, "x")
    if isinstance(condlist, Tensor) and condlist.ndim <= x.ndim:
        condlist = [condlist]
    conditions = _listed(condlist, "condlist")
    entries = funclist if isinstance(funclist, (list, tuple)) else [funclist]
    choices = [as_tensor(f(x, *args, **kw) if callable(f) else f, "funclist") for f in entries]
    if len(choices) not in (len(conditions), len(conditions) + 1):
        expected = f"{len(conditions)} or {len(conditions) + 1} entries"
        raise errors.wrong(ValueError, "funclist", expected, len(choices))
    default = choices.pop() if len(choices) > len(conditions) else 0
    return _chosen(conditions, choices, default)


def _inside(index, count: int, mode: str):
    """Positions brought into the range from 0 to before `count`."""
    if mode == "clip":
        return ops.clip(index, 0, count - 1)
    if mode == "wrap":
        return ops.remainder(index, count)
    raise errors.wrong(ValueError, "mode", "'clip' or 'wrap' (XLA cannot raise)", repr(mode))


def choose(a, choices, mode="clip"):
    """For every place the element there of the choice whose number `a` has.

    Example:
        >>> print(ms.numpy.choose(Tensor([1, 0]), [[10, 20], [30, 40]]))
        [30 20]
    """
    a = as_tensor(a, "a")
    if a.dtype.is_inexact or a.dtype.name == "bool":
        raise errors.wrong(ValueError, "a", "of integers", a.dtype)
    parts = _listed(choices, "choices")
    shape = broadcast_shape(a.shape, *(x.shape for x in parts))
    if not shape:
        raise errors.wrong(ValueError, "a and choices", "of some dimension", "numbers")
    table = stacked([ops.broadcast_to(x, shape) for x in parts])
    index = _inside(ops.broadcast_to(a, shape), len(parts), mode)
    return ops.squeeze(nearest_elements(table, ops.expand_dims(index, 0), 0), 0)


def take(a, indices, axis=None, mode="clip"):
    """The elements at positions along `axis`, or of all elements.

    Args:
        mode: 'clip' takes the nearest position there is, 'wrap' begins anew.

    Example:
        >>> print(ms.numpy.take(Tensor([10, 20, 30]), Tensor([2, 9])))
        [30 30]
    """
    a, index = as_tensor(a, "a"), as_tensor(indices, "indices")
    if axis is None:
        a, axis = ops.reshape(a, (-1,)), 0
    axis = axis_of(axis, a.ndim)
    if mode == "clip":
        return nearest(a, index, axis)
    return nearest(a, _inside(index, a.shape[axis], mode), axis)


def take_along_axis(arr, indices, axis):
    """For every place of `indices` the element at that place with `axis` replaced.

    Example:
        >>> print(ms.numpy.take_along_axis(Tensor([[3, 1]]), Tensor([[1, 0]]), 1))
        [[1 3]]
    """
    arr, indices = as_tensor(arr, "arr"), as_tensor(indices, "indices")
    if axis is None:
        arr, axis = ops.reshape(arr, (-1,)), 0
    if arr.ndim != indices.ndim:
        raise errors.wrong(ValueError, "indices", f"of {arr.ndim} dimensions", indices.ndim)
    axis = axis_of(axis, arr.ndim)
    front = broadcast_shape(arr.shape[:axis], indices.shape[:axis])
    rest = broadcast_shape(arr.shape[axis + 1 :], indices.shape[axis + 1 :])
    arr, indices = (ops.broadcast_to(x, (*front, x.shape[axis], *rest)) for x in (arr, indices))
    return nearest_elements(arr, ops.remainder(indices, arr.shape[axis]), axis)


def argwhere(a):
    """The positions of what is not zero, a row each; the values are read.

    Example:
        >>> print(ms.numpy.argwhere(Tensor([0, 5])))
        [[1]]
    """
    return ops.argwhere(as_tensor(a, "a"))


def unravel_index(indices, shape, order="C") -> tuple[Tensor, ...] | Tensor:
    """Positions among all elements of a shape as one Tensor for each dimension.

    Positions beyond the last or before the first are taken for the nearest. For one position in a
    shape of one dimension there is no tuple, but a Tensor of one element.

    Example:
        >>> print(*ms.numpy.unravel_index(Tensor([5, 2]), (2, 3)))
        [1 0] [2 2]
    """
    if order not in ("C", "F"):
        raise errors.wrong(ValueError, "order", "'C' or 'F'", repr(order))
    index = as_tensor(indices, "indices")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    count = math.prod(lengths)
    index = ops.remainder(ops.clip(index, -count, count - 1), count)
    positions = []
    for length in lengths if order == "F" else reversed(lengths):
        positions.append(ops.remainder(index, length))
        index = ops.floor_divide(index, length)
    if not index.ndim and len(lengths) == 1:
        return ops.reshape(positions[0], (1,))
    return tuple(positions if order == "F" else reversed(positions))


def ravel_multi_index(multi_index, dims, mode="clip", order="C"):
    """Positions along the dimensions of a shape as positions among all elements.

    The result is Float32, as in MindSpore.

    Args:
        multi_index: a Tensor of positions for each dimension.
        mode: 'clip' takes the nearest position there is, 'wrap' begins anew.

    Example:
        >>> print(ms.numpy.ravel_multi_index([[1, 0], [2, 2]], (2, 3)))
        [5. 2.]
    """
    if order not in ("C", "F"):
        raise errors.wrong(ValueError, "order", "'C' or 'F'", repr(order))
    lengths = (dims,) if isinstance(dims, int) else tuple(as_tensor(dims, "dims").tolist())
    if not lengths or any(isinstance(n, (bool, float)) for n in lengths):
        raise errors.wrong(TypeError, "dims", "integers", dims)
    parts = _listed(multi_index, "multi_index")
    if len(parts) != len(lengths):
        raise errors.wrong(ValueError, "multi_index", f"{len(lengths)} positions", len(parts))
    if any(part.dtype.is_inexact for part in parts):
        raise errors.wrong(TypeError, "multi_index", "of integers", parts[0].dtype)
    pairs = list(zip(parts, lengths, strict=True))[:: 1 if order == "C" else -1]
    places = [_inside(part, length, mode) for part, length in pairs]
    total = places[0]
    for place, (_, length) in zip(places[1:], pairs[1:], strict=True):
        total = ops.add(ops.mul(total, length), place)
    return ops.cast(total, "float32")


def size(a, axis=None) -> int:
    """The number of elements, or the length of one dimension, as a Python number.

    Example:
        >>> ms.numpy.size(Tensor([[1, 2], [3, 4]]))
        4
    """
    a = as_tensor(a, "a")
    return a.size if axis is None else a.shape[axis_of(axis, a.ndim)]


def array_str(a) -> str:
    """The values as text.

    Example:
        >>> ms.numpy.array_str(Tensor([1, 2]))
        '[1 2]'
    """
    if not isinstance(a, Tensor):
        raise errors.wrong(TypeError, "a", "a Tensor", type(a).__name__)
    return str(a)


def apply_along_axis(func1d: Callable, axis, arr, *args, **kwargs) -> Any:
    """What a function gives for every vector along one dimension, in the place of that dimension.

    Example:
        >>> x = Tensor([[1, 2], [3, 4]])
        >>> print(ms.numpy.apply_along_axis(lambda row: row.sum(), 1, x))
        [3 7]
    """
    arr = as_tensor(arr, "arr")
    axis = axis_of(axis, arr.ndim)
    moved = ops.moveaxis(arr, axis, -1)
    rows = ops.unbind(ops.reshape(moved, (-1, moved.shape[-1])), 0)
    results = stacked([as_tensor(func1d(row, *args, **kwargs), "The result") for row in rows])
    inner = results.ndim - 1
    results = ops.reshape(results, (*moved.shape[:-1], *results.shape[1:]))
    if not inner:
        return results
    last = tuple(range(arr.ndim - 1, arr.ndim - 1 + inner))
    return ops.moveaxis(results, last, tuple(range(axis, axis + inner)))


def apply_over_axes(func: Callable, a, axes):
    """A function of a Tensor and a dimension, applied to one dimension after the other.

    The function must keep the number of dimensions or take one away, which comes back as 1.

    Example:
        >>> print(ms.numpy.apply_over_axes(ms.numpy.sum, Tensor([[1, 2], [3, 4]]), (0, 1)))
        [[10]]
    """
    a = as_tensor(a, "a")
    reduced = a
    for axis in (axes,) if isinstance(axes, int) else axes:
        reduced = func(reduced, axis=axis)
        if reduced.ndim == a.ndim - 1:
            reduced = ops.expand_dims(reduced, axis_of(axis, a.ndim))
        if reduced.ndim != a.ndim:
            expected = f"such that its result has {a.ndim} or {a.ndim - 1} dimensions"
            raise errors.wrong(ValueError, "func", expected, reduced.ndim)
    return reduced


def unique(x, return_inverse=False) -> Any:
    """The different elements in the order they come; on demand also which of them each is.

    The values are read.

    Example:
        >>> print(ms.numpy.unique(Tensor([3, 1, 3])))
        [3 1]
    """
    values, inverse = ops.unique(ops.reshape(as_tensor(x, "x"), (-1,)))
    return (values, inverse) if return_inverse else values


def in1d(ar1, ar2, invert=False):
    """For all elements of `ar1` whether they are in `ar2`, as a vector.

    Example:
        >>> print(ms.numpy.in1d(Tensor([1, 2, 3]), [3, 1]))
        [ True False  True]
    """
    ar1, ar2 = as_tensor(ar1, "ar1"), as_tensor(ar2, "ar2")
    same = ops.equal(ops.reshape(ar1, (-1, 1)), ops.reshape(ar2, (1, -1)))
    contained = ops.any(same, 1)
    return ops.logical_not(contained) if invert else contained


def isin(element, test_elements, invert=False):
    """For every element whether it is in `test_elements`.

    Example:
        >>> print(ms.numpy.isin(Tensor([[1, 2]]), [3, 1]))
        [[ True False]]
    """
    element = as_tensor(element, "element")
    return ops.reshape(in1d(element, test_elements, invert), element.shape)


def _flags(**flags) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise errors.wrong(TypeError, name, "True or False", repr(flag))


def setdiff1d(ar1, ar2, assume_unique=False):
    """The elements of `ar1` that are not in `ar2`, in order and each once; the values are read.

    Args:
        assume_unique: leave `ar1` in its order, with its repetitions.

    Example:
        >>> print(ms.numpy.setdiff1d(Tensor([3, 1, 2, 3]), Tensor([1])))
        [2 3]
    """
    _flags(assume_unique=assume_unique)
    ar1 = ops.reshape(as_tensor(ar1, "ar1"), (-1,))
    if not assume_unique:
        ar1 = ops.sort(unique(ar1))[0]
    return ops.masked_select(ar1, in1d(ar1, ar2, invert=True))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False) -> Any:
    """The elements that both have, in order and each once; the values are read.

    With `return_indices` also where they first are in each.

    Example:
        >>> print(ms.numpy.intersect1d(Tensor([3, 1, 2]), Tensor([2, 3, 3])))
        [2 3]
    """
    _flags(assume_unique=assume_unique, return_indices=return_indices)
    del assume_unique  # It only saves work, which is not needed here.
    first, second = operands(
        ops.reshape(as_tensor(ar1, "ar1"), (-1,)), ops.reshape(as_tensor(ar2, "ar2"), (-1,))
    )
    common = ops.masked_select(first, in1d(first, second))
    common = ops.cast(ops.sort(unique(common))[0], meeting_type(first, second))
    if not return_indices:
        return common
    places = [
        ops.argmax(ops.cast(ops.equal(ops.expand_dims(common, 1), x), int32), 1)
        for x in (first, second)
    ]
    return common, *(ops.cast(place, int32) for place in places)
