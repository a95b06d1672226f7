# SPDX-License-Identifier: Apache-2.0
"""A text file whose lines have numbers."""

from __future__ import annotations

import pathlib

import numpy as np

from mycel.dataset.engine.reading import reading
from mycel.kernel.base.errors import wrong


class LineReader:
    """The lines of a text file, by their numbers from 1.

    Args:
        filename: a path.

    Raises:
        TypeError: it is no text.
        RuntimeError: there is no such file.

    Example:
        >>> path = getfixture("tmp_path") / "a.txt"
        >>> _ = path.write_text("one\\ntwo\\n")
        >>> reader = ds.LineReader(str(path))
        >>> reader.readline(2), reader.len()
        ('two', 2)
        >>> reader.close()
    """

    def __init__(self, filename: str):
        self._file = None
        if not isinstance(filename, str):
            raise wrong(TypeError, "LineReader: filename", "a text", repr(filename))
        self.filename = filename
        if not pathlib.Path(filename).is_file():
            raise wrong(RuntimeError, "LineReader: filename", "a file that exists", filename)
        with open(filename, "rb") as file:
            lengths = [len(line) for line in file]
        self.offsets = np.cumsum([0, *lengths])[:-1].tolist()

    def readline(self, line: int) -> str:
        """A line without its end.

        Raises:
            TypeError, ValueError: there is no such line.

        Example:
            >>> path = getfixture("tmp_path") / "a.txt"
            >>> _ = path.write_text("one\\n")
            >>> ds.LineReader(str(path)).readline(1)
            'one'
        """
        if isinstance(line, bool) or not isinstance(line, int):
            raise wrong(TypeError, "readline: line", "an integer", repr(line))
        if not 1 <= line <= len(self.offsets):
            raise wrong(ValueError, "readline: line", f"from 1 to {len(self.offsets)}", line)
        if self._file is None:
            self._file = open(self.filename, "rb")  # noqa: SIM115 (closed by close)
        self._file.seek(self.offsets[line - 1])
        with reading("LineReader", self.filename, line):
            return self._file.readline().decode("utf-8").rstrip("\n").rstrip("\r")

    __getitem__ = readline

    def len(self) -> int:
        """How many lines there are.

        Example:
            >>> path = getfixture("tmp_path") / "a.txt"
            >>> _ = path.write_text("one\\n")
            >>> ds.LineReader(str(path)).len()
            1
        """
        return len(self.offsets)

    def __len__(self) -> int:
        return self.len()

    def close(self) -> None:
        """Close the file; the next `readline` opens it again.

        Example:
            >>> path = getfixture("tmp_path") / "a.txt"
            >>> _ = path.write_text("one\\n")
            >>> ds.LineReader(str(path)).close()
        """
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self):
        self.close()
