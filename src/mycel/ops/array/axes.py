# SPDX-License-Identifier: Apache-2.0
"""Dimensions as static attributes: counted from either end, one or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

# One number, or one for each dimension.
Sizes: TypeAlias = int | Sequence[int]


def _shown(value) -> str:
    """A value in a message; that of a large one is its type."""
    text = repr(value)
    return text if len(text) < 60 else f"a {type(value).__name__}"


def axis_in(axis: int, ndim: int) -> int:
    """A dimension counted from the front; one number is taken for a vector of one.

    Raises:
        TypeError: `axis` is not an integer.
        ValueError: there is no such dimension.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"A dimension must be an integer, but {_shown(axis)} was given.")
    count = max(ndim, 1)
    if not -count <= axis < count:
        raise ValueError(
            f"There is no axis {axis} in {ndim} dimensions; use {-count} to {count - 1}."
        )
    return axis + count if axis < 0 else axis


def axes_in(axes, ndim: int) -> tuple[int, ...]:
    """Dimensions counted from the front; None means all."""
    if axes is None or axes == ():
        return tuple(range(ndim))
    counted = tuple(axis_in(axis, ndim) for axis in one_or_more(axes))
    return counted if ndim else ()


def as_vector(x):
    """x; or one number as a vector of one, so that it has an axis."""
    return x if x.ndim else x.reshape(1)


def one_or_more(values) -> tuple:
    """A tuple, of one number or of several."""
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def several(values, count: int, what: str) -> tuple[int, ...]:
    """`count` numbers, from as many or from one that stands for all.

    Raises:
        ValueError: the number of values is neither 1 nor `count`.
    """
    numbers = one_or_more(values)
    if len(numbers) == 1:
        return numbers * count
    if len(numbers) != count:
        raise ValueError(f"{what} must be one number or {count}, but {values} was given.")
    return numbers
