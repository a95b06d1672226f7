# SPDX-License-Identifier: Apache-2.0
"""What devices send to each other in a step: the collectives of the compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from mycel.debug.profiling.hlo import Instruction
from mycel.debug.profiling.hlo import size_of as size_of_shape
from mycel.debug.profiling.programs import Program, works_of
from mycel.kernel.base.division import division
from mycel.kernel.execute.compile import Staged, decode
from mycel.kernel.record.stream import current_stream, machine

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


class Collective(NamedTuple):
    """One collective of a compiled program.

    Attributes:
        kind: XLA's word, as "all-reduce".
        arrays: how many arrays it takes at once; `bytes`: of its result on one device.
        operator, phase, cell, place: the recorded operator it belongs to, "forward", "reverse" or
            "update", its Cell and the line of the user's code; of a fused one, those of one part.
    """

    kind: str
    arrays: int
    bytes: int
    operator: str
    phase: str
    cell: str
    place: str


class Collectives:
    """The collectives of one call; `print` shows a table, a notebook too.

    Attributes:
        lines: a `Collective` for each.
        result: what the call gave.
    """

    def __init__(self, lines: list[Collective], result: Any):
        self.lines = lines
        self.result = result

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        kinds = [line.kind for line in self.lines]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    def __len__(self):
        return len(self.lines)

    def __str__(self):
        if not self.lines:
            return "0 collectives"
        rows = [("what", "arrays", "bytes", "operator", "Cell", "where")]
        rows += [tuple(map(str, _row(line))) for line in self.lines]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        total = sum(line.bytes for line in self.lines)
        return "\n".join([*table, f"{len(self.lines)} collectives, {total:,} bytes"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = ["<table><tr><th>what</th><th>arrays</th><th>bytes</th><th>operator</th>"]
        rows.append("<th>Cell</th><th>where</th></tr>")
        for line in self.lines:
            cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in _row(line))
            rows.append(f"<tr>{cells}</tr>")
        return "".join([*rows, "</table>"])


def _row(line: Collective) -> tuple:
    operator = f"{line.operator} ({line.phase})" if line.operator else ""
    return line.kind, line.arrays, f"{line.bytes:,}", operator, line.cell, line.place


def collectives(step: Callable) -> Callable[..., Collectives]:
    """What devices send to each other in one call of a function or Cell.

    The call is a real one: a step of training trains. Its programs are compiled once more, with
    names, and read.

    Returns:
        A function of the inputs, which calls `step` and gives `Collectives`.

    Raises:
        TypeError: `step` cannot be called.

    Example:
        >>> import mycel as ms
        >>> print(ms.debug.collectives(nn.ReLU())(Tensor([1.0])))
        0 collectives
    """
    if not callable(step):
        raise TypeError(f"collectives takes a function or a Cell, not {type(step).__name__}.")

    def run(*inputs: Any, **keywords: Any) -> Collectives:
        result, met = call_and_note(step, inputs, keywords)
        lines = [line for one in met for line in _collectives_of(*one)]
        return Collectives(lines, result)

    return run


def call_and_note(step: Callable, inputs: tuple, keywords: dict) -> tuple[Any, list[tuple]]:
    """What a call gives; and of each program that it runs the executable, its key, places, inputs
    and results that are kept."""
    current_stream().flush()
    met: list[tuple] = []
    before = machine.on_record

    def note(executable, key, places, arrays, live) -> None:
        met.append((executable, tuple(key), list(places), list(arrays), tuple(live)))
        if before is not None:
            before(executable, key, places, arrays, live)

    machine.on_record = note
    try:
        result = step(*inputs, **keywords)
        current_stream().flush()
    finally:
        machine.on_record = before
    return result, met


def _collectives_of(executable, key, places, arrays, live) -> list[Collective]:
    grid = division.grid
    if grid is None or not executable.is_divided(arrays):
        return []
    nodes = decode(key)
    works = works_of(nodes, places)
    if isinstance(executable, Staged):
        schedule = executable.schedule(arrays)
        again = [schedule.again(n) for n, step in enumerate(schedule.steps) if step.turn]
        return [
            line
            for numbers, write, jitted, inputs in again
            for line in _of_program(
                [nodes[n] for n in numbers],
                [works[n] for n in numbers],
                live,
                write,
                jitted,
                inputs,
            )
        ]
    lifted = [grid.lifted(array) for array in arrays]
    write = executable.written
    return _of_program(nodes, works, live, write, executable.jitted, lifted)


def _of_program(nodes, works, live, write, jitted, inputs) -> list[Collective]:
    named = Program(0, nodes, works, live)
    named.name = "collectives"
    named.compile(write, jitted, inputs)
    return [
        _described(named, one)
        for inside in named.module.computations.values()
        for one in inside
        if one.opcode.removesuffix("-start") in KINDS
    ]


def _described(program: Program, one: Instruction) -> Collective:
    kind, (arrays, size) = one.opcode.removesuffix("-start"), size_of_shape(one)
    shares = program.shares(one.name)
    if not shares:
        return Collective(kind, arrays, size, "", "", "", "")
    work = program.works[max(shares, key=lambda node: shares[node])]
    place = str(work.place._replace(called=None))
    return Collective(kind, arrays, size, work.operator, work.phase, work.path, place)
