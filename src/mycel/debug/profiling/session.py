# SPDX-License-Identifier: Apache-2.0
"""Run a step some times, or look at a block of code, and tell where the time went."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import jax

from mycel.dataset.engine import iterators
from mycel.debug.profiling.programs import Programs
from mycel.debug.profiling.result import Profile
from mycel.debug.profiling.timeline import Timeline
from mycel.debug.runtime import synchronize
from mycel.kernel.base.context import count_steps
from mycel.kernel.base.division import division
from mycel.kernel.base.places import user_place
from mycel.kernel.execute.numerics import present_steps
from mycel.kernel.record.stream import current_stream, machine
from mycel.kernel.record.tensor import Tensor
from mycel.report.ledger import ledger
from mycel.train.feed import Feed

IN_STAGES = (
    "A profile at {place} of a program in stages of a pipeline: their programs are not measured in "
    "this version. `mycel.debug.pipeline(step)(x)` tells which of them run when; without "
    "pipeline_stages, the same step is profiled as a whole."
)

RUNS_ALREADY = (
    "A profile was begun at {place} while one runs, and XLA keeps one at a time. End the first "
    "before the second begins."
)
# The session that has XLA's profile now.
_running: list[Session] = []


def is_running() -> bool:
    """Whether XLA keeps a profile for us now."""
    return bool(_running)


class Session:
    """Programs with names, a timeline, and what waits for data, from `begin` to `end`.

    Args:
        mode: "xla" or "direct".
        folder: where XLA's own profile is written; by default it is not kept.
    """

    def __init__(self, mode: str = "xla", folder: str | None = None):
        self.mode = mode
        self._is_kept = folder is not None
        self.timeline = Timeline(folder, mode == "xla")
        self.programs = Programs(mode == "direct", self.timeline.mark, self.timeline.ran)
        self._steps: set[int] = set()
        self._undo = contextlib.ExitStack()

    def begin(self) -> None:
        """Let programs run with names.

        Raises:
            NotImplementedError: there are stages of a pipeline.
            RuntimeError: XLA keeps a profile for another session.
        """
        if division.stage is not None:
            raise NotImplementedError(IN_STAGES.format(place=user_place(3)))
        if self.mode == "xla":
            if _running:
                raise RuntimeError(RUNS_ALREADY.format(place=user_place(3)))
            _running.append(self)
            self._undo.callback(_running.remove, self)
        current_stream().flush()
        before = machine.on_record

        def note(executable, key, places, arrays, live) -> None:
            self._steps.add(present_steps().number)
            self.programs.note(executable, key, places, arrays, live)
            if before is not None:
                before(executable, key, places, arrays, live)

        self._undo.callback(self.programs.put_back)
        self._undo.callback(setattr, machine, "on_record", before)
        self._undo.callback(setattr, machine, "on_communication", machine.on_communication)
        self._undo.callback(count_steps, -1)
        machine.on_record = note
        machine.on_communication = self.programs.communicated
        count_steps(1)
        self._watch_data()

    def _watch_data(self) -> None:
        given = iterators.Iterator.__next__
        mark = self.timeline.mark

        def watched(iterator):
            with mark("data"):
                return given(iterator)

        kind: Any = iterators.Iterator
        self._undo.callback(setattr, kind, "__next__", given)
        kind.__next__ = watched

    def look(self) -> None:
        """From here on it counts."""
        synchronize()
        if not self._is_kept:
            temporary = tempfile.TemporaryDirectory(prefix="mycel_profile_")
            self.timeline.folder = self._undo.enter_context(temporary)
        self._steps.clear()
        for program in self.programs.known:
            program.runs = 0
        self.timeline.open()

    def end(self, steps: int | None = None, compiled: float = 0.0) -> Profile:
        """Let everything run as it did; what was found.

        Args:
            steps: how many there were; by default those that were told apart while it ran.
            compiled: seconds that were spent on compilations before.
        """
        try:
            current_stream().flush()
        finally:
            self.abandon()
        count = len(self._steps) if steps is None else steps
        return Profile(self.mode, count, self.timeline, self.programs.known, compiled)

    def abandon(self) -> None:
        """End it without a result."""
        try:
            self.timeline.close()
        finally:
            self._undo.close()


class Profiled:
    """A block of code that is profiled: a context manager.

    Attributes:
        result: the Profile, once the block has ended.
        count: how many steps the block has; None, to tell them apart by what comes round again.
    """

    def __init__(self, mode: str, folder: str | None = None):
        self._session = Session(mode, folder)
        self._mark: Any = None
        self.result: Profile | None = None
        self.count: int | None = None

    def __enter__(self) -> Profiled:
        try:
            self._session.begin()
            self._session.look()
        except BaseException:
            self._session.abandon()
            raise
        self._mark = self._session.timeline.mark("step")
        self._mark.__enter__()
        return self

    def __exit__(self, kind, error, trace) -> None:
        try:
            if error is None:
                synchronize()
        finally:
            self._mark.__exit__(None, None, None)
            if error is None:
                self.result = self._session.end(self.count)
            else:
                self._session.abandon()

    def __getattr__(self, name: str):
        result = self.__dict__.get("result")
        if result is None:
            raise AttributeError(f"{name}: the profile is there when its block has ended.")
        return getattr(result, name)

    def __str__(self):
        return "A profile whose block has not ended." if self.result is None else str(self.result)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(self) if self.result is None else self.result._repr_html_()


def run(step: Callable[..., Any], inputs: tuple, steps: int, warm_up: int, data, mode, folder):
    """Profile some calls of a step (see mycel.debug.profile)."""
    session = Session(mode, folder)
    try:
        session.begin()
        before = ledger.counts.compiling
        batches = None if data is None else _forever(data, steps + warm_up)
        for _ in range(warm_up):
            _call(session, step, inputs, batches)
        compiled = ledger.counts.compiling - before
        session.look()
        for _ in range(steps):
            with session.timeline.mark("step"):
                _call(session, step, inputs, batches)
        return session.end(steps, compiled)
    except BaseException:
        session.abandon()
        raise


def _forever(data, count: int) -> Iterator[tuple]:
    feed = Feed(data, steps=count)
    while True:
        yield from feed.epoch()


def _call(session: Session, step, inputs, batches) -> None:
    """One step, to its end."""
    if batches is not None:
        with session.timeline.mark("data"):
            inputs = (*inputs, *next(batches))
    results = step(*inputs)
    current_stream().flush()
    arrays = [tensor._value.array for tensor in _tensors(results)]
    if arrays:
        jax.block_until_ready(arrays)
    else:
        synchronize()


def _tensors(results) -> list[Tensor]:
    if isinstance(results, Tensor):
        return [results]
    if isinstance(results, dict):
        results = list(results.values())
    if isinstance(results, (tuple, list)):
        return [tensor for one in results for tensor in _tensors(one)]
    return []
