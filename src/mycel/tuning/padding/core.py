# SPDX-License-Identifier: Apache-2.0
"""Programs with open lengths, run for longer arrays: what lies behind the true lengths changes no
result.

A function is traced with symbols in place of the lengths that change. Each symbol has a *size*, the
true length, and a *room*, the length of the arrays that the program is compiled for; the size is an
input of the program. The primitives are then computed one by one for the room. Most leave each
element where it is, and what lies behind the size may be anything. Those that read across an open
axis (sums, products of matrices, sorting, …) are given what changes nothing there: a mask. What has
no rule here is refused as a whole, never computed some other way.

An axis of a value is a product of *factors*: `(2, n)` is what a reshape makes of two rows of length
n. Of each open factor only the first elements count, as many as its size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.tuning.numpy_rules import CALLS, ELEMENTWISE, called, lengths

# Rules by the name of the primitive: `rule(padding, equation, *values)`, which gives a Value or a
# list of them.
RULES: dict[str, Callable] = {}

_ELEMENTWISE = ELEMENTWISE | frozenset((
    "abs", "add_any", "complex", "conj", "copy", "copy_p", "imag", "real", "reduce_precision",
    "square", "stop_gradient",
))  # fmt: skip
# Of these, what gives zero for zero; and what gives zero where all of its inputs are zero.
_KEEPS_ZERO = frozenset((
    "abs", "add_any", "add", "and", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "conj",
    "convert_element_type", "copy", "copy_p", "erf", "expm1", "floor", "imag", "log1p", "max",
    "min", "mul", "neg", "or", "real", "reduce_precision", "round", "sign", "sin", "sinh", "sqrt",
    "square", "stop_gradient", "sub", "tan", "tanh", "xor",
))  # fmt: skip
_AS_IT_IS = frozenset(("random_wrap", "random_unwrap"))


class Refused(Exception):
    """There is no rule by which it could be computed with what lies behind the lengths.

    Attributes:
        operator: which one it is part of, by the scope that it was traced in.
    """

    operator = ""

    def tell(self, equation) -> None:
        """Note where an equation comes from; the outermost of several has the name."""
        self.operator = str(equation.source_info.name_stack).partition("/")[0] or self.operator


class Same(NamedTuple):
    """An open axis along which all elements are equal: however it is divided into factors."""

    length: Any


# The factors of an axis: numbers, and lengths with symbols.
Axis = tuple


class Value(NamedTuple):
    """An array in its room.

    Attributes:
        array: what the program computes with.
        axes: for each axis its factors, or `Same`.
        zero: whether all that does not count is zero.
    """

    array: Any
    axes: tuple[Any, ...]
    zero: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is anything in it that does not count."""
        return any(map(is_open_axis, self.axes))


def is_number(length) -> bool:
    """Whether a length is fixed."""
    return isinstance(length, (int, np.integer))


def is_one(length) -> bool:
    """Whether a length is 1, whatever the sizes are."""
    return is_number(length) and length == 1


def is_open_axis(axis) -> bool:
    """Whether some elements of an axis may not count."""
    return isinstance(axis, Same) or not all(map(is_number, axis))


def axis_of(*factors) -> Axis:
    """The factors of an axis in the one form that equal axes have: neighbours that are numbers
    multiplied, and a leading open one with the number behind it."""
    merged: list = []
    for factor in factors:
        if is_number(factor) and factor == 1:
            continue
        if merged and is_number(factor) and (is_number(merged[-1]) or len(merged) == 1):
            merged[-1] *= factor
        else:
            merged.append(factor)
    return tuple(merged)


def decayed(axis) -> Axis:
    """The factors of an axis; of one along which all is equal some that fit."""
    return axis_of(axis.length) if isinstance(axis, Same) else axis


def fixed_value(array) -> Value:
    """A value whose lengths are all fixed."""
    return Value(array, tuple([axis_of(n) for n in np.shape(array)]), True)


def rule_for(*names: str):
    """Decorate the rule of primitives of these names."""

    def known(function):
        for name in names:
            RULES[name] = function
        return function

    return known


def _greatest(*numbers):
    return functools.reduce(jnp.maximum, numbers)


def _smallest(*numbers):
    return functools.reduce(jnp.minimum, numbers)


