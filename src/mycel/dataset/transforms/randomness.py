# SPDX-License-Identifier: Apache-2.0
"""Where random operations take their numbers from: one NumPy Generator, given by whoever asks.

The engine gives one per element (`use`), so that results do not depend on who works on which
element. Without it, operations follow NumPy's global generator, which `mycel.set_seed` fixes.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

import numpy as np

_used: contextvars.ContextVar[np.random.Generator | None] = contextvars.ContextVar(
    "generator of random operations", default=None
)


class _Own:
    __slots__ = ("generator", "seed")

    def __init__(self):
        self.generator: np.random.Generator | None = None
        self.seed: int | None = None


_own = _Own()


@contextlib.contextmanager
def use(generator: np.random.Generator) -> Iterator[np.random.Generator]:
    """Random operations in this block, of this thread, draw from `generator`.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.transforms import randomness
        >>> image, crop = np.arange(16, dtype=np.uint8).reshape(4, 4, 1), vision.RandomCrop(2)
        >>> with randomness.use(np.random.default_rng(3)):
        ...     first = crop(image)
        >>> with randomness.use(np.random.default_rng(3)):
        ...     again = crop(image)
        >>> bool((first == again).all())
        True
    """
    token = _used.set(generator)
    try:
        yield generator
    finally:
        _used.reset(token)


def seed(number: int | None) -> None:
    """Outside of `use`, draw from a generator of this seed; None follows `mycel.set_seed` again.

    Example:
        >>> from mycel.dataset.transforms import randomness
        >>> randomness.seed(1)
        >>> first = randomness.current().random()
        >>> randomness.seed(1)
        >>> bool(randomness.current().random() == first)
        True
        >>> randomness.seed(None)
    """
    _own.seed = number
    _own.generator = None if number is None else np.random.default_rng(number)


def seed_chosen() -> int | None:
    """What `seed` was called with last.

    Example:
        >>> from mycel.dataset.transforms import randomness
        >>> randomness.seed(4)
        >>> randomness.seed_chosen()
        4
        >>> randomness.seed(None)
    """
    return _own.seed


def current() -> np.random.Generator:
    """The generator to draw from now.

    Example:
        >>> from mycel.dataset.transforms import randomness
        >>> 0 <= randomness.current().random() < 1
        True
    """
    generator = _used.get()
    if generator is None:
        generator = _own.generator
    if generator is None:
        words = np.random.randint(0, 1 << 32, 4, np.uint64)
        generator = np.random.Generator(np.random.PCG64(words.tolist()))
    return generator
