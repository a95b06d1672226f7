# SPDX-License-Identifier: Apache-2.0
"""Scope: what holds for whatever a thread records, for a while."""

from __future__ import annotations

from mycel.kernel.record.journal import Journal
from mycel.kernel.record.value import Observer


class Walk:
    """Where walks over tapes are.

    Attributes:
        at: name and place of the operator whose reverse calls Python, or None.
    """

    at: tuple | None = None


class Scope:
    """What holds for whatever is recorded. It is never changed: a stream has another for a while.

    Attributes:
        capture: what observes the record: the call being remembered, the replay of a site, or a
            map over rows; else None.
        tape: nodes `(op, inputs, outputs, place)` while a derivative is being taken, else None.
        hooks: reverse hooks by id of the Value, while a derivative is open.
        depth: how many derivatives are open; `floor`: how many of them have no tape any more where
            a site runs, which has one of its own.
        complete: whether the tape must suffice to record everything again (see record.marker).
        journal: what a site changes of the program's state while it runs; else None.
        reversing: where the walks over tapes are, while a derivative is open.
        replaced: handles that were assigned to, with the Values they had before, while a derivative
            asks for the Parameters that are used; else None.
        traced: whether JAX traces what is recorded here: operators are then parts of its program.
        plain: whether Graph mode remembers nothing here: what would be is in vain for now.
    """

    __slots__ = (
        "capture",
        "complete",
        "depth",
        "floor",
        "hooks",
        "journal",
        "plain",
        "replaced",
        "reversing",
        "tape",
        "traced",
    )

    def __init__(
        self,
        capture: Observer | None = None,
        tape: list | None = None,
        hooks: dict | None = None,
        depth: int = 0,
        floor: int = 0,
        complete: bool = False,
        journal: Journal | None = None,
        reversing: Walk | None = None,
        replaced: list[tuple] | None = None,
        traced: bool = False,
        plain: bool = False,
    ):
        self.capture = capture
        self.tape = tape
        self.hooks = hooks
        self.depth = depth
        self.floor = floor
        self.complete = complete
        self.journal = journal
        self.reversing = reversing
        self.replaced = replaced
        self.traced = traced
        self.plain = plain

    def but(self, **changes) -> Scope:
        """The same with other values of some fields."""
        scope = _new_scope(Scope)
        scope.capture = self.capture
        scope.tape = self.tape
        scope.hooks = self.hooks
        scope.depth = self.depth
        scope.floor = self.floor
        scope.complete = self.complete
        scope.journal = self.journal
        scope.reversing = self.reversing
        scope.replaced = self.replaced
        scope.traced = self.traced
        scope.plain = self.plain
        for name, value in changes.items():
            setattr(scope, name, value)
        return scope

    def differentiating(self) -> Scope:
        """One more derivative is open; a site keeps a tape of its own, which goes on."""
        return Scope(
            self.capture,
            [] if self.tape is None else self.tape,
            self.hooks if self.depth else {},
            self.depth + 1,
            self.floor,
            self.complete,
            self.journal,
            self.reversing or Walk(),
            self.replaced,
            self.traced,
            self.plain,
        )

    @property
    def is_taped(self) -> bool:
        """Whether what is recorded now will be differentiated."""
        return self.tape is not None and self.depth > self.floor


_new_scope = Scope.__new__

# Where nothing is differentiated, remembered or traced.
OUTSIDE = Scope()
