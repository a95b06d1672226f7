# SPDX-License-Identifier: Apache-2.0
"""The ledger: every compilation, and every call that was not replayed, merged by cause."""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mycel.kernel.base import errors
from mycel.kernel.base.errors import BudgetError
from mycel.kernel.base.places import Place, is_theirs, path_of, user_place, warn_at
from mycel.kernel.record.stream import cell_path
from mycel.report import pages
from mycel.report.progress import told_if_long

# Lines beyond this many: the rarest are put together, so that no count is lost.
MOST_LINES = 4096
MOST_AT_ONCE = MOST_LINES // 4
# Calls of one function that were not replayed, after which it is warned of once; not if it is
# replayed more than so many times as often.
PATIENCE = 10
RARE = 4
# Letters of a cause that are kept: values may be long.
MOST_LETTERS = 400
# Functions whose patience is kept by name alone.
MOST_NAMES = 4096

# What changes from call to call in a cause, so that it stays one: values behind "went", addresses
# and numbers. What stands in quotes is a name, and stays.
_CHANGING = re.compile(
    r"(`[^`]*`|'[^']*')| went .*? -> .*?(?=; |$)|0x[0-9a-f]+|(?<![\w.])-?\d[\d.,]*",
    re.DOTALL,
)

SHAPES_CHANGE = "shape changes from call to call: run operator by operator"
SHAPES_COMPILE = "shape changes from call to call: compiled each time, for the sake of {operator}"
SHAPES_PADDED = "shape changes from call to call: padded to lengths of {lengths}"
SHAPES_NOT_PADDED = "shape changes from call to call, and is not padded: {reason}"

# In place of a function's name, where lines are put together.
_OTHERS = "others"


@dataclass
class Line:
    """One cause, and how often it was met.

    Attributes:
        kind: "compiled"; "shapes" for a program whose shapes keep changing; "accepted" for a
            setting that something else decides; "first" for the recording a replay needs, which
            is no fault; or why a call ran in PyNative: "argument", "state", "effect", "read",
            "hook", "structure", "other".
        name: the compiled function.
        what: what happened, as it was the first time; `last`: as it was the last time.
        place: file and line of the user's code.
        cell: path of attributes to the Cell that was called there.
        remedy: what to write instead.
        count: how often; `seconds`: how long these calls, or compilations, took together.
    """

    kind: str
    name: str
    what: str
    place: str
    cell: str = ""
    remedy: str = ""
    count: int = 0
    seconds: float = 0.0
    last: str = ""

    def __str__(self):
        count = f" {self.count} times" if self.count > 1 else ""
        last = f" (last: {self.last})" if self.last != self.what else ""
        cell = f" in {self.cell}" if self.cell else ""
        seconds = f" in {self.seconds:.2f} s" if self.seconds else ""
        remedy = f" -> {self.remedy}" if self.remedy else ""
        at = f"{cell}{count}{seconds} at {self.place}"
        return f"{self.kind}: {self.name}: {self.what}{last}{at}{remedy}"


@dataclass
class Counts:
    """How often things happened since the start (or since `reset`).

    Attributes:
        captures: calls that were recorded; `replays`: calls that were replayed; `misses`: replays
            that were thrown away.
        firsts: calls that were recorded because that is how a function begins; `unreplayed`: those
            that ran in PyNative for a reason that the ledger has a line for.
        layouts: compilations of a program that was there, for inputs that lie on the devices
            otherwise.
        compiling: seconds spent on compilations.
    """

    compilations: int = 0
    segments: int = 0
    nodes: int = 0
    captures: int = 0
    replays: int = 0
    misses: int = 0
    firsts: int = 0
    unreplayed: int = 0
    layouts: int = 0
    compiling: float = 0.0


