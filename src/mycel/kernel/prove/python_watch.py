# SPDX-License-Identifier: Apache-2.0
"""Telling `Reads` which Python runs, while a call is recorded.

The user's frames are seen line by line, all others pass. From Python 3.12 on that is done by
`sys.monitoring`, before by a trace function, which is Python's own for one thread, as a debugger's
is: where a debugger or a coverage tool has it, nothing is watched, and so nothing is remembered.
`getattr` and its like are stood in for meanwhile: their names are known when they are called.
"""

from __future__ import annotations

import builtins
import gc
import sys
import threading
from _thread import get_ident
from functools import cache
from types import CodeType
from typing import Any

from mycel.kernel.base.cell import of_base
from mycel.kernel.base.places import PACKAGE, Place
from mycel.kernel.base.signals import came_from_outside
from mycel.kernel.prove.bytecode import summary
from mycel.kernel.prove.kinds import NOT, PACKAGES, STAND_INS, USERS, is_machine, is_watched
from mycel.kernel.prove.lines import look_at_instruction, look_at_line
from mycel.kernel.prove.reads import Reads
from mycel.kernel.record.stream import local, machine

_STOOD_IN = ("getattr", "hasattr", "setattr", "delattr", "vars")
_real = {name: getattr(builtins, name) for name in _STOOD_IN}
# A handler of a signal may record a call where it interrupts another thread's end.
_lock = threading.RLock()
_watching: set[int] = set()
_NOTHING: dict = {}
DEBUGGED = "a debugger is attached"


class Watching:
    """The watch over one call, however it is told what runs."""

    def __init__(self, reads: Reads):
        self.reads = reads
        self.capture = reads.capture
        self.capture.watch = self
        self.thread = get_ident()
        # What is to be looked at by instruction, by frame.
        self.waiting: dict[int, dict] = {}
        # What was so when Python began to collect garbage, while it does.
        self.collecting: tuple | None = None

    def start(self) -> None:
        """Begin to watch the calling thread."""
        _stand_in(True)
        gc.callbacks.append(self._collect)
        self._listen()

    def stop(self) -> None:
        """End it; twice is as once, since an exception from outside may break it off."""
        self._leave()
        self.waiting.clear()
        if self._collect in gc.callbacks:
            gc.callbacks.remove(self._collect)
        if self.collecting is not None:
            self._collect("stop", {})  # an exception from outside kept it from being told
        _stand_in(False)

    def _collect(self, phase: str, _) -> None:
        """Python begins or ends to collect garbage. It does so whenever it likes: what runs because
        an object ends then is no part of the call, as little as what a site runs."""
        if get_ident() != self.thread:
            return
        capture = self.capture
        if phase == "start":
            self.collecting = (capture.in_site, capture.extent())
            capture.in_site = True
        elif self.collecting is not None:
            (capture.in_site, extent), self.collecting = self.collecting, None
            if extent != capture.extent():
                self.reads.refuse(
                    "operators ran because an object was collected as garbage",
                    "end it outside the function",
                )

    def _listen(self) -> None:
        raise of_base(self)

    def _leave(self) -> None:
        raise of_base(self)

    def go_on(self) -> None:
        """What runs at every call has run, a debugger in it perhaps."""

    def _enter(self, frame) -> None:
        """Code that is looked into begins to run."""
        self._tell(self.reads.enter, frame)

    def _begin_line(self, frame) -> bool:
        """A line is about to run; whether instructions of it are to be looked at."""
        later = self._tell(look_at_line, self.reads, frame)
        if later:
            self.waiting[id(frame)] = later
        else:
            self.waiting.pop(id(frame), None)
        return bool(later)

    def _begin_instruction(self, frame, offset: int) -> None:
        later = self.waiting.get(id(frame), _NOTHING).get(offset)
        if later is not None:
            self._tell(look_at_instruction, self.reads, frame, later)

    def _tell(self, what, *arguments):
        try:
            result = what(*arguments)
        except Exception as error:
            if came_from_outside(error):
                raise
            result, where = None, Place(*self.reads.place)
            self.reads.refuse(
                f"{where} could not be looked into ({type(error).__name__}: {error})",
                "please report it",
            )
        if self.reads.effect is not None:
            self._leave()  # nothing more is to be known
        return result


