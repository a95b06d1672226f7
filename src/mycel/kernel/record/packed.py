# SPDX-License-Identifier: Apache-2.0
"""Packed: small results that come out of an executable side by side, in one array.

An output of its own costs some microseconds, whatever its size. What only hooks look at is packed,
and a Value of it is pending here: Python sees a view; an array is made when an operator needs one.
"""

from __future__ import annotations

from weakref import ref

import jax
import numpy as np

from mycel.kernel.base import backend
from mycel.kernel.base.cell import of_base
from mycel.kernel.record.value import Value


class OnHost:
    """A source whose Values Python sees first: an array is made of what `view` gives."""

    __slots__ = ()

    apart = True

    def view(self, value: Value) -> np.ndarray:
        """A Value as Python sees it."""
        raise of_base(self)

    def produce(self, value: Value) -> None:
        """Give a Value an array of its own."""
        backend.begin()
        value.array, value.source = jax.device_put(np.array(self.view(value))), None


class Packed(OnHost):
    """One array with several results.

    Args:
        array: one-dimensional, on the device or NumPy's.
        parts: for each Value's slot, where its elements begin and end, and its shape.
    """

    __slots__ = ("_array", "_parts", "_seen")

    def __init__(self, array, parts: dict[int, tuple[int, int, tuple[int, ...]]]):
        self._array = array
        self._parts = parts
        # The array on the host, once it was waited for.
        self._seen: np.ndarray | None = None

    def view(self, value: Value) -> np.ndarray:
        """A result as Python sees it, without a copy."""
        start, stop, shape = self._parts[value.slot]
        if self._seen is None:
            self._seen = np.asarray(self._array)
        return self._seen[start:stop].reshape(shape)

    def alone(self, value: Value) -> Packed:
        """A result apart from the others, for a Value that lives on."""
        copy = self.view(value).copy()
        return Packed(copy.ravel(), {value.slot: (0, copy.size, copy.shape)})


def still_packed(survivors: list[ref]) -> list[tuple[ref, Packed]]:
    """Those Values, known by weak references, that are there and wait for a pack, each with it."""
    waiting = []
    for survivor in survivors:
        value = survivor()
        if value is not None and value.source is not None:
            waiting.append((survivor, value.source))
    return waiting
