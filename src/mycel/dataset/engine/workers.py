# SPDX-License-Identifier: Apache-2.0
"""Worker processes: rows go out in order, results come back in order, and no fault is silent.

They are not those of grain, which import the program again (one without an `if __name__ ==
"__main__"` would start itself for ever) and wait for a hanging worker for ever.
"""

from __future__ import annotations

import collections
import mmap
import os
import pickle
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import wait

from mycel.dataset.engine import worker
from mycel.dataset.engine.machinery import Row, Steps
from mycel.kernel.base.log import logger

RAISED = "{operation} failed in a worker process: {kind}: {text}\n\nIn the worker:\n{traceback}"
DIED = (
    "{operation}: a worker process died with exit code {code} while it worked on row {row}. "
    "Something in the operation ends the process (a crash in native code, os._exit, too little "
    "memory). Try python_multiprocessing=False to see it in the main process."
)
HANGS = (
    "{operation}: a worker process has worked on row {row} for more than {seconds} seconds and was "
    "ended. If the operation needs that long, raise the limit with "
    "mycel.dataset.config.set_multiprocessing_timeout_interval(seconds)."
)
NOT_SENT = (
    "{operation} cannot be sent to a worker process ({reason}); it runs in the main process. "
    "Give it no open files, locks, sockets or generators, or set python_multiprocessing=False."
)
EACH = 2  # rows on their way to each worker
STARTING = 60  # seconds more for the first row: a worker imports what the operations need


def packed(operations: Sequence[Callable], name: str) -> bytes | None:
    """Operations as bytes for a worker; None, and a warning, where that is impossible."""
    try:
        import cloudpickle

        return cloudpickle.dumps(tuple(operations))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        logger.warning(NOT_SENT.format(operation=name, reason=reason))
        return None


class Pool:
    """Processes that apply the same operations to rows.

    Args:
        content: what `packed` made.
        count: how many processes.
        name_of: says what operation number `n` is, for errors.
        limit: seconds for one row.
        seed: of `random` and `numpy.random` in the workers.
        several: which results hold several columns.
    """

    def __init__(
        self,
        content: bytes,
        count: int,
        name_of: Callable[[int], str],
        limit: float,
        seed: int,
        several: tuple = (tuple,),
    ):
        self.count = count
        self._name_of = name_of
        self._limit = limit
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the processes
        self._file.truncate(mmap.PAGESIZE)
        self._current = mmap.mmap(self._file.fileno(), mmap.PAGESIZE)
        self._processes: list[subprocess.Popen] = []
        self._connections: list = []
        self._sent: list[collections.OrderedDict] = [
            collections.OrderedDict() for _ in range(count)
        ]
        self._since = [time.monotonic()] * count
        self._extra = [STARTING] * count
        self._results: dict[int, tuple] = {}
        self._dropped: set[int] = set()
        self._next = 0
        alias = type(sys.modules.get("mindspore")).__module__.startswith("mycel.")
        self._finalizer = weakref.finalize(
            self, _end, self._processes, self._connections, self._file
        )
        for place in range(count):
            first = (list(sys.path), list(sys.argv), alias, seed + place, several, content)
            self._start(place, first)

    def _start(self, place: int, first: tuple) -> None:
        ours, theirs = Pipe()
        descriptors = (theirs.fileno(), self._file.fileno())
        command = [sys.executable, worker.__file__, *map(str, descriptors), str(place)]
        # A worker that imports JAX must not take memory of the accelerator.
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "MYCEL_DEVICE": "CPU"}
        self._processes.append(
            subprocess.Popen(
                command, pass_fds=descriptors, env=environment, stdin=subprocess.DEVNULL
            )
        )
        theirs.close()
        self._connections.append(ours)
        self._send(place, first)

    def _send(self, place: int, content) -> None:
        try:
            self._connections[place].send(content)
        except (BrokenPipeError, ConnectionError):
            self._died(place)

    def submit(self, numbers: tuple, arguments: tuple, row: int) -> int:
        """Send a row to the worker that has least to do; what comes back has this ticket."""
        ticket = self._next
        self._next += 1
        place = min(range(self.count), key=lambda number: len(self._sent[number]))
        if not self._sent[place]:
            self._since[place] = time.monotonic()
        self._sent[place][ticket] = row
        self._send(place, (ticket, numbers, arguments))
        return ticket

    def result(self, ticket: int) -> tuple:
        """What came of the row with this ticket.

        Raises:
            RuntimeError: its operation raised, or its worker died or hangs.
        """
        while ticket not in self._results:
            self._receive()
        kind, content = self._results.pop(ticket)
        if kind == worker.RAISED:
            self._raised(content)
        return content

    def _receive(self) -> None:
        now = time.monotonic()
        busy = [place for place in range(self.count) if self._sent[place]]
        left = min((self._until(place) - now for place in busy), default=self._limit)
        ready = wait(self._connections, timeout=max(left, 0.01))
        for place, connection in enumerate(self._connections):
            if connection not in ready:
                continue
            try:
                kind, ticket, content = connection.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                self._died(place)
            self._since[place], self._extra[place] = time.monotonic(), 0
            if ticket < 0:
                if kind == worker.RAISED:
                    self._raised(content)
                continue
            self._sent[place].pop(ticket, None)
            if ticket in self._dropped:
                self._dropped.discard(ticket)
            else:
                self._results[ticket] = (kind, content)
        now = time.monotonic()
        for place in busy:
            if self._sent[place] and now > self._until(place):
                self._hangs(place)

    def _until(self, place: int) -> float:
        """When a worker is late with its row."""
        return self._since[place] + self._limit + self._extra[place]

    def _raised(self, content: tuple) -> None:
        number, kind, text, traceback = content
        self.close()
        raise RuntimeError(
            RAISED.format(
                operation=self._name_of(number), kind=kind, text=text, traceback=traceback
            )
        )

    def _died(self, place: int) -> None:
        code = self._processes[place].wait(timeout=5)
        name, row = self._name_of(self._current[place]), next(iter(self._sent[place].values()), 0)
        self.close()
        raise RuntimeError(DIED.format(operation=name, code=code, row=row)) from None

    def _hangs(self, place: int) -> None:
        name, row = self._name_of(self._current[place]), next(iter(self._sent[place].values()), 0)
        self.close()
        raise RuntimeError(HANGS.format(operation=name, row=row, seconds=self._limit))

    def drop(self, tickets) -> None:
        """These rows are not wanted any more."""
        for ticket in tickets:
            if self._results.pop(ticket, None) is None:
                self._dropped.add(ticket)

    def close(self) -> None:
        """End the processes."""
        self._finalizer()


