# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of data operations: each hands the value back or raises.

The kinds are MindSpore's: TypeError for a wrong type or a wrong length of a pair, ValueError for a
value out of range.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong

INTEGER_MOST = 2147483647
NUMBER_MOST = 16777216


def _shown(value) -> str:
    return f"{type(value).__name__} {value!r:.60}"


def instance(value: Any, kind, name: str, expected: str) -> Any:
    """`value`, an instance of `kind`; a bool is no number."""
    number = kind is not bool and bool not in (kind if isinstance(kind, tuple) else (kind,))
    if not isinstance(value, kind) or (number and isinstance(value, (bool, np.bool_))):
        raise wrong(TypeError, name, expected, _shown(value))
    return value


def boolean(value, name: str) -> bool:
    """`value`, True or False."""
    return instance(value, (bool, np.bool_), name, "a bool")


def text(value, name: str) -> str:
    """`value`, a str."""
    return instance(value, str, name, "a str")


def integer(value, name: str, low: int | None = None, high: int | None = INTEGER_MOST) -> int:
    """`value`, an int between two limits, both allowed."""
    instance(value, (int, np.integer), name, "an int")
    return within(value, name, low, high)


def number(
    value, name: str, low: float = -NUMBER_MOST, high: float = NUMBER_MOST, above=False
) -> float:
    """`value`, an int or float between two limits; `above` leaves the lower one out."""
    instance(value, (int, float, np.integer, np.floating), name, "an int or a float")
    return within(value, name, low, high, above)


def within(value, name: str, low=None, high=None, above=False):
    """`value`, between two limits; `above` leaves the lower one out."""
    too_low = low is not None and (value <= low if above else value < low)
    # Written so that a NaN is out of every range.
    if too_low or (high is not None and not value <= high):
        if low is None:
            raise wrong(ValueError, name, f"at most {high}", repr(value))
        raise wrong(ValueError, name, f"in {'(' if above else '['}{low}, {high}]", repr(value))
    return value


def probability(value, name: str = "prob"):
    """`value`, a number from 0 to 1."""
    return number(value, name, 0, 1)


def sequence(value, name: str, *lengths: int, error: type = TypeError) -> list | tuple:
    """`value`, a list or tuple of one of these lengths."""
    wanted = " or ".join(map(str, lengths))
    expected = f"a list or tuple of {wanted}" if lengths else "a list or tuple"
    instance(value, (list, tuple), name, expected)
    if lengths and len(value) not in lengths:
        raise wrong(error, name, expected, f"{len(value)} elements")
    return value


def ordered(
    value, name: str, low: float = -NUMBER_MOST, high: float = NUMBER_MOST
) -> tuple[Any, Any]:
    """`value`, a pair (min, max) of numbers between two limits."""
    first, last = sequence(value, name, 2)
    number(first, f"{name}[0]", low, high)
    number(last, f"{name}[1]", low, high)
    if first > last:
        raise wrong(ValueError, name, "in the order (min, max)", repr(value))
    return first, last


def enumeration(value, kind: type, name: str):
    """`value`, a member of an enumeration.

    Raises:
        TypeError: it is not a member, as a plain int or str is not.
    """
    return instance(value, kind, name, f"a member of {kind.__name__}")


def size(value, name: str = "size") -> tuple[int, int]:
    """`(height, width)` of an int or a pair of ints."""
    if isinstance(value, numbers.Number):
        side = integer(value, name, 1, NUMBER_MOST)
        return side, side
    for index, part in enumerate(sequence(value, name, 2)):
        integer(part, f"{name}[{index}]", 1, NUMBER_MOST)
    return value[0], value[1]


def operations(value, name: str = "transforms") -> list:
    """`value`, a list of operations that is not empty.

    Raises:
        TypeError: the argument is not a list, or an element cannot be called.
        ValueError: the list is empty, or has a class where an operation is expected.
    """
    instance(value, list, name, "a list of operations")
    if not value:
        raise wrong(ValueError, name, "a list with at least one operation", "[]")
    for index, operation in enumerate(value):
        one_operation(operation, f"{name}[{index}]")
    return value


def one_operation(operation, name: str):
    """`operation`, something to call with an element."""
    if isinstance(operation, type):
        made = f"an operation, {operation.__name__}(...)"
        raise wrong(ValueError, name, made, f"the class {operation.__name__}")
    if not callable(operation):
        raise wrong(TypeError, name, "an operation or a function", _shown(operation))
    return operation