class Tracing(Watching):
    """By a trace function."""

    def __init__(self, reads: Reads):
        super().__init__(reads)
        self.listens = False

    def _listen(self) -> None:
        self.listens = True
        sys.settrace(self._call)

    def _leave(self) -> None:
        if getattr(sys.gettrace(), "__self__", None) is self:
            sys.settrace(None)
        elif self.listens and self.reads.effect is None:
            self.reads.refuse(DEBUGGED, "remove it")  # what ran since it came was not seen
        self.listens = False

    def go_on(self) -> None:
        """A debugger that has come takes the place of the watch, and leaves none behind."""
        if not self.listens or sys.gettrace() is not None:
            return
        frame = sys._getframe(1)
        while frame is not None:
            if is_watched(frame.f_code.co_filename) != NOT and _is_looked_into(frame):
                frame.f_trace = self._line
                frame.f_trace_opcodes = id(frame) in self.waiting
            frame = frame.f_back
        sys.settrace(self._call)

    def _call(self, frame, event, _):
        if is_watched(frame.f_code.co_filename) == NOT or self.capture.in_site:
            return None
        if not _is_looked_into(frame):
            return None
        if event == "call":
            self._enter(frame)
        return None if self.reads.effect is not None else self._line

    def _line(self, frame, event, _):
        if self.capture.in_site:
            return self._line
        if event == "line":
            frame.f_trace_opcodes = self._begin_line(frame)
        elif event == "opcode":
            self._begin_instruction(frame, frame.f_lasti)
        elif event == "return":
            self.waiting.pop(id(frame), None)
        return None if self.reads.effect is not None else self._line


class Monitoring(Watching):
    """By `sys.monitoring`, which tells of all threads, and forgets at once what is of no interest.

    Attributes:
        tool: the number by which Python knows us, once there is one.
        listening: the watches by thread.
        codes: the code objects that are told of by line, by id.
    """

    tool: int | None = None
    listening: dict[int, Monitoring] = {}
    codes: dict[int, CodeType] = {}

    @classmethod
    def is_there(cls) -> bool:
        """Whether Python has it, and a place left among the tools that it tells what runs."""
        if _monitoring is None or cls.tool is not None:
            return cls.tool is not None
        free = [tool for tool in (4, 3) if _monitoring.get_tool(tool) is None]
        if free:
            _monitoring.use_tool_id(free[0], "mycel")
            for name in _TOLD:
                event = getattr(_monitoring.events, name)
                _monitoring.register_callback(free[0], event, getattr(cls, _TOLD[name]))
            cls.tool = free[0]
        return bool(free)

    def _listen(self) -> None:
        with _lock:
            self.listening[get_ident()] = self
            _monitoring.set_events(self.tool, _events(*_BEGINNINGS, "PY_UNWIND"))

    def _leave(self) -> None:
        with _lock:
            self.listening.pop(get_ident(), None)
            if not self.listening:
                _monitoring.set_events(self.tool, 0)
                for code in self.codes.values():
                    _monitoring.set_local_events(self.tool, code, 0)
                self.codes.clear()

    @classmethod
    def on_start(cls, code, _offset, _error=None):
        """A function begins or goes on, a generator perhaps with an exception."""
        if is_watched(code.co_filename) == NOT:
            return None if _error is not None else _monitoring.DISABLE
        frame = sys._getframe(1)
        watch = cls._watch_of(frame)
        if watch is not None:
            if id(code) not in cls.codes:
                cls._tell_of(code)
            watch._enter(frame)
        return None

    @classmethod
    def _tell_of(cls, code) -> None:
        """From now on its lines are told."""
        known, events = summary(code), _events("LINE")
        if known.instructions:
            events |= _events("INSTRUCTION", "PY_RETURN")
        if known.loops:
            events |= _events("JUMP")
        with _lock:
            cls.codes[id(code)] = code
            _monitoring.set_local_events(cls.tool, code, events)

    @classmethod
    def _watch_of(cls, frame) -> Monitoring | None:
        watch = cls.listening.get(get_ident())
        if watch is None or watch.capture.in_site or not _is_looked_into(frame):
            return None
        return watch

    @classmethod
    def on_line(cls, code, line):
        """A line begins."""
        if line not in summary(code).lines:
            return _monitoring.DISABLE
        return cls._line_of(sys._getframe(1))

    @classmethod
    def on_jump(cls, code, offset, _target):
        """A line begins again, in a loop that is written on it."""
        if offset not in summary(code).loops:
            return _monitoring.DISABLE
        return cls._line_of(sys._getframe(1))

    @classmethod
    def _line_of(cls, frame) -> None:
        watch = cls._watch_of(frame)
        if watch is not None:
            watch._begin_line(frame)

    @classmethod
    def on_instruction(cls, code, offset):
        """An instruction is next."""
        if offset not in summary(code).instructions:
            return _monitoring.DISABLE
        watch = cls.listening.get(get_ident())
        if watch is not None and not watch.capture.in_site:
            watch._begin_instruction(sys._getframe(1), offset)
        return None

    @classmethod
    def on_end(cls, _code, _offset, _result):
        """A function returns, or an exception leaves it: nothing holds its frame any longer."""
        watch = cls.listening.get(get_ident())
        if watch is not None and watch.waiting:
            watch.waiting.pop(id(sys._getframe(1)), None)


