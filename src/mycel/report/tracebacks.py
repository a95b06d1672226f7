# SPDX-License-Identifier: Apache-2.0
"""Tracebacks of the user's own lines: frames of this package, and of what it stands on, are left
out when Python, a thread or IPython prints an exception that nothing caught.

Only what is printed is changed: the exception keeps all its frames, for debuggers and loggers.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import opmap
from types import TracebackType
from typing import Any

from mycel.kernel.base.places import is_ours
from mycel.report.keywords import explain_keyword

VARIABLE = "MYCEL_TRACEBACK"
HIDDEN = f"(The lines of mycel are left out; {VARIABLE}=full shows them.)"
# What this package stands on; their frames are left out below one of ours only.
_BELOW = tuple(f"{os.sep}{name}{os.sep}" for name in ("jax", "jaxlib", "grain"))
# What JAX and Grain add to exceptions: their own frames are left out in any case.
_OF_BASIS = re.compile(r"^-+$|has removed its internal frames")
_RAISE = opmap["RAISE_VARARGS"]


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames


def _of_machinery(trace: TracebackType) -> bool:
    filename = trace.tb_frame.f_code.co_filename
    return is_ours(filename) or filename.startswith("<frozen ")


def _of_basis(trace: TracebackType) -> bool:
    return any(part in trace.tb_frame.f_code.co_filename for part in _BELOW)


def shortened(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package; itself if it has none, None if only such."""
    frames = _frames(trace)
    if not any(is_ours(frame.tb_frame.f_code.co_filename) for frame in frames):
        return trace
    below, kept = False, []
    for frame in frames:
        ours = _of_machinery(frame)
        below = ours or (below and _of_basis(frame))
        if not below:
            kept.append(frame)
    short = None
    for frame in reversed(kept):
        short = TracebackType(short, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return short


def _all_of(error: BaseException, seen: dict[int, BaseException]) -> None:
    """An exception with its causes, those it was raised in the handling of, and those in it."""
    if id(error) in seen:
        return
    seen[id(error)] = error
    others = [error.__cause__, error.__context__]
    for other in (*others, *(getattr(error, "exceptions", None) or ())):
        if isinstance(other, BaseException):
            _all_of(other, seen)


@contextmanager
def short(error: BaseException) -> Iterator[None]:
    """While it lasts, an exception and those it came from have the user's frames only.

    What was raised and handled within this package is no cause that helps, and is left out. If the
    exception is none that this package raises itself, a note says how to see all frames.
    """
    if os.environ.get(VARIABLE) == "full":
        yield
        return
    found: dict[int, BaseException] = {}
    _all_of(error, found)
    every = list(found.values())
    before = [(e, e.__traceback__, e.__context__, _notes(e)) for e in every]
    short_traces = {id(e): shortened(e.__traceback__) for e in every}
    hides = short_traces[id(error)] is not error.__traceback__
    try:
        for e, _, context, notes in before:
            if context is not None and context is not e.__cause__ and _is_inner(context):
                e.__context__ = None
            kept = [note for note in notes or () if not _OF_BASIS.search(note)]
            more = [HIDDEN] * (e is error and hides and not _is_raised(e.__traceback__))
            _set_notes(e, kept + more or None)
        for e in every:
            e.__traceback__ = short_traces[id(e)]
        yield
    finally:
        for e, trace, context, notes in before:
            e.__traceback__ = trace
            if e.__context__ is not context:
                e.__context__ = context
            _set_notes(e, notes)


def _notes(error: BaseException) -> list[str] | None:
    return getattr(error, "__notes__", None)


def _set_notes(error: BaseException, notes: list[str] | None) -> None:
    if notes is not None:
        error.__notes__ = notes
    elif hasattr(error, "__notes__"):
        del error.__notes__


def _is_inner(error: BaseException) -> bool:
    """Whether an exception was raised and handled within this package."""
    return error.__traceback__ is not None and shortened(error.__traceback__) is None


def _is_raised(trace: TracebackType | None) -> bool:
    """Whether an exception comes from a `raise` of this package, or from the user's own code."""
    last = _frames(trace)[-1]
    code = last.tb_frame.f_code
    if is_ours(code.co_filename):
        return code.co_code[last.tb_lasti] == _RAISE
    return not _of_machinery(last) and not _of_basis(last)


def _short_hook(show: Callable) -> Callable:
    """What shows exceptions, given `(class, exception, traceback, ...)`: with short tracebacks."""

    @functools.wraps(show)
    def show_short(kind, error: BaseException | None, trace, *args, **kwargs):
        if error is None:
            return show(kind, error, trace, *args, **kwargs)
        if isinstance(error, TypeError):
            explain_keyword(error)
        with short(error):
            shown = show(kind, error, error.__traceback__, *args, **kwargs)
            return _with_notes(shown, error) if isinstance(shown, list) else shown

    return show_short


def _with_notes(lines: list[str], error: BaseException) -> list[str]:
    """What IPython shows, and the notes, which older ones leave out."""
    return lines + [n for n in _notes(error) or () if not any(n in line for line in lines)]


def show_short_tracebacks() -> None:
    """From now on what Python, its threads and an IPython that is there print is short."""
    sys.excepthook = _short_hook(sys.excepthook)
    show = threading.excepthook

    def show_of_thread(args):
        error = args.exc_value
        if error is None:
            show(args)
            return
        with short(error):
            given = args.exc_type, error, error.__traceback__, args.thread
            show(threading.ExceptHookArgs(given))

    threading.excepthook = show_of_thread
    module: Any = sys.modules.get("IPython")
    shell = module.get_ipython() if hasattr(module, "get_ipython") else None
    if shell is not None:
        formatter = shell.InteractiveTB
        formatter.structured_traceback = _short_hook(formatter.structured_traceback)
