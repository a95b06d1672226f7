# SPDX-License-Identifier: Apache-2.0
"""The encoding of protocol buffers: messages of numbered fields, which are integers or bytes.

MindSpore's checkpoints and strategy files are written in it, and what XLA says of its programs.
"""

from __future__ import annotations

from typing import Any

from mycel.checkpoint.contents import damaged

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}


def varint(number: int) -> bytes:
    """An integer of variable length: seven bits in each byte, the lowest first."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def text(value, path) -> str:
    """The letters in the bytes of a field.

    Raises:
        ValueError: they are none, so the file is damaged.
    """
    try:
        return str(value, "utf-8")
    except (TypeError, UnicodeDecodeError):
        raise damaged(path, "a name in it is not text") from None


def integers(data, path=None) -> list[int]:
    """The integers of a field: one, or bytes that hold several.

    Raises:
        ValueError: the file is damaged.
    """
    if isinstance(data, int):
        return [data]
    numbers, position = [], 0
    while position < len(data):
        number, position = _number(data, position, path)
        numbers.append(number)
    return numbers


def fields(data, path=None) -> list[tuple[int, Any]]:
    """The fields of a message: their numbers, and integers or bytes, which are parts of `data`.

    Args:
        path: the file, for the error.

    Raises:
        ValueError: the file is damaged.

    Example:
        >>> from mycel.checkpoint.protobuf import fields
        >>> fields(bytes([8, 150, 1, 18, 2, 104, 105]))
        [(1, 150), (2, b'hi')]
    """
    if isinstance(data, int):
        raise damaged(path, "a number stands where a message should")
    found, position, end = [], 0, len(data)
    while position < end:
        # Of two integers nearly all have one byte.
        key, position = data[position], position + 1
        if key > 0x7F:
            key, position = _number(data, position - 1, path)
        field, kind = key >> 3, key & 7
        size = 0
        if kind in _FIXED:
            size = _FIXED[kind]
        elif kind not in (_VARINT, _BYTES):
            raise damaged(path, f"there is no field of kind {kind}")
        elif position < end and data[position] < 0x80:
            size, position = data[position], position + 1
        else:
            size, position = _number(data, position, path)
        if kind == _VARINT:
            found.append((field, size))
            continue
        if not field or size < 0 or position + size > end:
            raise damaged(path, "it ends too early")
        found.append((field, data[position : position + size]))
        position += size
    return found


def _number(data, position: int, path) -> tuple[int, int]:
    """An integer of variable length, 64 bits with a sign, and where it ends."""
    number = shift = 0
    while shift < 70:
        if position >= len(data):
            raise damaged(path, "it ends too early")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            number &= (1 << 64) - 1
            return number - (1 << 64) if number >> 63 else number, position
    raise damaged(path, "a number in it is too long")


def message(number: int, content: bytes) -> bytes:
    """A field that holds bytes: a message, or a text."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def integer(number: int, value: int) -> bytes:
    """A field that holds a whole number."""
    return varint(number << 3) + varint(value % (1 << 64))
