# SPDX-License-Identifier: Apache-2.0
"""Square brackets: reading and writing a part of a Tensor, as NumPy does.

Where an integer points and where a slice of step 1 starts are inputs of the operator, so that
`x[i]` and `x[i : i + 32]` in a loop are one program for every i; only lengths are part of the
program. Positions given in Python are checked before anything is recorded (XLA would clamp them
silently); those in an integer Tensor are inputs as well, with bounds.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import Any
from weakref import ref

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import tree_leaves
from mycel.kernel.base.where import tell_line
from mycel.kernel.define.bounds import counted
from mycel.kernel.record.dispatch import number_value, wrap
from mycel.kernel.record.stream import local, record, refuse
from mycel.kernel.record.tensor import (
    Tensor,
    data_value,
    is_part,
    made_within,
    new_tensor,
    resolve,
    update,
)
from mycel.kernel.record.value import Value
from mycel.kernel.spell import add_member, op
from mycel.ops.common import as_wide

# What a plan says of a dimension. An integer, a moving slice and an array take one input each;
# a number is an integer that only the device knows. Dimensions behind the plan are taken whole.
FULL, NEW, INTEGER = ("full",), ("new",), ("integer",)
NUMBER, ARRAY = ("number",), ("array",)


# -- the operators ---------------------------------------------------------------------------


def _bounds(x, first, plan, operator="x[...]") -> list:
    """What the positions of a plan may hold, the first of which is this input."""
    bounds, axis = [], 0
    for kind, *_ in plan:
        if kind in ("number", "array"):
            where = f" of dimension {axis}"
            bounds.append(counted(first, x.shape[axis], where=where, operator=operator))
        first += kind in ("integer", "number", "slice", "array")
        axis += kind != "new"
    return bounds


@op(indices=lambda x, *positions, plan: _bounds(x, 1, plan))
def read_index(x, *positions, plan):
    """The part of x that a plan and its positions point to.

    Example:
        >>> from mycel.ops.array.indexing import read_index
        >>> print(read_index(Tensor([5, 6]), [1], (("integer",),)))
        6
    """
    starts, sizes, inner = _region(x, positions, plan)
    part = x if sizes == x.shape else lax.dynamic_slice(x, starts, sizes)
    if _is_simple(inner):
        return lax.reshape(part, _simple_shape(sizes, inner))
    # Gradients of elements that are read several times are added as Float32.
    return as_wide(part).at[tuple(inner)].get(mode="clip").astype(part.dtype)


@op(indices=lambda x, value, *positions, plan: _bounds(x, 2, plan, "x[...] = value"))
def write_index(x, value, *positions, plan):
    """x with the part that a plan points to replaced by `value`.

    Example:
        >>> from mycel.ops.array.indexing import write_index
        >>> print(write_index(Tensor([5, 6]), Tensor(7), [1], (("integer",),)))
        [5 7]
    """
    starts, sizes, inner = _region(x, positions, plan)
    value = value.astype(x.dtype)
    if _is_simple(inner):
        part = lax.reshape(_fitted(value, _simple_shape(sizes, inner)), sizes)
    else:
        block = x if sizes == x.shape else lax.dynamic_slice(x, starts, sizes)
        shape = np.empty(block.shape, np.bool_)[_shape_index(inner)].shape
        part = block.at[tuple(inner)].set(_fitted(value, shape), mode="drop")
    return part if sizes == x.shape else lax.dynamic_update_slice(x, part, starts)


@op()
def write_where(x, mask, value, *, behind):
    """x with `value` where the mask is set; `behind` dimensions of x come after those of the mask.

    Example:
        >>> from mycel.ops.array.indexing import write_where
        >>> print(write_where(Tensor([5, 6]), Tensor([True, False]), 0, 0))
        [0 6]
    """
    value = value.astype(x.dtype)
    if value.ndim > behind:
        cut = value.ndim - behind
        value = value.reshape(
            value.shape[: cut - 1] + (1,) * mask.ndim + value.shape[cut:],
        )
    mask = mask.astype(bool).reshape(mask.shape + (1,) * behind)
    return jnp.where(mask, _fitted(value, x.shape), x)


def _region(x, positions, plan):
    """The block of x to cut out, and the index inside that block."""
    # Positions become integers again: the machine differentiates integer inputs as real numbers.
    given = iter(positions)
    starts, sizes, inner = [], [], []
    for kind, *details in plan:
        if kind == "new":
            inner.append(None)
            continue
        length = x.shape[len(sizes)]
        start, size, inside = 0, length, slice(None)
        if kind in ("integer", "number"):
            start, size, inside = next(given).astype(np.int64), 1, 0
            if kind == "number":
                start = jnp.where(start < 0, start + length, start)
        elif kind == "slice":
            start, size = next(given).astype(np.int64), details[0]
        elif kind == "step":
            inside = slice(*details)
        elif kind == "array":
            inside = next(given).astype(np.int64)
        starts.append(start)
        sizes.append(size)
        inner.append(inside)
    rest = x.shape[len(sizes) :]
    starts += [0] * len(rest)
    inner += [slice(None)] * len(rest)
    return [jnp.asarray(s, np.int64) for s in starts], (*sizes, *rest), inner


def _is_array(part) -> bool:
    return hasattr(part, "shape")


def _is_simple(inner) -> bool:
    """Whether only whole dimensions, new ones and single positions occur."""
    return not any(
        _is_array(part) or (part.__class__ is slice and part != slice(None)) for part in inner
    )


def _simple_shape(sizes, inner) -> tuple[int, ...]:
    """The shape of a block without the dimensions that a position took, with the new ones."""
    left = iter(sizes)
    shape = []
    for part in inner:
        if part is None:
            shape.append(1)
            continue
        length = next(left)
        if part.__class__ is slice:
            shape.append(length)
    return tuple(shape)


def _shape_index(inner) -> tuple:
    """An index of the same result shape that needs no values."""
    return tuple(np.zeros(p.shape, np.int64) if _is_array(p) else p for p in inner)


def _fitted(value, shape):
    """The value broadcast to the part it is written to, without superfluous dimensions in front."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    ends = zip(reversed(value.shape), reversed(shape), strict=False)
    if value.ndim > len(shape) or any(a not in (1, b) for a, b in ends):
        raise ValueError(f"A value of shape {value.shape} does not fit the part of shape {shape}.")
    return jnp.broadcast_to(value, shape)


