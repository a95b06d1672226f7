# SPDX-License-Identifier: Apache-2.0
"""Event files as TensorBoard reads them: what a value becomes, and how it stands in the file."""

from __future__ import annotations

import math
import os
import pathlib
import struct
import threading
import time
from types import SimpleNamespace

import numpy as np

from mycel.summary.images import as_pixels, as_png, side_by_side

MISSING = (
    "SummaryRecord writes event files with tensorboardX, which is not installed: "
    "pip install 'mycel[summary]'"
)
# The first event of every file; TensorBoard reads the number of the format in it.
_VERSION = "brain.Event:2"
MOST_BUCKETS = 90

# The numbers of TensorFlow's element types; those of tensorboardX lack the last two.
_TYPES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8,
    "int64": 9, "bool": 10, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22,
    "uint64": 23,
}  # fmt: skip


def messages() -> SimpleNamespace:
    """The classes of what stands in an event file.

    Raises:
        ImportError: tensorboardX is not installed; says how to install it.
    """
    try:
        import tensorboardX  # noqa: F401 - says plainly that it is missing
        from tensorboardX.proto import attr_value_pb2, event_pb2, graph_pb2, summary_pb2
        from tensorboardX.record_writer import masked_crc32c
    except ModuleNotFoundError as error:
        raise ImportError(MISSING) from error
    return SimpleNamespace(
        AttrValue=attr_value_pb2.AttrValue,  # type: ignore[attr-defined]
        Event=event_pb2.Event,  # type: ignore[attr-defined]
        GraphDef=graph_pb2.GraphDef,  # type: ignore[attr-defined]
        Value=summary_pb2.Summary.Value,  # type: ignore[attr-defined]
        checksum=masked_crc32c,
    )


# -- what a value becomes ---------------------------------------------------------------------


def scalar(value, array: np.ndarray) -> None:
    """A number, which the file keeps as Float32; NaN and infinities stay what they are."""
    value.simple_value = float(array.astype(np.float64).reshape(()))


def tensor(value, array: np.ndarray) -> None:
    """A whole array of its own type; BFloat16, which readers do not know, as Float32."""
    if array.dtype.name not in _TYPES:
        array = array.astype(np.float32)
    value.metadata.plugin_data.plugin_name = "tensor"
    value.tensor.dtype = _TYPES[array.dtype.name]
    for length in array.shape:
        value.tensor.tensor_shape.dim.add().size = length
    value.tensor.tensor_content = array.tobytes()


def histogram(value, array: np.ndarray) -> None:
    """Counts in buckets of equal width; NaN and infinities are left out."""
    numbers = array.astype(np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    histogram = value.histo
    histogram.SetInParent()
    if not numbers.size:
        return
    low, high = numbers.min(), numbers.max()
    histogram.min, histogram.max, histogram.num = low, high, numbers.size
    with np.errstate(over="ignore"):
        histogram.sum, histogram.sum_squares = numbers.sum(), np.square(numbers).sum()
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, buckets(numbers.size) + 1)
    counts, _ = np.histogram(numbers, edges)
    histogram.bucket_limit.extend(edges[1:].tolist())
    histogram.bucket.extend(counts.tolist())


def buckets(count: int) -> int:
    """How many buckets so many numbers are counted in: as many as in MindSpore."""
    if count <= 5:
        return 2
    if count <= 10:
        return 3
    return count // 10 + 1 if count <= 880 else MOST_BUCKETS


def image(value, array: np.ndarray) -> None:
    """A batch of images side by side, as a PNG file."""
    pixels = side_by_side(as_pixels(array))
    picture = value.image
    picture.height, picture.width, picture.colorspace = pixels.shape
    picture.encoded_image_string = as_png(pixels)


PLUGINS = {"scalar": scalar, "tensor": tensor, "histogram": histogram, "image": image}


# -- how it stands in the file ----------------------------------------------------------------


class EventFile:
    """A file of events: for each its length, its bytes, and check sums of both.

    Args:
        path: a file that does not exist yet; its folder is made.
        most_bytes: how long it may become; None for any length.
    """

    def __init__(self, path: pathlib.Path, most_bytes: int | None = None):
        self._messages = messages()
        self._left = math.inf if most_bytes is None else most_bytes
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer: what is recorded can be looked at, and outlives a process that dies.
        self._file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by the record
        self.write(self.event(file_version=_VERSION))

    def event(self, **fields):
        """An event of now."""
        return self._messages.Event(wall_time=time.time(), **fields)

    def write(self, event) -> bool:
        """Append an event; False, and nothing is written any more, if the file gets too long."""
        data = event.SerializeToString()
        checksum = self._messages.checksum
        head = struct.pack("<Q", len(data))
        framed = b"".join(
            [head, struct.pack("<I", checksum(head)), data, struct.pack("<I", checksum(data))]
        )
        with self._lock:
            if len(framed) > self._left:
                self._left = 0
                return False
            self._left -= len(framed)
            rest = memoryview(framed)
            while rest:
                rest = rest[self._file.write(rest) :]
        return True

    def flush(self) -> bool:
        """Wait until everything is on the disk."""
        with self._lock:
            os.fsync(self._file.fileno())
        return True

    def close(self) -> None:
        """Close the file; may be called twice."""
        with self._lock:
            self._file.close()
