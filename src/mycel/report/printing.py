# SPDX-License-Identifier: Apache-2.0
"""What stands for `print` and for breakpoints while a call is recorded.

A `print` is a site, also for values that an f-string made text of. `print(f"loss {loss:.3f}")` has
turned the value into text before `print` is called. Which part of the text it is, is read from the
source of the call: parts that show a Tensor are kept apart and made anew at every call. Where that
cannot be told, the value stays a read, and so a guard. A breakpoint runs the function in PyNative
as long as it is there.
"""

from __future__ import annotations

import ast
import bdb
import builtins
import dis
import functools
import linecache
import re
import sys
import threading
from itertools import chain
from types import CodeType
from typing import NamedTuple

from mycel.kernel.base.places import Place
from mycel.kernel.execute.graph import BREAKPOINT
from mycel.kernel.prove.kinds import STAND_INS
from mycel.kernel.prove.python_watch import hand_over
from mycel.kernel.record.stream import local, refuse
from mycel.kernel.record.value import Shown

_FORMATTED = "formatted text"
_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
_print = builtins.print
_set_trace = bdb.Bdb.set_trace
_lock = threading.Lock()
# The threads that record a call.
_recording: set[int] = set()


class Formatted(NamedTuple):
    """A part of an f-string that is no text: the instruction that formats it, and whether its whole
    text is that of a Tensor, if it is one."""

    instruction: int
    exact: bool


def watch_printing(on: bool) -> None:
    """Take `print` and breakpoints over while any thread records a call; other threads pass.

    For a thread twice the same is as once, so that what an exception from outside interrupts is
    done again.
    """
    global _print, _set_trace
    with _lock:
        (_recording.add if on else _recording.discard)(threading.get_ident())
        if _recording and builtins.print is not _print_site:
            _print, builtins.print = builtins.print, _print_site
        if _recording and bdb.Bdb.set_trace is not _breakpoint:
            _set_trace, bdb.Bdb.set_trace = bdb.Bdb.set_trace, _breakpoint
        if not _recording and builtins.print is _print_site:
            builtins.print = _print
        if not _recording and bdb.Bdb.set_trace is _breakpoint:
            bdb.Bdb.set_trace = _set_trace


def _breakpoint(self, frame=None, *args, **kwargs):
    """Every debugger written in Python stops here: `breakpoint()`, `pdb.set_trace()`, …"""
    frame = frame or sys._getframe(1)
    place = Place(frame.f_code, frame.f_lasti)
    refuse(BREAKPOINT, "remove it to have the call compiled", place)
    hand_over(frame)
    return _set_trace(self, frame, *args, **kwargs)


def _print_site(*args, **kwargs):
    capture = local.stream.scope.capture
    if capture is None:
        return _print(*args, **kwargs)
    if capture.formatted is None:
        return capture.site(_print, args, kwargs)
    shown = capture.formatted
    if shown and any(isinstance(argument, str) for argument in args):
        frame = sys._getframe(1)
        parts = _arguments(frame.f_code, frame.f_lasti)
        if len(parts) == len(args):
            args = tuple(map(functools.partial(_operand, capture, frame), args, parts))
    shown.clear()
    return capture.site(_print_shown, args, kwargs)


STAND_INS[id(_print_site)] = _print_site


def _operand(capture, frame, argument, parts):
    """What stands for an argument: text in parts, those that show a Tensor kept apart."""
    if parts is None or not isinstance(argument, str):
        return argument
    pieces: list = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
            continue
        shown = [s for s in capture.formatted if s.place[:2] == (frame.f_code, part.instruction)]
        # Around the Tensors of a tuple, or instead of a value that is no Tensor, any text.
        pieces += shown if shown and part.exact else [None, *chain(*((s, None) for s in shown))]
    if not any(isinstance(piece, Shown) for piece in pieces):
        return argument
    match = re.fullmatch("".join(map(_pattern, pieces)), argument, re.DOTALL)
    if match is None:
        return argument
    kept: list = []
    for piece, text in zip(pieces, match.groups(), strict=True):
        if isinstance(piece, Shown):
            capture.reads[piece.read] = None
            kept.append((piece.handle, piece.again))
        else:
            kept.append(text)
    return (_FORMATTED, *kept)


def _pattern(piece) -> str:
    if piece is None:
        return "(.*?)"
    return f"({re.escape(piece if isinstance(piece, str) else piece.text)})"


def _print_shown(*args, **kwargs):
    _print(*[_text(argument) for argument in args], **kwargs)


def _text(argument):
    if not (argument.__class__ is tuple and argument and argument[0] is _FORMATTED):
        return argument
    return "".join(
        part if isinstance(part, str) else part[1](part[0].asnumpy()) for part in argument[1:]
    )


@functools.lru_cache(1024)
def _arguments(code: CodeType, instruction: int) -> tuple:
    """For each argument of a call: the parts of an f-string; None for anything else. Empty if the
    source does not tell."""
    positions = list(code.co_positions())
    call = _calls(code.co_filename).get(positions[instruction // 2])
    if call is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return ()
    formats = [
        (i.offset, positions[i.offset // 2])
        for i in dis.get_instructions(code)
        if i.opname in _FORMATS
    ]
    return tuple([_parts(argument, formats) for argument in call.args])


def _parts(argument, formats) -> tuple | None:
    if not isinstance(argument, ast.JoinedStr):
        return None
    first, last = _start(_range(argument)), _end(_range(argument))
    inside = [at for at, where in formats if first <= _start(where) and _end(where) <= last]
    values = [part for part in argument.values if isinstance(part, ast.FormattedValue)]
    if len(inside) != len(values):
        return None  # a format with a format inside
    numbers, parts = iter(inside), []
    for part in argument.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(Formatted(next(numbers), part.format_spec is not None))
        elif isinstance(part, ast.Constant):
            parts.append(part.value)
    return tuple(parts)


def _range(node) -> tuple:
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _start(where) -> tuple:
    return (where[0] or 0, where[2] or 0)


def _end(where) -> tuple:
    return (where[1] or 0, where[3] or 0)


@functools.lru_cache(64)
def _calls(filename: str) -> dict[tuple, ast.Call]:
    """The calls of a source file by where they stand."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    return {_range(node): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