# -- taking an index apart --------------------------------------------------------------------


def _items(index) -> list:
    """The entries of an index; a list that holds more than numbers is one of entries."""
    if isinstance(index, tuple):
        return list(index)
    if isinstance(index, list) and any(issubclass(kind, _ENTRIES) for kind in _kinds_in(index)):
        return list(index)
    return [index]


# What only a list of entries has in it.
_ENTRIES = (type(None), type(Ellipsis), list, tuple, slice)


def _kinds_in(index) -> set[type]:
    """The classes of the members of a list, which may be long."""
    return set(map(type, index))


# Entries that are ready for use; asked first, because nearly all are.
_NO_ELEMENT = np.zeros(0, np.int64)
_BASIC = frozenset((int, slice, type(None), type(Ellipsis), bool))


def _plain(item):
    """An entry as None, Ellipsis, a bool, an int, a slice, an array or a Tensor.

    Raises:
        IndexError: the entry is not an index.
        TypeError: the entry is a list whose members are not indices.
    """
    if item.__class__ in _BASIC:
        return item
    original = item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, Integral):
        return int(item)
    if isinstance(item, (list, tuple)):
        if not len(item):
            raise IndexError("An empty list points to no element; write x[0:0].")
        if any(issubclass(kind, Tensor) for kind in _kinds_in(item)):
            item = [int(v) if isinstance(v, Tensor) else v for v in item]
        item = np.array(item)
    if isinstance(item, (Tensor, np.ndarray)) and _numpy_kind(item) in "biu":
        if item.ndim == 0 and _numpy_kind(item) == "b":
            return bool(item)
        return int(item) if item.ndim == 0 and isinstance(item, np.ndarray) else item
    raise (TypeError if original.__class__ is list else IndexError)(
        "A Tensor is indexed by integers, slices, None, Ellipsis, booleans, lists, NumPy arrays "
        f"and Tensors of integers or booleans, not by {item!r:.60}."
    )


def _is_mask(item) -> bool:
    return item.__class__ not in _BASIC and _numpy_kind(item) == "b"


def _numpy_kind(item) -> str:
    return item._value.aval.numpy.kind if isinstance(item, Tensor) else item.dtype.kind


def _width(item) -> int:
    """How many dimensions an entry takes."""
    kind = item.__class__
    if kind is int or kind is slice:
        return 1
    if kind in _BASIC:
        return 0
    return item.ndim if _is_mask(item) else 1


