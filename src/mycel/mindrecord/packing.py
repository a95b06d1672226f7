# SPDX-License-Identifier: Apache-2.0
"""The bytes of a row: a MessagePack map of its scalars, and its arrays one after the other.

Arrays of integers are written with as few bytes as each number needs: a count, then two bits for
each number (1, 2, 4 or 8 bytes), then the numbers.
"""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

MISSING = (
    "Rows of MindRecord files are read and written with the package 'msgpack', which cannot be "
    "imported ({reason}). Install it: pip install 'mycel[data]'."
)
NO_ROW = "This is no MindRecord row: {reason}."
_WIDTHS = np.array([1, 2, 4, 8])


@functools.cache
def msgpack() -> Any:
    """The package msgpack, imported with the first row.

    Raises:
        ImportError: it is not installed; the text says how to install it.
    """
    try:
        import msgpack as package
    except ImportError as error:
        raise ImportError(MISSING.format(reason=error)) from None
    return package


def pack_scalars(fields: dict) -> bytes:
    """A map of numbers and texts as MessagePack, in the order of the names.

    Example:
        >>> from mycel.mindrecord.packing import pack_scalars, unpack_scalars
        >>> unpack_scalars(pack_scalars({"label": -3, "name": "a", "score": 0.5}))
        {'label': -3, 'name': 'a', 'score': 0.5}
    """
    pack = msgpack().packb
    parts = [msgpack().Packer().pack_map_header(len(fields))]
    for name in sorted(fields):
        parts += [pack(name), pack(fields[name], use_single_float=_is_single(fields[name]))]
    return b"".join(parts)


def _is_single(value) -> bool:
    """Whether four bytes keep the number; MindSpore writes as few as do."""
    if not isinstance(value, float):
        return False
    with np.errstate(over="ignore"):
        return float(np.float32(value)) == value


def unpack_scalars(content: bytes) -> dict:
    """The map that `pack_scalars` wrote.

    Raises:
        ValueError: other bytes.
    """
    try:
        row = msgpack().unpackb(content)
    except ValueError as error:
        raise ValueError(
            NO_ROW.format(reason=str(error).rstrip(".") or type(error).__name__)
        ) from None
    if not isinstance(row, dict):
        raise ValueError(NO_ROW.format(reason=f"a {type(row).__name__} instead of a map"))
    return row


def pack_integers(array: np.ndarray) -> bytes:
    """An array of int32 or int64 with as few bytes as each number needs.

    Example:
        >>> from mycel.mindrecord.packing import pack_integers, unpack_integers
        >>> numbers = np.array([1, -1, 300, -70000, 2**40])
        >>> len(pack_integers(numbers))
        22
        >>> print(unpack_integers(pack_integers(numbers), np.int64))
        [            1            -1           300        -70000 1099511627776]
    """
    numbers = array.ravel().astype(np.int64)
    codes = np.zeros(len(numbers), np.uint8)
    for bits in (8, 16, 32):
        limit = np.int64(1) << np.int64(bits - 1)
        codes += (numbers < -limit) | (numbers >= limit)
    groups = np.zeros(-(-len(numbers) // 4) * 4, np.uint8)
    groups[: len(codes)] = codes
    groups = groups.reshape(-1, 4)
    packed = (groups[:, 0] << 6) | (groups[:, 1] << 4) | (groups[:, 2] << 2) | groups[:, 3]
    # Eight bytes of each number, of which those that count are kept.
    every = numbers.astype("<i8").view(np.uint8).reshape(-1, 8)
    kept = every[np.arange(8) < _WIDTHS[codes][:, None]]
    return struct.pack(">I", len(numbers)) + packed.tobytes() + kept.tobytes()


def unpack_integers(content: bytes, kind) -> np.ndarray:
    """The numbers that `pack_integers` wrote, as a flat array."""
    (count,) = struct.unpack_from(">I", content)
    controls = np.frombuffer(content, np.uint8, -(-count // 4), 4)
    codes = (controls[:, None] >> np.array([6, 4, 2, 0], np.uint8) & 3).ravel()[:count]
    widths = _WIDTHS[codes]
    starts = 4 + len(controls) + np.cumsum(widths) - widths
    data = np.frombuffer(content, np.uint8)
    numbers = np.zeros(count, np.int64)
    for code, width in enumerate(_WIDTHS):
        where = np.flatnonzero(codes == code)
        parts = data[starts[where][:, None] + np.arange(width)]
        numbers[where] = np.ascontiguousarray(parts).view(f"<i{width}").ravel()
    return numbers.astype(kind)


def is_compressed(kind: str) -> bool:
    """Whether arrays of this element type are written number by number."""
    return kind in ("int32", "int64")


def pack_arrays(parts: list[bytes]) -> bytes:
    """Bytes one after the other; with several, each behind its length."""
    if len(parts) == 1:
        return parts[0]
    return b"".join(struct.pack(">Q", len(part)) + part for part in parts)


def unpack_arrays(content: bytes, count: int) -> list[bytes]:
    """What `pack_arrays` joined."""
    if count == 1:
        return [content]
    parts, at = [], 0
    for _ in range(count):
        (length,) = struct.unpack_from(">Q", content, at)
        parts.append(content[at + 8 : at + 8 + length])
        at += 8 + length
    return parts
