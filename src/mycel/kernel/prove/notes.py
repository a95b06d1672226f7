# SPDX-License-Identifier: Apache-2.0
"""What a capture writes down: inputs, reads, templates of results; all of it comparable.

Two calls agree when their notes are equal, so everything here compares by value: numbers instead
of Values, bytes instead of arrays, identity for handles and Cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Number
from typing import NamedTuple

import numpy as np

from mycel.kernel.base.division import fetched
from mycel.kernel.base.places import Place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.record.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Slot:
    """In a template: a new Tensor on the Value of this number; the same one wherever `handle`,
    which tells handles of one template apart, is the same."""

    number: int
    handle: int | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """The Tensor passed as this argument, counted through all containers."""

    index: int


class Again:
    """In a key of arguments, with a number: the very container that stands there before."""


class Held:
    """A handle from outside, compared by identity."""

    __slots__ = ("handle",)

    def __init__(self, handle: Tensor):
        self.handle = handle

    def __eq__(self, other):
        return isinstance(other, Held) and other.handle is self.handle

    def __hash__(self):
        return id(self.handle)


class Constant:
    """Data made inside: an input of the executable, compared by value."""

    __slots__ = ("array", "bits", "kind")

    def __init__(self, array):
        self.array = array
        seen = fetched(array)
        self.kind = (seen.dtype, seen.shape)
        self.bits = seen.tobytes()

    def __eq__(self, other):
        return isinstance(other, Constant) and other.kind == self.kind and other.bits == self.bits

    def __hash__(self):
        return hash(self.bits)

    def holds(self, array) -> bool:
        """Whether an array has this value; quick for two numbers."""
        quick = isinstance(array, np.generic) and array.__class__ is self.array.__class__
        # Not for 0, which equals -0.
        return bool(quick and array == self.array and array) or Constant(array) == self


class Function:
    """A function, compared as `same_function` does."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function

    def __eq__(self, other):
        return isinstance(other, Function) and same_function(self.function, other.function)

    def __hash__(self):
        inner = getattr(self.function, "__func__", self.function)
        return hash(getattr(inner, "__code__", None) or type(inner))


def hooks_of(handle: Tensor) -> tuple[Function, ...]:
    """The hooks on a handle in comparable form."""
    hooks = getattr(handle, "_hooks", None)
    return tuple(map(Function, hooks.values())) if hooks else ()


class Read(NamedTuple):
    """Python saw a value: which, how much of it ('bool', 'int', 'bits'), what it was, and where."""

    number: int
    kind: str
    bits: bytes
    place: Place
    cell: str


def same(a, b) -> bool:
    """Whether two notes, templates or results of Python are the same for a replay."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if a.__class__ is int or a.__class__ is str:
        return a == b
    if isinstance(a, Tensor):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same([*a], [*b]) and all(map(same, a.values(), b.values()))
    if isinstance(a, (set, frozenset)):
        return a == b and sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, Number):
        return repr(a) == repr(b)  # 0.0 is not -0.0, and nan is nan
    if callable(a):
        return same_function(a, b)
    try:
        return bool(a == b)
    except Exception as error:
        if came_from_outside(error):
            raise
        return False


def same_function(f, g) -> bool:
    """The same function, or the same code with identical surroundings (a lambda made anew)."""
    if f is g:
        return True
    if isinstance(f, partial) and isinstance(g, partial):
        if f.keywords.keys() != g.keywords.keys() or not same_function(f.func, g.func):
            return False
        bound_f, bound_g = (*f.args, *f.keywords.values()), (*g.args, *g.keywords.values())
        return list(map(_Enclosed, bound_f)) == list(map(_Enclosed, bound_g))
    inner_f, inner_g = getattr(f, "__func__", f), getattr(g, "__func__", g)
    code = getattr(inner_f, "__code__", None)
    if code is None or code is not getattr(inner_g, "__code__", 0):
        return False
    return _surroundings(f) == _surroundings(g)


class _Enclosed:
    """Something a function closes over, compared as `same` does for plain data."""

    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        plain = (bool, int, float, str, type(None))
        if isinstance(self.held, plain):
            return same(self.held, other.held)
        return self.held is other.held

    __hash__ = None  # type: ignore[assignment]


def _surroundings(function) -> list[_Enclosed]:
    inner = getattr(function, "__func__", function)
    enclosed = [_Enclosed(getattr(function, "__self__", None))]
    enclosed += map(_Enclosed, inner.__defaults__ or ())
    enclosed += map(_Enclosed, (inner.__kwdefaults__ or {}).values())
    for cell in inner.__closure__ or ():
        try:
            enclosed.append(_Enclosed(cell.cell_contents))
        except ValueError:  # an empty cell: the function refers to itself
            enclosed.append(_Enclosed(None))
    return enclosed
