# SPDX-License-Identifier: Apache-2.0
"""Places in the user's code: found cheaply while recording, spelled out only when needed."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import os
import re
import sys
import threading
import warnings
from inspect import getattr_static
from types import CodeType, FrameType
from typing import Any, NamedTuple

from mycel.kernel.base.cell import CellBase

PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")) + os.sep
# "full" shows frames of ours in tracebacks.
TRACEBACK = "MYCEL_TRACEBACK"
# Python's own library stands between the user and us (contextlib, threading, unittest, …). What
# is installed beside it counts as the user's: he chose it, and may call us from there.
_LIBRARY = os.path.dirname(os.path.abspath(linecache.__file__)) + os.sep
_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")
# What calls back, between the user's line and ours.
_BETWEEN = re.compile(_INSTALLED.pattern + r"(jax|jaxlib|grain)[\\/]")
# An instruction that stands for the line of a definition, which is below its decorators.
DEFINITION = -1
_DEFINES = re.compile(r"\s*(async\s+def|def|class)\b")

# File names as they were classified: the user's, and those that places point past.
theirs: set[str] = set()
passed: set[str] = set()
_ours: set[str] = set()


def path_of(called: tuple | None) -> str:
    """The path of attributes to a Cell being called, as `Net.block.conv1`; empty for none.

    Args:
        called: the Cell and those around it as links `(cell, the link around it)`.
    """
    cells = []
    while called is not None:
        cell, called = called
        cells.append(cell)
    cells.reverse()
    names = [type(cell).__name__ for cell in cells[:1]]
    for parent, child in itertools.pairwise(cells):
        # Containers stand between the two, but are not called.
        inside = (name for name, cell in parent.cells_and_names() if cell is child)
        names.append(next(inside, type(child).__name__))
    return ".".join(names)


class Place(NamedTuple):
    """A code object and an instruction in it; never a frame, which would keep locals alive.

    `called` says which Cell was being called (see `path_of`).
    """

    code: CodeType | None
    instruction: int
    called: tuple | None = None

    @property
    def file(self) -> str:
        """The file of the code, or what a notebook calls its cell; empty if there is no code."""
        file = "" if self.code is None else self.code.co_filename
        return cell_of_notebook(file) or file

    @property
    def line(self) -> int:
        if self.code is None:
            return 0
        if self.instruction == DEFINITION:
            return _line_of_definition(self.code)
        last = self.code.co_firstlineno
        for start, end, line in self.code.co_lines():
            if start <= self.instruction < end and line is not None:
                return line
            if line is not None and start <= self.instruction:
                last = line
        return last

    def __str__(self):
        if self.code is None:
            return "an unknown place"
        path = path_of(self.called)
        return f"{self.file}:{self.line}" + (f" (in {path})" if path else "")


NOWHERE = Place(None, 0)


def shell() -> Any:
    """IPython's shell, where this runs in one; None elsewhere.

    Nothing is imported and no Python is run for it: IPython's own `get_ipython` does both, and this
    is asked inside of recorded calls, whose Python is watched.
    """
    module: Any = sys.modules.get("IPython.core.interactiveshell")
    return getattr(getattr(module, "InteractiveShell", None), "_instance", None)


def cell_of_notebook(path: str) -> str | None:
    """What a notebook calls one of its cells, as `In[5]`; None for any other file."""
    name = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    try:
        named = name(path) if name else None
    except Exception:  # errors and reports are written whatever happens
        return None
    return named[1] if named else None


def _line_of_definition(code: CodeType) -> int:
    """The line of `def`, or of the lambda: Python counts a function from its first decorator."""
    if code.co_name == "<lambda>":
        return code.co_firstlineno
    for number in range(code.co_firstlineno, code.co_firstlineno + 50):
        if _DEFINES.match(linecache.getline(code.co_filename, number)):
            return number
    return code.co_firstlineno


def expression_at(code: CodeType, instruction: int) -> ast.expr | None:
    """What is written where an instruction is; None if the source is not there."""
    positions = list(code.co_positions())
    if not 0 <= instruction < 2 * len(positions):
        return None
    line, end, start, stop = positions[instruction // 2]
    if line is None or end is None or start is None or stop is None:
        return None
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(line, end + 1)]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"".join(lines).decode().strip(), mode="eval").body
    except (SyntaxError, UnicodeDecodeError):
        return None


def definition_of(*functions) -> Place:
    """Where the first of these is defined that has Python code of the user; else nowhere.

    Methods, `functools.partial`, wrappers made with `functools.wraps`, Cells and other objects that
    can be called stand for the function inside them.
    """
    for function in functions:
        code = _code_of(function)
        if code is not None:
            return Place(code, DEFINITION)
    return NOWHERE


def _code_of(function) -> CodeType | None:
    """The user's code that a call of this runs."""
    for _ in range(20):  # a mock has every attribute, for ever
        if function is None:
            break
        code = getattr(function, "__code__", None)
        if (
            code is not None
            and is_theirs(code.co_filename)
            and not hasattr(function, "__wrapped__")
        ):
            return code
        function = _inside(function)
    return None


