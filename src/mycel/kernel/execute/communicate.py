# SPDX-License-Identifier: Apache-2.0
"""Running operators among processes: once each, in the order of the program, with what they were.

A call may run twice: a replay whose guards do not hold is dropped, and a program that found a wrong
index runs again operator by operator. The other processes know nothing of that. So the results of
what was communicated in a run that is dropped are kept, and the next run is given them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from mycel.kernel.base import errors
from mycel.kernel.base.places import NOWHERE, Place
from mycel.kernel.base.processes import world
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.base.watch import Deadlock, Watch
from mycel.kernel.define.collective import Collective, Mismatch
from mycel.kernel.define.op import Signature
from mycel.kernel.record.stream import machine


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
        self.last: Any = None


_local = _Local()


def communicate(signature: Signature, arrays, place: Place = NOWHERE) -> Done:
    """Run one operator among processes, or take what it gave in the run that was dropped.

    Raises:
        RuntimeError: another process ended, or did not come in time.
    """
    begin = time.perf_counter_ns()
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
    if machine.on_communication is not None:
        results = done.results or []
        machine.on_communication(signature, results, begin, time.perf_counter_ns())
    return done


def _run(signature: Signature, arrays, place: Place) -> Done:
    op = signature.op
    assert isinstance(op, Collective)
    told = Told(op.name, op.ranks, signature.inputs, place)
    try:
        return Done(signature, meet(op.ranks, told, partial(op.communicate, arrays)))
    except errors.TogetherError as error:
        return Done(signature, None, error)


def meet(ranks: tuple[int, ...], told: Any, call: Callable[[], Any]) -> Any:
    """What a call gives that these processes make together.

    Args:
        told: what is called, in words.

    Raises:
        TogetherError: another process ended, did not come in time, or called something else.
    """
    before, watch = _local.last, world.watch
    assert watch is not None
    if watch.failure is not None:
        raise _after_failure(watch, told)
    try:
        results = watch.together(ranks, told, call)
    except Mismatch as mismatch:
        others, reason = watch.compare(ranks, told), str(mismatch)
        text = (errors.SURPRISE if reason else errors.MISMATCH).format(
            operator=told, rank=world.rank, size=world.size, reason=reason, others=others
        )
        watch.failure = errors.TogetherError(text)
        raise watch.failure from None
    except BaseException as error:
        if came_from_outside(error):
            reason = errors.BROKEN_OFF.format(operator=told, error=type(error).__name__)
            watch.failure = errors.TogetherError(reason)
            raise
        ours = isinstance(error, (Deadlock, TimeoutError))
        text = errors.NOT_TOGETHER.format(
            operator=told,
            rank=world.rank,
            size=world.size,
            reason=error if ours else f"{type(error).__name__}: {error}",
            seconds=world.timeout,
            before=before or "none",
            others=watch.describe(ranks),
        )
        watch.failure = errors.TogetherError(text)
        raise watch.failure from error
    _local.last = told
    return results


def _after_failure(watch: Watch, told: Any) -> Exception:
    """The error of an operator behind one that failed, or of that one if it is called again."""
    failure = watch.failure
    assert failure is not None
    if str(failure).startswith(str(told)):
        return failure
    text = errors.FAILED_BEFORE.format(operator=told, rank=world.rank, failure=failure)
    return errors.TogetherError(text)


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
