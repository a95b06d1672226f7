# SPDX-License-Identifier: Apache-2.0
"""Batches made as a whole, where that gives what rows made one by one and put together give.

A source tells what its rows are made of (`Together.origins`: their numbers, or the lines of files)
and how several are made at once. Operations that know how to change many rows at once follow, and
`batch` makes each batch in one piece, without a Python object for each row and column. Where one
step cannot, or raises, rows are made one by one, so that errors are the same and name the row.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mycel.dataset.engine.machinery import Flow, Row, Steps, begun, chosen
from mycel.dataset.transforms.together import Rows, settled
from mycel.kernel.base.signals import came_from_outside

Columns = dict[str, Rows]


class Together(NamedTuple):
    """Rows of one pass that can be made many at once.

    Args:
        origins: what each row is made of; a sequence, or a function that begins an iterator.
        many: the columns made of several origins, with a first dimension more.
        one: the row made of one origin.
        threads: how many threads may make batches at once, if the origins are a sequence.
    """

    origins: Sequence | np.ndarray | Callable[[], Iterator]
    many: Callable[[Any], Columns]
    one: Callable[[Any], Row]
    threads: int = 1

    def changed(
        self, many: Callable[[Columns], Columns], one: Callable[[Row], Row], threads: int = 1
    ) -> Together:
        """Every row changed."""
        return Together(
            self.origins,
            lambda origins: many(self.many(origins)),
            lambda origin: one(self.one(origin)),
            max(threads, self.threads),
        )

    def part(self, start: int, stop: int | None) -> Together:
        """Some of the rows, by their numbers."""
        origins = self.origins
        if callable(origins):
            return self._replace(origins=lambda: itertools.islice(origins(), start, stop))
        return self._replace(origins=origins[start:stop])

    def batches(self, size: int, whole: bool, stacked: Callable[[Sequence[Row]], Row]) -> Flow:
        """Batches of `size` rows.

        Args:
            whole: leave a smaller batch at the end out.
            stacked: puts rows together that were made one by one.
        """

        def make(origins: Sequence | np.ndarray) -> Row:
            try:
                return {name: settled(rows) for name, rows in self.many(origins).items()}
            except Exception as error:
                if came_from_outside(error):
                    raise
            return stacked([self.one(origin) for origin in origins])

        origins = self.origins
        if callable(origins):
            return begun(functools.partial(_Batches, origins, size, whole, make))
        count = len(origins) // size if whole else -(-len(origins) // size)

        def read(number: int) -> Row:
            return make(origins[number * size : (number + 1) * size])

        return chosen(range(count), read, self.threads)


class _Batches(Steps):
    """Batches of what an iterator gives; a saved state is found again by counting."""

    def __init__(self, begin: Callable[[], Iterator], size: int, whole: bool, make: Callable):
        self._begin, self._size, self._whole, self._make = begin, size, whole, make
        self._origins: Iterator | None = None
        self._count = 0

    def __next__(self) -> Row:
        if self._origins is None:
            self._origins = self._begin()
        taken = list(itertools.islice(self._origins, self._size))
        if not taken or (self._whole and len(taken) < self._size):
            raise StopIteration
        self._count += 1
        return self._make(taken)

    def get_state(self) -> dict:
        return {"count": self._count}

    def set_state(self, state: dict) -> None:
        self._count = state["count"]
        read = self._count * self._size
        self._origins = itertools.islice(self._begin(), read, None)

    def close(self) -> None:
        self._origins = None