def _inside(function):
    """What a callable that is not the user's own function was made of."""
    if isinstance(function, (functools.partial, functools.partialmethod)):
        return function.func
    owner = getattr(function, "__self__", None)
    inner = getattr(function, "__wrapped__", None) or getattr(owner, "__wrapped__", None)
    if inner is not None or isinstance(function, type):
        return inner
    if hasattr(function, "__code__"):
        # Not asked of the class: a descriptor of the program would run.
        return getattr_static(owner, "construct", None) if isinstance(owner, CellBase) else None
    if hasattr(function, "__func__"):
        return function.__func__
    name = "construct" if isinstance(function, CellBase) else "__call__"
    return getattr_static(type(function), name, None)


def hides_ours(caught: Any = None) -> bool:
    """Whether tracebacks are shown without frames of ours; pytest asks for each of an exception."""
    del caught
    return os.environ.get(TRACEBACK) != "full"


def is_ours(filename: str) -> bool:
    """Whether a source file belongs to the machine."""
    if filename not in theirs and filename not in passed:
        is_theirs(filename)
    return filename in _ours


def is_theirs(filename: str) -> bool:
    """Whether a source file is the user's: neither the machine's nor of Python's library."""
    if filename in theirs:
        return True
    if filename in passed:
        return False
    known = filename.startswith((PACKAGE, "<mycel"))
    library = filename.startswith((_LIBRARY, "<frozen ")) and not _INSTALLED.search(filename)
    library = library or bool(_BETWEEN.search(filename))
    if known:
        _ours.add(filename)
    (passed if known or library else theirs).add(filename)
    return not known and not library


class _Meant(threading.local):
    """The user's line for which a thread works in which no code of the user has called."""

    place: Place | None = None


_meant = _Meant()


class MadeAt:
    """In this block `user_place` means a place where the thread has no caller of the user. Rows of
    datasets are entered one by one: a generator would take twice as long."""

    __slots__ = ("_before", "_place")

    def __init__(self, place: Place):
        self._place = place

    def __enter__(self):
        self._before, _meant.place = _meant.place, self._place

    def __exit__(self, *error):
        _meant.place = self._before


def _is_generated(frame: FrameType) -> bool:
    """Whether this is code that Python has written for a class of ours, as dataclasses have it."""
    if frame.f_code.co_filename != "<string>":
        return False
    return f"{frame.f_globals.get('__name__')}.".startswith("mycel.")


def user_place(depth: int = 1) -> Place:
    """The nearest caller outside the package and Python's library; without one the place for which
    the thread works, or else one in that library."""
    frame: FrameType | None = sys._getframe(depth)
    last = None
    while frame is not None:
        filename = frame.f_code.co_filename
        if is_theirs(filename) and not _is_generated(frame):
            return Place(frame.f_code, frame.f_lasti)
        if last is None and not (filename in _ours or _BETWEEN.search(filename)):
            last = frame
        frame = frame.f_back
    if _meant.place is not None:
        return _meant.place
    return NOWHERE if last is None else Place(last.f_code, last.f_lasti)


def warn_at(text: str, place: Place) -> None:
    """Warn at a line of the user, however many of our frames are between."""
    filename = "<unknown>" if place.code is None else place.code.co_filename
    warnings.warn_explicit(text, UserWarning, filename, place.line)
