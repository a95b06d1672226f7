# SPDX-License-Identifier: Apache-2.0
"""Places in the user's code: found cheaply while recording, spelled out only when needed."""

from __future__ import annotations

import itertools
import os
import sys
from types import CodeType
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
ours: set[str] = set()
theirs: set[str] = set()


def path_of(called: tuple | None) -> str:
    """The path of attributes to a Cell being called, as `Net.block.conv1`; empty for none.

    Args:
        called: the Cell and those around it as links `(cell, the link around it)`.
    """
    cells = []
    while called is not None:
        cell, called = called
        cells.append(cell)
    cells.reverse()
    names = [type(cell).__name__ for cell in cells[:1]]
    for parent, child in itertools.pairwise(cells):
        # Containers stand between the two, but are not called.
        inside = (name for name, cell in parent.cells_and_names() if cell is child)
        names.append(next(inside, type(child).__name__))
    return ".".join(names)


class Place(NamedTuple):
    """A code object and an instruction in it; never a frame, which would keep locals alive.

    `called` says which Cell was being called (see `path_of`).
    """

    code: CodeType | None
    instruction: int
    called: tuple | None = None

    @property
    def line(self) -> int:
        if self.code is None:
            return 0
        last = self.code.co_firstlineno
        for start, end, line in self.code.co_lines():
            if start <= self.instruction < end and line is not None:
                return line
            if line is not None and start <= self.instruction:
                last = line
        return last

    def __str__(self):
        if self.code is None:
            return "an unknown place"
        path = path_of(self.called)
        return f"{self.code.co_filename}:{self.line}" + (f" (in {path})" if path else "")


NOWHERE = Place(None, 0)


def is_ours(filename: str) -> bool:
    """Whether a source file belongs to the machine, so that errors point past it."""
    if filename in ours:
        return True
    if filename in theirs:
        return False
    known = filename.startswith((PACKAGE, "<mycel"))
    (ours if known else theirs).add(filename)
    return known


def user_place(depth: int = 1) -> Place:
    """The nearest caller outside the package."""
    frame = sys._getframe(depth)
    while frame is not None:
        if not is_ours(frame.f_code.co_filename):
            return Place(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return NOWHERE
