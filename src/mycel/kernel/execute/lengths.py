# SPDX-License-Identifier: Apache-2.0
"""Lengths that differ between the structures of a family: what symbols they follow from, and the
buckets that they are padded to."""

from __future__ import annotations

import itertools
from typing import Any

from mycel.kernel.define.pattern import names_of, symbols_of

# What lengths are divided by.
PARTS = (2, 3, 4)
# Buckets are 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, …: four for each doubling.
SMALLEST = 8
STEPS = 4


def bucket(length: int) -> int:
    """The length that arrays of this length are brought to."""
    if length <= SMALLEST:
        return SMALLEST
    step = 1 << max((length - 1).bit_length() - 1, 0)
    step = max(step // STEPS, 1)
    return -(-length // step) * step


class NotPadded(Exception):
    """A record cannot be padded; the text says why."""


class Lengths:
    """What follows from the symbols of a family: numbers that differ between its structures, as
    what they are made of.

    Args:
        bases: for each symbol its size in each structure.

    Attributes:
        least: the least size of a symbol: with larger ones JAX can decide more comparisons.
    """

    def __init__(self, bases: list[tuple[int, ...]]):
        self.names = names_of(len(bases))
        self.least = SMALLEST if min(map(min, bases), default=0) >= SMALLEST else 2
        self.symbols = symbols_of(len(bases), self.least)
        self._bases = bases
        self._known: dict[tuple[int, ...], Any] = {}

    def of(self, numbers: tuple[int, ...]) -> Any:
        """One number, or what it is made of.

        Raises:
            NotPadded: nothing is known.
        """
        if all(number == numbers[0] for number in numbers):
            return numbers[0]
        if numbers not in self._known:
            self._known[numbers] = self._found(numbers)
        found = self._known[numbers]
        if found is None:
            told = ", ".join(map(str, numbers))
            raise NotPadded(f"the lengths {told} do not follow from those of the inputs")
        return found

    def _found(self, numbers):
        for base, symbol in zip(self._bases, self.symbols, strict=True):
            factor = _multiple(numbers, base)
            if factor is not None:
                return factor * symbol
        pairs = itertools.combinations_with_replacement(range(len(self._bases)), 2)
        for one, other in pairs:
            product = [m * n for m, n in zip(self._bases[one], self._bases[other], strict=True)]
            factor = _multiple(numbers, product)
            if factor is not None:
                return factor * self.symbols[one] * self.symbols[other]
        for base, symbol in zip(self._bases, self.symbols, strict=True):
            line = _line(numbers, base)
            # Not one that becomes less, for which a longer array would be too short.
            if line is not None and line[0] > 0:
                return line[0] * symbol + line[1]
        for (one, base), (other, more) in itertools.combinations(enumerate(self._bases), 2):
            rest = {n - b - m for n, b, m in zip(numbers, base, more, strict=True)}
            if len(rest) == 1:
                return self.symbols[one] + self.symbols[other] + rest.pop()
        for base, symbol in zip(self._bases, self.symbols, strict=True):
            for part, more in itertools.product(PARTS, range(-max(PARTS), 2 * max(PARTS))):
                if all(n == (b + more) // part for n, b in zip(numbers, base, strict=True)):
                    return (symbol + more) // part
        return None


def _multiple(numbers, base) -> int | None:
    factor = numbers[0] // base[0]
    return (
        factor
        if factor > 0 and all(n == factor * b for n, b in zip(numbers, base, strict=True))
        else None
    )


def _line(numbers, base) -> tuple[int, int] | None:
    """The two numbers by which one row of numbers is made of another one."""
    first = next((k for k, b in enumerate(base) if b != base[0]), 0)
    if not first:
        return None
    slope, rest = divmod(numbers[first] - numbers[0], base[first] - base[0])
    end = numbers[0] - slope * base[0]
    alike = all(n == slope * b + end for n, b in zip(numbers, base, strict=True))
    return (slope, end) if slope and not rest and alike else None


def bases_of(inputs: list[list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    """The rows of lengths that all others follow from."""
    rows = {
        row
        for shapes in zip(*inputs, strict=True)
        for row in zip(*shapes, strict=True)
        if any(number != row[0] for number in row)
    }
    bases: list[tuple[int, ...]] = []
    for row in sorted(rows, key=lambda row: (sum(row), row)):
        if any(min(row) < 1 or 0 in base for base in [*bases, row]):
            raise NotPadded("a length is zero")
        alone = Lengths(bases)._found(row) if bases else None
        if alone is None or not _is_product(row, bases):
            bases.append(row)
    return bases


def _is_product(row, bases) -> bool:
    """Whether a row is a multiple of others, or one of them and a bit."""
    known = [*bases, *[
        tuple([m * n for m, n in zip(one, other, strict=True)])
        for one, other in itertools.combinations_with_replacement(bases, 2)
    ]]  # fmt: skip
    if any(_multiple(row, base) is not None for base in known):
        return True
    return any(line is not None and line[0] == 1 for line in (_line(row, b) for b in bases))
