# SPDX-License-Identifier: Apache-2.0
"""Signals: what their handlers raise belongs to the program, wherever it arrives.

CPython runs the handler of a signal in the main thread, at the start of a function, behind a call
or at a jump backwards. So an exception of Ctrl-C or of an alarm may arrive at any of these places,
also inside JAX, and where Python can raise nothing (a weak reference's callback, `__del__`, a
callback of the garbage collector, of which JAX has one). It is no failure of what it interrupted.
"""

from __future__ import annotations

# The signal module itself makes an enum of everything, a hundred times as slow.
import _signal as signal  # type: ignore[import-not-found]
import functools
import sys
import threading
import time
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable
from inspect import CO_VARARGS
from itertools import pairwise
from typing import Any

# How long a thread waits until it reminds the program of an exception that Python dropped.
_SECONDS = 0.001
# As if the signal arrived now.
_call_handler: Any = interrupt_main
_SIGNALS = tuple(sorted(signal.valid_signals()))


def came_from_outside(error: BaseException) -> bool:
    """Whether an exception is none of what was called: Ctrl-C, an exit, what a handler raised."""
    return not isinstance(error, Exception) or is_of_handler(error)


def is_of_handler(error: BaseException) -> bool:
    """Whether the handler of a signal raised an exception."""
    if isinstance(error, KeyboardInterrupt):
        return True
    codes, trace = _codes_of_handlers(), error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code in codes or _is_given_its_caller(frame):
            return True
        trace = trace.tb_next
    return False


def _is_given_its_caller(frame) -> bool:
    """Whether a function was called as a handler is: with a number and the interrupted frame,
    which is the one that called it."""
    code, known = frame.f_code, frame.f_locals
    count = code.co_argcount
    arguments = [known.get(name) for name in code.co_varnames[:count]]
    if code.co_flags & CO_VARARGS:
        arguments += known.get(code.co_varnames[count + code.co_kwonlyargcount]) or ()
    caller = frame.f_back
    return caller is not None and any(
        isinstance(number, int) and of is caller for number, of in pairwise(arguments)
    )


def _codes_of_handlers() -> set:
    """The code of the handlers that are installed."""
    codes = set()
    for handler in _installed().values():
        while isinstance(handler, (functools.partial, _Later)):
            handler = handler.func if isinstance(handler, functools.partial) else handler.handler
        called: Any = (
            handler if hasattr(handler, "__code__") else getattr(handler, "__func__", None)
        )
        called = called or type(handler).__call__
        codes.add(getattr(called, "__code__", None))
    return codes - {None}


def _installed() -> dict[int, Callable]:
    """The handlers written in Python, by number of their signals."""
    known = ((number, signal.getsignal(number)) for number in _SIGNALS)
    return {number: handler for number, handler in known if callable(handler)}


# -- holding handlers back -----------------------------------------------------------------


class _Held:
    """Whether handlers wait, and the signals that arrived meanwhile."""

    __slots__ = ("arrived", "waiting")

    def __init__(self):
        self.waiting = False
        self.arrived: set[int] = set()


_held = _Held()


class _Later:
    """In place of a handler while it waits; should it be left there, it does what that does."""

    __slots__ = ("handler",)

    def __init__(self, handler: Callable):
        self.handler = handler

    def __call__(self, number, frame):
        insists = number == signal.SIGINT and number in _held.arrived
        if not _held.waiting or insists:
            return self.handler(number, frame)
        _held.arrived.add(number)
        return None


def undisturbed(function: Callable, *args):
    """Call a function during which no handler of a signal runs; those that are due run behind it.
    Who presses Ctrl-C twice does not wait.

    For JAX while it traces and compiles: an exception in the middle would leave its state behind,
    or be taken for a failure by one of its own `except`.
    """
    if _held.waiting or threading.current_thread() is not threading.main_thread():
        return function(*args)
    handlers = {n: h.handler if isinstance(h, _Later) else h for n, h in _installed().items()}
    later = {number: _Later(handler) for number, handler in handlers.items()}
    try:
        for number, waiting in later.items():
            signal.signal(number, waiting)
        _held.waiting = True
        return function(*args)
    finally:
        _held.waiting = False
        try:
            if _held.arrived:
                arrived, _held.arrived = _held.arrived, set()
                # All at once: the first of them may raise.
                list(map(_call_handler, arrived))
        finally:
            for number, waiting in later.items():
                if signal.getsignal(number) is waiting:
                    signal.signal(number, handlers[number])


def let_in() -> None:
    """Run the handlers that `undisturbed` holds back: nothing of JAX is under way in this thread.

    For the main thread while it waits within such a call.
    """
    if not _held.arrived or threading.current_thread() is not threading.main_thread():
        return
    arrived, _held.arrived = _held.arrived, set()
    _held.waiting = False
    try:
        list(map(_call_handler, arrived))
    finally:
        _held.waiting = True


# -- where Python can raise nothing ---------------------------------------------------------


class _Again:
    """Raises an exception once more, in place of the handler of Ctrl-C."""

    __slots__ = ("before", "error")

    def __init__(self, error: BaseException, before):
        self.error: BaseException | None = error
        self.before = before

    def __call__(self, number, frame):
        error, self.error = self.error, None
        try:
            if signal.getsignal(signal.SIGINT) is self:
                signal.signal(signal.SIGINT, self.before)
        finally:
            if error is not None:
                raise error
        return self.before(number, frame) if callable(self.before) else None


def _remind() -> None:
    time.sleep(_SECONDS)
    interrupt_main(signal.SIGINT)


class Reported:
    """In place of `sys.unraisablehook`: what a handler raised where Python can raise nothing is
    raised a little later, instead of being printed and dropped; the rest is reported as ever."""

    __slots__ = ("report",)

    def __init__(self, report: Callable):
        self.report = report

    def __call__(self, unraisable, /, *, ending=sys.is_finalizing) -> None:
        if ending():  # modules may be empty by now
            self.report(unraisable)
            return
        error, before = unraisable.exc_value, signal.getsignal(signal.SIGINT)
        in_main = threading.current_thread() is threading.main_thread()
        if error is None or before is None or not in_main or not is_of_handler(error):
            self.report(unraisable)
            return
        signal.signal(signal.SIGINT, _Again(error, before))
        # Not from here, where it would be dropped again.
        start_new_thread(_remind, ())


def keep_what_python_drops() -> None:
    """See to it that nothing a handler raises is dropped; what others report with stays."""
    if sys.unraisablehook.__class__ is not Reported:
        sys.unraisablehook = Reported(sys.unraisablehook)
