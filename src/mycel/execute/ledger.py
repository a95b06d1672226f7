# SPDX-License-Identifier: Apache-2.0
"""The ledger: every compilation, and every call that could not be replayed, with its reason."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from mycel.base import errors
from mycel.base.errors import BudgetError
from mycel.base.places import Place, user_place
from mycel.record.stream import cell_path

# Lines beyond this many are dropped, the oldest first; the counts stay.
MOST_LINES = 10_000


@dataclass(frozen=True)
class Line:
    """One event: `kind` is "compiled", "differs", "missed" or "not remembered"."""

    kind: str
    what: str
    place: str
    cell: str = ""
    seconds: float = 0.0
    remedy: str = ""

    def __str__(self):
        cell = f" in {self.cell}" if self.cell else ""
        seconds = f" in {self.seconds:.2f} s" if self.seconds else ""
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{self.kind}: {self.what}{cell}{seconds} at {self.place}{remedy}"


@dataclass
class Counts:
    """How often things happened since the start (or since `reset`)."""

    compilations: int = 0
    segments: int = 0
    nodes: int = 0
    captures: int = 0
    replays: int = 0
    misses: int = 0


def _warn(text: str, place: Place) -> None:
    """A warning at a place of the user's code."""
    filename = place.code.co_filename if place.code is not None else "<unknown>"
    warnings.warn_explicit(text, UserWarning, filename, place.line)


@dataclass
class Ledger:
    """What the machine did, and why it did not do better."""

    lines: deque = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    counts: Counts = field(default_factory=Counts)
    limits: list = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _names: threading.local = field(default_factory=threading.local)

    @contextlib.contextmanager
    def working_on(self, name: str) -> Iterator[None]:
        """Name what compilations in this block belong to."""
        before = getattr(self._names, "name", "")
        self._names.name = name
        try:
            yield
        finally:
            self._names.name = before

    def working_for(self) -> str:
        """What compilations belong to now; empty if nothing was named."""
        return getattr(self._names, "name", "")

    def compiled(self, nodes: int, seconds: float) -> None:
        """An executable was compiled."""
        name = self.working_for() or "a segment"
        place = user_place(2)
        with self._lock:
            self.counts.compilations += 1
        what = f"{name}, {nodes} operators"
        self._write(Line("compiled", what, str(place), cell_path(), seconds))
        for limit in self.limits:
            limit.spend(f"the compilation of {name}", place)

    def raise_if_over(self) -> None:
        """Raise for a budget that was used up; called when no value can be lost any more."""
        for limit in self.limits:
            if limit.error is not None:
                error, limit.error = limit.error, None
                raise error

    def ran(self, nodes: int) -> None:
        """A segment is being run."""
        with self._lock:
            self.counts.segments += 1
            self.counts.nodes += nodes

    def note(self, kind: str, what: str, place, cell: str = "", remedy: str = "") -> None:
        """A call that was not replayed: what differed, in which Cell, what to write instead."""
        self._write(Line(kind, what, str(place), cell, remedy=remedy))

    def warn_missing(self, name: str, reason: str, place: Place) -> None:
        """Say once that a function keeps missing."""
        _warn(
            f"{name} is compiled but keeps running in PyNative: {reason} (at {place}). "
            "mycel.debug.ledger() lists every such call.",
            place,
        )

    def warn_stopped(self, name: str, place: Place) -> None:
        """Say once that a breakpoint keeps a function from being compiled."""
        _warn(
            f"{name} has a breakpoint (at {place}): while it is there, every call runs in "
            "PyNative, so that it is reached with real values.",
            place,
        )

    def reset(self) -> None:
        """Start counting again."""
        with self._lock:
            self.lines.clear()
            self.counts = Counts()

    def _write(self, line: Line) -> None:
        with self._lock:
            self.lines.append(line)

    def __str__(self):
        head = (
            f"{self.counts.compilations} compilations, {self.counts.segments} segments, "
            f"{self.counts.captures} calls recorded, {self.counts.replays} replayed, "
            f"{self.counts.misses} missed"
        )
        return "\n".join([head, *map(str, self.lines)])

    __repr__ = __str__


ledger = Ledger()


class Budget:
    """A limit on compilations; passing it raises `BudgetError` at the line that did."""

    def __init__(self, limit: int):
        self.limit = limit
        self.count = 0
        self.error: BudgetError | None = None

    def spend(self, label: str, place: Place) -> None:
        """Count one more."""
        self.count += 1
        if self.count > self.limit:
            self.error = BudgetError(
                errors.BUDGET.format(
                    limit=self.limit,
                    what="compilations",
                    count=self.count,
                    label=label,
                    place=place,
                )
            )


@contextlib.contextmanager
def budget(compilations: int) -> Iterator[Budget]:
    """Allow so many compilations in this block.

    Raises:
        BudgetError: one compilation more; names what was compiled and the user's line.

    Example:
        >>> import mycel as ms
        >>> with ms.debug.budget(compilations=1) as used:
        ...     total = (ms.Tensor([1.0, 2.0]) * 2).sum().asnumpy()
        >>> used.count <= 1
        True
    """
    limit = Budget(compilations)
    ledger.limits.append(limit)
    try:
        yield limit
    finally:
        ledger.limits.remove(limit)