def _entries(shape, index, written=False) -> list:
    """The entries of an index, Ellipsis written out. Nothing may be written to.

    Raises:
        IndexError: more entries than dimensions, or two Ellipses.
    """
    items = [
        _NO_ELEMENT if written and isinstance(item, list) and not item else _plain(item)
        for item in _items(index)
    ]
    taken = sum(map(_width, items))
    if taken > len(shape):
        raise IndexError(f"{taken} indices are too many for a Tensor of shape {shape}.")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("An index has one Ellipsis ('...') at most.")
    if dots:
        items[dots[0] : dots[0] + 1] = [slice(None)] * (len(shape) - taken)
    return items


def _planned(shape, items) -> tuple[tuple, list]:
    """The static plan of entries, and the positions that are inputs."""
    plan, positions = [], []
    axis = 0
    for item in items:
        if item is None or item is True:
            plan.append(NEW)
            continue
        if item is False:
            raise IndexError("False selects nothing; write x[None][0:0].")
        if _is_mask(item):
            for found in _of_mask(shape, axis, item):
                plan.append(ARRAY)
                positions.append(found)
                axis += 1
            continue
        entry, position = _entry(shape[axis], axis, item)
        plan.append(entry)
        if position is not None:
            positions.append(position)
        axis += 1
    while plan and plan[-1] == FULL:
        plan.pop()
    return tuple(plan), positions


def _entry(length, axis, item):
    """Plan and position of an entry that takes one dimension."""
    if item.__class__ is int:
        return INTEGER, number_value(_in_range(item, length, axis), None)
    if item.__class__ is slice:
        return _of_slice(length, item)
    if isinstance(item, Tensor):
        return (NUMBER if item.ndim == 0 else ARRAY), resolve(item)
    if item.size:
        for bound in (int(item.min()), int(item.max())):
            _in_range(bound, length, axis)
    return ARRAY, data_value(item.astype(np.int64), None)


def _in_range(number: int, length: int, axis: int) -> int:
    if not -length <= number < length:
        raise IndexError(
            f"Index {number} is out of range for dimension {axis} of length {length} "
            f"(at {user_place(2)})."
        )
    return number + length if number < 0 else number


def _of_slice(length, item):
    """Full, moving (only its start is an input) or stepping (static)."""
    try:
        start, stop, step = item.indices(length)
    except TypeError:
        raise IndexError(f"The bounds of a slice must be integers or None, not {item}.") from None
    if step == 1:
        size = max(0, stop - start)
        if size == length:
            return FULL, None
        return ("slice", size), number_value(min(start, length - size), None)
    count = len(range(start, stop, step))
    if not count:
        return ("slice", 0), number_value(0, None)
    return ("step", start, stop if stop >= 0 else None, step), None


def _of_mask(shape, axis, mask) -> list:
    """The positions of a mask, an index array for each of its dimensions: its values are read."""
    covered = shape[axis : axis + mask.ndim]
    if mask.shape != covered:
        raise IndexError(
            f"A mask of shape {mask.shape} does not fit dimensions of the lengths {covered}."
        )
    values = mask.asnumpy() if isinstance(mask, Tensor) else mask
    return [data_value(places, None) for places in np.nonzero(values)]


# -- square brackets ----------------------------------------------------------------------------


def _read(self, index):
    """Tensor.__getitem__: what is written into the part later reaches the whole."""
    try:
        part = _part(self, index)
    except Exception as error:
        tell_line(error)
        raise
    if index.__class__ is int or _shares(index):
        above = getattr(self, "_taken", None)
        if above is not None and not is_part(self):
            above = None  # else `x = x[1:]` in a loop would be longer each time
        part._taken = (ref(self), index, ref(self._value), above)
    return part


def _shares(index) -> bool:
    """Whether an index takes a part as it lies, and copies nothing together."""
    if index.__class__ is tuple:
        return all(map(_shares, index))
    return index is None or index is Ellipsis or index.__class__ in (int, slice)


def _part(self, index) -> Any:
    if index.__class__ is int:
        shape = self._value.aval.shape
        if shape:
            position = number_value(_in_range(index, shape[0], 0), None)
            return wrap(record(_READ_ROW, (resolve(self), position)))
    elif index.__class__ is slice and self.ndim:
        entry, position = _of_slice(self.shape[0], index)
        if position is not None:
            reader = read_index.definition.bind((entry,))
            return wrap(record(reader, (resolve(self), position)))
    if index is False:
        return _part(_part(self, None), slice(0, 0))
    plan, positions = _planned(self.shape, _entries(self.shape, index))
    reader = read_index.definition.bind(plan)
    return wrap(record(reader, (resolve(self), *positions)))


