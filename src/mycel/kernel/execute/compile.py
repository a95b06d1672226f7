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
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.define.op import Signature, signatures
from mycel.kernel.execute.checks import Indices, Tripped, indices_of
from mycel.kernel.execute.communicate import Done, keep, repeat
from mycel.kernel.execute.joined import Joined, compare
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


class Checked(NamedTuple):
    """The slots of what is to be finite: what comes out alone, and what comes out with others."""

    alone: tuple[int, ...]
    others: tuple[int, ...]


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
    checked: Checked | None = None,
    functions: list[Callable] | None = None,
    given: tuple[int, ...] | None = None,
):
    """The pure function of a record: external arrays in; live arrays, packs of arrays of one type,
    the guards, as one vector each, the flag of its indices, and those of its numerics, out.

    Args:
        functions: what is called for each node, by default its operator's own function.
        given: the slots of its inputs, of a part of a record; by default they are the externals.
    """
    functions = functions or [node.signature.op.function for node in nodes]
    materialize = backend.tuning.materialize
    apart = backend.tuning.to_materialize(nodes)

    def run(*externals):
        slots = range(-1, -1 - len(externals), -1) if given is None else given
        arrays = dict(zip(slots, externals, strict=True))
        at = arrays.__getitem__
        for node, function in zip(nodes, functions, strict=True):
            result = function(*[at(slot) for slot in node.inputs])
            results = (result,) if node.signature.single else result
            for slot, array in enumerate(results, node.first):
                arrays[slot] = materialize(array) if slot in apart else array
        outputs = [at(slot) for slot in live]
        outputs += [jnp.concatenate([at(slot).ravel() for slot in pack]) for pack in packs]
        if guards:
            outputs.append(jnp.concatenate([seen_bits(at(g.slot), g.kind) for g in guards]))
        if indices is not None and indices.inside:
            outputs.append(indices.flag(at))
        if checked is not None:
            sums = _have_finite_sums([at(slot) for slot in checked.alone])
            outputs.append(jnp.stack([sums, _are_finite([at(slot) for slot in checked.others])]))
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
        checked: what is looked at; None if nothing is.
        parts: what its program is made of, so that it can be made once more (see `program`).
    """

    __slots__ = (
        "checked",
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
        self.checked = _checked(nodes, live, guards, packs) if check_numerics else None
        self.parts = nodes, live, guards, packs, self.indices, self.checked
        self.function = self._function()
        self.fallible = any(node.signature.op.fallible for node in nodes)
        self.size = len(nodes)
        self.compiled = False
        self.runs = 0

    def _function(self) -> Any:
        return _compiled(program(*self.parts))

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
        flags = None if self.checked is None else np.asarray(results.pop())
        if indices is not None and indices.inside:
            indices.look_behind(results.pop())
        if flags is not None and not flags.all() and not self._are_finite(flags, results):
            raise NotFinite
        return results

    def _are_finite(self, flags, results) -> bool:
        """Whether all is finite: a sum may overflow where no element does."""
        alone = self.checked.alone if self.checked is not None else ()
        return bool(flags[1]) and all(
            np.isfinite(np.asarray(result)).all()
            for slot, result in zip(self.parts[1], results, strict=False)
            if slot in alone
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


class Together(Executable):
    """A record with operators among processes, as `execute.joined.Joined` runs it.

    What was communicated in a run that raises is kept for the run that follows.
    """

    __slots__ = ()

    def _function(self) -> Joined:
        nodes, live, guards, packs, indices, checked = self.parts

        def local(part, made, looked_at, given):
            return _compiled(program(part, made, looked_at, given=given))

        def end(part, looked_at, given):
            whole = live, looked_at, packs, indices, checked
            return _compiled(program(part, *whole, given=given))

        rest = [*live, *[slot for pack in packs for slot in pack]]
        rest += [*checked.alone, *checked.others] if checked is not None else []
        rest += [slot for slot, _ in indices.inside] if indices is not None else []
        return Joined(nodes, guards, rest, local, end)

    def __call__(self, arrays, places=(), expected=()):
        """What the program gives.

        Args:
            places: where its nodes were recorded, for messages.
            expected: the bytes of what Python read.

        Raises:
            Tripped: it was given a wrong index, or made one; or Python read something else.
            NotFinite: a result is not finite, and numerics are checked.
            RuntimeError: another process ended, or did not come in time.
        """
        done: list[Done] = []
        try:
            results = undisturbed(self._communicate, arrays, places, expected, done)
        except Exception as error:
            if isinstance(error, Tripped) or not came_from_outside(error):
                repeat(done)
            raise
        keep(done)
        return results

    def _communicate(self, arrays, places, expected, done):
        if self.indices is not None:
            self.indices.look(arrays)
        start = time.perf_counter()
        results = self.function(arrays, places, expected, done)
        if not self.compiled:
            self.compiled = True
            machine.account.compiled(self.size, time.perf_counter() - start)
        flags = None if self.checked is None else np.asarray(results.pop())
        if self.indices is not None and self.indices.inside:
            self.indices.look_behind(results.pop())
        if self.function.guards:
            compare(results.pop(), self.function.guards, expected)
        if flags is not None and not flags.all() and not self._are_finite(flags, results):
            raise NotFinite
        return results


def _compiled(function):
    # keep_unused: every caller passes all inputs, whatever the program needs of them.
    return jax.jit(function, keep_unused=True, compiler_options=backend.compiler_options())


def _kind_of(key) -> type[Executable]:
    communicates = any(node.signature.op.collective for node in decode(key))
    return Together if communicates else Executable


def _checked(nodes, live, guards, packs) -> Checked:
    """Those slots whose elements may be other than finite."""
    avals = [aval for node in nodes for aval in node.signature.outputs]

    def inexact(slots) -> tuple[int, ...]:
        return tuple([slot for slot in slots if slot >= 0 and avals[slot].inexact])

    others = [slot for pack in packs for slot in pack] + [guard.slot for guard in guards]
    return Checked(inexact(live), inexact(others))


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
                executable = self._kept[structure] = _kind_of(key)(*structure)
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