_monitoring: Any = getattr(sys, "monitoring", None)
_BEGINNINGS = ("PY_START", "PY_RESUME", "PY_THROW")
_TOLD = {
    **dict.fromkeys(_BEGINNINGS, "on_start"),
    **dict.fromkeys(("PY_RETURN", "PY_UNWIND"), "on_end"),
    "LINE": "on_line",
    "JUMP": "on_jump",
    "INSTRUCTION": "on_instruction",
}


@cache
def _events(*names: str) -> int:
    """The sum of events by name."""
    return sum(getattr(_monitoring.events, name) for name in names)


def watch_over(reads: Reads) -> Watching:
    """The watch over a call that is going to be recorded."""
    return Monitoring(reads) if Monitoring.is_there() else Tracing(reads)


def hand_over(frame) -> None:
    """A debugger takes the frames from this one on: of those that are watched, it is to be told
    lines alone, since Python 3.11's knows no instructions."""
    while frame is not None:
        if getattr(frame.f_trace, "__func__", None) is Tracing._line:
            frame.f_trace_opcodes = False
        frame = frame.f_back


def is_debugged() -> bool:
    """Whether a debugger wants to see each line."""
    if sys.gettrace() is not None:
        return True
    return _monitoring is not None and _monitoring.get_tool(_monitoring.DEBUGGER_ID) is not None


def _is_looked_into(frame) -> bool:
    """Whether code that belongs to a user, or is called by such code, runs in a frame; of packages
    also what we call."""
    watched = is_watched(frame.f_code.co_filename)
    while watched != USERS:
        frame = frame.f_back
        if frame is None:
            return False
        by_packages = watched == PACKAGES
        watched = is_watched(frame.f_code.co_filename)
        if watched == NOT:
            return by_packages and frame.f_code.co_filename.startswith((PACKAGE, "<mycel"))
    return not _is_written_for_the_machine(frame)


def _is_written_for_the_machine(frame) -> bool:
    if frame.f_code.co_filename != "<string>":
        return False
    name = frame.f_globals.get("__name__", "")
    return is_machine(name) or name.startswith("namedtuple_")


def _stand_in(on: bool) -> None:
    """Stand in for `getattr` and its like while any thread records a call."""
    with _lock:
        # Twice as once: an exception from outside may have broken the first off.
        (_watching.add if on else _watching.discard)(get_ident())
        space = builtins.__dict__
        for name, stand_in in _STAND_INS.items():
            if _watching and space[name] is _real[name]:
                space[name] = stand_in
            elif not _watching and space[name] is stand_in:
                space[name] = _real[name]
        machine.report.watch_logging(bool(_watching))


def _reads() -> Reads | None:
    """The reads that a function called from here belongs to."""
    frame = sys._getframe(2)
    if not is_watched(frame.f_code.co_filename):
        return None
    reads = _real["getattr"](local.stream.scope.capture, "python", None)
    if reads is None or reads.effect is not None or reads.capture.in_site:
        return None
    if not _is_looked_into(frame):
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
