# SPDX-License-Identifier: Apache-2.0
"""Waiting for other processes so that it can be broken off, and knowing where each of them is.

What processes compute together runs in a thread of its own, while the program waits here: so Ctrl-C
and SIGTERM reach it, and it can give up. Who waits for longer asks the others, through the values
that they share by key, where they are; a thread in each of them answers, whatever the program does.
So a program that waits for what can never come ends soon, and its message names every process.
"""

from __future__ import annotations

import contextlib
import json
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mycel.kernel.base import errors
from mycel.kernel.base.places import NOWHERE, Place, is_theirs
from mycel.kernel.base.signals import let_in

# How often a program that waits looks whether a signal has arrived.
SLICE = 0.1
# Seconds after which one that waits asks where the others are; later, twice as long each time.
FIRST_LOOK, LAST_LOOK = 1.0, 15.0
# Seconds that an answer is waited for.
ANSWER = 2.0
# Milliseconds that the thread that answers waits for a question, again and again.
LISTENS = 30_000


class Wait(NamedTuple):
    """What a program waits in: among which processes, the how manieth among them, and its words."""

    ranks: tuple[int, ...]
    number: int
    told: Any


class Where(NamedTuple):
    """Where one process says it is.

    Attributes:
        waits: (the processes, the number, the words) of each operator it waits in.
        last: what it called before, in words; empty for nothing.
        at: the line its program is at.
        ended: why it meets nobody any more, in words; empty while it may.
        well: whether it ended as it should.
    """

    waits: list
    last: str
    at: str
    ended: str = ""
    well: bool = False

    def __str__(self):
        last = f"; the last it called was {self.last}" if self.last else ""
        if self.ended:
            return f"{self.ended}{last}"
        if self.waits:
            return "waits in " + " and in ".join(words for _, _, words in self.waits)
        return f"is at {self.at}, in no operator among processes{last}"


class Deadlock(Exception):
    """The processes wait for each other, or for one that has ended."""


