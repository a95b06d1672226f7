# SPDX-License-Identifier: Apache-2.0
"""Packed: small results that come out of an executable side by side, in one array.

An output of its own costs some microseconds, whatever its size. What only hooks look at is packed,
and a Value of it is pending here: Python sees a view; an array is made when an operator needs one.
"""

from __future__ import annotations

import jax
import numpy as np


class Packed:
    """One array with several results; stands where a pending Value has its segment.

    Args:
        array: one-dimensional, on the device or NumPy's.
        parts: for each Value's slot, where its elements begin and end, and its shape.
    """

    __slots__ = ("_array", "_parts", "_seen")

    # It belongs to no stream, so that `demand` asks the machine for the array.
    stream = None

    def __init__(self, array, parts: dict[int, tuple[int, int, tuple[int, ...]]]):
        self._array = array
        self._parts = parts
        # The array on the host, once it was waited for.
        self._seen: np.ndarray | None = None

    def view(self, slot: int) -> np.ndarray:
        """A result as Python sees it, without a copy."""
        start, stop, shape = self._parts[slot]
        if self._seen is None:
            self._seen = np.asarray(self._array)
        return self._seen[start:stop].reshape(shape)

    def take(self, slot: int) -> jax.Array:
        """A result as an array of its own."""
        return jax.device_put(np.array(self.view(slot)))

    def alone(self, slot: int) -> Packed:
        """A result apart from the others, for a Value that lives on."""
        copy = self.view(slot).copy()
        return Packed(copy.ravel(), {slot: (0, copy.size, copy.shape)})
