# SPDX-License-Identifier: Apache-2.0
"""Summary operators: they name a value of a network and hand it to the records that are open.

Handing over is a site: it happens at every call, also on a replay, with the value of that call.
Nothing waits for the value here; it is looked at when a record writes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet

from mycel.kernel.base import errors
from mycel.kernel.execute.sites import every_call
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive


class Taker(Protocol):
    """What takes the values of summary operators: an open SummaryRecord."""

    def take(self, plugin: str, name: str, value: Tensor) -> None:
        """A summary operator was called."""
        ...


# Without one that is open, nothing is kept. Weak: a record that was never closed may be forgotten.
_takers: WeakSet[Taker] = WeakSet()
_lock = threading.Lock()


def attach(taker: Taker) -> None:
    """From now on `taker` gets what summary operators are called with, on every thread."""
    with _lock:
        _takers.add(taker)


def detach(taker: Taker) -> None:
    """`taker` gets nothing more."""
    with _lock:
        _takers.discard(taker)


@every_call
def emit(plugin: str, name: str, value: Tensor) -> None:
    """Hand a value to every open record."""
    with _lock:
        takers = list(_takers)
    if takers:
        # A handle of its own: a Parameter that is assigned later must not change what was taken.
        kept = Tensor(value)
        for taker in takers:
            taker.take(plugin, name, kept)


def _is_image(shape: tuple[int, ...]) -> bool:
    return len(shape) == 4 and shape[1] in (1, 3) and 0 not in shape


# By plugin: which shapes it takes, in words and as a test.
SHAPES: dict[str, tuple[str, Callable[[tuple[int, ...]], bool]]] = {
    "scalar": ("one element", lambda shape: all(length == 1 for length in shape)),
    "tensor": ("at least one dimension", lambda shape: len(shape) > 0),
    "histogram": ("at least one dimension", lambda shape: len(shape) > 0),
    "image": ("shape (N, C, H, W), with C = 1 or 3 and no length 0", _is_image),
}


def check(what: str, plugin: str, name, value) -> None:
    """Raise unless `plugin` can show this value under this name; nothing is run for it."""
    if not isinstance(name, str):
        raise errors.wrong(
            TypeError, f"The name of {what}", "a string", f"{name!r:.60} ({type(name).__name__})"
        )
    if not name:
        raise errors.wrong(ValueError, f"The name of {what}", "a word, as in 'loss'", "''")
    if not isinstance(value, Tensor):
        raise errors.wrong(
            TypeError,
            f"The value of {what} {name!r}",
            "a Tensor; write Tensor(value)",
            f"{value!r:.60} ({type(value).__name__})",
        )
    expected, fits = SHAPES[plugin]
    if not fits(value.shape):
        raise errors.wrong(
            ValueError,
            f"The value of {what} {name!r}",
            f"a Tensor with {expected}",
            f"one of shape {value.shape}",
        )
    if plugin != "tensor" and value.dtype.name.startswith("complex"):
        raise errors.wrong(
            TypeError,
            f"The value of {what} {name!r}",
            "real; summarise value.real() and value.imag()",
            f"{value.dtype}",
        )


class Summary(Primitive):
    """What the summary operators have in common."""

    plugin: str

    def __init__(self):
        super().__init__(type(self).__name__)

    def __call__(self, name: str, value: Tensor) -> None:
        check(self.name, self.plugin, name, value)
        emit(self.plugin, name, value)


class ScalarSummary(Summary):
    """Name a number, to be drawn over the steps at which a SummaryRecord writes.

    Called as `summary(name, value)` in a `construct` or anywhere else; returns None. Of several
    values under one name the last one before `SummaryRecord.record` is written. Without an open
    SummaryRecord nothing is kept.

    Raises:
        TypeError: the name is not a string, or the value not a real Tensor.
        ValueError: the name is empty, or the value has more than one element.

    Source: MindSpore's `mindspore.ops.ScalarSummary`.

    Example:
        >>> import tempfile
        >>> class Square(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.summary = ops.ScalarSummary()
        ...     def construct(self, x):
        ...         total = (x * x).sum()
        ...         self.summary("total", total)
        ...         return total
        >>> net = Square()
        >>> with tempfile.TemporaryDirectory() as folder, mycel.SummaryRecord(folder) as record:
        ...     for step in range(3):
        ...         total = net(Tensor([1.0, 2.0]))
        ...         written = record.record(step)
        >>> written
        True
    """

    plugin = "scalar"


class TensorSummary(Summary):
    """Name a Tensor of at least one dimension, to be written whole.

    Called as `summary(name, value)`; returns None. See `ScalarSummary` for when it is written.

    Raises:
        TypeError: the name is not a string, or the value not a Tensor.
        ValueError: the name is empty, or the value has no dimension.

    Source: MindSpore's `mindspore.ops.TensorSummary`.

    Example:
        >>> ops.TensorSummary()("attention", Tensor([[0.25, 0.75]]))
    """

    plugin = "tensor"


class HistogramSummary(Summary):
    """Write the distribution of a Tensor of at least one dimension under a name.

    Called as `summary(name, value)`; returns None. See `ScalarSummary` for when it is written.

    Raises:
        TypeError: the name is not a string, or the value not a real Tensor.
        ValueError: the name is empty, or the value has no dimension.

    Source: MindSpore's `mindspore.ops.HistogramSummary`.

    Example:
        >>> ops.HistogramSummary()("weights", Tensor([0.1, 0.2, 0.2]))
    """

    plugin = "histogram"


class ImageSummary(Summary):
    """Name a batch of images of shape (N, C, H, W), C = 1 or 3, written side by side as one.

    Called as `summary(name, value)`; returns None. See `ScalarSummary` for when it is written.

    Raises:
        TypeError: the name is not a string, or the value not a real Tensor.
        ValueError: the name is empty, or the value has another shape.

    Source: MindSpore's `mindspore.ops.ImageSummary`.

    Example:
        >>> ops.ImageSummary()("digits", Tensor(np.zeros((2, 1, 8, 8), np.uint8)))
    """

    plugin = "image"