class Watch:
    """What this process waits for, and what it knows of the others.

    Attributes:
        last: what was last called with others.
        failure: how a call failed after which processes do not meet any more; None before.
    """

    def __init__(self, rank: int, client: Any, seconds: float):
        self.rank, self.client, self.seconds = rank, client, seconds
        self.last: Any = None
        self._given_up: Any = None
        self.failure: Exception | None = None
        self._waits: dict[int, Wait] = {}
        self._counts: Counter[tuple[int, ...]] = Counter()
        self._question, self._closing = 0, False
        self._work: queue.SimpleQueue = queue.SimpleQueue()
        self._listener = _begin("mycel answers", self._listen)
        _begin("mycel communicates", self._run)

    @property
    def gives_up(self) -> bool:
        """Whether a call with others has failed, or is about to say so."""
        return self.failure is not None or self._given_up is not None

    # -- waiting -----------------------------------------------------------------------------------

    def together(self, ranks: tuple[int, ...], told: Any, call: Callable[[], Any]) -> Any:
        """What a call gives that these processes make together. Once it has failed, none is made.

        Args:
            told: what is called, in words when they are asked for.

        Raises:
            Deadlock: the processes wait for each other.
            TimeoutError: the others did not come in time.
        """
        answer: queue.SimpleQueue = queue.SimpleQueue()

        def poll():
            with contextlib.suppress(queue.Empty):
                return answer.get(timeout=SLICE)

        self._counts[ranks] += 1
        self._work.put((call, answer))
        try:
            result, error = self.wait_for(ranks, told, poll)
            if error is not None:
                raise error
        except BaseException:
            self._given_up = told
            raise
        self.last = told
        return result

    def wait_for(self, ranks: tuple[int, ...], told: Any, poll: Callable[[], Any]) -> Any:
        """What others give, once it is there.

        Args:
            told: what is waited for, in words when they are asked for.
            poll: looks for a fraction of a second, and gives None if it is not there.

        Raises:
            As `together`.
        """
        me = threading.get_ident()
        self._waits[me] = Wait(ranks, self._counts[ranks], told)
        try:
            return self._wait(ranks, poll)
        finally:
            del self._waits[me]

    def _wait(self, ranks: tuple[int, ...], poll: Callable[[], Any]) -> Any:
        begun = time.monotonic()
        pause, look, suspected = FIRST_LOOK, begun + FIRST_LOOK, None
        while True:
            result = poll()
            if result is not None:
                return result
            let_in()
            now = time.monotonic()
            if now - begun > self.seconds:
                raise TimeoutError(errors.TOO_LATE.format(seconds=self.seconds))
            if now < look:
                continue
            knot = knot_of(self.rank, self.ask(ranks))
            if knot is not None and knot == suspected:
                raise Deadlock(errors.NEVER_TOGETHER)
            # What they say was not said at one time: only what stays as it is counts.
            pause = FIRST_LOOK if knot is not None else min(2 * pause, LAST_LOOK)
            suspected, look = knot, time.monotonic() + pause

    def _run(self) -> None:
        while True:
            call, answer = self._work.get()
            try:
                answer.put((call(), None))
            except BaseException as error:
                answer.put((None, error))
            del call, answer

    # -- asking and answering ----------------------------------------------------------------------

    def where(self) -> Where:
        """Where this process is."""
        if self._given_up is not None:
            return Where([], "", "", f"has failed in {self._given_up}")
        # As lists, as what others say arrives: else both would seem to wait in different operators.
        waits = [(list(wait.ranks), wait.number, str(wait.told)) for wait in self._waits.values()]
        return Where(waits, str(self.last or ""), str(program_place()))

    def ask(self, ranks: Iterable[int]) -> dict[int, Where]:
        """Where these processes, and others that answer, are; those are missing that are silent."""
        question, end = self._question, time.monotonic() + ANSWER
        found: dict[int, Where] = {}
        try:
            self.client.key_value_set(f"mycel/ask/{question}", "", allow_overwrite=True)
            while True:
                found = self._read(f"mycel/at/{question}/") | self._read("mycel/ended/")
                if found.keys() >= set(ranks) or time.monotonic() > end:
                    break
                time.sleep(SLICE / 2)
        except Exception:  # who keeps the values has ended
            found = {}
        return {**found, self.rank: self.where()}

    def describe(self, ranks: tuple[int, ...]) -> str:
        """Where each of these processes is, a line for each."""
        found = self.ask(ranks)
        silent = "does not answer: it has ended, or its machine cannot be reached"
        return "".join(f"\n  process {rank} {found.get(rank, silent)}" for rank in ranks)

    def compare(self, ranks: tuple[int, ...], told: Any) -> str:
        """What each of these processes calls, a line for each: all of them ask at the same call."""
        found = self.tell_all(ranks, str(told), "call")
        lines = [f"process {r} calls {found.get(r, 'what it does not tell')}" for r in ranks]
        at_end = [text.startswith(errors.END_OF_EPOCH) for text in found.values()]
        hint = errors.ALONE_AT_ITS_END if any(at_end) and not all(at_end) else ""
        return "".join([f"\n  {line}" for line in lines]) + hint

    def tell_all(self, ranks: tuple[int, ...], text: str, topic: str) -> dict[int, str]:
        """What each of these processes tells the others of their latest call, by their numbers."""
        root = f"mycel/{topic}/{'-'.join(map(str, ranks))}/{self._counts[ranks]}"
        found = {self.rank: text}
        with contextlib.suppress(Exception):
            self.client.key_value_set(f"{root}/{self.rank}", text)
            for rank in ranks:
                milliseconds = int(5 * ANSWER * 1000)
                found[rank] = self.client.blocking_key_value_get(f"{root}/{rank}", milliseconds)
        return found

    def note(self, topic: str, number: int) -> None:
        """Let all processes know a number of this topic."""
        self.client.key_value_set(
            f"mycel/{topic}/{self.rank}", str(int(number)), allow_overwrite=True
        )

    def noted(self, topic: str) -> list[int]:
        """The numbers that processes have noted."""
        return [int(text) for _, text in self.client.key_value_dir_get(f"mycel/{topic}/")]

    def _read(self, folder: str) -> dict[int, Where]:
        pairs = self.client.key_value_dir_get(folder)
        return {int(key.rpartition("/")[2]): Where(*json.loads(text)) for key, text in pairs}

    def _publish(self, key: str, where: Where) -> None:
        self.client.key_value_set(f"{key}/{self.rank}", json.dumps(where), allow_overwrite=True)

    def _listen(self) -> None:
        while not self._closing:
            try:
                self.client.blocking_key_value_get(f"mycel/ask/{self._question}", LISTENS)
            except Exception as error:
                if "DEADLINE_EXCEEDED" in str(error):
                    continue
                return  # who keeps the values has ended
            if self._closing:
                return
            with contextlib.suppress(Exception):
                self._publish(f"mycel/at/{self._question}", self.where())
                if self._question > 1:
                    self.client.key_value_delete(f"mycel/at/{self._question - 2}/{self.rank}")
            self._question += 1

    def close(self, how: str, well: bool) -> None:
        """Tell the others that the program has ended, and answer no longer."""
        with contextlib.suppress(Exception):
            where = self.where()
            why = where.ended or f"has ended, {how}"
            well = well and not where.ended
            self._publish("mycel/ended", where._replace(waits=[], ended=why, well=well))
            self._closing = True
            self.client.key_value_set(f"mycel/ask/{self._question}", "", allow_overwrite=True)
            self._listener.join(ANSWER)

    def all_end_well(self, ranks: Iterable[int]) -> bool:
        """Wait until the programs of these processes have ended, or one of them has failed."""
        pause = SLICE / 10
        while True:
            try:
                found = self._read("mycel/ended/")
            except Exception:  # who keeps the values has ended
                return False
            if not all(where.well for where in found.values()):
                return False
            if found.keys() >= set(ranks):
                return True
            pause = min(1.5 * pause, FIRST_LOOK)
            time.sleep(pause)

    def leave(self) -> None:
        """Tell the one who keeps the values that this process needs them no longer."""
        with contextlib.suppress(Exception):
            self.client.key_value_set(f"mycel/left/{self.rank}", "")

    def wait_for_end(self, ranks: Iterable[int], seconds: float) -> None:
        """Wait until the other processes need the values no longer, but no longer than that."""
        end, others = time.monotonic() + seconds, len(set(ranks) - {self.rank})
        with contextlib.suppress(Exception):
            while len(self.client.key_value_dir_get("mycel/left/")) < others:
                if time.monotonic() > end:
                    return
                time.sleep(SLICE)
            time.sleep(5 * SLICE)  # they are about to end


