# SPDX-License-Identifier: Apache-2.0
"""Profile: what a step took, by Cell and by operator."""

from __future__ import annotations

import csv
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mycel.debug.costs import short
from mycel.debug.profiling.page import page_of
from mycel.debug.profiling.programs import Alive, Program
from mycel.debug.profiling.timeline import Timeline, length, merged, shared, within, without
from mycel.debug.profiling.trace import trace_of
from mycel.kernel.base.atomic import replaced

PHASES = ("forward", "reverse", "update")
# Where neither a Cell nor an operator of ours is known.
OUTSIDE = "other"
_SOURCES = {
    "xla": "times of XLA's own profile of the compiled programs; what is fused is shared by "
    "what its operators compute, read and write",
    "direct": "operators run one by one, each waited for: no fusion, and each pays for its start",
}


class Operator(NamedTuple):
    """One operator, where it was recorded, in an average step.

    Attributes:
        path: its Cell, as `Net.block.conv1`; empty outside of Cells.
        operator, phase: its name, and "forward", "reverse", "update", or "other" for what is not
            recorded, as copies to the device.
        line: file and line of the user.
        calls: how often it ran; `seconds`: how long, of the time of the device.
        flops, bytes: its floating-point operations, and what it reads and writes.
    """

    path: str
    operator: str
    phase: str
    line: str
    calls: float
    seconds: float
    flops: float
    bytes: float


class CellTimes(NamedTuple):
    """One Cell with those in it, in an average step.

    Attributes:
        path: as in `Operator`; empty for what is outside of Cells.
        forward, reverse, update: seconds.
        flops, reverse_flops: of its forward, and of all else.
        bytes: what its operators read and write.
        memory: the bytes alive at the peak of the step that its operators made.
    """

    path: str
    forward: float
    reverse: float
    update: float
    flops: float
    reverse_flops: float
    bytes: float
    memory: int

    @property
    def seconds(self) -> float:
        return self.forward + self.reverse + self.update


class Peak(NamedTuple):
    """What a step needs of memory at its peak.

    Attributes:
        bytes: together.
        rows: what is alive, the largest first; those of one operator together.
        source: whose account it is.
    """

    bytes: int
    rows: list[Alive]
    source: str


@dataclass
class _Sums:
    calls: float = 0.0
    seconds: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0


