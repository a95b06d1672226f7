# SPDX-License-Identifier: Apache-2.0
"""Safetensors files: eight bytes of length, a header in JSON, then the bytes of the tensors.

A checksum is always written, where MindSpore puts its own, and checked wherever there is one.
"""

from __future__ import annotations

import json
import operator
import os
import re
import zlib
from typing import BinaryIO

import ml_dtypes
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from mycel.checkpoint.contents import Contents, array_from, bytes_of, damaged

TYPE_OF_NAME = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype(np.int8), "I16": np.dtype(np.int16),
    "I32": np.dtype(np.int32), "I64": np.dtype(np.int64),
    "U8": np.dtype(np.uint8), "U16": np.dtype(np.uint16),
    "U32": np.dtype(np.uint32), "U64": np.dtype(np.uint64),
    "F16": np.dtype(np.float16), "F32": np.dtype(np.float32), "F64": np.dtype(np.float64),
    "BF16": np.dtype(ml_dtypes.bfloat16), "C64": np.dtype(np.complex64),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn), "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip
METADATA = "__metadata__"
# Keys of the metadata: the checksum as MindSpore has it, one of ours over what that leaves out, and
# what stands before the names of texts.
CHECKSUM = "crc_num"
HEADER = "header_crc"
TEXT = "text:"

_LENGTH_BYTES = 8
_SYSTEM = re.compile(r"\(os error (\d+)\)")


def write(path: str | os.PathLike, contents: Contents, metadata: dict[str, str]) -> None:
    """Write contents to a file; texts become metadata.

    Raises:
        TypeError: safetensors files do not have the element type.
        OSError: the disk is full, or the file may not be written.
    """
    arrays = {name: value for name, value in contents.items() if not isinstance(value, str)}
    for name, array in arrays.items():
        name_of_type(name, array.dtype)
    told = {"format": "ms", **metadata, CHECKSUM: str(_checksum(arrays))}
    told |= {TEXT + name: value for name, value in contents.items() if isinstance(value, str)}
    told[HEADER] = str(_checksum_of_header(arrays, told))
    try:
        save_file({name: np.asarray(a, order="C") for name, a in arrays.items()}, path, told)
    except SafetensorError as error:
        # What the system says is in the text only.
        number = _SYSTEM.search(str(error))
        if number is None:
            raise
        code = int(number[1])
        raise OSError(code, os.strerror(code), os.fspath(path)) from None


def name_of_type(name: str, dtype: np.dtype) -> str:
    """What safetensors files call the element type of an array.

    Raises:
        TypeError: they do not have it.
    """
    for kind, known in TYPE_OF_NAME.items():
        if known == dtype:
            return kind
    raise TypeError(
        f"{name!r} has the type {dtype}, which safetensors files do not have; "
        "a .ckpt file can hold it."
    )


def is_whole(data: memoryview) -> bool:
    """Whether the first bytes could be those of a safetensors file."""
    if len(data) <= _LENGTH_BYTES or data[_LENGTH_BYTES] != ord("{"):
        return False
    # A file that ends within its header is one as well, only damaged.
    return int.from_bytes(data[:_LENGTH_BYTES], "little") < 1 << 32


def decode(data: memoryview, path=None) -> tuple[Contents, dict[str, str]]:
    """What a safetensors file holds, and its metadata; arrays share its bytes.

    Raises:
        ValueError: the file is damaged, or has an element type that is not supported.
    """
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if start > len(data):
        raise damaged(path, "it ends too early")
    header, metadata = _header(data[_LENGTH_BYTES:start], path)
    body = data[start:]
    contents: Contents = {name: _array(name, of, body, path) for name, of in header.items()}
    position = 0
    for first, last in sorted(of["data_offsets"] for of in header.values()):
        if first != position:
            raise damaged(path, "its tensors overlap, or leave bytes out")
        position = last
    if position != len(body):
        raise damaged(path, "it has more bytes than its tensors")
    written = metadata.pop(HEADER, None), metadata.get(CHECKSUM)
    computed = str(_checksum_of_header(contents, metadata)), str(_checksum(contents))
    if any(a not in (None, b) for a, b in zip(written, computed, strict=True)):
        raise damaged(path, "its checksum is another")
    metadata.pop(CHECKSUM, None)
    for key in [key for key in metadata if key.startswith(TEXT)]:
        name = key.removeprefix(TEXT)
        if name in contents:
            raise damaged(path, f"{name!r} is a tensor and a text in it")
        contents[name] = metadata.pop(key)
    return contents, metadata


def read_header(file: BinaryIO, path) -> tuple[dict, dict[str, str], int]:
    """The header of an open file, its metadata, and where the bytes of the tensors begin.

    Raises:
        ValueError: the file is damaged.
    """
    data = memoryview(file.read(_LENGTH_BYTES + 1))
    if not is_whole(data):
        raise damaged(path, "it does not begin like a safetensors file")
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    file.seek(_LENGTH_BYTES)
    header = file.read(length)
    if len(header) < length:
        raise damaged(path, "it ends too early")
    return *_header(memoryview(header), path), _LENGTH_BYTES + length


def _header(data: memoryview, path) -> tuple[dict, dict[str, str]]:
    """What is said of each tensor, and the metadata."""
    try:
        header = json.loads(bytes(data), object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise damaged(path, "its header is not JSON in which each name stands once") from None
    if not isinstance(header, dict):
        raise damaged(path, "its header names no tensors")
    return header, _metadata(header.pop(METADATA, {}), path)


def _each_once(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there more than once")
    return found


def _metadata(told, path) -> dict[str, str]:
    texts = isinstance(told, dict) and all(isinstance(value, str) for value in told.values())
    if not texts:
        raise damaged(path, "its metadata are not texts with names")
    return told


def _array(name: str, described, body: memoryview, path) -> np.ndarray:
    kind, shape, first, last = described_as(name, described, len(body), path)
    return array_from(path, name, body[first:last], TYPE_OF_NAME[kind], shape)


def described_as(name: str, described, size: int, path) -> tuple[str, tuple[int, ...], int, int]:
    """The type, the shape and the place of a tensor among `size` bytes, as a header says.

    Raises:
        ValueError: it says nothing that can be, or names a type that is not supported.
    """
    try:
        kind, shape = described["dtype"], tuple(map(operator.index, described["shape"]))
        first, last = map(operator.index, described["data_offsets"])
        known = (kind + name).encode() and kind in TYPE_OF_NAME  # both are texts
    except (TypeError, KeyError, ValueError):
        raise damaged(path, f"its header says no dtype, shape and place of {name!r}") from None
    if not known:
        raise ValueError(f"{name!r} in {path} has the type {kind}, which nothing here has.")
    if not 0 <= first <= last <= size:
        raise damaged(path, "it ends too early")
    return kind, shape, first, last


def _checksum(arrays: Contents) -> int:
    """CRC-32 over names and bytes, in the order of the names."""
    checksum = 0
    for name in sorted(arrays):
        checksum = zlib.crc32(name.encode(), checksum)
        checksum = zlib.crc32(bytes_of(arrays[name]), checksum)
    return checksum


def _checksum_of_header(arrays: Contents, metadata: dict[str, str]) -> int:
    """CRC-32 over the types and shapes of all arrays, and over the metadata."""
    told = [[name, str(a.dtype), a.shape] for name, a in sorted(arrays.items())]
    return zlib.crc32(json.dumps([told, sorted(metadata.items())]).encode())
