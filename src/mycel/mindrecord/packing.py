# SPDX-License-Identifier: Apache-2.0
"""The bytes of a row: a MessagePack map of its scalars, and its arrays one after the other.

Arrays of integers are written with as few bytes as each number needs: a count, then two bits for
each number (1, 2, 4 or 8 bytes), then the numbers.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
_FIXED.update({0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"})
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_WIDTHS = np.array([1, 2, 4, 8])
UNKNOWN = "This is no MindRecord row: byte {byte:#x} of MessagePack is not used in it."


def pack_scalars(fields: dict) -> bytes:
    """A map of numbers and texts as MessagePack, in the order of the names.

    Example:
        >>> from mycel.mindrecord.packing import pack_scalars, unpack_scalars
        >>> unpack_scalars(pack_scalars({"label": -3, "name": "a", "score": 0.5}))
        {'label': -3, 'name': 'a', 'score': 0.5}
    """
    count = len(fields)
    start = bytes([0x80 | count]) if count < 16 else b"\xde" + struct.pack(">H", count)
    parts = [start]
    for name in sorted(fields):
        parts += [_pack(name), _pack(fields[name])]
    return b"".join(parts)


def _pack(value) -> bytes:
    if isinstance(value, str):
        return _pack_text(value.encode())
    if isinstance(value, float):
        # As few bytes as keep the number.
        with np.errstate(over="ignore"):
            short = np.float32(value)
        if float(short) == value:
            return b"\xca" + struct.pack(">f", value)
        return b"\xcb" + struct.pack(">d", value)
    if -32 <= value < 128:
        return struct.pack(">b", value)
    kinds = (0xCC, 0xCD, 0xCE, 0xCF) if value >= 0 else (0xD0, 0xD1, 0xD2, 0xD3)
    for kind in kinds:
        try:
            return bytes([kind]) + struct.pack(_FIXED[kind], value)
        except struct.error:
            continue
    raise OverflowError(f"{value} does not fit into 64 bits")


def _pack_text(text: bytes) -> bytes:
    if len(text) < 32:
        return bytes([0xA0 | len(text)]) + text
    for kind, layout in _TEXTS.items():
        if len(text) < 1 << (8 * struct.calcsize(layout)):
            return bytes([kind]) + struct.pack(layout, len(text)) + text
    raise OverflowError("a text of more than 4 GiB")


def unpack_scalars(content: bytes) -> dict:
    """The map that `pack_scalars` wrote."""
    value, _ = _unpack(content, 0)
    return value


def _unpack(content: bytes, at: int) -> tuple[Any, int]:
    byte = content[at]
    at += 1
    if byte < 0x80:
        return byte, at
    if byte >= 0xE0:
        return byte - 256, at
    if byte < 0x90:
        return _unpack_map(content, at, byte & 0x0F)
    if 0xA0 <= byte < 0xC0:
        return content[at : at + (byte & 0x1F)].decode(), at + (byte & 0x1F)
    if byte in _CONSTANTS:
        return _CONSTANTS[byte], at
    for table in (_FIXED, _TEXTS, _MAPS):
        if byte in table:
            (number,) = struct.unpack_from(table[byte], content, at)
            at += struct.calcsize(table[byte])
            if table is _FIXED:
                return number, at
            if table is _MAPS:
                return _unpack_map(content, at, number)
            return content[at : at + number].decode(), at + number
    raise ValueError(UNKNOWN.format(byte=byte))


def _unpack_map(content: bytes, at: int, count: int):
    made = {}
    for _ in range(count):
        name, at = _unpack(content, at)
        made[name], at = _unpack(content, at)
    return made, at


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
    made = np.zeros(count, np.int64)
    for code, width in enumerate(_WIDTHS):
        where = np.flatnonzero(codes == code)
        parts = data[starts[where][:, None] + np.arange(width)]
        made[where] = np.ascontiguousarray(parts).view(f"<i{width}").ravel()
    return made.astype(kind)


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
