# SPDX-License-Identifier: Apache-2.0
"""Tracebacks of the user's own lines: frames of this package, and of what it stands on, are left
out when Python, a thread, IPython, the module `traceback` (so `logging`, `unittest`, `asyncio` and
processes of `concurrent.futures` and `multiprocessing` too) or pytest prints an exception.

Only what is printed is changed: the exception keeps all its frames, for debuggers, and so do
`traceback.extract_tb`, `format_tb` and `walk_tb`, which are given a traceback and no exception.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import opmap
from types import TracebackType
from typing import Any

from mycel.kernel.base.places import TRACEBACK, hides_ours, is_ours, shell
from mycel.report.keywords import explain_keyword

HIDDEN = f"(The lines of mycel are left out; {TRACEBACK}=full shows them.)"
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
    if not hides_ours():
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
            told = _short_notes(notes, e is error and hides and not _is_raised(e.__traceback__))
            _set_notes(e, told)
        for e in every:
            e.__traceback__ = short_traces[id(e)]
        yield
    finally:
        for e, trace, context, notes in before:
            e.__traceback__ = trace
            if e.__context__ is not context:
                e.__context__ = context
            _set_notes(e, notes)


def _short_notes(notes: list[str] | None, hidden: bool) -> list[str] | None:
    """Notes without those of what this package stands on, and, if asked, how to see all frames."""
    kept = [note for note in notes or () if not _OF_BASIS.search(note)]
    return kept + [HIDDEN] * hidden or None


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


_begin: Any = traceback.TracebackException.__init__


@functools.wraps(_begin)
def _begin_short(self, exc_type, exc_value: Any, exc_traceback, **options) -> None:
    """What `traceback` prints of an exception: with a short traceback. The exception stays as it
    is; for those it came from `traceback` calls this again."""
    outermost = options.get("_seen") is None
    if exc_value is None or not hides_ours():
        _begin(self, exc_type, exc_value, exc_traceback, **options)
        return
    if isinstance(exc_value, TypeError):
        explain_keyword(exc_value)
    kept = shortened(exc_traceback)
    if kept is None and outermost:
        kept = exc_traceback  # nothing of the user's is in it: it is about this package
    _begin(self, exc_type, exc_value, kept, **options)
    if outermost:
        hides = kept is not exc_traceback and not _is_raised(exc_traceback)
        self.__notes__ = _short_notes(_notes(exc_value), hides)
        _leave_out_inner(self, exc_value)


def _leave_out_inner(told: traceback.TracebackException, error: BaseException) -> None:
    """Tell no exception that was raised and handled within this package."""
    seen = set()
    while id(error) not in seen:
        seen.add(id(error))
        context = error.__context__
        if context is not None and context is not error.__cause__ and _is_inner(context):
            told.__context__ = None
        cause = error.__cause__ is not None
        before = told.__cause__ if cause else told.__context__
        following = error.__cause__ if cause else context
        if before is None or following is None:
            return
        told, error = before, following


def hide_from_pytest() -> None:
    """Mark the modules of this package that are loaded: pytest leaves out frames of such."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mycel."):
            vars(module)["__tracebackhide__"] = hides_ours


def show_short_tracebacks() -> None:
    """From now on what Python, its threads, an IPython that is there, the module `traceback` and
    pytest print is short."""
    sys.excepthook = _short_hook(sys.excepthook)
    traceback.TracebackException.__init__ = _begin_short
    hide_from_pytest()
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
    notebook = shell()
    if notebook is not None:
        formatter = notebook.InteractiveTB
        formatter.structured_traceback = _short_hook(formatter.structured_traceback)
