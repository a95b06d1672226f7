# SPDX-License-Identifier: Apache-2.0
"""Operators that Cells run, for those who capture or patch what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mycel.debug.paths import NOT_CALLED, Calls, Target, expression_of, times
from mycel.kernel.base.places import user_place
from mycel.nn.cell import Cell
from mycel.nn.operator_hooks import OperatorHandle, watch_operators


class Watched:
    """The operators of one Cell that targets mean: the hook, which is told of each.

    Args:
        told: given the target, the call of the Cell, the operator's name and number in that call,
            and what it gave; what it returns takes the place of that.
    """

    def __init__(self, cell: Cell, targets: list[Target], calls: Calls, told: Callable):
        self.cell = cell
        self.targets = targets
        # The operators that the Cell ran, with the most of that name in one call of it, and the
        # patterns that meant one.
        self.names: dict[str, int] = {}
        self.met: set[str] = set()
        self._calls = calls
        self._told = told
        self._expressions = [expression_of(target.operator) for target in targets]

    def wants(self, name: str, number: int) -> bool:
        """Whether a target means an operator, in some call of the Cell."""
        if number > self.names.get(name, 0):
            self.names[name] = number
        return any(target.number in (None, number) for target in self._of(name))

    def _of(self, name: str) -> list[Target]:
        pairs = zip(self.targets, self._expressions, strict=True)
        return [target for target, expression in pairs if expression.fullmatch(name)]

    def means(self, pattern: str) -> bool:
        """Whether a pattern is of this Cell."""
        return any(target.pattern == pattern for target in self.targets)

    def most_calls(self) -> int:
        """How often the Cell was called in one call of the network, as far as a target meant an
        operator of it."""
        path = self.targets[0].path
        numbers = [
            number
            for name, number in self._calls.most.items()
            if isinstance(name, tuple) and name[0] == path
        ]
        return max(numbers, default=1)

    def __call__(self, cell: Cell, name: str, number: int, output):
        self._calls.begins()
        call = self._calls.number((self.targets[0].path, name, number))
        returned = None
        for target in self._of(name):
            if target.is_at(call, number):
                self.met.add(target.pattern)
                changed = self._told(target, call, name, number, output)
                if changed is not None:
                    returned = output = changed
        return returned


def watched(targets: Iterable[Target], calls: Calls, told: Callable) -> list[Watched]:
    """What watches the operators that targets mean, one for each Cell."""
    by_cell: dict[str, list[Target]] = {}
    for target in targets:
        if target.operator:
            by_cell.setdefault(target.path, []).append(target)
    return [Watched(several[0].cell, several, calls, told) for several in by_cell.values()]


def begin(watches: list[Watched]) -> list[OperatorHandle]:
    """Begin to watch; the handles end it."""
    return [watch_operators(watch.cell, watch) for watch in watches]


def check_met(watches: list[Watched]) -> None:
    """Raise if a pattern met no operator.

    Raises:
        ValueError: it names the operators that the Cells do run, if one was called.
    """
    met = {pattern for watch in watches for pattern in watch.met}
    ran: dict[str, dict[str, int]] = {}
    for watch in watches:
        for target in watch.targets:
            if target.pattern not in met:
                ran.setdefault(target.pattern, {}).update(watch.names)
    for pattern, names in ran.items():
        if not names:
            raise ValueError(NOT_CALLED.format(pattern=pattern, place=user_place(2)))
        told = [f"{name!r}" + (f" {n} times" if n > 1 else "") for name, n in names.items()]
        calls = ""
        if "#" in pattern.partition(":")[0]:
            most = max(watch.most_calls() for watch in watches if watch.means(pattern))
            calls = f", and are called {times(most)} in one call of the network"
        raise ValueError(
            f"No operator was at {pattern!r} (at {user_place(2)}); the Cells that it means "
            f"run {', '.join(told)}{calls}."
        )
