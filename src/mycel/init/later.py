# SPDX-License-Identifier: Apache-2.0
"""Numbers of Parameters that are drawn when somebody looks; a checkpoint may come before."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import numpy as np

from mycel.kernel.base.dtypes import DType
from mycel.kernel.define.aval import aval_of
from mycel.kernel.record.packed import OnHost
from mycel.kernel.record.tensor import Tensor, new_tensor
from mycel.kernel.record.value import Value


class _Thread(threading.local):
    waiting = False


thread = _Thread()


class Undrawn(OnHost):
    """What a pending Value waits for: numbers that are drawn when they are asked for."""

    __slots__ = ("_draw", "_drawn")

    def __init__(self, draw: Callable[[], np.ndarray]):
        self._draw = draw
        self._drawn: np.ndarray | None = None

    def view(self, value: Value) -> np.ndarray:
        """The numbers, drawn at the first look."""
        if self._drawn is None:
            self._drawn = self._draw().reshape(value.aval.shape)
        return self._drawn


class Kept(OnHost):
    """What a pending Value waits for: an array of the host, which nothing else changes."""

    __slots__ = ("_array",)

    def __init__(self, array: np.ndarray):
        self._array = array

    def view(self, value: Value) -> np.ndarray:
        """The array."""
        return self._array


def kept(array: np.ndarray) -> Value:
    """A Value that is put on the device when it is computed with."""
    value = Value(None, aval_of(array.shape, array.dtype))
    value.source = Kept(array)
    return value


def undrawn(draw: Callable[[], np.ndarray], shape: tuple[int, ...], dtype: DType) -> Tensor:
    """A Tensor whose numbers `draw` gives when they are looked at or computed with."""
    value = Value(None, aval_of(shape, dtype.numpy))
    value.source = Undrawn(draw)
    return new_tensor(value)


@contextlib.contextmanager
def no_init_parameters() -> Iterator[None]:
    """Make networks in this block without drawing the numbers of their Parameters.

    They are drawn when they are first looked at or computed with; a checkpoint that is loaded
    before spares the time and the memory.

    Source: MindSpore's `mindspore.nn.no_init_parameters`.

    Example:
        >>> with nn.no_init_parameters():
        ...     net = nn.Dense(2, 1, "ones", "zeros")
        >>> print(net(Tensor([[1.0, 2.0]])))
        [[3.]]
    """
    before, thread.waiting = thread.waiting, True
    try:
        yield
    finally:
        thread.waiting = before


__all__ = ["no_init_parameters"]
