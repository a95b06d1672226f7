# SPDX-License-Identifier: Apache-2.0
"""Programs that are profiled: compiled once more with the names of Cells and operators in them, or
run operator by operator, each timed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import jax

from mycel.debug.costs import cost_of
from mycel.debug.profiling.hlo import Assignment, Instruction, Module, alive_at_peak
from mycel.kernel.base.places import NOWHERE, Place, path_of
from mycel.kernel.execute.compile import Executable, Node, Together, decode
from mycel.kernel.execute.numerics import phases_of
from mycel.kernel.record.stream import place_of

# The name of a node in a program: path, phase, number and operator. It is data about the program
# that XLA carries along and that the machine never sees.
_SCOPE = re.compile(r"(?:^|/)n(\d+):")
_METADATA = "jax_compilation_cache_include_metadata_in_key"


class Work(NamedTuple):
    """What is profiled as one: an operator where it was recorded.

    Attributes:
        path: the Cell, as `Net.block.conv1`; empty outside of Cells.
        operator: its name.
        phase: "forward", "reverse", or "update" for what follows the reverse.
        place: where it was recorded; for a reverse, where its forward was.
        flops, bytes: of one run.
    """

    path: str
    operator: str
    phase: str
    place: Place
    flops: float
    bytes: float


class Alive(NamedTuple):
    """Memory that is alive at the peak of a program.

    Attributes:
        path, operator, phase: what made it; the operator is "input" for what came from outside.
        bytes: its size.
    """

    path: str
    operator: str
    phase: str
    bytes: int


class Program:
    """A program that runs in a profile.

    Attributes:
        name: unique in the process; in XLA's profile it is `jit_` and this.
        works: for each node of its record, what it is.
        runs: how often it ran.
    """

    def __init__(self, number: int, nodes: list[Node], works: list[Work], live):
        self.name = f"profiled_{number}"
        self.nodes, self.works = nodes, works
        self.runs = 0
        self._live = frozenset(live)
        self.compiled: Any = None
        self._shares: dict[str, dict[int, float]] = {}

    def compile(self, write: Callable, jitted: Callable, arrays) -> Callable:
        """The program once more, with names. XLA makes the same of it, apart from the names; they
        are asked for in its cache on disk, which else gives a program without.

        Args:
            write: gives its function, with `functions` and `scopes` those of its nodes.
            jitted: what makes of that one that is compiled.
        """
        scopes = [
            f"{work.path or '-'}/{work.phase}/n{number}:{work.operator}"
            for number, work in enumerate(self.works)
        ]
        functions = [node.signature.op.function for node in self.nodes]
        run = write(functions=functions, scopes=scopes)
        run.__name__ = self.name
        lowered = jitted(run).lower(*arrays)
        before = getattr(jax.config, _METADATA)
        jax.config.update(_METADATA, True)
        try:
            self.compiled = lowered.compile()
        finally:
            jax.config.update(_METADATA, before)
        return self.compiled

    def compiled_when_called(self, write: Callable, jitted: Callable) -> Callable:
        """As `compile`, where the arrays are not there yet."""

        def run(*arrays):
            compiled = self.compiled or self.compile(write, jitted, arrays)
            return compiled(*arrays)

        return run

    def one_by_one(self, write: Callable, ran: Callable) -> Callable:
        """The program as a function that runs its operators one by one, and waits for each."""

        def timed(number: int, function: Callable) -> Callable:
            def run(*arrays):
                begin = time.perf_counter_ns()
                results = jax.block_until_ready(function(*arrays))
                ran(self, number, begin, time.perf_counter_ns())
                return results

            return run

        functions = [timed(n, node.signature.op.jitted) for n, node in enumerate(self.nodes)]
        return write(functions=functions)

    @cached_property
    def module(self) -> Module:
        (module,) = self.compiled.runtime_executable().hlo_modules()
        return Module(module.as_serialized_hlo_module_proto())

    def shares(self, name: str) -> dict[int, float]:
        """Which nodes an instruction of XLA belongs to, and how much of it to each: a fusion is
        shared by what its parts compute, read and write. Empty if no node is known."""
        shares = self._shares.get(name)
        if shares is None:
            instruction = self.module.by_name.get(name)
            shares = {} if instruction is None else self._shared(instruction)
            self._shares[name] = shares
        return shares

    def _shared(self, instruction: Instruction) -> dict[int, float]:
        module, weights = self.module, {}
        last = None
        for one, weight in module.weights(instruction):
            number = _node_of(one)
            if number is not None:
                last = number
                weights[number] = weights.get(number, 0.0) + weight
        total = sum(weights.values())
        if total:
            return {number: weight / total for number, weight in weights.items() if weight}
        found = _node_of(instruction)
        found = last if found is None else found
        found = self._near(instruction) if found is None else found
        return {} if found is None else {found: 1.0}

    def _near(self, instruction: Instruction) -> int | None:
        """The node of what takes the result of an instruction of XLA's own, such as a copy, or of
        what it is given."""
        module = self.module
        users = [instruction]
        for one in users:
            if len(users) > 16:
                break
            users += module.users.get(one.number, [])
        given = [module.instructions[n] for n in instruction.operands if n in module.instructions]
        for one in (*users[1:], *given):
            for inner in module.inside(one):
                number = _node_of(inner)
                if number is not None:
                    return number
        return None

    def peak(self) -> list[Alive]:
        """What is alive when the program needs most memory: what it is given, its results and
        temporary buffers, by XLA's plan; or, where it ran operator by operator, by the record."""
        if self.compiled is None:
            return self._peak_of_record()
        stats = self.compiled.memory_analysis()
        plan = Assignment(stats.serialized_buffer_assignment_proto)
        alive = [Alive("", "input", "", size) for size in plan.arguments.values()]
        for buffer in alive_at_peak(self.module, plan):
            instruction = self.module.instructions[buffer.instruction]
            shares = self.shares(instruction.name)
            number = _node_of(instruction)
            if number is None and shares:
                number = max(shares, key=lambda node: shares[node])
            alive.append(self._alive(number, buffer.size))
        return alive

    def _peak_of_record(self) -> list[Alive]:
        """By the record: each result from the operator that makes it to the last that takes it."""
        last = {slot: n for n, node in enumerate(self.nodes) for slot in node.inputs}
        given = {
            slot: aval
            for node in self.nodes
            for slot, aval in zip(node.inputs, node.signature.inputs, strict=True)
            if slot < 0
        }
        inputs = [Alive("", "input", "", aval.nbytes) for aval in given.values()]
        alive: dict[int, Alive] = {}
        best: list[Alive] = []
        most = 0
        for number, node in enumerate(self.nodes):
            for offset, aval in enumerate(node.signature.outputs):
                alive[node.first + offset] = self._alive(number, aval.nbytes)
            now = sum(one.bytes for one in alive.values())
            if now > most:
                most, best = now, list(alive.values())
            for slot in node.inputs:
                if last[slot] == number and slot not in self._live:
                    alive.pop(slot, None)
        return inputs + best

    def _alive(self, number: int | None, size: int) -> Alive:
        if number is None:
            return Alive("", "XLA", "", size)
        work = self.works[number]
        return Alive(work.path, work.operator, work.phase, size)


