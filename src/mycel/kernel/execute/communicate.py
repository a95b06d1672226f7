# SPDX-License-Identifier: Apache-2.0
"""Running operators among processes: once each, in the order of the program, with what they were.

A call may run twice: a replay whose guards do not hold is dropped, and a program that found a wrong
index runs again operator by operator. The other processes know nothing of that. So the results of
what was communicated in a run that is dropped are kept, and the next run is given them.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

from mycel.kernel.base import errors
from mycel.kernel.base.places import NOWHERE, Place
from mycel.kernel.base.processes import world
from mycel.kernel.define.collective import Collective
from mycel.kernel.define.op import Signature


class Done(NamedTuple):
    """An operator that ran: its signature, and its results or how it failed."""

    signature: Signature
    results: list | None
    error: Exception | None = None


class Told(NamedTuple):
    """What this process last communicated, for messages."""

    name: str
    ranks: tuple[int, ...]
    inputs: tuple
    place: Place

    def __str__(self):
        what = ", ".join(f"{aval.dtype}{list(aval.shape)}" for aval in self.inputs)
        return f"{self.name}({what}) among {list(self.ranks)} at {self.place}"


class _Local(threading.local):
    def __init__(self):
        self.again: deque[Done] = deque()
        self.latest: list[Done] = []
        self.last: Told | None = None


_local = _Local()


def last_told() -> Told | None:
    """What this thread last communicated; None for nothing."""
    return _local.last


def communicate(signature: Signature, arrays, place: Place = NOWHERE) -> Done:
    """Run one operator among processes, or take what it gave in the run that was dropped.

    Raises:
        RuntimeError: another process ended, or did not come in time.
    """
    if _local.again:
        done = _local.again.popleft()
        if done.signature is not signature:
            _local.again.clear()
            was, now = done.signature.op.name, signature.op.name
            raise RuntimeError(errors.REPEATED_OTHERWISE.format(was=was, now=now, place=place))
    else:
        done = _run(signature, arrays, place)
    if done.error is not None:
        raise done.error
    return done


def _run(signature: Signature, arrays, place: Place) -> Done:
    op, before = signature.op, _local.last
    assert isinstance(op, Collective)
    told = Told(op.name, op.ranks, signature.inputs, place)
    try:
        results = op.communicate(arrays)
    except Exception as error:
        text = errors.NOT_TOGETHER.format(
            operator=told,
            rank=world.rank,
            size=world.size,
            reason=f"{type(error).__name__}: {error}",
            seconds=world.timeout,
            before=before or "none",
        )
        failure = RuntimeError(text)
        failure.__cause__ = error
        return Done(signature, None, failure)
    _local.last = told
    return Done(signature, results)


def repeat(done: list[Done]) -> None:
    """Give the next run what was communicated in this one, which is dropped."""
    _local.again.extendleft(reversed(done))


def keep(done: list[Done]) -> None:
    """Keep what the program that just ran communicated, should its results be dropped."""
    _local.latest = done


def repeat_latest() -> None:
    """The results of the program that just ran are dropped."""
    done, _local.latest = _local.latest, []
    repeat(done)


def forget_repeats() -> None:
    """What is to run now is no repetition."""
    _local.again.clear()
