# SPDX-License-Identifier: Apache-2.0
"""Cells and their operators by path: `blocks.*.att`, `**:relu`, as one names files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mycel.kernel.base.places import user_place
from mycel.kernel.record.stream import current_stream
from mycel.nn.cell import Cell

# So many paths or operators are named when a pattern matches none.
MOST_NAMED = 5
NOT_CALLED = "{pattern!r} met nothing (at {place}): no Cell that it means was called in the block."
_PATTERN = re.compile(r"([^:#]*)(?:#(\d+))?(?:(:)([^:#]+)(?:#(\d+))?)?")


class Target(NamedTuple):
    """What one pattern means in one Cell.

    Attributes:
        pattern: as it was written.
        path, cell: of the Cell.
        call: which call of the Cell, from 1 on; None: every one.
        operator: the pattern of its operators' names; empty for the Cell itself.
        number: which of those operators in one call; None: every one.
    """

    pattern: str
    path: str
    cell: Cell
    call: int | None
    operator: str
    number: int | None

    def is_at(self, call: int, number: int = 1) -> bool:
        """Whether it means this call of the Cell, and this of the operators."""
        return self.call in (None, call) and self.number in (None, number)

    def named(self) -> str:
        """The target in the place of the pattern, which may mean others too."""
        call = f"#{self.call}" if self.call else ""
        number = f"#{self.number}" if self.number else ""
        return f"{self.path}{call}" + (f":{self.operator}{number}" if self.operator else "")


def targets_of(net: Cell, patterns: Iterable[str]) -> list[Target]:
    """What patterns mean in a network: by pattern, in the order of the network.

    In a pattern `*` stands for any part of one name and `**` for any number of names; the network
    itself is the empty path. `path#2` is the second call of a Cell in one call of the network,
    `path:relu` the operators of that name that the Cell itself runs, `path:relu#2` the second.

    Raises:
        TypeError: no Cell, or a pattern that is no text.
        ValueError: a pattern matches no Cell, or is none.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"A Cell is needed, not {type(net).__name__} (at {user_place(2)}).")
    paths = dict(net.cells_and_names())
    targets: list[Target] = []
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(
                f"The path of a Cell is text, as 'blocks.*.att', not {type(pattern).__name__} "
                f"(at {user_place(2)})."
            )
        parts = _PATTERN.fullmatch(pattern)
        if parts is None or "0" in (parts[2], parts[5]):
            raise ValueError(
                f"{pattern!r} is no pattern (at {user_place(2)}): write a path, as 'blocks.*.att', "
                "'blocks.0.att#2' for its second call, 'blocks.*.att:softmax' for operators that "
                "it runs, or 'blocks.0:matmul#2' for the second of them."
            )
        path, call, _, operator, number = parts.groups()
        expression = expression_of(path)
        # The network itself is none of those that `*` means.
        hits = [name for name in paths if expression.fullmatch(name) and (name or path != "*")]
        if not hits:
            near = difflib.get_close_matches(path, paths, MOST_NAMED, 0.3)
            near = near or [name for name in paths if name][:MOST_NAMED]
            there = f"there is {', '.join(map(repr, near))}" if near else "it has no Cells inside"
            raise ValueError(
                f"No Cell of {type(net).__name__} is at {path!r} (at {user_place(2)}); {there}."
            )
        which = int(call) if call else None, operator or "", int(number) if number else None
        targets += [Target(pattern, name, paths[name], *which) for name in hits]
    return targets


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


class Calls:
    """How often what has a name was called, in the present call of a network: one derivative, or
    one call of a compiled function, or else of the network."""

    def __init__(self):
        # The most calls in one call of the network, of all that there were.
        self.most: dict[object, int] = {}
        self._numbers: dict[object, int] = {}
        self._within: object = None
        # Whether a call of the network has begun and not ended: derivatives, maps and compiled
        # functions inside belong to it.
        self._open = False

    def follow(self, net: Cell, begins: Callable[[], Any]) -> list:
        """Hooks that tell when calls of a network begin, by `begins`, and when they end."""

        def ends(cell, args, output):
            self._open = False

        first = net.register_forward_pre_hook(lambda cell, args: begins())
        return [first, net.register_forward_hook(ends, always_call=True)]

    def begins(self, outermost: bool = False) -> bool:
        """Whether a call of the network begins, so that numbers do at 1."""
        if self._open and not outermost:
            return False
        self._open = self._open or outermost
        scope = current_stream().scope
        within = scope.capture or scope.reversing
        begins = outermost if within is None else within is not self._within
        self._within = within
        if begins:
            self._numbers.clear()
        return begins

    def number(self, name: object) -> int:
        """Which call of what has a name this is, from 1 on."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        if number > self.most.get(name, 0):
            self.most[name] = number
        return number

    def forget(self) -> None:
        """Hold nothing of the call any more."""
        self._within, self._open = None, False


def check_called(targets: Iterable[Target], most: Mapping[object, int]) -> None:
    """Raise if a pattern meant a call of Cells that never came.

    Args:
        most: how often each Cell was called in one call of the network, by path.

    Raises:
        ValueError: it names how often its Cells were called.
    """
    missed: dict[str, list[Target]] = {}
    for target in targets:
        if not target.operator:
            missed.setdefault(target.pattern, []).append(target)
    for pattern, several in missed.items():
        counts = {target.path: most.get(target.path, 0) for target in several}
        if any(counts[target.path] >= (target.call or 1) for target in several):
            continue
        path = max(counts, key=lambda path: counts[path])
        if not counts[path]:
            raise ValueError(NOT_CALLED.format(pattern=pattern, place=user_place(2)))
        told = f"{path!r} was called {times(counts[path])} in one call of the network"
        raise ValueError(f"{pattern!r} met nothing (at {user_place(2)}): {told}.")


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"
