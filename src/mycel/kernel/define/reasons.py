# SPDX-License-Identifier: Apache-2.0
"""What is said when an operator does not take its inputs: its public name, and JAX's reason in the
words of who called it. Nothing of this runs in a call that succeeds."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from types import FrameType

from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.places import Place, expression_at, is_ours, is_theirs

BROADCAST = (
    "the shapes {first}, {second} do not broadcast: counted from the end, axis {axis} has the "
    "lengths {one} and {other}, which must be equal or 1{remedy}."
)
NEW_AXIS = ". To have one row for each of them, write {name}.expand_dims(-1) for the shape {shape}"
KINDS = "it takes {kinds}, not {given}. Convert the input: x.astype(...)."
FEWER = "the shape {given} does not fit into {wanted}, which has fewer dimensions."
ELEMENTS = "the shape {given} has {count} elements and cannot become {wanted}."
MATRICES = (
    "the lengths {first} and {second} that are summed over must be equal; transpose one of the "
    "inputs, or change its size."
)
AXIS = "there is no axis {axis} in {count} dimension(s); axes are counted from 0, or back from -1."
NO_SUCH_INPUTS = "it takes no inputs of these shapes and types."

_SHAPE = r"(\([\d, ]*\))"
_WORDS = {
    "integer": "integers",
    "floating": "real numbers",
    "complexfloating": "complex numbers",
    "bool": "bools",
    "number": "numbers",
}
# What tells that a text is about the inside of JAX, which the user has not written.
_INSIDE = re.compile(
    r"\b(jax|JAX|jnp|lax|lhs|rhs)\b|[Tt]race[dr]|jaxpr|primitive|_general|__|<class|requested type|"
    r"Input \d+ to|^tuple index|_shape="
)


def _of_broadcast(match: re.Match) -> str:
    shapes = [_numbers(text) for text in re.findall(_SHAPE, match[1])]
    for index, first in enumerate(shapes):
        for second in shapes[index + 1 :]:
            text = _clash(first, second)
            if text:
                return text
    return NO_SUCH_INPUTS


def _clash(first: tuple[int, ...], second: tuple[int, ...]) -> str:
    """Why two shapes do not broadcast; empty if they do."""
    for axis in range(-1, -1 - min(len(first), len(second)), -1):
        one, other = first[axis], second[axis]
        if one != other and 1 not in (one, other):
            shorter, longer = sorted((first, second), key=len)
            fits = len(shorter) == 1 and len(longer) > 1 and shorter[0] == longer[-2]
            remedy = NEW_AXIS.format(name="x", shape=shorter) if fits else ""
            return BROADCAST.format(
                first=first, second=second, axis=axis, one=one, other=other, remedy=remedy
            )
    return ""


def _of_kinds(match: re.Match) -> str:
    words: list[str] = match[2].rstrip(".").split(", ")
    kinds = [_WORDS.get(word, word) for word in words]
    listed = ", ".join(kinds[:-1]) + " or " * (len(kinds) > 1) + kinds[-1]
    return KINDS.format(kinds=listed, given=match[1].capitalize())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


_SAID: tuple[tuple[re.Pattern, Callable[[re.Match], str]], ...] = (
    (re.compile(r"ncompatible shapes for broadcasting: (.*)"), _of_broadcast),
    (re.compile(r"does not accept dtype (\w+).*subtypes of (.*)"), _of_kinds),
    (
        re.compile(rf"fewer dimensions: arr_shape={_SHAPE} shape={_SHAPE}"),
        lambda match: FEWER.format(given=match[1], wanted=match[2]),
    ),
    (
        re.compile(
            rf"cannot reshape array of shape {_SHAPE} \(size (\d+)\) into shape (\(.*?\)|\d+)"
        ),
        lambda match: ELEMENTS.format(given=match[1], count=match[2], wanted=match[3]),
    ),
    (
        re.compile(rf"contracting dimensions to have the same shape, got {_SHAPE} and {_SHAPE}"),
        lambda match: MATRICES.format(first=match[1], second=match[2]),
    ),
    (
        re.compile(r"axis (-?\d+) is out of bounds for array of dimension (\d+)"),
        lambda match: AXIS.format(axis=match[1], count=match[2]),
    ),
)


def in_our_words(text: str) -> str:
    """What JAX or NumPy said of the inputs of an operator, without names of what is inside.

    Example:
        >>> from mycel.kernel.define.reasons import in_our_words
        >>> in_our_words("eq does not accept dtype bool at position 0. Accepted dtypes at position "
        ...              "0 are subtypes of integer, floating.")
        'it takes integers or real numbers, not Bool. Convert the input: x.astype(...).'
    """
    for pattern, said in _SAID:
        match = pattern.search(text)
        if match is not None:
            return said(match)
    return NO_SUCH_INPUTS if not text or _INSIDE.search(text) else text


def called_by(depth: int = 1) -> str:
    """The layer of ours whose `construct` runs, or the function or operator of the user's call."""
    frame: FrameType | None = sys._getframe(depth)
    last = ""
    while frame is not None and not is_theirs(frame.f_code.co_filename):
        if is_ours(frame.f_code.co_filename):
            owner = frame.f_locals.get("self")
            if isinstance(owner, CellBase):
                return type(owner).__name__
            last = frame.f_code.co_name
            if last == "__call__" and "instance_name" in getattr(owner, "__dict__", ()):
                last = type(owner).__name__  # an operator as an object
        frame = frame.f_back
    return "" if last.startswith("<") else last.strip("_")


def called_at(place: Place) -> str:
    """The layer of ours that was called at a place, or the function as it is written there."""
    if place.called is not None:
        kind = type(place.called[0])
        if kind.__module__.startswith("mycel."):
            return kind.__name__
    call = None if place.code is None else expression_at(place.code, place.instruction)
    return ast.unparse(call.func) if isinstance(call, ast.Call) else ""
