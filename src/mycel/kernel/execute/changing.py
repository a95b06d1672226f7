# SPDX-License-Identifier: Apache-2.0
"""Shapes that change from call to call: what is compiled, and what runs without being compiled.

A family is a record without its shapes: the same operators, wired alike. Its first structures are
compiled at once. From then on a new one runs operator by operator, those operators without being
compiled whose lengths changed (see define.pattern). It is compiled once its runs have taken about
as long as to compile it takes, later where many of its family were.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from time import perf_counter
from typing import NamedTuple

import numpy as np

from mycel.kernel.base import backend
from mycel.kernel.base.division import division
from mycel.kernel.base.places import Place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.define.bounds import check
from mycel.kernel.define.op import Signature, signatures
from mycel.kernel.define.pattern import Pattern
from mycel.kernel.execute.direct import is_compiled, run_directly
from mycel.kernel.execute.padded import Padding
from mycel.kernel.record.stream import local

# Structures of a family that are compiled at once; fewer where the program says that its lengths
# change.
COMPILED_AT_ONCE = 2
COMPILED_IF_DYNAMIC = 1
# The same for operators that run by themselves, each at once; and how many of them are known.
ALONE_AT_ONCE = 8
MOST_ALONE = 4096
# About how long XLA takes for a program, and for each operator of it, in seconds.
COMPILING, COMPILING_OPERATOR = 0.05, 0.005
# Compiled structures of a family have at most so many operators together (120 KB each, in a
# training step), but a few are always kept; the one that was not asked for longest is dropped. Each
# time that a quarter as many were compiled, the next has to take twice as long before it is.
MOST_OPERATORS = 800
FEWEST = 4
# Families that are known, the longest unused are forgotten.
MOST_FAMILIES = 512


class Family:
    """What is known of the structures of a family.

    Attributes:
        at_once: how many structures are compiled at once.
        count: how many structures were new.
        keys: the records of the latest two of these, the latest first.
        compiled: the compiled ones, behind the first two; and `compilations`, how often.
        padding: how its structures are padded; None if that was not asked for.
    """

    __slots__ = ("at_once", "compilations", "compiled", "count", "keys", "padding")

    def __init__(self):
        self.at_once = COMPILED_AT_ONCE
        self.count = self.compilations = 0
        self.keys: tuple[tuple, tuple] = ((), ())
        self.compiled: set[tuple] = set()
        self.padding: Padding | None = None

    def see(self, key: tuple) -> None:
        """A structure is new."""
        self.count += 1
        self.keys = key, self.keys[0]

    def other_than(self, key: tuple) -> tuple:
        """The record of another structure."""
        latest, before = self.keys
        return before if latest == key else latest

    def patience(self, size: int) -> float:
        """For how many seconds a structure of so many operators runs until it is compiled."""
        return seconds_to_compile(size) * (1 << (self.compilations // (room(size) // 4)))


def seconds_to_compile(size: int) -> float:
    """About how long XLA takes for a program of so many operators."""
    return COMPILING + COMPILING_OPERATOR * size


def room(size: int) -> int:
    """How many compiled structures of so many operators a family keeps."""
    return max(FEWEST, MOST_OPERATORS // size)


class Plan(NamedTuple):
    """How a record runs operator by operator.

    Attributes:
        opened: by the number of a signature, what runs it for any lengths, and its lengths.
        refused: the operator that nothing runs so; empty if there is none.
        changed: whether a shape changed at all.
    """

    opened: dict[int, tuple[Pattern, tuple[int, ...]]]
    refused: str
    changed: bool


class Families:
    """The families of this process.

    Attributes:
        alone: by the number of a signature that ran by itself, for how many seconds it did.
    """

    def __init__(self):
        self.alone: dict[int, float] = {}
        self._known: OrderedDict[tuple, Family] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key) -> Family:
        """The family of a record."""
        name = without_shapes(key)
        with self._lock:
            family = self._known[name] = self._known.pop(name, None) or Family()
            if len(self._known) > MOST_FAMILIES:
                self._known.popitem(last=False)
        return family

    def padding(self, key) -> Padding:
        """How the structures of a record's family are padded."""
        family = self.of(key)
        if family.padding is None:
            family.padding = Padding()
        return family.padding

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._known.clear()
            self.alone.clear()


