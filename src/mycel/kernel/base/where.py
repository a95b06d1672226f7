# SPDX-License-Identifier: Apache-2.0
"""Where an exception was raised, added to it as a note: the path and layer of the Cell, the user's
line, and what the Cell was given. Nothing of this runs in a call that succeeds."""

from __future__ import annotations

import re

from mycel.kernel.base.places import Place, is_ours, is_theirs, path_of, user_place

IN = "In "
# Errors whose text is their one argument.
_PLAIN = frozenset((
    AttributeError, IndexError, NotImplementedError, OverflowError, RuntimeError, TypeError,
    ValueError, ZeroDivisionError,
))  # fmt: skip
# A file and line within a text.
_LINE = re.compile(r"\S:\d+\b")
_REVERSE = f"{IN}the reverse of"
# Of values given to a Cell, and of the letters of one, so many are shown.
_MOST, _LETTERS = 6, 40
# A longer path, of a network that calls itself, is cut.
_LONG = 160


def is_told(error: BaseException) -> bool:
    """Whether an exception says already in which Cell or hook it was raised."""
    return any(note.startswith(IN) for note in getattr(error, "__notes__", ()))


def tell_hook(error: BaseException, hook: str, called: tuple | None) -> None:
    """Add in which hook, as "forward hook show", of which Cell an exception was raised.

    Args:
        called: the Cell and those around it as links (see places.path_of); None without a Cell.
    """
    of = f" of {layer_of(called)}" if called is not None else ""
    error.add_note(f"{IN}the {hook}{of}{_line_in(error)}.")


def tell_returned(error: BaseException, hook: str, called: tuple | None, place: Place) -> None:
    """Add which hook returned what an exception is about, and where that hook is defined.

    Args:
        called: as for `tell_hook`.
    """
    of = f" of {layer_of(called)}" if called is not None else ""
    at = f", defined at {place}" if place.code is not None else ""
    error.add_note(f"{IN}the {hook}{of}{at}.")


def tell_call(error: BaseException, called: tuple, args: tuple, kwargs: dict) -> None:
    """Add in which call of a Cell an exception was raised, unless that is told.

    Where the stack has no room for it, a Cell further out tells it.
    """
    try:
        if not is_told(error):
            given = [described(value) for value in args[:_MOST]]
            given += [f"{name}={described(value)}" for name, value in kwargs.items()][:_MOST]
            given += ["..."] * (len(args) > _MOST or len(kwargs) > _MOST)
            text = f"called with {', '.join(given)}" if given else "called with nothing"
            error.add_note(f"{IN}{layer_of(called)}{_line_in(error)}, {text}.")
    except RecursionError:
        pass


def tell_place(error: BaseException, place: Place) -> None:
    """Add the Cell of an operator that was called at a place and fails now."""
    if place.called is not None and not is_told(error):
        error.add_note(f"{IN}{layer_of(place.called)}.")


def tell_reverse(error: BaseException, name: str, place: tuple) -> None:
    """Add to an error the operator of the forward pass whose reverse raised it, innermost only."""
    if not any(note.startswith(_REVERSE) for note in getattr(error, "__notes__", ())):
        error.add_note(f"{_REVERSE} {name}, called at {Place(*place)}.")


def tell_line(error: Exception) -> None:
    """Write the line of the user into the text of an error of ours that names none.

    What the user's functions raise, and errors that say it already, are left as they are.
    """
    if type(error) not in _PLAIN or len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    text = error.args[0]
    if trace is None or not is_ours(trace.tb_frame.f_code.co_filename) or _LINE.search(text):
        return
    end = "." if text.endswith(".") else ""
    error.args = (f"{text.removesuffix('.')} (at {user_place(2)}){end}",)


def layer_of(called: tuple) -> str:
    """The path to a Cell and what it is: `Net.blocks.0.out, Dense(13 → 12)`."""
    path, layer = path_of(called), called[0]._in_short()
    if len(path) > _LONG:
        path = f"{path[: _LONG // 2]}...{path[-_LONG // 2 :]}"
    kind = type(called[0]).__name__
    return layer if path == kind else f"{path}, {layer}"


def _line_in(error: BaseException) -> str:
    """The innermost line of the user, as `, at train.py:3`; empty if the error names it itself."""
    place, trace = None, error.__traceback__
    while trace is not None:
        if is_theirs(trace.tb_frame.f_code.co_filename):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    if place is None:
        place = str(user_place(2))
    return "" if place in str(error) else f", at {place}"


def described(value) -> str:
    """A value given to a Cell: the shape and type of a Tensor, the kind of other things."""
    aval = getattr(getattr(value, "_value", None), "aval", None)
    if aval is not None:
        return str(aval)
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}..."
    if type(value) in (list, tuple):
        inside = [described(item) for item in value[:_MOST]] + ["..."] * (len(value) > _MOST)
        text = ", ".join(inside)
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    kind = type(value).__name__
    return kind if not isinstance(shape, tuple) else f"{kind} of shape {shape}, {dtype}"
