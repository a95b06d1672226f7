# SPDX-License-Identifier: Apache-2.0
"""Which integers an operator takes: positions in a dimension, class numbers, numbers of segments.

XLA clamps a position that is not there, or drops what belongs to it. So an operator says beside
its definition what each of its indices may be, as a function of the shapes; whoever runs it looks:
at arrays that are there, by NumPy, before anything runs, and at indices that a program makes, by a
flag that leaves it with its results (see execute.checks).
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.context import context
from mycel.kernel.base.division import fetched
from mycel.kernel.base.places import Place

Limit = int | tuple[int, ...]
# A lower limit that is none.
LEAST = errors.LEAST
# An upper limit that is none.
MOST = int(np.iinfo(np.int64).max)


class Bounds(NamedTuple):
    """What one input of an operator may hold.

    Attributes:
        position: which of its arrays.
        low, high: the least that is allowed and the first beyond; one for all, or one for each
            place of the last dimension, where that holds rows of positions.
        ignored: a number that is allowed besides.
        what, where: what the integers are, and of what, for messages.
        operator: what the user calls the operator, where that is not its name.
    """

    position: int
    low: Limit
    high: Limit
    ignored: int | None = None
    what: str = "index"
    where: str = ""
    operator: str = ""

    @property
    def are_limits(self) -> bool:
        """Whether any integer breaks them."""
        return (self.low, self.high) != (LEAST, MOST)

    def wrong(self, array):
        """Where an array of integers, NumPy's or a traced one, breaks them."""
        array = array.astype(np.int64)
        low, high = np.asarray(self.low, np.int64), np.asarray(self.high, np.int64)
        beyond = (array < low) | (array >= high)
        return beyond if self.ignored is None else beyond & (array != self.ignored)

    def offence(self, array) -> tuple[float, int, int] | None:
        """The first wrong number of an array that is there, with its limits; None if all are right.

        Args:
            array: of integers; on another device it is copied.
        """
        if not array.size:
            return None
        if isinstance(self.low, int) and isinstance(self.high, int):
            least, most = extent(array)
            if self.low <= least and most < self.high:
                return None
        seen = fetched(array)
        if seen.dtype == np.uint64:
            seen = np.minimum(seen, np.uint64(MOST))
        wrong = np.flatnonzero(self.wrong(seen))
        if not wrong.size:
            return None
        low, high = (np.broadcast_to(limit, seen.shape) for limit in (self.low, self.high))
        value, least, beyond = (int(part.flat[wrong[0]]) for part in (seen, low, high))
        return value, least, beyond

    def fit(self, least: int, most: int) -> bool:
        """Whether all that they allow lies between two numbers, so that nothing of it is lost in a
        type that holds just these."""
        if not isinstance(self.low, int) or not isinstance(self.high, int):
            return False
        ignored = self.low if self.ignored is None else self.ignored
        return least <= min(self.low, ignored) and max(self.high - 1, ignored) <= most


class Shares(Bounds):
    """Real numbers from 0 to 1, or NaN."""

    __slots__ = ()

    def wrong(self, array):
        """Where an array of real numbers has others."""
        return (array < 0) | (array > 1)

    def offence(self, array) -> tuple[float, int, int] | None:
        """The first wrong number of an array that is there, with the limits of integers; None if
        all are right."""
        seen = fetched(array).astype(np.float64)
        wrong = seen[self.wrong(seen)]
        return (float(f"{wrong[0]:.7g}"), 0, 2) if wrong.size else None

    def fit(self, least: int, most: int) -> bool:
        """Integers of this kind are all looked at by themselves."""
        return False


def counted(position: int, length: int, **more: Any) -> Bounds:
    """Positions in a dimension, from its begin or, if negative, from its end."""
    return Bounds(position, -length, length, **more)


def integers(position: int, **more: Any) -> Bounds:
    """Any integers: the operator knows what to do with those that point to nothing."""
    return Bounds(position, LEAST, MOST, **more)


def rows_of(position: int, lengths: tuple[int, ...], **more: Any) -> Bounds:
    """Rows of positions, one for each of the leading dimensions; only from their begin."""
    return Bounds(position, (0,) * len(lengths), tuple(lengths), **more)


# -- looking at arrays that are there -----------------------------------------------------------

# The least and the largest number of arrays that were looked at and are still there, by their ids.
_extents: dict[int, tuple] = {}


def extent(array) -> tuple[int, int]:
    """The least and the largest number of an array of integers that has some.

    Arrays of a device never change: of those it is known once it was found.
    """
    known = _extents.get(id(array))
    if known is not None and known[0]() is array:
        return known[1]
    seen = fetched(array)
    limits = int(seen.min()), int(seen.max())
    if not isinstance(array, (np.ndarray, np.generic)):
        number = id(array)
        _extents[number] = (ref(array, lambda _: _extents.pop(number, None)), limits)
    return limits


def check(op: Any, bounds: tuple[Bounds, ...], arrays, place: tuple) -> None:
    """Look at those of the arrays that are there.

    Args:
        op: the operator, which has a public name.
        arrays: of all inputs; None, or what is no array, for those that are not there.
        place: the fields of a Place.

    Raises:
        OutOfRangeError: a number is out of its bounds.
    """
    if not context.check_indices:
        return
    for limits in bounds:
        array = arrays[limits.position]
        if not hasattr(array, "dtype"):
            continue
        offence = limits.offence(array)
        if offence is not None:
            name, what, where = limits.operator or op.public, limits.what, limits.where
            raise errors.out_of_range(
                name, Place(*place), what, where, limits.ignored, offence
            ) from None


def check_kinds(operator: str, bounds: tuple[Bounds, ...], avals) -> None:
    """Whether the inputs that must be integers are.

    Raises:
        TypeError: real numbers, or others, were given in their place.
    """
    for limits in bounds:
        if isinstance(limits, Shares):
            continue
        dtype = avals[limits.position].dtype
        if dtype.numpy.kind not in "iu":
            raise errors.no_integers(limits.operator or operator, limits.what, str(dtype))
