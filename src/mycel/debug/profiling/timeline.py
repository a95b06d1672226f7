# SPDX-License-Identifier: Apache-2.0
"""What ran when: spans read from XLA's own profile, or noted, and how time is shared among them."""

from __future__ import annotations

import contextlib
import glob
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import jax

# Before the names of spans that are noted in XLA's profile.
MARK = "mycel:"
# What compiles in XLA's profile.
_COMPILES = ("backend_compile_and_load", "lower_sharding_computation")
# An operator whose end comes so many nanoseconds after its thread left it goes on in others.
_ASIDE = 1000
Intervals = list[tuple[float, float]]


class Span(NamedTuple):
    """A time in which something ran, in nanoseconds.

    Attributes:
        line: the thread, or the queue of a device.
        program: the name of a program; `what`: an instruction of XLA, or the number of a node.
        run: a number that all of one run of a program have.
        aside: whether it goes on in other threads, beside what its own does next.
    """

    start: float
    end: float
    line: str
    program: str
    what: str | int
    run: Any
    aside: bool = False


def merged(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """Intervals that do not overlap and cover the same.

    Example:
        >>> from mycel.debug.profiling.timeline import merged
        >>> merged([(5, 7), (0, 2), (1, 3)])
        [(0, 3), (5, 7)]
    """
    found: Intervals = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif end > start:
            found.append((start, end))
    return found


def without(intervals: Intervals, others: Intervals) -> Intervals:
    """What of merged intervals lies outside of other ones.

    Example:
        >>> from mycel.debug.profiling.timeline import without
        >>> without([(0, 10)], [(2, 3), (9, 12)])
        [(0, 2), (3, 9)]
    """
    found: Intervals = []
    for start, end in intervals:
        for left, right in others:
            if right <= start or left >= end:
                continue
            if left > start:
                found.append((start, left))
            start = max(start, right)
        if start < end:
            found.append((start, end))
    return found


def within(intervals: Intervals, others: Intervals) -> Intervals:
    """What of merged intervals lies inside of other ones.

    Example:
        >>> from mycel.debug.profiling.timeline import within
        >>> within([(0, 10)], [(2, 3), (9, 12)])
        [(2, 3), (9, 10)]
    """
    found = []
    for start, end in intervals:
        for left, right in others:
            if max(start, left) < min(end, right):
                found.append((max(start, left), min(end, right)))
    return merged(found)


def length(intervals: Intervals) -> float:
    return sum(end - start for start, end in intervals)


def shared(spans: list[Span], windows: Intervals) -> dict[int, float]:
    """How long each span has the device, by its number among `spans`: at each moment in the windows
    those that run share it equally, so that the sum is the time in which anything ran. One that
    runs inside another on the same thread, as in a loop, has the thread for itself."""
    changes = sorted(
        [(span.start, 1, number) for number, span in enumerate(spans)]
        + [(span.end, 0, number) for number, span in enumerate(spans)]
    )
    threads = [number if span.aside else span.line for number, span in enumerate(spans)]
    times = dict.fromkeys(range(len(spans)), 0.0)
    lines: dict[str | int, list[int]] = {}
    before, window = 0.0, 0
    for at, begins, number in changes:
        while window < len(windows) and windows[window][1] <= before:
            window += 1
        length_now = _overlap(windows, window, before, at)
        running = [stack[-1] for stack in lines.values() if stack] if length_now else ()
        for one in running:
            times[one] += length_now / len(running)
        stack = lines.setdefault(threads[number], [])
        stack.append(number) if begins else stack.remove(number)
        before = at
    return times


def _overlap(windows: Intervals, first: int, start: float, end: float) -> float:
    total = 0.0
    for left, right in windows[first:]:
        if left >= end:
            break
        total += max(0.0, min(end, right) - max(start, left))
    return total


def tracks(spans: list[Span]) -> list[tuple[str, int]]:
    """Where each of some sorted spans is drawn: its line, and a number that keeps those apart that
    neither follow each other nor lie in one another."""
    open_until: dict[tuple[str, int], list[float]] = {}
    found = []
    for span in spans:
        number = 0
        while True:
            ends = open_until.setdefault((span.line, number), [])
            while ends and ends[-1] <= span.start:
                ends.pop()
            if not ends or span.end <= ends[-1]:
                break
            number += 1
        ends.append(span.end)
        found.append((span.line, number))
    return found


class Timeline:
    """What ran while it was open.

    Attributes:
        spans: what ran on the device.
        marks: spans of the host by kind: "step", "data", "compile", "profiler".
        measured: by kind, the seconds of these by the clock of Python.
        folder: where XLA's own profile is.

    Args:
        asks: whether XLA is asked for its own profile.
    """

    def __init__(self, folder: str | None, asks: bool):
        self.folder, self._asks = folder, asks
        self.spans: list[Span] = []
        self.marks: dict[str, Intervals] = {}
        self.measured: dict[str, float] = {}
        self.is_open = False

    def open(self) -> None:
        """Begin."""
        if self._asks:
            assert self.folder is not None
            options = jax.profiler.ProfileOptions()
            # Each call of a Python function as a span takes as long as the function.
            options.python_tracer_level = 0
            jax.profiler.start_trace(self.folder, profiler_options=options)
        self.is_open = True

    def close(self) -> None:
        """End, and read what XLA tells."""
        if not self.is_open:
            return
        self.is_open = False
        if self._asks:
            jax.profiler.stop_trace()
            # jaxlib's types are made when they are first used; where their warnings are errors, as
            # under `-W error`, that ends the process.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._read()
        self.marks = {kind: merged(found) for kind, found in self.marks.items()}
        self.spans.sort(key=lambda span: (span.start, -span.end))

    @contextlib.contextmanager
    def mark(self, kind: str) -> Iterator[None]:
        """Note a span of the host."""
        begin = time.perf_counter_ns()
        try:
            with jax.profiler.TraceAnnotation(MARK + kind):
                yield
        finally:
            if self.is_open:
                end = time.perf_counter_ns()
                self.measured[kind] = self.measured.get(kind, 0.0) + (end - begin) / 1e9
                if not self._asks:
                    self.marks.setdefault(kind, []).append((begin, end))

    def ran(self, program, number: int, begin: int, end: int) -> None:
        """Note an operator that ran by itself."""
        if self.is_open:
            self.spans.append(Span(begin, end, "operators", program.name, number, program.runs))

    def _read(self) -> None:
        assert self.folder is not None
        pattern = os.path.join(self.folder, "**", "*.xplane.pb")
        files = sorted(glob.glob(pattern, recursive=True), key=os.path.getmtime)
        ends: dict[int, float] = {}
        begun: list[tuple[Span, int | None]] = []
        for plane in jax.profiler.ProfileData.from_file(files[-1]).planes if files else ():
            for line in plane.lines:
                where = f"{plane.name} {line.name}"
                for event in line.events:
                    self._take(event, where, begun, ends)
        # An operator that goes on in another thread has ended where its end is told.
        for span, flow in begun:
            end = ends.get(-1 if flow is None else flow, 0.0)
            if end > span.end + _ASIDE:
                span = span._replace(end=end, aside=True)
            if span.end > span.start:
                self.spans.append(span)

    def _take(self, event, line: str, begun: list, ends: dict[int, float]) -> None:
        name, start, end = event.name, event.start_ns, event.start_ns + event.duration_ns
        if name.startswith(MARK):
            self.marks.setdefault(name[len(MARK) :], []).append((start, end))
        elif name in _COMPILES:
            self.marks.setdefault("compile", []).append((start, end))
        elif name.startswith("end: "):
            flow = dict(event.stats).get("_c")
            if flow is not None:
                ends[flow] = max(start, ends.get(flow, 0.0))
        elif not name.startswith(("ThreadpoolListener", "ThunkExecutor")):
            stats = dict(event.stats)
            if "hlo_op" in stats:
                module = str(stats.get("hlo_module", "")).removeprefix("jit_")
                span = Span(start, end, line, module, stats["hlo_op"], stats.get("run_id"))
                begun.append((span, stats.get("_p")))