@dataclass
class Ledger:
    """What the machine did, and why it did not do better.

    Attributes:
        counts: the numbers, see `Counts`.
    """

    counts: Counts = field(default_factory=Counts)
    limits: list = field(default_factory=list)
    _lines: OrderedDict[tuple, Line] = field(default_factory=OrderedDict)
    _patience: MutableMapping = field(default_factory=weakref.WeakKeyDictionary)
    _patience_by_name: OrderedDict[str, int] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _names: threading.local = field(default_factory=threading.local)

    @property
    def lines(self) -> list[Line]:
        """A copy of every line; what happened last comes last."""
        with self._lock:
            return [replace(line) for line in self._lines.values()]

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

    def compiling(self, nodes: int, name: str = "") -> contextlib.AbstractContextManager:
        """Tell people if the compilation in a block takes long."""
        name = name or self.working_for() or cell_path() or "what was recorded"
        return told_if_long(name, nodes, user_place(2))

    def compiled(self, nodes: int, seconds: float, layout: str = "") -> None:
        """An executable was compiled, or compiled again as an input lies otherwise (`layout`)."""
        name = self.working_for() or "a segment"
        place = user_place(2)
        with self._lock:
            self.counts.compilations += 1
            self.counts.layouts += bool(layout)
            self.counts.compiling += seconds
        what = f"{nodes} operator{'' if nodes == 1 else 's'}"
        what += f" for another layout: {layout}" if layout else ""
        line = Line("compiled", name, what, _where(place), cell_path())
        self._add(line, seconds)
        for limit in self.limits:
            limit.spend(f"the compilation of {name}", place)

    def accepted(self, name: str, what: str) -> None:
        """A setting was accepted; who decides in its place."""
        self._add(Line("accepted", name, what, _where(user_place(2))), 0.0)

    def changes(self, nodes: int, refused: str) -> None:
        """A program runs operator by operator, or is compiled once more, for its new shapes."""
        name = self.working_for() or "a segment"
        what, remedy = SHAPES_CHANGE, ""
        if refused:
            what = SHAPES_COMPILE.format(operator=refused)
            remedy = "bring its inputs to a few lengths, by padding"
        self._add(Line("shapes", name, what, _where(user_place(2)), cell_path(), remedy), 0.0)

    def pads(self, what: str, refused: str) -> None:
        """A program is padded, or is not for some reason."""
        name = self.working_for() or "a segment"
        text = SHAPES_NOT_PADDED if refused else SHAPES_PADDED
        told = text.format(reason=refused, lengths=what)
        self._add(Line("shapes", name, told, _where(user_place(2)), cell_path()), 0.0)

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

    def unreplayed(
        self,
        name: str,
        kind: str,
        what: str,
        place: Place,
        cell: str = "",
        remedy: str = "",
        seconds: float = 0.0,
        replays: int = 0,
        who: object = None,
    ) -> None:
        """One call of a compiled function ran in PyNative.

        Args:
            name: the function.
            kind: see `Line`; "first" is counted apart, and not warned of.
            what: what kept the call from being replayed.
            place: the line of the user's code that did; where it is none, the one that calls us.
            cell: path of attributes to the Cell that was called there.
            remedy: what to write instead.
            seconds: how long the call took.
            replays: how many calls of the function were replayed so far.
            who: the function itself, which tells it from others of its name.
        """
        kind = kind if kind == "first" or kind in pages.FAULTS else "other"
        if place.code is None or not is_theirs(place.code.co_filename):
            place = user_place(2)
        if not cell and place.called is not None:
            cell = path_of(place.called)
        what = what if len(what) < MOST_LETTERS else f"{what[:MOST_LETTERS]}..."
        self._add(Line(kind, name, what, _where(place), cell, remedy), seconds)
        with self._lock:
            if kind == "first":
                self.counts.firsts += 1
                return
            self.counts.unreplayed += 1
            count = self._lost_patience(who, name, replays)
        if count:
            self._warn_missing(name, place, count)

    def warn_stopped(self, name: str, place: Place, who: object = None) -> None:
        """Say once that a breakpoint keeps a function from being compiled."""
        with self._lock:
            self._keep_patience(who, name, -1)
        warn_at(
            f"{name} has a breakpoint (at {place}): while it is there, every call runs in "
            "PyNative, so that it is reached with real values.",
            place,
        )

    def reset(self) -> None:
        """Start counting again. A function that was warned of is not warned of again."""
        with self._lock:
            self._lines.clear()
            self._patience_by_name.clear()
            for who, count in list(self._patience.items()):
                self._patience[who] = min(count, 0)
            self.counts = Counts()

    def write(self, path: str | Path) -> None:
        """Write a report: a page for `.html`, everything as data for `.json`, else text.

        Example:
            >>> import mycel as ms
            >>> import pathlib, tempfile
            >>> path = pathlib.Path(tempfile.mkdtemp(), "report.html")
            >>> ms.debug.ledger().write(path)
            >>> path.read_text().splitlines()[0]
            '<!DOCTYPE html>'
        """
        pages.write(path, self.counts, self.lines)

    # -- merging --------------------------------------------------------------------------

    def _add(self, line: Line, seconds: float) -> None:
        cause = _CHANGING.sub(lambda match: match[1] or "", line.what)
        key = (line.name, line.kind, cause, line.place)
        with self._lock:
            known = self._lines.setdefault(key, line)
            self._lines.move_to_end(key)
            known.last = line.what
            known.count += 1
            known.seconds += seconds
            if len(self._lines) > MOST_LINES:
                self._put_together()

    def _put_together(self) -> None:
        """Make room: the rarest lines, of these the oldest first, become one of their kind."""
        keys = [key for key in self._lines if len(key) > 1]
        keys.sort(key=lambda key: self._lines[key].count)
        for key in keys[:MOST_AT_ONCE]:
            line = self._lines.pop(key)
            # Compilations and first recordings keep their own, so that each total stays right.
            kind = line.kind if line.kind in ("compiled", "first") else "other"
            what = "rare lines, put together"
            empty = Line(kind, _OTHERS, what, "many places", last=what)
            others = self._lines.setdefault((kind,), empty)
            others.count += line.count
            others.seconds += line.seconds

    # -- patience -------------------------------------------------------------------------

    def _lost_patience(self, who, name: str, replays: int) -> int:
        """Count one more call that was not replayed: how many there are if it is time to warn."""
        count = self._patience_by_name.get(name, 0) if who is None else self._patience.get(who, 0)
        if count < 0:  # warned already
            return 0
        count += 1
        lost = count > PATIENCE and count > replays / RARE
        self._keep_patience(who, name, -1 if lost else count)
        return count if lost else 0

    def _keep_patience(self, who, name: str, count: int) -> None:
        if who is not None:
            self._patience[who] = count
            return
        self._patience_by_name[name] = count
        self._patience_by_name.move_to_end(name)
        if len(self._patience_by_name) > MOST_NAMES:
            self._patience_by_name.popitem(last=False)

    def _warn_missing(self, name: str, place: Place, count: int) -> None:
        lines = [line for line in self.lines if line.name == name and line.kind in pages.FAULTS]
        worst = max(lines, key=lambda line: line.count, default=None)
        if worst is None:  # another thread has reset the ledger
            return
        mostly = "" if len(lines) == 1 else ", mostly"
        remedy = f" {worst.remedy[:1].upper()}{worst.remedy[1:]}." if worst.remedy else ""
        warn_at(
            f"{name} is compiled but keeps running in PyNative: {count} calls were not replayed"
            f"{mostly} because {worst.last} (at {worst.place}).{remedy} "
            "print(mycel.debug.ledger()) shows them all.",
            place,
        )

    # -- showing --------------------------------------------------------------------------

    def __str__(self):
        return pages.text(self.counts, self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return pages.fragment(self.counts, self.lines)


def _where(place: Place) -> str:
    """File and line, without the Cell, which has a field of its own."""
    return str(place._replace(called=None))


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
