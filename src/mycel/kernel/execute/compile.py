# SPDX-License-Identifier: Apache-2.0
"""From a record to an executable: decoding the integers, tracing once, compiling, counting."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import backend
from mycel.kernel.base.context import context
from mycel.kernel.base.division import division, fetched, own_of, parts_of, tell_parts
from mycel.kernel.base.signals import came_from_outside, undisturbed
from mycel.kernel.base.stages import Stages
from mycel.kernel.define.constraint import Constraint, Entered
from mycel.kernel.define.names import makes_gradients
from mycel.kernel.execute.changing import Family, families, room
from mycel.kernel.execute.checks import Indices, Tripped, indices_of
from mycel.kernel.execute.communicate import Done, keep, repeat
from mycel.kernel.execute.joined import Joined, compare
from mycel.kernel.execute.looks import Checked, Guard, are_finite, have_finite_sums, seen_bits
from mycel.kernel.execute.nodes import Node, decode
from mycel.kernel.execute.spread import InAll, OtherResults, in_words, what_is_computed
from mycel.kernel.execute.staged import Ends, Schedule
from mycel.kernel.record.stream import machine

# Executables beyond this many are forgotten, the longest unused first.
MOST_EXECUTABLES = 512


def program(
    nodes: list[Node],
    live,
    guards: tuple[Guard, ...] = (),
    packs: tuple[tuple[int, ...], ...] = (),
    indices: Indices | None = None,
    checked: Checked | None = None,
    functions: list[Callable] | None = None,
    scopes: list[str] | None = None,
    given: tuple[int, ...] | None = None,
):
    """The pure function of a record: external arrays in; live arrays, packs of arrays of one type,
    the guards, as one vector each, the flag of its indices, and those of its numerics, out.

    Args:
        functions: what is called for each node, and if there are no scopes for it alone; by default
            its operator's own function, traced once for each signature.
        scopes: names that XLA keeps of what each node becomes.
        given: the slots of its inputs, of a part of a record; by default they are the externals.
    """
    calls = functions or [node.signature.op.inlined for node in nodes]
    materialize = backend.tuning.materialize
    apart = backend.tuning.to_materialize(nodes)

    def run(*externals):
        if any(array is None for array in externals):  # JAX would leave that argument out
            raise RuntimeError("An input of a program has no array.")
        slots = range(-1, -1 - len(externals), -1) if given is None else given
        arrays = dict(zip(slots, externals, strict=True))
        at = arrays.__getitem__
        joined = backend.tuning.together(nodes, live) if scopes or not functions else {}
        for number, (node, function) in enumerate(zip(nodes, calls, strict=True)):
            with nullcontext() if scopes is None else jax.named_scope(scopes[number]):
                result = function(*[at(slot) for slot in node.inputs])
                results = (result,) if node.signature.single else result
                for slot, array in enumerate(results, node.first):
                    if slot in joined:
                        arrays[slot] = joined[slot].of(arrays)
                    else:
                        arrays[slot] = materialize(array) if slot in apart else array
        outputs = [at(slot) for slot in live]
        outputs += [jnp.concatenate([at(slot).ravel() for slot in pack]) for pack in packs]
        if guards:
            outputs.append(jnp.concatenate([seen_bits(at(g.slot), g.kind) for g in guards]))
        if indices is not None and indices.inside:
            outputs.append(indices.flag(at))
        if checked is not None:
            sums = have_finite_sums([at(slot) for slot in checked.alone])
            outputs.append(jnp.stack([sums, are_finite([at(slot) for slot in checked.others])]))
        return outputs

    return run


class NotFinite(Tripped):
    """A program made something that is not finite."""


class Executable:
    """A compiled record. `runs` counts how often it was asked for, `compiled` tells if it is.

    Args:
        look_at_indices: whether wrong indices are looked for.
        check_numerics: whether it looks whether its results are finite.

    Attributes:
        asked: when it was asked for last, as a number of such questions.
        checked: what is looked at; None if nothing is.
        may_be_padded: whether a compiled function that replays it asks for that (see `padded`).
        name: of a program that a compiled function replays, which function.
        parts: what its program is made of, so that it can be made once more (see `program`).
        spent: seconds that it ran operator by operator; `waits`, whether for that alone.
    """

    __slots__ = (
        "asked",
        "checked",
        "compiled",
        "fallible",
        "function",
        "indices",
        "may_be_padded",
        "name",
        "parts",
        "runs",
        "size",
        "spent",
        "structure",
        "waits",
    )
    # Whether it is the program of one process, on one device.
    on_one_device = True

    def __init__(self, key, live, guards=(), packs=(), look_at_indices=True, check_numerics=False):
        nodes = decode(key)
        self.structure = key, live, guards, packs, look_at_indices, check_numerics
        self.indices = indices_of(nodes) if look_at_indices else None
        self.checked = _checked(nodes, live, guards, packs) if check_numerics else None
        self.parts = nodes, live, guards, packs, self.indices, self.checked
        self.name = ""
        self.fallible = any(node.signature.op.fallible for node in nodes)
        self.size = len(nodes)
        self.compiled = self.may_be_padded = False
        self.runs = self.asked = 0
        self.spent, self.waits = 0.0, False

    def __getattr__(self, name):
        # Asked for once: records whose lengths change have none.
        if name != "function":
            raise AttributeError(name)
        self.function = function = self._function()
        return function

    def _function(self) -> Any:
        if self.may_be_padded and families.padding(self.structure[0]).pad(self):
            return self.function
        return self.jitted(self.written())

    def written(
        self, functions: list[Callable] | None = None, scopes: list[str] | None = None
    ) -> Callable:
        """Its program; see `program`."""
        return program(*self.parts, functions=functions, scopes=scopes)

    def jitted(self, function: Callable) -> Any:
        """A function of its arrays, to be compiled as its program is."""
        return _compiled(function)

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
            np.isfinite(fetched(result)).all()
            for slot, result in zip(self.parts[1], results, strict=False)
            if slot in alone
        )

    def _run_and_wait(self, arrays):
        results = self.function(*arrays) if self.compiled else self._compile(arrays)
        return jax.block_until_ready(results)

    def _compile(self, arrays, layout: str = ""):
        """The results of the first call; of the first one with another layout of the arrays."""
        function = self.function
        if self.compiled:  # for another structure, if it is padded
            return function(*arrays)
        if context.save_graphs:
            self._save_graphs(arrays)
        start = time.perf_counter()
        with machine.account.compiling(self.size, self.name):
            results = function(*arrays)
        self.compiled = True
        machine.account.compiled(self.size, time.perf_counter() - start, layout)
        return results

    def _save_graphs(self, arrays) -> None:
        _save(self.function, arrays)

    def is_divided(self, arrays) -> bool:
        """Whether it runs on several devices for these arrays (see `Divided`)."""
        del arrays
        return False

    def lower(self, arrays):
        """The lowered program, for inspection."""
        function: Any = self.function
        return function.lower(*arrays)


class Divided(Executable):
    """A record that runs on the devices of a grid if one of its inputs lies there, or it divides
    something itself; else on one device, as any other.

    What a `Constraint` gives comes out divided so, and what Python looks at comes out whole; XLA
    chooses for the rest. It is compiled for each layout of its inputs, which the ledger tells. An
    input that is kept in parts (see `Grid.used`) is put together where it is used, but for an
    operator whose results are kept so: it changes each part.
    """

    __slots__ = ("_alone", "_divides", "_grid", "_latest", "_layouts", "_used")
    on_one_device = False

    def __init__(self, *structure):
        assert division.grid is not None
        self._grid = division.grid
        self._alone = Executable(*structure)
        self._layouts: set[tuple] = set()
        # The inputs of the latest compilation, each by shape and parts.
        self._latest: list[tuple] = []
        self._used: list[Any] = []
        super().__init__(*structure)
        nodes = self.parts[0]
        says_where = Constraint, Entered
        self._divides = any(isinstance(node.signature.op, says_where) for node in nodes)

    def _function(self) -> Any:
        function = self.jitted(self.written())
        if self._grid.meet is None:
            return function
        nodes, _, guards, *_ = self.parts
        return InAll(function, in_words(nodes), what_is_computed(nodes, guards))

    def jitted(self, function: Callable) -> Any:
        """A function of its arrays, to be compiled for the devices of the grid."""
        nodes, live, guards, packs, indices, checked = self.parts
        ops = {node.first: node.signature.op for node in nodes}
        outputs = [getattr(ops.get(slot), "sharding", None) for slot in live]
        seen = len(packs) + bool(guards) + bool(indices is not None and indices.inside)
        outputs += [self._grid.whole] * (seen + (checked is not None))
        return _compiled(function, out_shardings=outputs)

    def __call__(self, arrays):
        """What the program gives; see `Executable`."""
        grid = self._grid
        if not self.is_divided(arrays):
            results = self._alone(arrays)
            self.compiled = True
            return results
        arrays = [grid.lifted(array) for array in arrays]
        layout = tuple([getattr(array, "sharding", None) for array in arrays])
        if layout not in self._layouts:
            used = [grid.used(one) for one in layout]
            if used != self._used and any((*used, *self._used)):
                self._used = used
                self.function = self._function()
                self._layouts.clear()
            self._layouts.add(layout)
            self.compiled = False
        if grid.meet is None:
            return grid.run(super().__call__, arrays)
        try:
            return super().__call__(arrays)
        except OtherResults:
            return self._with_all_results(arrays)

    def written(
        self, functions: list[Callable] | None = None, scopes: list[str] | None = None
    ) -> Callable:
        """Its program, inputs that are kept in parts put together where they are used."""
        if any(self._used):
            functions = self._of_whole(functions)
        return super().written(functions, scopes)

    def _of_whole(self, given: list[Callable] | None) -> list[Callable]:
        nodes = self.parts[0]
        given = given or [node.signature.op.inlined for node in nodes]
        kept = {
            node.inputs[0]
            for node in nodes
            if self._grid.used(getattr(node.signature.op, "sharding", None)) is not None
        }
        functions: list[Callable] = []
        for node, function in zip(nodes, given, strict=True):
            outputs = range(node.first, node.first + len(node.signature.outputs))
            used = [self._used[-1 - slot] if slot < 0 else None for slot in node.inputs]
            if any(used) and kept.isdisjoint(outputs):
                function = partial(_put_together, function=function, used=used)
            functions.append(function)
        return functions

    def _with_all_results(self, arrays):
        """What the program gives, by one that gives all that it computes: processes run the same
        only if they keep the same, and when Python frees a value may differ between them."""
        key, live, guards, packs, *_ = self.structure
        nodes = self.parts[0]
        count = nodes[-1].first + len(nodes[-1].signature.outputs)
        all_slots = (*range(count), *range(-1, -1 - len(arrays), -1))
        # None is packed: see `Memory._packs`.
        assert not packs
        results = executables.get(key, all_slots, guards)(arrays)
        kept = [results[all_slots.index(slot)] for slot in live]
        return [*kept, *results[len(all_slots) :]]

    def is_divided(self, arrays) -> bool:
        """Whether it runs on the grid for these arrays."""
        return self._divides or any(map(self._grid.has, arrays))

    def _compile(self, arrays, layout: str = ""):
        before, self._latest = self._latest, [(array.shape, parts_of(array)) for array in arrays]
        layout = _difference(before, self._latest) if before else ""
        return super()._compile(arrays, layout)


def _put_together(*arrays, function: Callable, used: list[Any]):
    """What a function gives for arrays that lie as they are used."""
    return function(*[
        array if sharding is None else jax.lax.with_sharding_constraint(array, sharding)
        for array, sharding in zip(arrays, used, strict=True)
    ])  # fmt: skip


class Staged(Divided):
    """A record whose inputs lie in the stages of a pipeline: several programs, as `Schedule` says;
    other ones for inputs that lie in other stages."""

    __slots__ = ("_schedules",)

    def __call__(self, arrays):
        """What the programs give; see `Executable`."""
        if not self.is_divided(arrays):
            return super().__call__(arrays)
        layout = tuple([getattr(array, "sharding", None) for array in arrays])
        if layout not in self._layouts:
            self._layouts.add(layout)
            self.compiled = False
        return Executable.__call__(self, arrays)

    def _function(self) -> Any:
        self._schedules: dict[tuple, Schedule] = {}
        return lambda *arrays: self.schedule(arrays)(*arrays)

    def _save_graphs(self, arrays) -> None:
        """Nothing yet: what its programs are given is known when they have run."""

    def _compile(self, arrays, layout: str = ""):
        results = super()._compile(arrays, layout)
        if context.save_graphs:
            schedule = self.schedule(arrays)
            for number, step in enumerate(schedule.steps):
                if step.turn is not None:
                    _, write, jitted, inputs = schedule.again(number)
                    _save(jitted(write()), inputs)
        return results

    def schedule(self, arrays) -> Schedule:
        """The programs for these arrays, and their order."""
        grid = self._grid
        assert isinstance(grid, Stages)
        entering = tuple([grid.stage_of(array) for array in arrays])
        known = self._schedules.get(entering)
        if known is None:
            nodes, live, guards, _, indices, checked = self.parts
            ends = Ends(guards, () if indices is None else indices.inside, checked)
            rest = entering, program, _compiled_so
            known = self._schedules[entering] = Schedule(grid, nodes, live, ends, *rest)
        return known


def _difference(before: list[tuple], now: list[tuple]) -> str:
    """Which input of a program lies otherwise than before."""
    for number, ((shape, parts), (_, former)) in enumerate(zip(now, before, strict=True)):
        if parts != former:
            return (
                f"input {number} of shape {shape} went {tell_parts(former)} -> {tell_parts(parts)}"
            )
    return ""


class Together(Executable):
    """A record with operators among processes, as `execute.joined.Joined` runs it.

    What was communicated in a run that raises is kept for the run that follows.
    """

    __slots__ = ()
    on_one_device = False

    def _function(self) -> Joined:
        return self.joined(lambda part, write: _compiled(write()))

    def joined(self, make: Callable) -> Joined:
        """The function of the record.

        Args:
            make: makes a local program of the nodes of a part: `make(part, write)`, where `write`
                gives the function, with `functions` those of the nodes (see `program`).
        """
        nodes, live, guards, packs, indices, checked = self.parts

        def local(part, made, looked_at, given):
            return make(part, partial(program, part, made, looked_at, given=given))

        def end(part, looked_at, given):
            whole = live, looked_at, packs, indices, checked
            return make(part, partial(program, part, *whole, given=given))

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
        arrays = [own_of(array) for array in arrays]
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


def _compiled(function, **layouts):
    # keep_unused: every caller passes all inputs, whatever the program needs of them.
    options = backend.compiler_options()
    return jax.jit(function, keep_unused=True, compiler_options=options, **layouts)


def _compiled_so(function, shardings):
    return _compiled(function, out_shardings=shardings)


def _kind_of(key) -> type[Executable]:
    if any(node.signature.op.collective for node in decode(key)):
        return Together
    if isinstance(division.grid, Stages):
        return Staged
    return Executable if division.grid is None else Divided


def _checked(nodes, live, guards, packs) -> Checked:
    """Those slots whose elements may be other than finite."""
    avals = [aval for node in nodes for aval in node.signature.outputs]

    def inexact(slots) -> tuple[int, ...]:
        return tuple([slot for slot in slots if slot >= 0 and avals[slot].inexact])

    others = [slot for pack in packs for slot in pack] + [guard.slot for guard in guards]
    others += unread_gradients(nodes, live)
    return Checked(inexact(live), inexact(others))


def unread_gradients(nodes: list[Node], live: tuple[int, ...] = ()) -> list[int]:
    """The slots of what derivatives gave and no node takes, but for those that are live."""
    read = {slot for node in nodes for slot in node.inputs}.union(live)
    return [
        slot
        for node in nodes
        if makes_gradients(node.signature.op.name)
        for slot in range(node.first, node.first + len(node.signature.outputs))
        if slot not in read
    ]


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
        self._asked = itertools.count()

    def get(self, key: tuple, live: tuple, guards: tuple = (), packs: tuple = ()) -> Executable:
        """The executable of this structure, made (not yet compiled) if it is new."""
        checks = context.check_indices, context.check_numerics
        structure = (key, live, guards, packs, *checks)
        name = structure if division.grid is None else (*structure, division.grid)
        with self._lock:
            executable = self._kept.get(name)
            if executable is None:
                executable = self._kept[name] = _kind_of(key)(*structure)
                if len(self._kept) > MOST_EXECUTABLES:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(name)
            executable.runs += 1
            executable.asked = next(self._asked)
            return executable

    def keep_few(self, family: Family, executable: Executable) -> None:
        """Another structure of a family is being compiled: the one that was not asked for longest
        is dropped if there are too many."""
        with self._lock:
            family.compilations += 1
            known = {s for s in family.compiled if s in self._kept} | {executable.structure}
            if len(known) > room(executable.size):
                dropped = min(known, key=lambda structure: self._kept[structure].asked)
                known.discard(dropped)
                del self._kept[dropped]
            family.compiled = known

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
        families.clear()


executables = Executables()