def _write(self, index, value) -> None:
    """Tensor.__setitem__: the handle points to a new Value afterwards, and so does what it was
    taken from by square brackets."""
    try:
        _write_part(self, index, value)
    except Exception as error:
        tell_line(error)
        raise


def _write_part(self, index, value) -> None:
    if index is False:
        return
    if getattr(self, "_taken", None) is None:
        update(self, _written(self, index, value))
        return
    line = _line(self)
    capture = local.stream.scope.capture
    if len(line) > 1 and capture is not None and not made_within(self, capture):
        refuse("a part of another Tensor was written to", "write `x[i, j] = v` to the whole")
    for (whole, _), (part, place) in pairwise(line):
        if whole._value is not part._taken[2]():
            update(part, _part(whole, place))  # the whole was written to since
    # All of it is made before any of them is given it: what is wrong leaves them as they are.
    made = [_written(self, index, value)]
    for (_, place), (whole, _) in pairwise(reversed(line)):
        made.append(_written(whole, place, new_tensor(made[-1])))
    for (handle, _), result in zip(reversed(line), made, strict=True):
        update(handle, result)
    for (whole, _), (part, _) in pairwise(line):
        part._taken = (*part._taken[:2], ref(whole._value), part._taken[3])


def _line(self) -> list[tuple[Any, Any]]:
    """What somebody has of which a Tensor was taken, what that is of it, and so on down to the
    Tensor; each with its index in the one before. What nobody has in between is taken anew."""
    links: list[tuple] = []
    taken = getattr(self, "_taken", None)
    while taken is not None:
        links.append(taken)
        taken = taken[3]
    while links and links[-1][0]() is None:
        links.pop()
    parts = [self, *(link[0]() for link in links)]
    line = [(parts.pop(), None)]
    for link in reversed(links):
        part = parts.pop()
        line.append((_read(line[-1][0], link[1]) if part is None else part, link[1]))
    return line


def _written(self, index, value) -> Value:
    """The Value of a Tensor with a part written over."""
    shape = self.shape
    items = _entries(shape, index, True)
    assigned = _assigned(self, value)
    behind = _behind_mask(items, shape, assigned.aval.shape)
    if behind is not None:
        mask = next(item for item in items if _is_mask(item))
        mask = resolve(mask if isinstance(mask, Tensor) else Tensor(mask))
        made = record(write_where.definition.bind(behind), (resolve(self), mask, assigned))
    else:
        plan, positions = _planned(shape, items)
        writer = write_index.definition.bind(plan)
        made = record(writer, (resolve(self), assigned, *positions))
    assert isinstance(made, Value)
    return made


def _assigned(self, value) -> Value:
    """The Value of what is written.

    Raises:
        TypeError: it is not a number, sequence of numbers, array or Tensor; or complex, and the
            Tensor is not.
    """
    written = _value_to_write(self, value)
    if written.aval.numpy.kind == "c" and self.dtype.numpy.kind != "c":
        what = "What is written into a real Tensor"
        raise wrong(TypeError, what, "real; write ops.real(x) for its real part", "a complex one")
    return written


def _value_to_write(self, value) -> Value:
    """The same, whatever kind of number it is."""
    if isinstance(value, Tensor):
        return resolve(value)
    if isinstance(value, (bool, int, float, complex)):
        return number_value(value, self._value)
    if isinstance(value, (np.ndarray, np.generic)):
        return data_value(value, None)
    if isinstance(value, (list, tuple)):
        is_complex = any(isinstance(leaf, complex) for leaf in tree_leaves(value))
        return data_value(value, None if is_complex else self.dtype)
    raise TypeError(
        "A number, a list of numbers, a NumPy array or a Tensor can be written into a Tensor, "
        f"not {value!r:.60}."
    )


def _behind_mask(items, shape, value) -> int | None:
    """The dimensions behind the only mask of an index, if `where` can write the value.

    It can when every element under the mask gets the same value, so that nobody needs to know how
    many there are.
    """
    masks = [i for i, item in enumerate(items) if _is_mask(item)]
    others = [item for i, item in enumerate(items) if i not in masks]
    if len(masks) != 1 or any(
        item.__class__ is not slice or item != slice(None) for item in others
    ):
        return None
    mask = items[masks[0]]
    before = masks[0]
    if mask.shape != shape[before : before + mask.ndim]:
        return None
    behind = len(shape) - before - mask.ndim
    alike = len(value) <= behind or value[len(value) - behind - 1] == 1
    return behind if alike else None


_READ_ROW = read_index.definition.bind((INTEGER,))
add_member("__getitem__", _read)
add_member("__setitem__", _write)
