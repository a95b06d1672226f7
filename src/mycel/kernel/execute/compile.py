# SPDX-License-Identifier: Apache-2.0
"""From a record to an executable: decoding the integers, tracing once, compiling, counting."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import backend
from mycel.kernel.base.context import context
from mycel.kernel.base.signals import undisturbed
from mycel.kernel.define.op import Signature, signatures
from mycel.kernel.execute.checks import Indices, Tripped, indices_of
from mycel.kernel.record.stream import machine

# Executables beyond this many are forgotten, the longest unused first.
MOST_EXECUTABLES = 512
# Arrays of so many elements are looked at together (see `_are_finite`).
MOST_TOGETHER = 1 << 16


class Node(NamedTuple):
    """One decoded node: its signature, the slots of its inputs, the slot of its first output."""

    signature: Signature
    inputs: tuple[int, ...]
    first: int


class Guard(NamedTuple):
    """A value that Python read: its slot, and how it is looked at ('bool', 'int' or 'bits')."""

    slot: int
    kind: str


def decode(key) -> list[Node]:
    """The nodes of a record, in order."""
    nodes, position, first = [], 0, 0
    while position < len(key):
        signature = signatures[key[position]]
        end = position + 1 + signature.arity
        nodes.append(Node(signature, tuple(key[position + 1 : end]), first))
        first += len(signature.outputs)
        position = end
    return nodes


def program(
    nodes: list[Node],
    live,
    guards: tuple[Guard, ...] = (),
    packs: tuple[tuple[int, ...], ...] = (),
    indices: Indices | None = None,
    check_numerics: bool = False,
    functions: list[Callable] | None = None,
):
    """The pure function of a record: external arrays in; live arrays, packs of arrays of one type,
    the guards, as one vector each, the flag of its indices, and those of its numerics, out.

    Args:
        functions: what is called for each node, by default its operator's own function.
    """
    functions = functions or [node.signature.op.function for node in nodes]
    materialize = backend.tuning.materialize
    apart = backend.tuning.to_materialize(nodes)
    alone = [live[position] for position in _inexact(nodes, live)]
    others = [slot for pack in packs for slot in pack] + [guard.slot for guard in guards]
    others = [others[position] for position in _inexact(nodes, others)]

    def run(*externals):
        arrays: list = []

        def at(slot):
            return arrays[slot] if slot >= 0 else externals[-1 - slot]

        for node, function in zip(nodes, functions, strict=True):
            result = function(*[at(slot) for slot in node.inputs])
            for array in (result,) if node.signature.single else result:
                arrays.append(materialize(array) if len(arrays) in apart else array)
        outputs = [at(slot) for slot in live]
        outputs += [jnp.concatenate([at(slot).ravel() for slot in pack]) for pack in packs]
        if guards:
            outputs.append(jnp.concatenate([seen_bits(at(g.slot), g.kind) for g in guards]))
        if indices is not None and indices.inside:
            outputs.append(indices.flag(at))
        if check_numerics:
            sums = _have_finite_sums([at(slot) for slot in alone])
            outputs.append(jnp.stack([sums, _are_finite([at(slot) for slot in others])]))
        return outputs

    return run


def _are_finite(arrays):
    """Whether every element of the arrays is finite."""
    return jnp.all(jnp.stack([jnp.array(True), *[jnp.isfinite(a).all() for a in arrays]]))


def _have_finite_sums(arrays):
    """Whether sums of the arrays are finite: not where an element is not, and nearly always where
    all are. It takes a third of the time of asking each element."""
    sums, small = [jnp.array(True)], []
    for array in arrays:
        wide = array.astype(jnp.promote_types(array.dtype, np.float32))
        if array.size <= MOST_TOGETHER and wide.dtype == np.float32:
            small.append(wide.ravel())
        else:
            sums.append(jnp.isfinite(jnp.sum(wide)))
    if small:
        sums.append(jnp.isfinite(jnp.sum(jnp.concatenate(small))))
    return jnp.all(jnp.stack(sums))


def seen_bits(array, kind: str):
    """The bytes of what Python saw of an array, as one vector; the NumPy twin is `seen_bytes`."""
    if kind == "bool":
        array = array.astype(bool)
    elif kind == "int":
        array = array.astype("int64")
    if array.dtype == bool:
        return array.astype("uint8").ravel()
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        array = jnp.stack([array.real, array.imag], -1)
    return jax.lax.bitcast_convert_type(array, "uint8").ravel()


def seen_bytes(array, kind: str) -> bytes:
    """What Python saw of an array, as bytes."""
    if kind == "bool":
        array = array.astype(bool)
    elif kind == "int":
        array = array.astype("int64")
    return array.tobytes()


class NotFinite(Tripped):
    """A program made something that is not finite."""


class Executable:
    """A compiled record. `runs` counts how often it was asked for, `compiled` tells if it is.

    Args:
        look_at_indices: whether wrong indices are looked for.
        check_numerics: whether it looks whether its results are finite.

    Attributes:
        alone: the positions of those results that can be other than finite and come out as they
            are.
        parts: what its program is made of, so that it can be made once more (see `program`).
    """

    __slots__ = (
        "alone",
        "check_numerics",
        "compiled",
        "fallible",
        "function",
        "indices",
        "parts",
        "runs",
        "size",
    )

    def __init__(self, key, live, guards=(), packs=(), look_at_indices=True, check_numerics=False):
        nodes = decode(key)
        self.indices = indices_of(nodes) if look_at_indices else None
        self.check_numerics = check_numerics
        self.alone = _inexact(nodes, live)
        # keep_unused: every caller passes all externals, whatever the program needs of them.
        self.parts = nodes, live, guards, packs, self.indices, check_numerics
        self.function: Callable[..., Any] = jax.jit(
            program(*self.parts),
            keep_unused=True,
            compiler_options=backend.compiler_options(),
        )
        self.fallible = any(node.signature.op.fallible for node in nodes)
        self.size = len(nodes)
        self.compiled = False
        self.runs = 0

    def __call__(self, arrays):
        """What the program gives.

        Raises:
            Tripped: it was given a wrong index, or made one.
            NotFinite: a result is not finite, and numerics are checked.
        """
        indices = self.indices
        if indices is not None:
            indices.look(arrays)
        if self.fallible:
            # It may call Python of the user, of which XLA would not pass on what a handler raised.
            results = undisturbed(self._run_and_wait, arrays)
        elif self.compiled:
            results = self.function(*arrays)
        else:
            results = undisturbed(self._compile, arrays)
        flags = np.asarray(results.pop()) if self.check_numerics else None
        if indices is not None and indices.inside:
            indices.look_behind(results.pop())
        if flags is not None and not flags.all() and not self._are_finite(flags, results):
            raise NotFinite
        return results

    def _are_finite(self, flags, results) -> bool:
        """Whether all is finite: a sum may overflow where no element does."""
        return bool(flags[1]) and all(
            np.isfinite(np.asarray(results[position])).all() for position in self.alone
        )

    def _run_and_wait(self, arrays):
        results = self.function(*arrays) if self.compiled else self._compile(arrays)
        return jax.block_until_ready(results)

    def _compile(self, arrays):
        """The results of the first call."""
        if context.save_graphs:
            _save(self.function, arrays)
        start = time.perf_counter()
        results = self.function(*arrays)
        self.compiled = True
        machine.account.compiled(self.size, time.perf_counter() - start)
        return results

    def lower(self, arrays):
        """The lowered program, for inspection."""
        function: Any = self.function
        return function.lower(*arrays)


def _inexact(nodes, slots) -> tuple[int, ...]:
    """The positions of those slots whose elements may be other than finite."""
    avals = [aval for node in nodes for aval in node.signature.outputs]
    return tuple([p for p, slot in enumerate(slots) if slot >= 0 and avals[slot].inexact])


_saved = itertools.count(1)


def _save(function, arrays) -> None:
    """Write a program that is about to be compiled into the folder of `save_graphs_path`."""
    folder = Path(context.save_graphs_path)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", machine.account.working_for() or "segment").strip("_")
    stem = folder / f"{next(_saved):04d}_{name}"
    lowered = function.lower(*arrays)
    stem.with_suffix(".mlir").write_text(lowered.as_text(), "utf-8")
    if context.save_graphs > 1:
        stem.with_suffix(".hlo").write_text(lowered.compile().as_text() or "", "utf-8")


class Executables:
    """The executables of this process by structure, shared by PyNative and remembered calls."""

    def __init__(self):
        self._kept: OrderedDict = OrderedDict()
        self._families: OrderedDict = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple, live: tuple, guards: tuple = (), packs: tuple = ()) -> Executable:
        """The executable of this structure, made (not yet compiled) if it is new."""
        checks = context.check_indices, context.check_numerics
        structure = (key, live, guards, packs, *checks)
        with self._lock:
            executable = self._kept.get(structure)
            if executable is None:
                executable = self._kept[structure] = Executable(*structure)
                if len(self._kept) > MOST_EXECUTABLES:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(structure)
            executable.runs += 1
            return executable

    def family_count(self, key) -> int:
        """How many structures made of this same set of operations have been seen, this included."""
        family = frozenset(node.signature.id for node in decode(key))
        with self._lock:
            count = self._families[family] = self._families.pop(family, 0) + 1
            if len(self._families) > MOST_EXECUTABLES:
                self._families.popitem(last=False)
            return count

    def clear(self) -> None:
        """Forget everything compiled."""
        with self._lock:
            self._kept.clear()
            self._families.clear()


executables = Executables()
