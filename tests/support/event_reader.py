# SPDX-License-Identifier: Apache-2.0
"""Reading event files back, from the documented framing and the messages of TensorFlow."""

from __future__ import annotations

import pathlib
import struct
from collections import defaultdict

import numpy as np
from tensorboardX.proto.event_pb2 import Event

from mycel import SummaryRecord


def checksum(data: bytes) -> int:
    """The masked CRC-32C of event files, bit by bit from its definition."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def read_events(path) -> list[Event]:
    """The events of a file; every length and check sum must be right."""
    data = pathlib.Path(path).read_bytes()
    found = []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == checksum(data[:8])
        body, data = data[12 : 12 + length], data[12 + length :]
        assert struct.unpack("<I", data[:4])[0] == checksum(body)
        data = data[4:]
        found.append(Event.FromString(body))
    return found


def as_array(tensor) -> np.ndarray:
    """A tensor of an event file; the numbers of types are TensorFlow's."""
    kinds = {
        1: "f4", 2: "f8", 3: "i4", 4: "u1", 5: "i2", 6: "i1", 8: "c8", 9: "i8", 10: "?",
        17: "u2", 18: "c16", 19: "f2", 22: "u4", 23: "u8",
    }  # fmt: skip
    shape = [dimension.size for dimension in tensor.tensor_shape.dim]
    return np.frombuffer(tensor.tensor_content, np.dtype(kinds[tensor.dtype])).reshape(shape)


def read(record: SummaryRecord) -> dict[str, dict[int, object]]:
    """What a file says: by tag and step a number, an array, a histogram or an image."""
    found: dict[str, dict[int, object]] = defaultdict(dict)
    for event in read_events(record.log_dir):
        for value in event.summary.value:
            kind = value.WhichOneof("value")
            shown = getattr(value, kind)
            if kind == "tensor":
                shown = as_array(shown)
            assert event.step not in found[value.tag], "written twice"
            found[value.tag][event.step] = shown
    return dict(found)
