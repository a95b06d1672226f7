# SPDX-License-Identifier: Apache-2.0
"""The end of the process: Python ends daemon threads wherever they are, and within XLA's C++ that
aborts the process.

So what such a thread would begin to compute when the program has ended is not begun, and what it is
computing then may come to its end.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from time import monotonic, sleep
from typing import Any

from mycel.kernel.base import division
from mycel.kernel.execute.compile import Executable, Together
from mycel.kernel.record.stream import machine

# How long threads may take that compute, and others, in seconds: the end of a program should not be
# felt.
_MOST, _MOST_ELSEWHERE = 1.0, 0.1
# How long they do not begin: not for ever, since this one may wait for what they hold.
_STAYS = 10.0
# Where code is that calls XLA, in names of files.
_WORKING = (
    "/jax",
    *(os.path.join("kernel", part, "") for part in ("execute", "record")),
    division.__file__,
)


def watch_end() -> None:
    """Look after the end of this process."""
    atexit.register(_end)


def _end() -> None:
    """Exchange what begins work, for all threads but this one."""
    own = threading.get_ident()
    if len(threading.enumerate()) == 1:
        return

    def exchanged(begin):
        def stays(*args, **kwargs):
            if threading.get_ident() != own:
                sleep(_STAYS)
            return begin(*args, **kwargs)

        return stays

    kinds: tuple[Any, ...] = (Executable, Together)
    for kind in kinds:
        kind.__call__ = exchanged(kind.__call__)
    machine.run_segment = exchanged(machine.run_segment)
    machine.run_by_operator = exchanged(machine.run_by_operator)
    machine.run_directly = exchanged(machine.run_directly)
    begun, before = monotonic(), _where(own)
    while (taken := monotonic() - begun) < _MOST:
        sleep(0.005)
        now = _where(own)
        # What goes on may be about to begin, or to drop arrays, which XLA does as well.
        goes_on = taken < _MOST_ELSEWHERE and any(now[t] != before.get(t) for t in now)
        if not goes_on and not any(_works(code) for code, _ in now.values()):
            return
        before = now


def _where(own: int) -> dict[int, tuple]:
    """Where each other thread is: the code, and how far in it."""
    frames = sys._current_frames().items()
    return {thread: (frame.f_code, frame.f_lasti) for thread, frame in frames if thread != own}


def _works(code) -> bool:
    """Whether this is code of ours that computes, or JAX's; what waits is neither."""
    filename = code.co_filename
    return filename != __file__ and any(part in filename for part in _WORKING)
