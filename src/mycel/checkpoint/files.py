# SPDX-License-Identifier: Apache-2.0
"""Reading and writing checkpoint files of either format; the format of a file is read from it."""

from __future__ import annotations

import difflib
import io
import mmap
import os
from collections.abc import Callable

from mycel.checkpoint import ckpt_format, encryption, safetensors_format
from mycel.checkpoint.contents import Contents, damaged
from mycel.checkpoint.sharded import slice_files
from mycel.checkpoint.sharded.slices import is_index
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.nn.cell import Cell

FORMATS = ("ckpt", "safetensors")
MISSING = "There is no checkpoint file {path} (at {place}){near}."
FOLDER = "{path} is a folder, and not a checkpoint file (at {place})."
ENCRYPTED = "{path} is encrypted: give dec_key (and dec_mode, if it is not 'AES-GCM')."
NOT_ENCRYPTED = "{path} is not encrypted, but a dec_key was given. Leave it out."
EMPTY = (
    "{path} is empty: no Parameter was saved to it, or writing it was broken off. "
    "Nothing was loaded."
)


def check_format(format) -> None:
    """Raise unless this names a format.

    Raises:
        ValueError: it does not name a format.
    """
    if format not in FORMATS:
        raise wrong(ValueError, "The format of a checkpoint", "'ckpt' or 'safetensors'", format)


def write(path, contents: Contents, format: str, checksum=False, key=None, mode="AES-GCM") -> None:
    """Write contents to a file, which changes as a whole."""
    with replaced(path) as partial:
        if format == "safetensors":
            safetensors_format.write(partial, contents, {})
            return
        pieces = ckpt_format.encode(contents, checksum)
        if key is not None:
            pieces = encryption.encrypt(b"".join(pieces), key, mode)
        with open(partial, "wb") as file:
            for piece in pieces:
                file.write(piece)


def check_no_key(key: bytes | None, what: str) -> None:
    """Raise if a key is given for a checkpoint in slices.

    Raises:
        ValueError: so it is.
    """
    if key is not None:
        raise wrong(ValueError, what, "None for a checkpoint in slices", "a key")


def read(
    file,
    key: bytes | None = None,
    mode: str = "AES-GCM",
    taken: Callable[[str], object] = lambda name: True,
    net: Cell | None = None,
) -> Contents:
    """What a checkpoint file holds; arrays share the memory of the file.

    Args:
        file: its path, or an open binary file.
        taken, net: of a checkpoint in slices, which names are read, and for what.

    Raises:
        ValueError: it is missing, damaged, or encrypted with another key.
    """
    if is_index(file):
        check_no_key(key, "dec_key")
        return slice_files.read(file, taken, net)
    return _decoded(bytes_of_file(file), getattr(file, "name", file), key, mode)


def _decoded(data: memoryview, path, key, mode) -> Contents:
    if not len(data):
        raise ValueError(EMPTY.format(path=path))
    if key is not None:
        if not encryption.is_encrypted(data):
            raise ValueError(NOT_ENCRYPTED.format(path=path))
        data = memoryview(encryption.decrypt(data, key, mode, path))
    if safetensors_format.is_whole(data):
        return safetensors_format.decode(data, path)[0]
    if ckpt_format.is_whole(data):
        return ckpt_format.decode(data, path)
    if encryption.is_encrypted(data):
        raise ValueError(ENCRYPTED.format(path=path))
    raise damaged(path, "it does not begin like a .ckpt or a .safetensors file")


def bytes_of_file(file) -> memoryview:
    """The bytes of a file, mapped into memory if it has a path.

    Raises:
        ValueError: there is no such file.
    """
    if isinstance(file, (io.BufferedIOBase, io.RawIOBase)):
        return memoryview(file.read())
    path = os.fspath(file)
    if os.path.isdir(path):
        raise ValueError(FOLDER.format(path=path, place=user_place()))
    if not os.path.isfile(path):
        raise ValueError(MISSING.format(path=path, place=user_place(), near=_near(path)))
    with open(path, "rb") as opened:
        if os.path.getsize(path) == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))


def _near(path: str) -> str:
    for ending in FORMATS:
        if os.path.isfile(f"{path}.{ending}"):
            return f", but there is {path}.{ending}"
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        return f": there is no folder {folder}"
    near = difflib.get_close_matches(name, os.listdir(folder), 1)
    return f"; nearest in {folder}: {near[0]}" if near else f"; no name in {folder} is near"
