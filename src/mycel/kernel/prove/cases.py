# SPDX-License-Identifier: Apache-2.0
"""Case: the Python state in which a call went its way. While it is so again, it goes it again."""

from __future__ import annotations

from collections.abc import Callable

from mycel.kernel.base.places import Place
from mycel.kernel.base.structure import structure
from mycel.kernel.prove.guards import Guards
from mycel.kernel.prove.notes import hooks_of
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import Referent, Source, TooLarge, changes, put_back, same_plain
from mycel.kernel.record.generator import Generator, default_generator
from mycel.kernel.record.tensor import Tensor


class Case:
    """What a call found: Cells with their structure, hooks on Tensors, and all that code read;
    apart from it what sites `left` for the code behind them.

    Attributes:
        guards: what must be as it was before the call; `unset` is without what sites set.
        behind_sites: what must be as it was behind each site.

    Args:
        reads: the Python state that the call read; None if nothing watched.
        cells: the Cells that were met.
        hook_owners: Tensors from outside whose hooks were asked for.
        changes: the count of changes when the call began.
        now: the count at present, or one that can never come (see execute.store.Entering).
        generator: that of the thread, if the call drew from it.
    """

    def __init__(
        self,
        reads: Reads | None,
        cells,
        hook_owners: list[Tensor],
        changes: int,
        now: Callable[[], int],
        generator: Generator | None,
    ):
        self._generator = generator
        self.guards = Guards([*reads.sources.values()] if reads is not None else [])
        self.left = reads.all_left if reads is not None else []
        # Fields of Cells that sites set.
        self._set: set[tuple] = set()
        self.unset = self.guards
        self.behind_sites: list[Guards] = []
        self._references: list[Referent] = []
        if reads is not None:
            self._set = {key[1:] for key in reads.set_by_sites}
            if reads.set_by_sites:
                self.unset = Guards(reads.behind_sites())
            self._references = self.unset.references() if reads.changed_behind else []
            self.behind_sites = [self.unset.with_others(some) for some in reads.changed_behind]
        self.cells = self._with_children(cells)
        self._hook_owners = [(handle, hooks_of(handle)) for handle in hook_owners]
        self._flags = structure.flags
        self._now = now
        self._changes = now() if changes != structure.changes else changes

    def hold(self) -> bool:
        """Whether all is as it was."""
        if self._changes != structure.changes and not self.is_current():
            return False
        if self._generator is not None and default_generator() is not self._generator:
            return False
        return self.guards.hold()

    def is_current(self) -> bool:
        """Whether Cells, Parameters and hooks are as they were, but for what sites set."""
        if self._changes == structure.changes:
            return True
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

    def kept_alive(self) -> list:
        """The objects that were met, which sites may drop: see `set_back`."""
        return [reference() for reference in self._references]

    def note_behind(self, again: list, arguments: list[Source]) -> Source | None:
        """Note Python's state behind each site of a replay that is broken off: each of them, when
        it is done again, sets its own (see Done). Gives what cannot be noted."""
        sources = [*self.unset.sources, *arguments]
        changed = {source.identity() for source in changes(sources)}
        if not changed and all(state is self.unset for state in self.behind_sites):
            return None
        states = [[*guards.sources, *arguments] for guards in self.behind_sites[: len(again)]]
        for index, source in enumerate(sources):
            is_changed = source.identity() in changed
            try:
                states[-1][index] = source.as_it_is() if is_changed else source
            except TooLarge:
                return source
        again[:] = [done._replace(state=state) for done, state in zip(again, states, strict=True)]
        return None

    def set_back(self, arguments: list[Source]) -> Source | None:
        """Let a call that goes on find Python's state as it was before the sites of a replay. Gives
        what cannot be set back."""
        return put_back([*self.unset.sources, *arguments])

    def missed(self) -> tuple[str, Place | None]:
        """What is another now, in words, and the line that read it, if one did."""
        source = self.guards.missed()
        if source is not None:
            return source.change(), source.place
        if self._generator is not None and default_generator() is not self._generator:
            return "random numbers are drawn in another thread, or from another generator", None
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
        members: dict[int, tuple] = {}
        for cell in cells:
            for _, member in cell.cells_and_names():
                if id(member) not in members:
                    members[id(member)] = (member, member._cell_version, member._form(self._set))
        return list(members.values())


def _same_form(before: tuple, now: tuple) -> bool:
    return len(before) == len(now) and all(
        a is b or same_plain(a, b) for a, b in zip(before, now, strict=True)
    )