def _begin(name: str, target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread


def program_place() -> Place:
    """The line that the program's main thread is at."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if is_theirs(frame.f_code.co_filename):
            return Place(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return NOWHERE


def knot_of(rank: int, found: dict[int, Where]) -> frozenset | None:
    """What a process waits for in vain: (process, number of the operator) of those that wait for
    each other, or of those on the way to one that has ended; None if it may still come.

    Example:
        >>> from mycel.kernel.base.watch import Where, knot_of
        >>> crossed = {0: Where([([0, 1], 1, "")], "", ""), 1: Where([([0, 1, 2], 1, "")], "", "")}
        >>> sorted(knot_of(0, crossed))
        [(0, (0, 1), 1), (1, (0, 1, 2), 1)]
        >>> knot_of(0, {**crossed, 1: Where([([0, 1], 1, "")], "", "")})
    """

    def follow(rank: int, way: tuple[int, ...]) -> tuple[int, ...] | None:
        if rank in way:
            return way[way.index(rank) :]
        where = found.get(rank)
        if where is not None and where.ended:
            return way
        # One with several threads may go on by another of them.
        if where is None or len(where.waits) != 1:
            return None
        ranks, number, _ = where.waits[0]
        for other in ranks:
            there = found.get(other)
            meets = there is not None and any(
                wait[0] == ranks and wait[1] >= number for wait in there.waits
            )
            knot = None if other == rank or meets else follow(other, (*way, rank))
            if knot is not None:
                return knot
        return None

    knot = follow(rank, ())
    if knot is None:
        return None
    waits = [(one, found[one].waits[0]) for one in knot if found[one].waits]
    return frozenset((one, tuple(wait[0]), wait[1]) for one, wait in waits)
