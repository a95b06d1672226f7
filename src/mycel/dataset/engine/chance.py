# SPDX-License-Identifier: Apache-2.0
"""Random numbers of operations: those of a row depend on the seed, the pass and the row alone.

So they are the same in a thread, in a worker process, and when an interrupted epoch goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from mycel.dataset.transforms import randomness


class _Numbers:
    """A NumPy generator that is made when it is first asked: few operations are random."""

    def __init__(self, seeds: Sequence[int]):
        self._seeds = seeds
        self._made: np.random.Generator | None = None

    def __getattr__(self, name: str):
        if self._made is None:
            self._made = np.random.default_rng(seeded(self._seeds))
        return getattr(self._made, name)


def row(*numbers: int):
    """A block in which random operations work on the row that these numbers name.

    Example:
        >>> from mycel.dataset.engine import chance
        >>> from mycel.dataset.transforms import randomness
        >>> with chance.row(1, 2, 3):
        ...     first = randomness.current().random()
        >>> with chance.row(1, 2, 3):
        ...     print(randomness.current().random() == first)
        True
    """
    return randomness.use(cast(np.random.Generator, _Numbers(numbers)))


def seeded(numbers: Sequence[int]) -> np.random.SeedSequence:
    """A seed made of several numbers, negative ones too."""
    return np.random.SeedSequence([number & 0xFFFFFFFFFFFFFFFF for number in numbers])
