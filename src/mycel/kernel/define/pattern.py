# SPDX-License-Identifier: Apache-2.0
"""Patterns: an operator with some lengths of its inputs left open.

Where the lengths of a program change from call to call, an operator is traced once with symbols in
place of those that changed. The avals of its results then follow without tracing, and it can be run
for any lengths without being compiled (see tuning.by_numpy).

A symbol stands for no length that the operator has besides it, and not for one: JAX takes it to be
unequal to them. Then the operator is traced as it is. Comparisons that would depend on it are
refused by JAX.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from mycel.kernel.base import backend
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.define.aval import Aval, aval_of

# Patterns of one operator; further ones are not made.
MOST_PATTERNS = 64


@functools.cache
def symbols_of(count: int, least: int = 2) -> tuple:
    """Symbols for lengths of so many at least; those of one number have one scope, so that they
    can be compared."""
    from jax import export  # it takes 20 ms, and few programs need it

    names = names_of(count)
    bounds = [f"{name} >= {least}" for name in names]
    return tuple(export.symbolic_shape(", ".join(names), constraints=bounds)) if count else ()


def names_of(count: int) -> list[str]:
    """The names of so many symbols."""
    return [f"n{number}" for number in range(count)]


class Pattern:
    """An operator over inputs with open lengths.

    Attributes:
        inputs: for each input its NumPy dtype, and its lengths; open ones are -1, -2, ….
        run: `run(sizes, arrays)`, which gives a list of NumPy arrays; None if nothing can.
        single: whether it has one output that is not in a tuple.
        numbers: by sizes, those of signatures that are no longer kept whole (see define.op).
    """

    __slots__ = ("_fixed", "_lengths", "inputs", "numbers", "run", "single")

    def __init__(self, function: Callable, inputs: tuple, count: int):
        self.inputs = inputs
        self.run: Callable[[tuple[int, ...], Any], list] | None = None
        self.single = True
        self.numbers: dict[tuple[int, ...], int] = {}
        self._fixed = {n for _, shape in inputs for n in shape if n > 0}
        self._lengths: list[tuple] | None = None
        names = names_of(count)
        try:
            symbols = symbols_of(count)
            structs = [
                jax.ShapeDtypeStruct([n if n >= 0 else symbols[-1 - n] for n in shape], kind)
                for kind, shape in inputs
            ]
            traced = jax.make_jaxpr(function, return_shape=True)
            jaxpr, made = undisturbed(traced, *structs)
        except Exception as error:
            # Whatever JAX says of a symbol: lengths decide what the operator does.
            if came_from_outside(error):
                raise
            return
        self.single = not isinstance(made, (tuple, list))
        results = (made,) if self.single else made
        lengths = backend.tuning.open_lengths
        if lengths is None:
            return
        self._lengths = [(lengths(r.shape, tuple(names)), r.dtype) for r in results]
        for result in results:
            self._fixed.update(n for n in result.shape if isinstance(n, int))
        self.run = backend.tuning.by_numpy(jaxpr, names)

    def match(self, avals: tuple[Aval, ...]) -> tuple[int, ...] | None:
        """The sizes of the open lengths for these inputs; None if they are of another pattern."""
        if self._lengths is None or len(avals) != len(self.inputs):
            return None
        sizes: dict[int, int] = {}
        for aval, (kind, shape) in zip(avals, self.inputs, strict=True):
            if aval.numpy != kind or len(aval.shape) != len(shape):
                return None
            for length, known in zip(aval.shape, shape, strict=True):
                if known >= 0:
                    if length != known:
                        return None
                # A symbol of an export is no size.
                elif not isinstance(length, int) or sizes.setdefault(known, length) != length:
                    return None
        found = tuple([sizes[-1 - number] for number in range(len(sizes))])
        distinct = len(set(found)) == len(found) and self._fixed.isdisjoint(found)
        return found if distinct and min(found, default=2) > 1 else None

    def avals(self, sizes: tuple[int, ...]) -> tuple[Aval, ...]:
        """The avals of its inputs."""
        shapes = [tuple([n if n >= 0 else sizes[-1 - n] for n in s]) for _, s in self.inputs]
        return tuple([aval_of(s, k) for s, (k, _) in zip(shapes, self.inputs, strict=True)])

    def outputs(self, sizes: tuple[int, ...]) -> tuple[Aval, ...]:
        """The avals of its results."""
        assert self._lengths is not None
        return tuple([aval_of(shape(sizes), kind) for shape, kind in self._lengths])


def open_inputs(before: tuple[Aval, ...], after: tuple[Aval, ...]) -> tuple[tuple, int] | None:
    """The inputs of a pattern that has both of these: what differs is open, and lengths that
    differ alike are one. None if they differ by more than lengths.

    Returns:
        `Pattern.inputs`, and how many open lengths there are.
    """
    numbers: dict[tuple[int, int], int] = {}
    inputs = []
    if len(before) != len(after):
        return None
    for old, new in zip(before, after, strict=True):
        if old.numpy != new.numpy or len(old.shape) != len(new.shape):
            return None
        shape = [
            m if m == n else numbers.setdefault((m, n), -1 - len(numbers))
            for m, n in zip(old.shape, new.shape, strict=True)
        ]
        inputs.append((new.numpy, tuple(shape)))
    return tuple(inputs), len(numbers)