class Computation:
    """One computation of a traced function for some room.

    Args:
        names: those of the symbols.
        room: the lengths of arrays, by symbol.
        sizes: the true lengths, as arrays without axes.

    Attributes:
        lengths: the open ones that were asked for.
    """

    def __init__(self, names: tuple[str, ...], room: tuple[int, ...], sizes: Sequence):
        self._names = names
        self._room, self._sizes = room, tuple(sizes)
        self.lengths: set = set()

    def room(self, length) -> int:
        """How long an axis is in the program."""
        if is_number(length):
            return int(length)
        self.lengths.add(length)
        (found,) = lengths((length,), self._names)(self._room)
        return found

    def size(self, length):
        """How much of an axis counts: a number, or what the program computes of its inputs."""
        if is_number(length):
            return int(length)
        try:
            (found,) = lengths((length,), self._names, max=_greatest, min=_smallest)(self._sizes)
        except Exception as error:
            raise Refused(f"a length of {length}") from error
        return found

    def shape(self, shape: Sequence) -> tuple[int, ...]:
        """A shape in the program."""
        return tuple(map(self.room, shape))

    # -- masks -----------------------------------------------------------------------------------

    def counts(self, axis) -> Any:
        """Which elements of an axis count; None if all of them do."""
        factors = decayed(axis)
        rest = lax.iota(np.int32, math.prod(map(self.room, factors)))
        found = None
        for number, factor in reversed(list(enumerate(factors))):
            room = np.int32(self.room(factor))
            if not is_number(factor):
                inside = (lax.rem(rest, room) if number else rest) < self.size(factor)
                found = inside if found is None else found & inside
            rest = lax.div(rest, room) if number else rest
        return found

    def filled(self, value: Value, fill, axes: Sequence[int] | None = None) -> Any:
        """The array of a value with something else where nothing counts."""
        array = value.array
        if value.zero and _is_zero(fill):
            return array
        for number in range(array.ndim) if axes is None else axes:
            inside = self.counts(value.axes[number])
            if inside is not None:
                shape = [1] * array.ndim
                shape[number] = array.shape[number]
                array = jnp.where(inside.reshape(shape), array, jnp.asarray(fill, array.dtype))
        return array

    # -- programs --------------------------------------------------------------------------------

    def run(self, jaxpr, constants, values: Sequence[Value]) -> list[Value]:
        """The results of a program.

        Raises:
            Refused: a primitive has no rule for what it is given.
        """
        known: dict = {}

        def of(var) -> Value:
            if hasattr(var, "val"):
                return fixed_value(np.asarray(var.val, var.aval.dtype))
            return known[var]

        known.update(zip(jaxpr.constvars, map(fixed_value, constants), strict=True))
        known.update(zip(jaxpr.invars, values, strict=True))
        for equation in jaxpr.eqns:
            try:
                results = self._equation(equation, [of(var) for var in equation.invars])
            except Refused as error:
                error.tell(equation)
                raise
            for var, result in zip(equation.outvars, results, strict=True):
                expected = self.shape(getattr(var.aval, "shape", ()))
                if np.shape(result.array) != expected:
                    name = equation.primitive.name
                    raise Refused(f"{name} (shape {np.shape(result.array)}, not {expected})")
                known[var] = result
        return [of(var) for var in jaxpr.outvars]

    def _equation(self, equation, values: list[Value]) -> list[Value]:
        name = equation.primitive.name
        if name in CALLS:
            return self._call(equation, values)
        shapes = [getattr(var.aval, "shape", ()) for var in equation.outvars]
        fixed = not any(value.is_open for value in values)
        fixed = fixed and all(is_number(n) for shape in shapes for n in shape)
        rule = RULES.get(name)
        if name in _ELEMENTWISE:
            return [self._elementwise(equation, values)]
        if name in _AS_IT_IS or (fixed and not _has_symbols(equation)):
            arrays = [value.array for value in values]
            made = equation.primitive.bind(*arrays, **equation.params)
            results = made if equation.primitive.multiple_results else [made]
            return [fixed_value(result) for result in results]
        if rule is None:
            raise Refused(name)
        made = rule(self, equation, *values)
        return made if isinstance(made, list) else [made]

    def _call(self, equation, values: list[Value]) -> list[Value]:
        inner, constants = called(equation)
        if inner is None or len(inner.invars) != len(values):
            raise Refused(equation.primitive.name)
        return self.run(inner, constants, values)

    def _elementwise(self, equation, values: list[Value]) -> Value:
        name = equation.primitive.name
        axes = joined(name, [value for value in values if np.ndim(value.array)])
        arrays = [value.array for value in values]
        array = equation.primitive.bind(*arrays, **equation.params)
        zero = name in _KEEPS_ZERO and all(
            value.zero and (np.ndim(value.array) or (not value.is_open and _is_zero(value.array)))
            for value in values
        )
        if name in ("mul", "div") and not zero:
            zero = _is_scaled(name, values)
        # An axis of one element is repeated also where nothing counts.
        alike = all(
            is_open_axis(mine) or not is_open_axis(axis)
            for value in values
            for mine, axis in zip(value.axes, axes, strict=False)
        )
        return Value(array, axes, zero and alike)


def _is_zero(array) -> bool:
    """Whether it is known to be zero; what the program computes is not known."""
    return isinstance(array, (bool, int, float, np.ndarray, np.generic)) and not np.any(array)