def _node_of(instruction: Instruction) -> int | None:
    """The node in whose scope an instruction was made."""
    found = _SCOPE.search(instruction.scope)
    return int(found.group(1)) if found else None


def works_of(nodes: list[Node], places) -> list[Work]:
    """What each node of a whole record is."""
    paths: dict[tuple | None, str] = {}
    works = []
    for number, phase in enumerate(phases_of(nodes, places)):
        op = nodes[number].signature.op
        place = place_of(places, number) if places else NOWHERE
        path = paths.get(place.called)
        if path is None:
            path = paths[place.called] = path_of(place.called)
        flops, size = cost_of(op, nodes[number].signature.inputs)
        works.append(Work(path, op.public, phase, place, flops, size))
    return works


def _either(compiled: Callable, function: Callable) -> Callable:
    """What is compiled for some arrays, and for those of another layout the function it is of."""

    def run(*arrays):
        try:
            return compiled(*arrays)
        except (TypeError, ValueError):
            return function(*arrays)

    return run


def same_places(places) -> tuple:
    """What tells records of one structure apart, without looking at all of their places: those of
    the first, the middle and the last node."""
    numbers = (0, len(places) // 6 * 3, len(places) - 3) if places else ()
    found: list = [len(places)]
    for number in numbers:
        code, instruction, called = places[number : number + 3]
        # Code is known by its id: it is compared by all that is in it.
        found += (code if isinstance(code, int) else id(code), instruction, called)
    return tuple(found)


class Programs:
    """The programs of a profile: takes the place of what runs, and puts it back.

    Args:
        direct: whether operators run one by one.
        mark: names a span of time: `mark(kind)` is a context manager.
        ran: told of each operator that ran by itself.
    """

    def __init__(self, direct: bool, mark: Callable, ran: Callable):
        self._direct, self._mark, self._ran = direct, mark, ran
        self.known: list[Program] = []
        self._by_places: dict[tuple, tuple[list[Program], Callable, Any]] = {}
        # The operators among processes of what runs now, and how many of them ran.
        self._among: Program | None = None
        self._met = 0
        # By id: each executable, with its function, and whether that was compiled.
        self._before: dict[int, tuple[Executable, Callable, bool]] = {}

    def note(self, executable: Executable, key, places, arrays, live) -> None:
        """An executable is about to run: let it run the program of this record."""
        self._among, self._met = None, 0
        if not (self._direct or executable.compiled):
            if not isinstance(executable, Together):
                self._compile_as_always(executable)
            return
        with self._mark("profiler"):
            name = (id(executable), *same_places(places))
            found = self._by_places.get(name)
            if found is None:
                found = self._by_places[name] = self._make(executable, key, places, arrays, live)
            known, function, _ = found
            for one in known:
                one.runs += 1
            if self._direct and isinstance(executable, Together):
                self._among = known[-1]
            self._remember(executable)
            executable.function = function
            executable.compiled = True

    def communicated(self, signature, results, begin: int, end: int) -> None:
        """An operator among processes ran; XLA's own profile tells of it by XLA's names."""
        among = self._among
        if among is not None and self._met < len(among.nodes):
            if among.nodes[self._met].signature is signature:
                self._ran(among, self._met, begin, end)
            self._met += 1

    def _make(self, executable: Executable, key, places, arrays, live):
        nodes = decode(key)
        works = works_of(nodes, places)
        held = executable, list(places)  # for their ids
        if isinstance(executable, Together):
            return *self._parts(executable, works, live), held
        known = self._known(nodes, works, live)
        write = executable.written
        if self._direct:
            function = known.one_by_one(write, self._ran)
        else:
            compiled = known.compile(write, executable.jitted, arrays)
            function = _either(compiled, executable.function)
        return [known], function, held

    def _parts(self, executable: Together, works: list[Work], live) -> tuple[list[Program], Any]:
        """The local programs of a record with operators among processes, and its function; where
        operators run one by one, those among processes as one more."""
        by_slot = {node.first: work for node, work in zip(executable.parts[0], works, strict=True)}
        known: list[Program] = []

        def add(part: list[Node]) -> Program:
            known.append(self._known(part, [by_slot[node.first] for node in part], live))
            return known[-1]

        def make(part: list[Node], write: Callable) -> Callable:
            one = add(part)
            if self._direct:
                return one.one_by_one(write, self._ran)
            return one.compiled_when_called(write, executable.jitted)

        function = executable.joined(make)
        if self._direct:
            add([node for node in executable.parts[0] if node.signature.op.collective])
        return known, function

    def _known(self, nodes: list[Node], works: list[Work], live) -> Program:
        known = Program(len(_numbers), nodes, works, live)
        _numbers.append(None)
        self.known.append(known)
        return known

    def _compile_as_always(self, executable: Executable) -> None:
        """It is compiled in its first run, which is marked as that."""
        function = executable.function
        self._remember(executable)

        def compile_and_run(*arrays):
            executable.function = function
            self._before.pop(id(executable), None)
            with self._mark("compile"):
                return function(*arrays)

        executable.function = compile_and_run

    def _remember(self, executable: Executable) -> None:
        if id(executable) not in self._before:
            self._before[id(executable)] = executable, executable.function, executable.compiled

    def put_back(self) -> None:
        """Let everything run as it did."""
        for executable, function, compiled in self._before.values():
            executable.function, executable.compiled = function, compiled
        self._before.clear()
        self._by_places.clear()


# As long as there are programs that were named: each name is given once in a process.
_numbers: list[None] = []
