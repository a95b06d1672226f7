# SPDX-License-Identifier: Apache-2.0
"""Telling `Reads` which Python runs, while a call is recorded.

A trace function sees the user's frames line by line and lets all others pass. It is Python's own
for one thread, as a debugger's is: where a debugger or a coverage tool has it, nothing is watched,
and so nothing is remembered. `getattr` and its like are stood in for meanwhile: their names are
known when they are called.
"""

from __future__ import annotations

import builtins
import sys
import threading

from mycel.base.places import PACKAGE, Place
from mycel.base.signals import came_from_outside
from mycel.execute import logged
from mycel.execute.kinds import NOT, PACKAGES, STAND_INS, USERS, is_machine, is_watched
from mycel.execute.lines import look_at_instruction, look_at_line
from mycel.execute.reads import Reads
from mycel.record.stream import local

_STOOD_IN = ("getattr", "hasattr", "setattr", "delattr", "vars")
_real = {name: getattr(builtins, name) for name in _STOOD_IN}
_lock = threading.Lock()
_watching: set[int] = set()


class PythonWatch:
    """The watch over one call."""

    __slots__ = ("capture", "reads", "trace", "waiting")

    def __init__(self, reads: Reads):
        self.reads = reads
        self.capture = reads.capture
        self.trace = self._call
        # What is to be looked at by instruction, by frame.
        self.waiting: dict[int, dict] = {}

    def start(self) -> None:
        """Begin to watch the calling thread."""
        _stand_in(True)
        sys.settrace(self.trace)

    def stop(self) -> None:
        """End it; twice is as once, since an exception from outside may break it off."""
        self._stop()
        _stand_in(False)

    def _call(self, frame, event, _):
        watched = is_watched(frame.f_code.co_filename)
        if watched == NOT or self.capture.in_site:
            return None
        if watched != USERS and not _is_called_from_watched(frame, watched):
            return None
        if frame.f_code.co_filename == "<string>" and _is_written_for_the_machine(frame):
            return None
        if event == "call":
            self._tell(self.reads.enter, frame)
            if self.reads.effect is not None:
                return None
        return self._line

    def _line(self, frame, event, _):
        if self.capture.in_site:
            return self._line
        if event == "line":
            later = self._tell(look_at_line, self.reads, frame)
            frame.f_trace_opcodes = bool(later)
            if later:
                self.waiting[id(frame)] = later
        elif event == "opcode":
            later = self.waiting.get(id(frame), {}).get(frame.f_lasti)
            if later is not None:
                self._tell(look_at_instruction, self.reads, frame, later)
        elif event == "return":
            self.waiting.pop(id(frame), None)
        if self.reads.effect is not None:
            self._stop()  # nothing more is to be known
            return None
        return self._line

    def _stop(self) -> None:
        if sys.gettrace() is self.trace:  # a debugger may have come
            sys.settrace(None)

    def _tell(self, what, *given):
        try:
            return what(*given)
        except Exception as error:
            if came_from_outside(error):
                raise
            where = Place(*self.reads.place)
            self.reads.refuse(
                f"{where} could not be looked into ({type(error).__name__}: {error})",
                "please report it",
            )
            return None


def _is_called_from_watched(frame, watched: int) -> bool:
    """Whether code that is looked into, or for packages we, called this."""
    caller = frame.f_back
    if caller is None:
        return False
    if caller.f_trace is not None:
        return True
    return watched == PACKAGES and caller.f_code.co_filename.startswith((PACKAGE, "<mycel"))


def _is_written_for_the_machine(frame) -> bool:
    name = frame.f_globals.get("__name__", "")
    return is_machine(name) or name.startswith("namedtuple_")


def _stand_in(on: bool) -> None:
    """Stand in for `getattr` and its like while any thread records a call."""
    with _lock:
        (_watching.add if on else _watching.discard)(threading.get_ident())
        for name, stand_in in _STAND_INS.items():
            if _watching and builtins.__dict__[name] is _real[name]:
                setattr(builtins, name, stand_in)
            elif not _watching and builtins.__dict__[name] is stand_in:
                setattr(builtins, name, _real[name])
        logged.stand_in(bool(_watching))


def _reads() -> Reads | None:
    """The reads that a function called from here belongs to."""
    reads = _real["getattr"](local.stream.capture, "python", None)
    if reads is None or reads.effect is not None or reads.capture.in_site:
        return None
    frame = sys._getframe(2)
    if not is_watched(frame.f_code.co_filename):
        return None
    reads.place = (frame.f_code, frame.f_lasti, reads.capture.stream.called)
    return reads


def _getattr(owner, name, *default):
    reads = _reads()
    if reads is not None:
        reads.asked(owner, name)
    return _real["getattr"](owner, name, *default)


def _hasattr(owner, name):
    reads = _reads()
    if reads is not None:
        reads.asked(owner, name)
    return _real["hasattr"](owner, name)


def _setattr(owner, name, value):
    reads = _reads()
    if reads is not None:
        reads.set_field(owner, name, None)
    return _real["setattr"](owner, name, value)


def _delattr(owner, name):
    reads = _reads()
    if reads is not None:
        reads.set_field(owner, name, None)
    return _real["delattr"](owner, name)


def _vars(*owner):
    reads = _reads()
    if reads is None:
        # Without an argument it is `locals()` of the caller, which only the caller can ask.
        return _real["vars"](*owner) if owner else sys._getframe(1).f_locals
    if not owner:
        return sys._getframe(1).f_locals
    reads.all_fields(owner[0], "vars()")
    return _real["vars"](*owner)


_STAND_INS = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "delattr": _delattr,
    "vars": _vars,
}
for _name, _function in _STAND_INS.items():
    _function.__name__ = _function.__qualname__ = _name
    _function.__module__ = "builtins"
    STAND_INS[id(_function)] = _function
