# SPDX-License-Identifier: Apache-2.0
"""MindSpore's .ckpt files: what is in them, to the byte.

A file is one message in protocol-buffer encoding: entries in the field 1, each with a tag (field 1)
and a tensor (field 2), which has dims (1), the name of its type (2) and its bytes (3). Bytes beyond
a limit are split over several entries of one tag. A checksum may follow.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import ml_dtypes
import numpy as np

from mycel.checkpoint.contents import Contents, array_from, bytes_of, damaged
from mycel.checkpoint.protobuf import fields, integers, text, varint
from mycel.kernel.base.dtypes import ALL

MOST_BYTES_OF_ENTRY = 512 << 20
TEXT = "str"
TYPE_OF_NAME = {str(dtype): dtype.numpy for dtype in ALL} | {"Int4": np.dtype(ml_dtypes.int4)}
NAME_OF_TYPE = {numpy_type: name for name, numpy_type in TYPE_OF_NAME.items()}
# The checksum: these letters, then CRC-32 of all before them in ten bytes, the highest first.
CHECKSUM = b"crc_num"
CHECKSUM_BYTES = 10


class Entry(NamedTuple):
    """One entry: the name, the lengths, the name of the type, and bytes."""

    tag: str
    shape: tuple[int, ...]
    kind: str
    data: memoryview | bytes


# -- writing -------------------------------------------------------------------------------------


def encode(contents: Contents, checksum: bool = False) -> Iterator[bytes | memoryview]:
    """The bytes of a .ckpt file, piece by piece."""
    check = 0
    for entry in _entries(contents):
        for piece in _encoded(entry):
            check = zlib.crc32(piece, check) if checksum else 0
            yield piece
    if checksum:
        yield CHECKSUM + check.to_bytes(CHECKSUM_BYTES, "big")


def _entries(contents: Contents) -> Iterator[Entry]:
    for tag, value in contents.items():
        if isinstance(value, str):
            # As NumPy keeps texts: four bytes for each letter, and one letter at least.
            yield Entry(tag, (0,), TEXT, (value or "\0").encode("utf-32-le"))
            continue
        kind = NAME_OF_TYPE.get(value.dtype)
        if kind is None:
            raise TypeError(f"{tag!r} has the type {value.dtype}, which .ckpt files do not have.")
        data = bytes_of(value)
        for start in range(0, len(data) or 1, MOST_BYTES_OF_ENTRY):
            yield Entry(tag, value.shape, kind, data[start : start + MOST_BYTES_OF_ENTRY])


def _encoded(entry: Entry) -> Iterable[bytes | memoryview]:
    tag, kind = entry.tag.encode(), entry.kind.encode()
    tensor = b"".join(
        [
            *(b"\x08" + varint(length) for length in entry.shape),
            b"\x12" + varint(len(kind)) + kind,
            b"\x1a" + varint(len(entry.data)),
        ]
    )
    tensor_size = len(tensor) + len(entry.data)
    value = b"\x0a" + varint(len(tag)) + tag + b"\x12" + varint(tensor_size)
    return (b"\x0a" + varint(len(value) + tensor_size) + value + tensor, entry.data)


# -- reading -------------------------------------------------------------------------------------


def decode(data: memoryview, path=None) -> Contents:
    """What a .ckpt file holds; arrays share its bytes where they lie side by side.

    Raises:
        ValueError: the file is damaged, or has an element type that is not supported.
    """
    body = _checked(data, path)
    contents: Contents = {}
    for tag, parts in itertools.groupby(_decoded(body, path), lambda entry: entry.tag):
        if tag in contents:
            raise damaged(path, f"{tag!r} stands in it twice")
        contents[tag] = _joined(list(parts), path)
    return contents


def is_whole(data: memoryview) -> bool:
    """Whether the first bytes could be those of a .ckpt file."""
    return len(data) == 0 or data[0] == 0x0A


def _checked(data: memoryview, path) -> memoryview:
    """The bytes before the checksum, if there is one."""
    end = len(data) - CHECKSUM_BYTES - len(CHECKSUM)
    if end < 0 or data[end : end + len(CHECKSUM)] != CHECKSUM:
        return data
    body = data[:end]
    if zlib.crc32(body) != int.from_bytes(data[end + len(CHECKSUM) :], "big"):
        raise damaged(path, "its checksum is another")
    return body


def _joined(parts: list[Entry], path):
    tag, shape, kind, data = parts[0]
    if len(parts) > 1:
        data = b"".join(part.data for part in parts)
    if kind == TEXT:
        return _text(tag, data, path)
    if kind not in TYPE_OF_NAME:
        raise damaged(path, f"{tag!r} has the unknown type {kind!r}")
    dtype = TYPE_OF_NAME[kind]
    if shape == (0,) and len(data) == dtype.itemsize:
        shape = ()  # so early versions of MindSpore wrote a number
    return array_from(path, tag, data, dtype, shape)


def _text(tag: str, data, path) -> str:
    try:
        return bytes(data).decode("utf-32-le").rstrip("\0")
    except UnicodeDecodeError:
        raise damaged(path, f"{tag!r} is not text") from None


def _decoded(body: memoryview, path) -> Iterator[Entry]:
    for field, value in fields(body, path):
        if field == 1:
            yield _entry(value, path)


def _entry(value, path) -> Entry:
    tag, tensor = "", None
    for field, inner in fields(value, path):
        if field == 1:
            tag = text(inner, path)
        elif field == 2:
            tensor = inner
        elif field == 3:
            raise ValueError(
                f"{tag!r} in {path} is a MapParameter, a table of a parameter server; "
                "there is nothing it could be loaded into."
            )
    if tensor is None:
        raise damaged(path, f"{tag!r} has no tensor")
    shape: list[int] = []
    kind, data = "", None
    for field, inner in fields(tensor, path):
        if field == 1:
            shape += integers(inner, path)
        elif field == 2:
            kind = text(inner, path)
        elif field == 3:
            data = inner
    if data is None or isinstance(data, int):
        raise damaged(path, f"{tag!r} has no bytes")
    return Entry(tag, tuple(shape), kind, data)