def _is_scaled(name: str, values: list[Value]) -> bool:
    """Whether zeros are multiplied with a number that is known to be finite."""
    left, right = values
    if name == "mul" and np.ndim(right.array):
        left, right = right, left
    known = right.array
    if np.ndim(known) or not isinstance(known, np.ndarray) or not left.zero:
        return False
    return bool(np.isfinite(known)) and (name == "mul" or bool(known))


def _has_symbols(equation) -> bool:
    """Whether lengths that are open are in an equation."""
    shapes = [getattr(var.aval, "shape", ()) for var in (*equation.invars, *equation.outvars)]
    if any(not is_number(n) for shape in shapes for n in shape):
        return True
    return equation.primitive.name == "dim_as_value" or any(
        _has_symbols(inner) for jaxpr in _inside(equation) for inner in jaxpr.eqns
    )


def _inside(equation) -> Iterator:
    """The programs inside of an equation."""
    for parameter in equation.params.values():
        for part in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            inner = getattr(part, "jaxpr", part)
            if hasattr(inner, "eqns"):
                yield inner


def least_of(kind):
    """The least number of a type."""
    if kind == np.bool_:
        return False
    return -np.inf if jnp.issubdtype(kind, jnp.inexact) else jnp.iinfo(kind).min


def greatest_of(kind):
    """The greatest number of a type."""
    if kind == np.bool_:
        return True
    return np.inf if jnp.issubdtype(kind, jnp.inexact) else jnp.iinfo(kind).max


def joined(name: str, values: Sequence[Value]) -> tuple[Any, ...]:
    """The axes of values of one shape, but for axes of one element."""
    if not values:
        return ()
    axes = list(values[0].axes)
    for value in values[1:]:
        for number, axis in enumerate(value.axes):
            if isinstance(axes[number], Same) or not axes[number]:
                axes[number] = axis or axes[number]
            elif not isinstance(axis, Same) and axis and axis != axes[number]:
                raise Refused(f"{name} (of {axes[number]} and {axis})")
    return tuple(axes)


def common(name: str, one, other):
    """The factors of two axes of one length."""
    return joined(name, [Value(None, (one,)), Value(None, (other,))])[0]


def with_axis(value: Value, number: int, axis, array=None) -> Value:
    """A value with other factors of one axis, along which its elements may be equal."""
    axes = (*value.axes[:number], axis, *value.axes[number + 1 :])
    return value._replace(axes=axes, array=value.array if array is None else array)


def one_range(name: str, axis) -> Any:
    """The length of an axis of which the first elements count, not those of several ranges."""
    factors = decayed(axis)
    if len(factors) > 1:
        raise Refused(f"{name} (along {' by '.join(map(str, factors))})")
    return factors[0] if factors else 1


def length_of(axis):
    """The length of an axis, with symbols."""
    if isinstance(axis, Same):
        return axis.length
    return math.prod(axis)


def without(axes: tuple, number: int) -> tuple:
    """All axes but one."""
    return axes[:number] + axes[number + 1 :]


class Written(NamedTuple):
    """A program for some room.

    Attributes:
        run: `run(sizes, *arrays)`: the sizes as one array, arrays as long as their room.
        axes: of its results, once it was traced: for each axis its factors.
        lengths: the open ones that are in it. It serves sizes for which none of these is longer
            than its room, as a remainder may be.
    """

    run: Callable
    axes: list[tuple]
    lengths: set


def written(jaxpr, names: tuple[str, ...], room: tuple[int, ...]) -> Written:
    """The program of a traced function for some room.

    Args:
        jaxpr: the function, traced by JAX with symbols in shapes.
        names: the names of the symbols.
        room: how long arrays are, by symbol.

    Raises:
        Refused: when it is traced: a primitive has no rule.
    """
    axes: list[tuple] = []
    open_lengths: set = set()

    def run(sizes, *arrays):
        padding = Computation(names, room, [sizes[number] for number in range(len(names))])
        values = [
            Value(array, tuple(map(axis_of, var.aval.shape)), True)
            for var, array in zip(jaxpr.jaxpr.invars, arrays, strict=True)
        ]
        results = padding.run(jaxpr.jaxpr, jaxpr.consts, values)
        axes[:] = [tuple(map(decayed, result.axes)) for result in results]
        open_lengths.update(padding.lengths)
        return [result.array for result in results]

    return Written(run, axes, open_lengths)


def lengthened(array, room: tuple[int, ...]) -> np.ndarray:
    """An array with zeros behind it."""
    longer = np.zeros(room, array.dtype)
    longer[tuple(map(slice, array.shape))] = array
    return longer


def cut(array, axes: tuple, names: tuple[str, ...], room, sizes) -> np.ndarray:
    """What counts of a result."""
    rooms = [lengths(axis, names)(room) for axis in axes]
    found = [lengths(axis, names)(sizes) for axis in axes]
    parts = np.asarray(array).reshape([n for axis in rooms for n in axis])
    part = parts[tuple([slice(n) for axis in found for n in axis])]
    return np.ascontiguousarray(part).reshape([math.prod(axis) for axis in found])
