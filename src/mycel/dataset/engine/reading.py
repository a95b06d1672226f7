# SPDX-License-Identifier: Apache-2.0
"""What cannot be read is one clear error, which names the file, and the line where it has lines."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

from mycel.kernel.base.signals import came_from_outside

UNREADABLE = "{dataset}: {where} cannot be read: {reason}."


@contextlib.contextmanager
def reading(dataset: str, path, line: int | None = None) -> Iterator[None]:
    """A block that reads a file, whose errors name it; those that say so already stay.

    Args:
        dataset: how errors call what reads.
        line: from 1; None looks for the line whose bytes are no text.

    Raises:
        RuntimeError: whatever went wrong in the block.

    Example:
        >>> from mycel.dataset.engine.reading import reading
        >>> path = getfixture("tmp_path") / "a.txt"
        >>> _ = path.write_bytes(b"one\\n\\xff\\n")
        >>> with reading("It", path):
        ...     path.read_text("utf-8")
        Traceback (most recent call last):
        RuntimeError: It: line 2 of ... cannot be read: UnicodeDecodeError: ...
    """
    try:
        yield
    except (RuntimeError, ImportError):
        raise
    except Exception as error:
        if came_from_outside(error):
            raise
        if line is None and isinstance(error, UnicodeDecodeError):
            line = _undecodable(path)
        where = path if line is None else f"line {line} of {path}"
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        text = UNREADABLE.format(dataset=dataset, where=where, reason=reason)
        raise RuntimeError(text) from error


def _undecodable(path) -> int | None:
    """The first line that is no UTF-8."""
    if not pathlib.Path(path).is_file():
        return None
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None