families = Families()


def without_shapes(key) -> tuple:
    """A record without the shapes in it: names of operators, and slots."""
    parts: list = []
    position = 0
    while position < len(key):
        signature = signatures[key[position]]
        end = position + 1 + signature.arity
        parts.append(signature.op.name)
        parts += key[position + 1 : end]
        position = end
    return tuple(parts)


def plan(before, key) -> Plan:
    """How a record runs that differs from another one of its family by shapes."""
    opened: dict[int, tuple[Pattern, tuple[int, ...]]] = {}
    position, changed = 0, False
    while position < len(key):
        signature, other = signatures[key[position]], signatures[before[position]]
        position += 1 + signature.arity
        if signature.id == other.id:
            continue
        if signature.inputs == other.inputs and signature.outputs == other.outputs:
            return Plan(opened, signature.op.public, False)
        changed = True
        if signature.id in opened or is_compiled(signature):
            continue
        runner = _opened(signature, other)
        if runner is None:
            return Plan(opened, signature.op.public, changed)
        opened[signature.id] = runner
    return Plan(opened, "", changed)


def _opened(signature: Signature, other: Signature):
    """What runs a signature for any lengths; None if nothing does."""
    if signature.op is other.op and signature.opened is None:
        signature.op.open(other, signature)
    if signature.opened is not None and signature.opened[0].run is not None:
        return signature.opened
    op = signature.op
    if not op.can_be_opened or backend.tuning.open_lengths is None:
        return None
    # Lengths are among its attributes, or decide what it does: it is traced for these alone.
    alone = Pattern(op.function, tuple([(a.numpy, a.shape) for a in signature.inputs]), 0)
    return (alone, ()) if alone.run is not None else None


def run_opened(plan: Plan, signature: Signature, arrays, place: Place) -> list | None:
    """The results of an operator whose lengths changed; None if it is to run compiled.

    Raises:
        OutOfRangeError: an index is wrong.
    """
    opened = plan.opened.get(signature.id)
    if opened is None or is_compiled(signature):
        return None
    pattern, sizes = opened
    assert pattern.run is not None
    if signature.bounds:
        check(signature.op, signature.bounds, arrays, place)
    try:
        return pattern.run(sizes, arrays)
    except Exception as error:
        if came_from_outside(error):
            raise
        # XLA says what is wrong, or does what NumPy could not, as where memory is short.
        return None


def run_alone(signature: Signature, arrays: tuple, place: Place) -> list:
    """Run one operator now, without compiling it where its lengths keep changing.

    Raises:
        OutOfRangeError: an index is wrong.
        RuntimeError: the operator failed while running.
    """
    results = None
    if not is_compiled(signature) and _may_be_opened(signature):
        key = (signature.id, *range(-1, -1 - signature.arity, -1))
        family = families.of(key)
        spent = families.alone.get(signature.id, 0.0)
        if signature.id not in families.alone:
            family.see(key)
            if len(families.alone) >= MOST_ALONE:
                families.alone.clear()
        if family.count > ALONE_AT_ONCE and spent < family.patience(1):
            begun = perf_counter()
            results = run_opened(plan(family.other_than(key), key), signature, arrays, place)
            spent += perf_counter() - begun
        families.alone[signature.id] = spent
    return run_directly(signature, arrays, place) if results is None else as_arrays(results)


def _may_be_opened(signature: Signature) -> bool:
    op = signature.op
    if op.collective or op.fallible or local.stream.scope.traced or division.grid is not None:
        return False
    return backend.on_one_cpu()


def as_arrays(results: list) -> list:
    """Results, those of NumPy as arrays of JAX."""
    plain = {i: r for i, r in enumerate(results) if isinstance(r, (np.ndarray, np.generic))}
    made = backend.tuning.to_arrays([*plain.values()])
    for index, array in zip(plain, made, strict=True):
        results[index] = array
    return results
