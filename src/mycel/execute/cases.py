# SPDX-License-Identifier: Apache-2.0
"""Case: the Python state in which a call went its way. While it is so again, it goes it again."""

from __future__ import annotations

from collections.abc import Callable

from mycel.base.places import Place
from mycel.base.structure import structure
from mycel.execute.notes import hooks_of
from mycel.execute.reads import Reads
from mycel.execute.sources import Guards, same_plain
from mycel.record.tensor import Tensor


class Case:
    """What a call found: Cells with their structure, hooks on Tensors, and all that code read;
    apart from it what sites `left` for the code behind them.

    Args:
        reads: the Python state that the call read; None if nothing watched.
        cells: the Cells that were met.
        hook_owners: Tensors from outside whose hooks were asked for.
        changes: the count of changes when the call began.
        now: the count at present, or one that can never come (see Memory.count_of_changes).
    """

    def __init__(
        self,
        reads: Reads | None,
        cells,
        hook_owners: list[Tensor],
        changes: int,
        now: Callable[[], int],
    ):
        self.guards = Guards([*reads.sources.values()] if reads is not None else [])
        self.left = reads.all_left if reads is not None else []
        self._behind_sites = self.guards
        # Fields of Cells that sites set.
        self._set: set[tuple] = set()
        if reads is not None and reads.set_by_sites:
            self._behind_sites = Guards(reads.behind_sites())
            self._set = {key[1:] for key in reads.set_by_sites}
        self.cells = self._with_children(cells)
        self._hook_owners = [(handle, hooks_of(handle)) for handle in hook_owners]
        self._flags = structure.flags
        self._now = now
        self._changes = now() if changes != structure.changes else changes

    def hold(self) -> bool:
        """Whether all is as it was."""
        if self._changes != structure.changes and not self._is_current():
            return False
        return self.guards.hold()

    def hold_behind_sites(self) -> bool:
        """Whether all is as it was, but for what the sites of a replay set by now."""
        if self._changes != structure.changes and not self._is_current():
            return False
        return self._behind_sites.hold()

    def _is_current(self) -> bool:
        if self._flags != structure.flags:
            return False
        for index, (cell, version, form) in enumerate(self.cells):
            if cell._cell_version != version:
                if not _same_form(form, cell._form(self._set)):
                    return False
                self.cells[index] = (cell, cell._cell_version, form)
        if any(hooks_of(handle) != hooks for handle, hooks in self._hook_owners):
            return False
        self._changes = self._now()
        return self._changes == structure.changes

    def missed(self) -> tuple[str, Place | None]:
        """What is another now, in words, and the line that read it, if one did."""
        source = self.guards.missed()
        if source is not None:
            return source.change(), source.place
        for cell, _, form in self.cells:
            if not _same_form(form, cell._form(self._set)):
                return f"a {type(cell).__name__} was changed", None
        return "a Parameter or hook was changed", None

    def settle(self) -> None:
        """Take what the sites of a replay changed, which is what is remembered, as the present."""
        if self._changes != structure.changes:
            self.cells = self._with_children([cell for cell, *_ in self.cells])
            self._hook_owners = [(handle, hooks_of(handle)) for handle, _ in self._hook_owners]
            self._flags = structure.flags
            self._changes = self._now()

    def _with_children(self, cells) -> list[tuple]:
        """Cells and all their descendants with their versions and forms."""
        found: dict[int, tuple] = {}
        for cell in cells:
            for _, member in cell.cells_and_names():
                if id(member) not in found:
                    found[id(member)] = (member, member._cell_version, member._form(self._set))
        return list(found.values())


def _same_form(before: tuple, now: tuple) -> bool:
    return len(before) == len(now) and all(
        a is b or same_plain(a, b) for a, b in zip(before, now, strict=True)
    )