def _end(processes: list, connections: list, file) -> None:
    for connection in connections:
        connection.close()
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
    file.close()


class InProcesses(Steps):
    """Rows through a pool, in their order.

    Args:
        pool: gives the pool when the first row is needed.
        split: the arguments of the operations for a row.
        join: the row that their results make.
        numbers: what the random numbers of a row depend on, by its number.
    """

    def __init__(
        self, pool: Callable[[], Pool], split: Callable, join: Callable, numbers: Callable, parent
    ):
        self._make_pool = pool
        self._pool: Pool | None = None
        self._split, self._join, self._numbers = split, join, numbers
        self._parent = parent
        self._waiting: collections.deque = collections.deque()
        self._count = 0
        self._state = {"count": 0, "parent": parent.get_state()}
        self._ended = False

    def __next__(self) -> Row:
        pool = self._pool
        if pool is None:
            pool = self._pool = self._make_pool()
        while not self._ended and len(self._waiting) < EACH * pool.count:
            try:
                row = next(self._parent)
            except StopIteration:
                self._ended = True
                break
            number = self._count
            self._count += 1
            ticket = pool.submit(self._numbers(number), self._split(row, number), number)
            self._waiting.append(
                (ticket, row, {"count": self._count, "parent": self._parent.get_state()})
            )
        if not self._waiting:
            raise StopIteration
        ticket, row, state = self._waiting.popleft()
        made = pool.result(ticket)
        self._state = state
        return self._join(row, made)

    def get_state(self) -> dict:
        return self._state

    def set_state(self, state: dict) -> None:
        self.close()
        self._count, self._state, self._ended = state["count"], state, False
        self._parent.set_state(state["parent"])

    def close(self) -> None:
        # The processes live on for the next pass; what they still work on is dropped.
        if self._pool is not None:
            self._pool.drop(ticket for ticket, _, _ in self._waiting)
        self._waiting.clear()
