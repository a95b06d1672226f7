# SPDX-License-Identifier: Apache-2.0
"""Files that change as a whole: a kill at any moment leaves the old file or the new one."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import platform
import weakref
from collections.abc import Iterator
from pathlib import Path

NO_FOLDER = "{path} cannot be written: there is no folder {folder}. Make it first (os.makedirs)."
IS_FOLDER = "{path} is a folder; give the name of a file."

_numbers = itertools.count()


class _Writer:
    """Who writes to a folder now."""


# The folders that were made and not removed: one whose writer is gone was left by an interrupt.
_folders: dict[Path, weakref.ref[_Writer]] = {}


@contextlib.contextmanager
def replaced(path: str | os.PathLike) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place when the block ends well.

    The contents reach the disk before the name does, so that this holds for a power cut too. What
    killed processes of this machine left beside `path` is removed.

    Raises:
        FileNotFoundError: there is no such folder.
        IsADirectoryError: `path` is a folder.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(IS_FOLDER.format(path=path))
    if not target.parent.is_dir():
        raise FileNotFoundError(NO_FOLDER.format(path=path, folder=target.parent))
    _remove_left(target)
    # A folder, for what the one who writes may put beside the file.
    folder = target.with_name(f"{_prefix(target)}{os.getpid()}-{next(_numbers)}.part")
    partial = folder / target.name
    writer = _Writer()
    _folders[folder] = weakref.ref(writer)
    try:
        folder.mkdir()
        partial.touch()
        mode = partial.stat().st_mode
        yield partial
        partial.chmod(mode)  # who writes may have made another file of it, for its eyes alone
        _to_disk(partial)
        os.replace(partial, target)
    finally:
        _remove(folder)
    _to_disk(target.parent)


def _prefix(target: Path) -> str:
    name = os.fsencode(target.name)
    # File systems take 255 bytes.
    short = target.name if len(name) <= 128 else hashlib.sha256(name).hexdigest()
    return f".{short}.{platform.node()}-"


def _remove_left(target: Path) -> None:
    """Remove the folders of partial files that nobody writes any more."""
    for folder in target.parent.glob(f"{_escaped(_prefix(target))}*.part"):
        process = folder.name.removeprefix(_prefix(target)).partition("-")[0]
        if process.isdigit() and not _lives(int(process)):
            _remove(folder)
    for folder, writer in tuple(_folders.items()):
        if writer() is None:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder of files, as far as it can be. `shutil.rmtree` keeps the folder open, and an
    interrupt there ends in another error."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    _folders.pop(folder, None)


def _escaped(name: str) -> str:
    """A name in which no character is a wildcard of `glob`."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _lives(process: int) -> bool:
    if os.name == "nt":  # `kill` would end it there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _to_disk(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # folders cannot be opened there
        return
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
