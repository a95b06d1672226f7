# SPDX-License-Identifier: Apache-2.0
"""profile: run a step some times, or look at a block of code, and tell where the time went."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax

from mycel.dataset.engine import iterators
from mycel.debug.profiling.programs import Programs
from mycel.debug.profiling.result import Profile
from mycel.debug.profiling.timeline import Timeline
from mycel.debug.runtime import synchronize
from mycel.kernel.base.context import count_steps
from mycel.kernel.base.errors import wrong
from mycel.kernel.execute.numerics import present_steps
from mycel.kernel.record.stream import current_stream, machine
from mycel.kernel.record.tensor import Tensor
from mycel.report.ledger import ledger
from mycel.train.feed import Feed

MODES = ("xla", "direct")


class Session:
    """Programs with names, a timeline, and what waits for data, from `begin` to `end`.

    Args:
        mode: "xla" or "direct".
        folder: where XLA's own profile is written; by default it is not kept.
    """

    def __init__(self, mode: str = "xla", folder: str | None = None):
        if mode not in MODES:
            raise wrong(ValueError, "profile: mode", " or ".join(map(repr, MODES)), repr(mode))
        self.mode = mode
        self._is_kept = folder is not None
        self.timeline = Timeline(folder, mode == "xla")
        self.programs = Programs(mode == "direct", self.timeline.mark, self.timeline.ran)
        self._steps: set[int] = set()
        self._undo = contextlib.ExitStack()

    def begin(self) -> None:
        """Let programs run with names."""
        current_stream().flush()
        before = machine.on_record

        def note(executable, key, places, arrays, live) -> None:
            self._steps.add(present_steps().number)
            self.programs.note(executable, key, places, arrays, live)
            if before is not None:
                before(executable, key, places, arrays, live)

        self._undo.callback(self.programs.put_back)
        self._undo.callback(setattr, machine, "on_record", before)
        self._undo.callback(count_steps, -1)
        machine.on_record = note
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
        self._compiled = ledger.counts.compiling
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
            self.result = self._session.end(self.count)

    def __getattr__(self, name: str):
        if self.result is None:
            raise AttributeError(f"{name}: the profile is there when its block has ended.")
        return getattr(self.result, name)

    def __str__(self):
        return "A profile whose block has not ended." if self.result is None else str(self.result)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(self) if self.result is None else self.result._repr_html_()


def profile(
    step: Callable[..., Any] | None = None,
    *inputs: Any,
    steps: int = 10,
    warm_up: int = 5,
    data: Iterable | None = None,
    mode: str = "xla",
    folder: str | None = None,
) -> Any:
    """Where the time of a step goes: by Cell and operator, forward and reverse apart.

    `profile(step, x, y)` calls the step some times and gives a Profile: times, floating-point
    operations, bytes and memory for each Cell and each operator; what was spent on compilation, on
    Python and on waiting for data. `with profile() as found:` looks at whatever runs in a block,
    such as `Model.train`. Without a profile nothing is noted and nothing costs anything; in one,
    each program is compiled once more with the names of Cells in it, which are no part of what
    runs.

    Args:
        step: what is called: a function, compiled or not, or a Cell. None for a block.
        inputs: what it is called with.
        steps: how many calls are profiled. Default: 10.
        warm_up: how many calls there are before, so that all is compiled. Default: 5.
        data: a dataset, or an iterable of batches; each call is given the next batch behind
            `inputs`, from the beginning again when they end. Default: None.
        mode: "xla" for XLA's own profile of the compiled programs; "direct" runs the operators one
            by one and times each. Default: "xla".
        folder: where XLA's own profile is kept, for TensorBoard; by default it is not.

    Raises:
        ValueError: `steps` is less than 1, `warm_up` less than 0, or there is no such mode.
        TypeError: `step` cannot be called.

    Example:
        >>> net = nn.SequentialCell(nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 8))
        >>> x = Tensor(np.ones((32, 64), np.float32))
        >>> found = ms.debug.profile(ms.jit(lambda x: net(x)), x, steps=3)
        >>> [cell.path for cell in found.cells]
        ['SequentialCell', 'SequentialCell.0', 'SequentialCell.1', 'SequentialCell.2']
        >>> dense = found.cells[1]
        >>> dense.flops >= 2 * 32 * 64 * 256, dense.reverse, sorted(found.parts)
        (True, 0.0, ['between operators', 'compilation', 'data', 'operators', 'python'])
    """
    if step is None:
        return Profiled(mode, folder)
    if not callable(step):
        raise wrong(TypeError, "profile: step", "a function or a Cell", type(step).__name__)
    for name, value, least in (("steps", steps, 1), ("warm_up", warm_up, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise wrong(ValueError, f"profile: {name}", f"an integer from {least} on", repr(value))
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
