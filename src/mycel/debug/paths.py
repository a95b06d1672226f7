# SPDX-License-Identifier: Apache-2.0
"""Cells by path: `blocks.*.att`, as one names files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from mycel.kernel.base.places import user_place
from mycel.nn.cell import Cell

# So many paths are named when a pattern matches none.
MOST_NAMED = 5


def cells_at(net: Cell, patterns: Iterable[str]) -> dict[str, Cell]:
    """The Cells of a network whose paths match, by path, in the order of the network.

    In a pattern `*` stands for any part of one name and `**` for any number of names; the network
    itself is the empty path.

    Raises:
        TypeError: no Cell, or a pattern that is no text.
        ValueError: a pattern matches no Cell.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"A Cell is needed, not {type(net).__name__} (at {user_place(2)}).")
    paths = dict(net.cells_and_names())
    matching: dict[str, None] = {}
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(
                f"The path of a Cell is text, as 'blocks.*.att', not {type(pattern).__name__} "
                f"(at {user_place(2)})."
            )
        expression = expression_of(pattern)
        # The network itself is none of those that `*` means.
        hits = [path for path in paths if expression.fullmatch(path) and (path or pattern != "*")]
        if not hits:
            near = difflib.get_close_matches(pattern, paths, MOST_NAMED, 0.3)
            near = near or [path for path in paths if path][:MOST_NAMED]
            raise ValueError(
                f"No Cell of {type(net).__name__} is at {pattern!r} (at {user_place(2)}); there "
                f"is {', '.join(map(repr, near))}."
            )
        matching.update(dict.fromkeys(hits))
    return {path: paths[path] for path in paths if path in matching}


def expression_of(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern."""
    pieces = re.split(r"(\*\*\.?|\*|\?)", pattern)
    text = ""
    for piece in pieces:
        if piece == "**.":
            text += r"(?:[^.]+\.)*"
        elif piece == "**":
            text += r".*"
        elif piece == "*":
            text += r"[^.]*"
        elif piece == "?":
            text += r"[^.]"
        else:
            text += re.escape(piece)
    return re.compile(text)
