# SPDX-License-Identifier: Apache-2.0
"""The processes of one program: started with their ranks, watched, and ended together."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from mycel.kernel.base import errors, processes

TRACEBACK = "Traceback (most recent call last):"
SHOWN_LINES = 30
# Signals to the launcher that end its processes too.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How long the rest of what an ended process wrote is waited for; its children may hold the pipe.
REST = 2.0
# How long others that failed at the same time are waited for, so that the first of them is told;
# and how long that one which another one's end has ended waits for it.
AFTER, CAUSE = 0.3, 5.0
# What is said by one that ends because another one has.
OF_ANOTHER = (
    errors.BECAUSE_OF_ANOTHER,
    errors.NOT_FINITE_OF_ANOTHER,
    "JAX distributed service detected fatal errors",
)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is to be started on this machine.

    Args:
        command: what each process runs.
        ranks: those of this machine.
        total: how many processes there are on all machines.
        node: which machine this is.
        host: the machine of rank 0.
        port: a port of it; None looks for a free one.
        folder: where the logs go; it exists.
        log: what logs are called in place of `worker_RANK`.
        shown: ranks whose lines appear in the terminal.
        environment: variables in addition to the process's own.
        grace: seconds between SIGTERM and SIGKILL.
        binds: whether each process gets cores of its own.

    Raises:
        ValueError: there is no rank to start.
    """

    command: list[str]
    ranks: range
    total: int
    node: int
    host: str
    port: int | None
    folder: str
    log: str = ""
    shown: frozenset[int] = frozenset()
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    grace: float = 10.0
    binds: bool = False

    def __post_init__(self):
        if not self.ranks:
            raise errors.wrong(ValueError, "ranks", "at least one process", self.ranks)

    def keeps(self) -> bool:
        """Whether this is the machine of the first rank, and several processes share values."""
        return self.total > 1 and self.ranks.start == 0

    def log_of(self, rank: int) -> Path:
        """The file of one rank."""
        name = f"{self.log}_{rank}" if self.log else f"worker_{rank}"
        return Path(self.folder) / f"{name}.log"

    def variables(self, rank: int, port: int, attempt: int, stays: bool = True) -> dict[str, str]:
        """The environment of one rank.

        Args:
            stays: whether the launcher waits, and keeps what the processes share.

        Example:
            >>> from mycel.cli.job import Plan
            >>> plan = Plan(["train"], range(2, 4), 4, 1, "node0", 8118, "logs")
            >>> variables = plan.variables(3, 8118, 0)
            >>> variables["RANK_ID"], variables["DEVICE_ID"], variables["MYCEL_COORDINATOR"]
            ('3', '1', 'node0:8118')
        """
        local = rank - self.ranks.start
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        return {
            # XLA's own threads: the processes of one machine share its cores.
            "NPROC": str(max(1, cores // len(self.ranks))),
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "RANK_ID": str(rank),
            "RANK_SIZE": str(self.total),
            "DEVICE_ID": str(local),
            "DEVICE_NUM": str(len(self.ranks)),
            "MS_ROLE": "MS_WORKER",
            "MS_WORKER_NUM": str(self.total),
            "MS_NODE_ID": str(rank),
            "MS_SCHED_HOST": self.host,
            "MS_SCHED_PORT": str(port),
            "MYCEL_COORDINATOR": f"{self.host}:{port}",
            "MYCEL_RESTART": str(attempt),
            **({processes.KEPT: "1", processes.LAUNCHER: str(os.getpid())} if stays else {}),
            **self.environment,
        }


def free_port() -> int:
    """A port that nobody listens at on this machine."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Within this the C++ beneath writes nothing: it would tell what was told."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class _Rank:
    """One process, the thread that copies what it writes, and the thread that waits for it."""

    def __init__(self, plan: Plan, rank: int, port: int, attempt: int, ended: queue.SimpleQueue):
        self.rank, self.begun, self.ended = rank, time.monotonic(), 0.0
        self.last: collections.deque[str] = collections.deque(maxlen=200)
        self.process = subprocess.Popen(
            plan.command,
            env=plan.variables(rank, port, attempt),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        path, shows = plan.log_of(rank), rank in plan.shown
        self.copier = threading.Thread(target=self._copy, args=(path, attempt, shows), daemon=True)
        self.copier.start()
        threading.Thread(target=self._wait, args=(ended,), daemon=True).start()

    def _copy(self, path: Path, attempt: int, shows: bool) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines, open(path, "ab" if attempt else "wb", 0) as log:
            writes = True
            for line in lines:
                text = line.decode("utf-8", "replace").rstrip("\n")
                self.last.append(text)
                if shows:
                    say(f"[{self.rank}] {text}")
                # A process must never wait for a reader that has gone.
                try:
                    if writes:
                        log.write(line)
                except OSError as error:
                    writes = False
                    say(f"mycel launch: the log {path} ends here: {error.strerror}")

    def _wait(self, ended: queue.SimpleQueue) -> None:
        self.process.wait()
        self.ended = time.monotonic()
        self.copier.join(REST)
        ended.put(self)

    @property
    def code(self) -> int | None:
        return self.process.returncode

    def send(self, number: int) -> None:
        """A signal to the process and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def as_shells_say(self) -> int:
        """Its exit code; 128 and the number of the signal that ended it."""
        code = self.code or 0
        return code if code >= 0 else 128 - code

    def how(self) -> str:
        """How it ended, in words."""
        seconds = f"{self.ended - self.begun:.1f} s"
        assert self.code is not None
        if self.code < 0:
            return f"by {signal.Signals(-self.code).name} after {seconds}"
        return f"with exit code {self.code} after {seconds}"

    def tells_of_another(self) -> bool:
        """Whether it ended because another one did."""
        return any(text in line for line in self.last for text in OF_ANOTHER)

    def tail(self) -> list[str]:
        """Its last traceback, or its last lines."""
        lines = list(self.last)
        starts = [index for index, line in enumerate(lines) if line.startswith(TRACEBACK)]
        return lines[starts[-1] :][-SHOWN_LINES:] if starts else lines[-5:]


_terminal = threading.Lock()


def say(text: str) -> None:
    """One line to the terminal, whole, though several threads write; nothing if it is closed."""
    with _terminal, contextlib.suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


class Job:
    """The processes of one machine."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.events: queue.SimpleQueue[_Rank | int] = queue.SimpleQueue()

    def run(self, restarts: int = 0) -> int:
        """Start all, wait, and start again after a failure; the exit code of the first that failed.

        Args:
            restarts: how often all are started again.
        """
        with self._signals():
            for attempt in range(restarts + 1):
                code, by_user = self._attempt(attempt)
                if code == 0 or by_user:
                    return code
                if attempt < restarts:
                    say(f"mycel launch: restart {attempt + 1} of {restarts}")
        return code

    def leave(self) -> int:
        """Start all, and go; what they print is in their logs only."""
        plan = self.plan
        port = plan.port or free_port()
        for rank in plan.ranks:
            path = plan.log_of(rank)
            with open(path, "wb") as log:
                process = subprocess.Popen(
                    plan.command,
                    env=plan.variables(rank, port, 0, stays=False),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            self._bind(process, rank)
            say(f"mycel launch: rank {rank} is process {process.pid}; it writes {path}")
        return 0

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Signals that would end the launcher are events, so that it can end its processes."""
        earlier = {number: signal.getsignal(number) for number in ENDING}
        # What is ignored stays so, as by nohup.
        earlier = {number: of for number, of in earlier.items() if of is not signal.SIG_IGN}
        for number in earlier:
            signal.signal(number, lambda number, frame: self.events.put(number))
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    def _attempt(self, attempt: int) -> tuple[int, bool]:
        """The exit code of one start, and whether the user ended it."""
        plan = self.plan
        port = plan.port or free_port()
        running: dict[int, _Rank] = {}
        keeper = processes.keep_values(port, plan.total) if plan.keeps() else None
        try:
            for rank in plan.ranks:
                running[rank] = _Rank(plan, rank, port, attempt, self.events)
                self._bind(running[rank].process, rank)
            while running:
                event = self.events.get()
                if isinstance(event, int):
                    name = signal.Signals(event).name
                    say(f"mycel launch: {name}: the processes are ended")
                    return 128 + event, True
                if running.get(event.rank) is not event:
                    continue
                del running[event.rank]
                if event.code:
                    first = self._first(event, running)
                    self._tell(first, running)
                    return first.as_shells_say(), False
            return 0, False
        finally:
            self._end(running.values())
            if keeper is not None:
                with _silent():
                    keeper.shutdown()

    def _first(self, event: _Rank, running: dict[int, _Rank]) -> _Rank:
        """The process that failed first: the end of one ends others, which may be told before."""
        end = time.monotonic() + (CAUSE if event.tells_of_another() else AFTER)
        failed = [event]
        while time.monotonic() < end and all(one.tells_of_another() for one in failed):
            time.sleep(0.05)
            failed = [event, *[rank for rank in running.values() if rank.ended and rank.code]]
        return min(failed, key=lambda rank: (rank.tells_of_another(), rank.ended))

    def _tell(self, first: _Rank, others: Iterable) -> None:
        say(
            f"mycel launch: rank {first.rank} ended first, {first.how()}; its last lines "
            f"({self.plan.log_of(first.rank)}):"
        )
        for line in first.tail():
            say(f"    {line}")
        if others:
            say("mycel launch: the others are ended")

    def _end(self, ranks: Iterable[_Rank]) -> None:
        """SIGTERM to all, and SIGKILL to those that are still there later."""
        ranks = list(ranks)
        for rank in ranks:
            rank.send(signal.SIGTERM)
        end = time.monotonic() + self.plan.grace
        for rank in ranks:
            try:
                rank.process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                rank.send(signal.SIGKILL)
                rank.process.wait()
            rank.copier.join(REST)

    def _bind(self, process: subprocess.Popen, rank: int) -> None:
        """Give the process its share of the cores, if that is asked for."""
        if not self.plan.binds or not hasattr(os, "sched_setaffinity"):
            return
        cores = sorted(os.sched_getaffinity(0))
        count, local = len(self.plan.ranks), rank - self.plan.ranks.start
        share = cores[local * len(cores) // count : (local + 1) * len(cores) // count]
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(process.pid, share or [cores[local % len(cores)]])
