# SPDX-License-Identifier: Apache-2.0
"""Many rows of one column at once, between operations that can change them so.

An operation has a method `_together(rows)` where that gives what a call for each row gives, or
raises where it does not know. It counts only in the class that defines it, and only as long as that
class has no call of its own: what a subclass or a program changes is never passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np


class Ragged(NamedTuple):
    """Rows of one dimension and any length.

    Args:
        values: of all rows, one after the other; texts as a list, numbers as an array.
        lengths: of each row.
    """

    values: list[str] | np.ndarray
    lengths: list[int]


# An array has a first dimension more than a row; a list holds one text for each row.
Rows: TypeAlias = np.ndarray | list[str] | Ragged


def together_of(operation) -> Callable[[Rows], Rows] | None:
    """What changes many rows at once as the operation changes one; None where it cannot."""
    known = vars(type(operation))
    return operation._together if "_together" in known and "__call__" not in known else None


def array_of(rows: Rows) -> np.ndarray:
    """Rows as an array.

    Raises:
        TypeError: they are not held in one.

    Example:
        >>> from mycel.dataset.transforms.together import array_of
        >>> array_of(np.array([[1, 2], [3, 4]])).shape
        (2, 2)
    """
    if not isinstance(rows, np.ndarray):
        raise TypeError(f"rows as a {type(rows).__name__}, not as one array")
    return rows


def ragged(rows: Rows) -> Ragged:
    """Rows of one dimension as such.

    Raises:
        TypeError: they have another number of dimensions.

    Example:
        >>> from mycel.dataset.transforms.together import ragged
        >>> ragged(np.array([[1, 2], [3, 4]]))
        Ragged(values=array([1, 2, 3, 4]), lengths=[2, 2])
    """
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return Ragged(rows.ravel(), [rows.shape[1]] * len(rows))
    if not isinstance(rows, Ragged):
        raise TypeError(f"rows as a {type(rows).__name__}, not of one dimension")
    return rows


def settled(rows: Rows) -> np.ndarray:
    """Rows put together.

    Raises:
        ValueError: their lengths differ.

    Example:
        >>> from mycel.dataset.transforms.together import Ragged, settled
        >>> settled(Ragged(["deep", "learning", "on", "data"], [2, 2]))
        array([['deep', 'learning'],
               ['on', 'data']], dtype='<U8')
    """
    if not isinstance(rows, Ragged):
        return np.ascontiguousarray(rows)
    first = rows.lengths[0]
    if any(length != first for length in rows.lengths):
        raise ValueError("rows of different lengths")
    return np.asarray(rows.values).reshape(len(rows.lengths), first)
