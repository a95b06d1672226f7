# SPDX-License-Identifier: Apache-2.0
"""Journal: what a site changes of the program's state while it runs, to be undone or done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Change(NamedTuple):
    """An attribute set or a hook registered: what it was in comparable form, and its way back.

    `redo` is given a function that finds the present Value for a Value of the undone call.
    """

    what: tuple
    undo: Callable[[], object]
    redo: Callable[[Callable], object]


class Journal:
    """Handles that were assigned, with the Values they had, and other changes; each in order.

    `made` has the Cells made meanwhile, by id: setting them up changes nothing that was there.
    """

    __slots__ = ("assigned", "changes", "made")

    def __init__(self):
        self.assigned: list[tuple[Any, Any]] = []
        self.changes: list[Change] = []
        self.made: dict[int, Any] = {}

    def __bool__(self):
        return bool(self.assigned or self.changes or self.made)
