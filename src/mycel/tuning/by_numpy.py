# SPDX-License-Identifier: Apache-2.0
"""Operators whose lengths are open, run by NumPy: for shapes that are not worth a compilation.

XLA compiles for one shape. What a function of arrays does is traced once with symbols in place of
the lengths that change; the primitives it consists of are then run one by one, for any lengths. A
primitive that NumPy does not have, or has with another meaning, is compiled for flat arrays of as
many elements as the next power of two, if it works on each element by itself.

What cannot be run so is refused as a whole, never run otherwise: half precision, whose rounding
NumPy does at other places, and primitives that are not in the table.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from mycel.tuning.numpy_rules import CALLS, ELEMENTWISE, RULES, Unknown, called, lengths

# Flat arrays that are given to XLA have at least so many elements.
SMALLEST = 256

_TYPES = frozenset("?bhilqBHILQfd")
# Random bits are numbered by their place in the array, whatever its shape.
_KEYS = frozenset(("random_wrap", "random_unwrap", "random_bits"))


class Differs(Exception):
    """A result has not the shape or the type that it should."""


def compiled(jaxpr, names: Sequence[str]) -> Callable[..., list] | None:
    """What runs a traced function, `run(sizes, arrays)`; None if NumPy cannot.

    Args:
        jaxpr: the function, traced by JAX with symbols in shapes.
        names: the names of the symbols, in the order of `sizes`.
    """
    try:
        return _Program(jaxpr, tuple(names)).run
    except Unknown:
        return None


class _Program:
    """The primitives of a function, in order, each with the places of its inputs and outputs."""

    def __init__(self, jaxpr, names: tuple[str, ...]):
        self._names = names
        self._steps: list[tuple] = []
        self._start: list = []
        inner = jaxpr.jaxpr
        places = {var: self._place(None) for var in inner.invars}
        for var, constant in zip(inner.constvars, jaxpr.consts, strict=True):
            places[var] = self._place(_plain(constant))
        self._count = len(inner.invars)
        self._read(inner, places)
        self._results = [self._of(var, places) for var in inner.outvars]
        self._check_types(inner.invars + inner.outvars)
        self._expected = [(lengths(var.aval.shape, names), var.aval.dtype) for var in inner.outvars]
        self._free()

    def _place(self, value) -> int:
        self._start.append(value)
        return len(self._start) - 1

    def _of(self, var, places) -> int:
        if hasattr(var, "val"):
            return self._place(np.asarray(var.val, var.aval.dtype))
        return places[var]

    def _check_types(self, variables) -> None:
        for var in variables:
            kind = var.aval.dtype
            if not isinstance(kind, np.dtype) or kind.char not in _TYPES:
                raise Unknown(str(kind))

    def _read(self, jaxpr, places: dict) -> None:
        for equation in jaxpr.eqns:
            name = equation.primitive.name
            ins = [self._of(var, places) for var in equation.invars]
            if name in CALLS:
                results = self._read_call(equation, ins)
            else:
                if name not in _KEYS:
                    self._check_types([*equation.invars, *equation.outvars])
                results = [self._place(None) for _ in equation.outvars]
                step = self._step(equation)
                self._steps.append((step, ins, results, equation.primitive.multiple_results))
            places.update(zip(equation.outvars, results, strict=True))

    def _read_call(self, equation, ins) -> list[int]:
        inner, constants = called(equation)
        if inner is None or len(inner.invars) != len(ins):
            raise Unknown(equation.primitive.name)
        places = dict(zip(inner.invars, ins, strict=True))
        for var, constant in zip(inner.constvars, constants, strict=True):
            places[var] = self._place(_plain(constant))
        self._read(inner, places)
        return [self._of(var, places) for var in inner.outvars]

    def _step(self, equation) -> Callable:
        name = equation.primitive.name
        rule = RULES.get(name)
        if rule is not None:
            with contextlib.suppress(Unknown):
                return rule(equation, self._names)
        if name in _KEYS:
            return _with_keys(equation, self._names)
        if name in ELEMENTWISE:
            return functools.partial(_element_by_element, _kernel(equation))
        # Without symbols all of it would be compiled for these lengths alone.
        if self._names and not _is_open(equation):
            return functools.partial(_as_it_is, _kernel(equation))
        raise Unknown(name)

    def _free(self) -> None:
        """Add to each step the places that nothing reads behind it."""
        kept = set(self._results)
        ends: list[tuple] = []
        for step, ins, outs, several in reversed(self._steps):
            over = tuple([place for place in {*ins, *outs} if place not in kept])
            kept.update(ins)
            ends.append((step, ins, outs, several, over))
        self._steps = ends[::-1]

    def run(self, sizes: tuple[int, ...], arrays: Sequence) -> list:
        """The results, as NumPy arrays.

        Raises:
            Differs: a result is not what it should be.
        """
        values = self._start[:]
        values[: self._count] = map(np.asarray, arrays)
        # XLA has no warnings.
        with np.errstate(all="ignore"):
            for step, ins, outs, several, over in self._steps:
                made = step(sizes, *[values[place] for place in ins])
                if several:
                    for place, part in zip(outs, made, strict=True):
                        values[place] = part
                else:
                    values[outs[0]] = made
                for place in over:
                    values[place] = None
        results = [np.asarray(values[place]) for place in self._results]
        for result, (shape, kind) in zip(results, self._expected, strict=True):
            if result.shape != shape(sizes) or result.dtype != kind:
                raise Differs(f"{result.dtype}{result.shape}, not {kind}{shape(sizes)}")
        return results


def _plain(constant) -> np.ndarray:
    if not hasattr(constant, "dtype") or not isinstance(constant.dtype, np.dtype):
        raise Unknown("a constant")
    return np.asarray(constant)


def _is_open(equation) -> bool:
    """Whether lengths in an equation are open."""
    shapes = [var.aval.shape for var in (*equation.invars, *equation.outvars)]
    return not all(isinstance(length, int) for shape in shapes for length in shape)


def _kernel(equation) -> Callable:
    """A primitive, compiled for each shape that it is given."""
    parameters: dict[str, Any] = equation.params
    return jax.jit(functools.partial(equation.primitive.bind, **parameters))


def _as_it_is(kernel, sizes, *arrays):
    made = kernel(*arrays)
    return [np.asarray(m) for m in made] if isinstance(made, (list, tuple)) else np.asarray(made)


def _element_by_element(kernel, sizes, *arrays):
    """A primitive that works on each element by itself, over flat arrays with ones behind."""
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    count = int(np.prod(shape))
    padded = [_padded(np.broadcast_to(array, shape), count) for array in arrays]
    return np.asarray(kernel(*padded))[:count].reshape(shape)


def _padded(array, count: int):
    whole = np.ones(_bucket(count), array.dtype)
    whole[:count] = array.ravel()
    return whole


def _bucket(count: int) -> int:
    return max(SMALLEST, 1 << (count - 1).bit_length())


@functools.cache
def _bits_of(count: int, kind: str) -> Callable:
    def draw(data):
        key = jax.random.wrap_key_data(data, impl="threefry2x32")
        return jax.random.bits(key, (count,), kind)

    return jax.jit(draw)


def _with_keys(equation, names) -> Callable:
    """Random bits of a key, which is kept as its two numbers."""
    if equation.primitive.name != "random_bits":
        if str(equation.params.get("impl", "fry")) not in ("fry", "threefry2x32"):
            raise Unknown("random_wrap")
        return lambda sizes, key: key
    key = equation.invars[0].aval
    bits_by_place = getattr(jax.config, "jax_threefry_partitionable", False)
    if key.shape or "fry" not in str(key.dtype) or not bits_by_place:
        raise Unknown("random_bits")
    shape = lengths(equation.params["shape"], names)
    kind = f"uint{equation.params['bit_width']}"

    def draw(sizes, data):
        wanted = shape(sizes)
        count = int(np.prod(wanted))
        return np.asarray(_bits_of(_bucket(count), kind)(data))[:count].reshape(wanted)

    return draw


def to_arrays(results: list) -> list:
    """Results of NumPy as arrays of JAX; parts of others are copied first."""
    whole = [r.copy() if r.__class__ is np.ndarray and r.base is not None else r for r in results]
    return jax.device_put(whole)
