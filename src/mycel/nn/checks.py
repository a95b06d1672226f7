# SPDX-License-Identifier: Apache-2.0
"""Checks of what layers and optimisers are made with: each raises one clear sentence."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.errors import wrong


def is_number(value) -> bool:
    """Whether it is a Python int or float; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value) -> bool:
    """Whether it is a Python int; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def positive_integer(value, what: str) -> int:
    """The value, if it is an integer above 0.

    Raises:
        TypeError: the value is not an integer.
        ValueError: the value is not positive.
    """
    if not is_integer(value):
        raise wrong(TypeError, what, "a positive integer", f"{type(value).__name__} {value!r}")
    if value < 1:
        raise wrong(ValueError, what, "a positive integer", value)
    return value


def boolean(value, what: str) -> bool:
    """The value, if it is True or False.

    Raises:
        TypeError: the value is not a bool.
    """
    if not isinstance(value, bool):
        raise wrong(TypeError, what, "True or False", f"{type(value).__name__} {value!r}")
    return value


def number(value, what: str, expected: str, fits) -> float:
    """The value, if it is a number that `fits`; `expected` says in words what fits.

    Raises:
        TypeError: the value is not a number.
        ValueError: the number does not fit.
    """
    if not is_number(value):
        raise wrong(TypeError, what, f"a number {expected}", f"{type(value).__name__} {value!r}")
    if not fits(value):
        raise wrong(ValueError, what, f"a number {expected}", value)
    return value


def positive_integers(value, what: str, count: int) -> tuple[int, ...]:
    """Two or three positive integers: as given, or one for all.

    Raises:
        TypeError: the value is neither an integer nor `count` of them.
        ValueError: a number is not positive.
    """
    numbers = (value,) * count if is_integer(value) else value
    if not isinstance(numbers, (tuple, list)) or len(numbers) != count:
        expected = f"a positive integer or {'two' if count == 2 else 'three'} of them"
        raise wrong(TypeError, what, expected, repr(value))
    return tuple([positive_integer(number, what) for number in numbers])


def one_of(value: Any, what: str, known: tuple[str | None, ...]) -> Any:
    """The value, if it is one of the words.

    Raises:
        ValueError: the word is not one of these.
    """
    if value not in known:
        raise wrong(ValueError, what, f"one of {', '.join(map(repr, known))}", repr(value))
    return value