class Profile:
    """Where the time of a step goes; `print` shows a table, a notebook a page.

    Attributes:
        mode: "xla" or "direct".
        steps: how many were profiled; everything below is for an average one of them.
        seconds: how long a step took, by Python's clock, without what profiling itself took.
        parts: where they went: "operators" run on the device, XLA is "between operators",
            something is compiled ("compilation"), the step waits for "data", and all else is
            "python": the user's, ours and JAX's on the host, as far as it is not hidden behind
            the device.
        compiled: seconds of compilation before the steps, in the warm-up.
        operators: what ran, the longest first.
        cells: by Cell, in the order of the first call.
        spans, marks: what ran when on the device, and on the host; `windows`: when the steps ran.
        peak: what is alive when most memory is.
    """

    def __init__(self, mode, steps: int, timeline: Timeline, programs: list[Program], compiled):
        self.mode, self.steps, self.compiled = mode, max(1, steps), compiled
        self._timeline = timeline
        self.spans, self.marks = timeline.spans, timeline.marks
        self._programs = {program.name: program for program in programs}
        own = timeline.marks.get("profiler", [])
        self.windows = without(timeline.marks.get("step", []), own)
        self.seconds = self._measured("step") - self._measured("profiler")
        self.parts = self._parts()
        self.operators = self._operators()
        self.peak = self._peak()
        self.cells = self._cells()

    @property
    def last_step(self) -> tuple[float, float]:
        """When the last step began and ended."""
        return self.marks["step"][-1]

    def _measured(self, kind: str) -> float:
        return self._timeline.measured.get(kind, 0.0) / self.steps

    def _parts(self) -> dict[str, float]:
        """Each moment of the steps once: of the device if something ran there, and so on down."""
        spans, marks, windows = self.spans, self.marks, self.windows
        runs: dict[Any, tuple[float, float]] = {}
        for span in spans if self.mode == "xla" else ():
            start, end = runs.get((span.program, span.run), (span.start, span.end))
            runs[span.program, span.run] = min(start, span.start), max(end, span.end)
        claims = {
            "operators": merged([(span.start, span.end) for span in spans]),
            "between operators": merged(runs.values()),
            "compilation": marks.get("compile", []),
            "data": marks.get("data", []),
        }
        parts = {}
        for name, claim in claims.items():
            parts[name] = length(within(windows, claim)) / 1e9 / self.steps
            windows = without(windows, claim)
        parts["python"] = length(windows) / 1e9 / self.steps
        return parts

    def work_of(self, program: str, what) -> dict[int, float]:
        """The nodes that a span belongs to, and how much of it to each."""
        known = self._programs.get(program)
        if known is None:
            return {}
        return {what: 1.0} if isinstance(what, int) else known.shares(what)

    def label_of(self, program: str, what) -> tuple[str, str, str]:
        """Path, operator and phase of most of a span."""
        shares = self.work_of(program, what)
        if not shares:
            return "", f"{program}:{what}" if program else str(what), OUTSIDE
        work = self._programs[program].works[max(shares, key=lambda node: shares[node])]
        return work.path, work.operator.rstrip("'"), work.phase

    def _operators(self) -> list[Operator]:
        sums: dict[tuple, _Sums] = {}
        keys: dict[tuple[str, Any], tuple] = {}
        for name, program in self._programs.items():
            for node, work in enumerate(program.works if program.runs else ()):
                operator = work.operator.rstrip("'")
                key = keys[name, node] = work.path, operator, work.phase, _line(work.place)
                found = sums.setdefault(key, _Sums())
                found.calls += program.runs
                found.flops += work.flops * program.runs
                found.bytes += work.bytes * program.runs
        for number, time in shared(self.spans, self.windows).items():
            span = self.spans[number]
            shares = self.work_of(span.program, span.what)
            for node, share in shares.items():
                key = keys.get((span.program, node))
                if key is not None:
                    sums[key].seconds += share * time / 1e9
            if not shares:
                name = f"{span.program}:{span.what}"
                found = sums.setdefault(("", name, OUTSIDE, ""), _Sums())
                found.calls += 1
                found.seconds += time / 1e9
        rows = [
            Operator._make([*key, *[total / self.steps for total in vars(found).values()]])
            for key, found in sums.items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)

    def _cells(self) -> list[CellTimes]:
        order = [work.path for program in self._programs.values() for work in program.works]
        rows: dict[str, list[float]] = {}
        for path in order:
            for above in _above(path):
                rows.setdefault(above, [0.0] * 6)
        for row in self.operators:
            for above in _above(row.path):
                sums = rows.setdefault(above, [0.0] * 6)
                sums[PHASES.index(row.phase) if row.phase in PHASES else 2] += row.seconds
                sums[3 if row.phase == "forward" else 4] += row.flops
                sums[5] += row.bytes
        memory: Counter = Counter()
        for one in self.peak.rows:
            for path in _above(one.path):
                memory[path] += one.bytes if one.operator != "input" else 0
        return _as_tree([CellTimes._make([path, *rows[path], memory[path]]) for path in rows])

    def _peak(self) -> Peak:
        source = "XLA's plan of the memory of the compiled program"
        if self.mode == "direct":
            source = "an estimate by the record: each result until its last use"
        largest: list[Alive] = []
        for program in self._programs.values():
            if program.runs:
                alive = program.peak()
                if sum(one.bytes for one in alive) > sum(one.bytes for one in largest):
                    largest = alive
        together: Counter = Counter()
        for one in largest:
            together[one[:3]] += one.bytes
        rows = [Alive._make([*key, size]) for key, size in together.most_common()]
        return Peak(sum(together.values()), rows, source)

    # -- for people -----------------------------------------------------------------------

    @property
    def source(self) -> str:
        """Where the times come from."""
        return _SOURCES[self.mode]

    @property
    def table(self) -> list[list[str]]:
        """The Cells as lines of text, the first one of heads."""
        lines = [["Cell", "forward", "reverse", "update", "share", "FLOPs", "rate", "peak memory"]]
        busy = self.parts["operators"] or 1.0
        for cell in self.cells:
            depth, flops = cell.path.count("."), cell.flops + cell.reverse_flops
            name = cell.path if not depth else "  " * depth + cell.path.rpartition(".")[2]
            lines.append(
                [
                    name or "(outside of Cells)",
                    *[milliseconds(t) if t else "-" for t in cell[1:4]],
                    f"{cell.seconds / busy:.1%}",
                    short(flops) if flops else "-",
                    f"{short(flops / cell.seconds)}/s" if flops and cell.seconds else "-",
                    f"{short(cell.memory)}B" if cell.memory else "-",
                ]
            )
        return lines

    def summary(self) -> list[str]:
        """The parts of a step as lines of text."""
        lines = [f"{milliseconds(self.seconds)} a step, of {self.steps} steps"]
        parts = [f"{name} {milliseconds(time)}" for name, time in self.parts.items() if time]
        lines.append("  " + ", ".join(parts))
        lines.append(f"  {self.source}")
        lines.append(f"  compilation before: {milliseconds(self.compiled)}")
        lines.append(f"  memory at the peak: {short(self.peak.bytes)}B, by {self.peak.source}")
        return lines

    def __str__(self):
        table = self.table
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [
            "  ".join(
                cell.rjust(width) if index else cell.ljust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        lines.insert(1, "-" * max(map(len, lines)))
        lines += ["", "operators that took longest:"]
        for row in self.operators[:10]:
            told = f"{row.operator} ({row.phase}) in {row.path or 'no Cell'} {row.line}"
            lines.append(f"  {milliseconds(row.seconds):>10}  {told.rstrip()}")
        return "\n".join([*self.summary(), "", *lines])

    __repr__ = __str__

    def __rich__(self):
        from rich.console import Group
        from rich.table import Table

        heads, *lines = self.table
        table = Table(title=self.summary()[0])
        for index, head in enumerate(heads):
            table.add_column(head, justify="right" if index else "left")
        for line in lines:
            table.add_row(*line)
        slow = Table("operator", "phase", "Cell", "line", "time", title="Operators")
        for row in self.operators[:15]:
            time = milliseconds(row.seconds)
            slow.add_row(row.operator, row.phase, row.path, row.line, time)
        return Group(table, *self.summary()[1:], slow)

    def _repr_html_(self) -> str:
        return page_of(self, whole=False)

    def html(self, path: str | os.PathLike) -> str:
        """Write one page with tables, a timeline and a flame graph, which needs no network.

        Args:
            path: the file.

        Raises:
            OSError: it cannot be written.
        """
        with replaced(os.fspath(path)) as partial:
            Path(partial).write_text(page_of(self, whole=True), "utf-8")
        return os.fspath(path)

    def trace(self, path: str | os.PathLike) -> str:
        """Write a trace that Perfetto (and `chrome://tracing`) shows.

        Args:
            path: the file.

        Raises:
            OSError: it cannot be written.
        """
        with replaced(os.fspath(path)) as partial:
            Path(partial).write_text(trace_of(self), "utf-8")
        return os.fspath(path)

    def csv(self, path: str | os.PathLike) -> str:
        """Write the operators as a table.

        Args:
            path: the file.

        Raises:
            OSError: it cannot be written.
        """
        with replaced(os.fspath(path)) as partial, open(partial, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(Operator._fields)
            writer.writerows(self.operators)
        return os.fspath(path)


def _above(path: str) -> list[str]:
    """The paths of a Cell and of those it is in, the outermost first."""
    parts = path.split(".")
    return [".".join(parts[: depth + 1]) for depth in range(len(parts))]


def _as_tree(cells: list[CellTimes]) -> list[CellTimes]:
    """Cells behind the ones they are in, else in their order."""
    inside: dict[str, list[CellTimes]] = {}
    for cell in cells:
        inside.setdefault(cell.path.rpartition(".")[0] if "." in cell.path else "", []).append(cell)
    found: list[CellTimes] = []

    def walk(above: str) -> None:
        for cell in inside.get(above, []):
            found.append(cell)
            if cell.path:
                walk(cell.path)

    walk("")
    return found


def _line(place) -> str:
    if place.code is None:
        return ""
    return f"{os.path.basename(place.code.co_filename)}:{place.line}"


def milliseconds(seconds: float) -> str:
    """A time as people read it.

    Example:
        >>> from mycel.debug.profiling.result import milliseconds
        >>> milliseconds(0.00123), milliseconds(2.5)
        ('1.23 ms', '2.5 s')
    """
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"
