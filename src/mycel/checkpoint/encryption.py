# SPDX-License-Identifier: Apache-2.0
"""Encrypted .ckpt files as MindSpore has them: blocks, each with its own initial vector.

A block is a number that tells the mode, in AES-GCM the tag, the length of what follows, the length
of the initial vector and it, and the length of the encrypted bytes and them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from mycel.checkpoint.contents import damaged
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside

MODES = {"AES-GCM": 0x7F3A5ED8, "AES-CBC": 0x7F3A5ED9, "SM4-CBC": 0x7F3A5EDA}
MOST_BYTES_OF_BLOCK = 64 << 20
NOT_INSTALLED = (
    "Encrypted checkpoints need the package cryptography: pip install 'mycel[encryption]'."
)
WRONG_KEY = "{path} cannot be decrypted: another key or mode, or the file is damaged."

_VECTOR_BYTES = 16
_TAG_BYTES = 16
# So many bytes of the vector are used in AES-GCM.
_GCM_BYTES = 12


def check_key(key, mode, what: str) -> None:
    """Raise unless this is a key for this mode, or None.

    Raises:
        ValueError: it is not such a key.
    """
    if key is None:
        return
    lengths = (16,) if mode == "SM4-CBC" else (16, 24, 32)
    if mode not in MODES:
        raise wrong(ValueError, f"{what[:3]}_mode", f"one of {', '.join(MODES)}", repr(mode))
    if not isinstance(key, bytes) or len(key) not in lengths:
        expected = f"bytes, {' or '.join(map(str, lengths))} of them"
        raise wrong(ValueError, what, expected, f"{type(key).__name__} of length {_length(key)}")


def _length(key) -> object:
    return len(key) if hasattr(key, "__len__") else "none"


def encrypt(data: bytes, key: bytes, mode: str) -> Iterator[bytes]:
    """The blocks that hold these bytes."""
    for start in range(0, len(data) or 1, MOST_BYTES_OF_BLOCK):
        yield _block(data[start : start + MOST_BYTES_OF_BLOCK], key, mode)


def is_encrypted(data) -> bool:
    """Whether bytes begin as an encrypted file does."""
    return int.from_bytes(data[:4], "little") in MODES.values() and len(data) > 4


def decrypt(data, key: bytes, mode: str, path=None) -> bytes:
    """What was encrypted.

    Raises:
        ValueError: the key or the mode is another one, or the file is damaged.
    """
    tag_bytes = _TAG_BYTES if mode == "AES-GCM" else 0
    pieces, position = [], 0
    while position < len(data):
        magic, position = _number(data, position, path)
        if magic != MODES[mode]:
            raise ValueError(WRONG_KEY.format(path=path))
        tag, position = _bytes(data, position, tag_bytes, path)
        _, position = _number(data, position, path)
        size, position = _number(data, position, path)
        vector, position = _bytes(data, position, size, path)
        size, position = _number(data, position, path)
        hidden, position = _bytes(data, position, size, path)
        pieces.append(_opened(hidden, tag, vector, key, mode, path))
    return b"".join(pieces)


def _block(data: bytes, key: bytes, mode: str) -> bytes:
    vector = os.urandom(_VECTOR_BYTES)
    cipher: Any = _cipher(key, mode, vector).encryptor()
    hidden = cipher.update(data if mode == "AES-GCM" else _padded(data)) + cipher.finalize()
    tag = cipher.tag if mode == "AES-GCM" else b""
    inner = _four(len(vector)) + vector + _four(len(hidden)) + hidden
    return _four(MODES[mode]) + tag + _four(len(inner)) + inner


def _opened(hidden: bytes, tag, vector, key, mode, path) -> bytes:
    cipher = _cipher(key, mode, vector, tag or None).decryptor()
    try:
        data = cipher.update(hidden) + cipher.finalize()
    except Exception as error:
        if came_from_outside(error):
            raise
        raise ValueError(WRONG_KEY.format(path=path)) from None
    if mode == "AES-GCM":
        return data
    count = data[-1] if data else 0
    if not 1 <= count <= _VECTOR_BYTES or data[-count:] != bytes([count]) * count:
        raise ValueError(WRONG_KEY.format(path=path))
    return data[:-count]


def _padded(data: bytes) -> bytes:
    count = _VECTOR_BYTES - len(data) % _VECTOR_BYTES
    return data + bytes([count]) * count


def _cipher(key: bytes, mode: str, vector: bytes, tag: bytes | None = None):
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise ImportError(NOT_INSTALLED) from None
    kind, _, way = mode.partition("-")
    algorithm = getattr(algorithms, kind)(key)
    used = modes.GCM(vector[:_GCM_BYTES], tag) if way == "GCM" else modes.CBC(vector)
    return Cipher(algorithm, used)


def _four(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _number(data, position: int, path) -> tuple[int, int]:
    content, position = _bytes(data, position, 4, path)
    return int.from_bytes(content, "little"), position


def _bytes(data, position: int, size: int, path) -> tuple[bytes, int]:
    if position + size > len(data):
        raise damaged(path, "it ends too early")
    return bytes(data[position : position + size]), position + size
