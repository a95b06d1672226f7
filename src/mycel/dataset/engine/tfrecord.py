# SPDX-License-Identifier: Apache-2.0
"""TFRecord files: records with checksums, and the protocol buffer `tf.train.Example` in them."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterator

import numpy as np

DAMAGED = "{path} is damaged at byte {at}: {reason}."
_POLYNOMIAL = 0x82F63B78


@functools.cache
def _table() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table.astype(np.uint32)


@functools.lru_cache(maxsize=64)
def _shift(count: int) -> list[list[int]]:
    """For each of the four bytes of a checksum what `count` bytes of zeros make of it."""
    lanes = np.uint32(1) << np.arange(32, dtype=np.uint32)
    table = _table()
    for _ in range(count):
        lanes = (lanes >> np.uint32(8)) ^ table[lanes & np.uint32(255)]
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    parts = []
    for byte in range(4):
        chosen = np.where(bits.astype(bool), lanes[8 * byte : 8 * byte + 8], np.uint32(0))
        parts.append(np.bitwise_xor.reduce(chosen, 1).tolist())
    return parts


def crc32c(content: bytes) -> int:
    """The Castagnoli checksum, of many pieces at once.

    Example:
        >>> from mycel.dataset.engine.tfrecord import crc32c
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    width = math.isqrt(len(content)) if len(content) > 255 else 0
    lanes = len(content) // width if width else 0
    value = 0xFFFFFFFF
    if lanes:
        table = _table()
        columns = np.frombuffer(content, np.uint8, lanes * width).reshape(lanes, width)
        pieces = np.zeros(lanes, np.uint32)
        pieces[0] = value
        for column in columns.T:
            pieces = (pieces >> np.uint32(8)) ^ table[(pieces ^ column) & np.uint32(255)]
        first, second, third, fourth = _shift(width)
        value, *others = pieces.tolist()
        for piece in others:
            value = (
                first[value & 255]
                ^ second[value >> 8 & 255]
                ^ third[value >> 16 & 255]
                ^ fourth[value >> 24]
                ^ piece
            )
    table = _table().tolist()
    for byte in content[lanes * width :]:
        value = (value >> 8) ^ table[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def masked(content: bytes) -> int:
    """The checksum as the files have it."""
    value = crc32c(content)
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(content: bytes, path: str, check: bool = True) -> Iterator[bytes]:
    """The records of a file.

    Raises:
        RuntimeError: the file is damaged.
    """
    at = 0
    while at < len(content):
        head = content[at : at + 12]
        if len(head) < 12:
            raise RuntimeError(DAMAGED.format(path=path, at=at, reason="it ends in a length"))
        length, checksum = struct.unpack("<QI", head)
        if masked(head[:8]) != checksum:
            reason = "the checksum of a length is wrong"
            raise RuntimeError(DAMAGED.format(path=path, at=at, reason=reason))
        record = content[at + 12 : at + 12 + length]
        if at + 16 + length > len(content):
            raise RuntimeError(DAMAGED.format(path=path, at=at, reason="it ends in a record"))
        (checksum,) = struct.unpack_from("<I", content, at + 12 + length)
        if check and masked(record) != checksum:
            reason = "the checksum of a record is wrong"
            raise RuntimeError(DAMAGED.format(path=path, at=at, reason=reason))
        yield record
        at += 16 + length


def count(content: bytes, path: str) -> int:
    """How many records a file has."""
    return sum(1 for _ in records(content, path, check=False))


def pack_record(content: bytes) -> bytes:
    """A record as a file has it."""
    head = struct.pack("<Q", len(content))
    return head + struct.pack("<I", masked(head)) + content + struct.pack("<I", masked(content))


# -- the protocol buffer -----------------------------------------------------------------------


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _fields(content: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Number, kind and value of each field of a message."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        kind = key & 7
        if kind == 2:
            length, at = _varint(content, at)
            yield key >> 3, kind, content[at : at + length]
            at += length
        elif kind == 0:
            value, at = _varint(content, at)
            yield key >> 3, kind, value
        elif kind in (1, 5):
            width = 8 if kind == 1 else 4
            yield key >> 3, kind, content[at : at + width]
            at += width
        else:
            raise RuntimeError(f"A protocol buffer has a field of unknown kind {kind}.")


def _inside(value: int | bytes) -> bytes:
    """The value of a field that is no number."""
    if isinstance(value, int):
        raise RuntimeError(f"A protocol buffer has the number {value} where bytes belong.")
    return value


def unpack_example(content: bytes) -> dict:
    """The features of an example: arrays of Int64 or Float32, or lists of bytes.

    Example:
        >>> from mycel.dataset.engine.tfrecord import pack_example, unpack_example
        >>> unpack_example(pack_example({"n": -3, "text": b"abc"}))
        {'n': array([-3]), 'text': [b'abc']}
    """
    found = {}
    for number, _, features in _fields(content):
        if number != 1:
            continue
        for entry_number, _, entry in _fields(_inside(features)):
            if entry_number == 1:
                parts = {part: value for part, _, value in _fields(_inside(entry))}
                found[_inside(parts[1]).decode()] = _unpack_feature(_inside(parts.get(2, b"")))
    return found


def _unpack_feature(content: bytes):
    for number, _, values in _fields(content):
        if number == 1:
            return [_inside(value) for part, _, value in _fields(_inside(values)) if part == 1]
        if number == 2:
            parts = [_inside(value) for _, _, value in _fields(_inside(values))]
            return np.frombuffer(b"".join(parts), "<f4").astype(np.float32)
        if number == 3:
            parts = [
                _varints(_inside(value)) if kind == 2 else np.array([value], np.uint64)
                for _, kind, value in _fields(_inside(values))
            ]
            joined = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
            return joined.astype(np.uint64).view(np.int64)
    return np.zeros(0, np.float32)


def _varints(content: bytes) -> np.ndarray:
    """Many numbers of seven bits a byte."""
    data = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(data < 128)
    if not len(ends):
        return np.zeros(0, np.uint64)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(ends[-1] + 1) - np.repeat(starts, ends - starts + 1)
    parts = (data[: ends[-1] + 1] & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, starts)


def _pack_varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def _pack_field(number: int, content: bytes) -> bytes:
    return _pack_varint(number << 3 | 2) + _pack_varint(len(content)) + content


def pack_example(features: dict) -> bytes:
    """An example of numbers, arrays and bytes, as `unpack_example` reads it."""
    entries = []
    for name, value in features.items():
        if isinstance(value, bytes):
            feature = _pack_field(1, _pack_field(1, value))
        else:
            array = np.atleast_1d(np.asarray(value))
            if array.dtype.kind == "f":
                feature = _pack_field(2, _pack_field(1, array.astype("<f4").tobytes()))
            else:
                packed = b"".join(_pack_varint(int(each)) for each in array)
                feature = _pack_field(3, _pack_field(1, packed))
        entries.append(_pack_field(1, _pack_field(1, name.encode()) + _pack_field(2, feature)))
    return _pack_field(1, b"".join(entries))
