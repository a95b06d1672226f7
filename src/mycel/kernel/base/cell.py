# SPDX-License-Identifier: Apache-2.0
"""What the machine asks of a Cell; `nn.Cell` is the one that answers."""

from __future__ import annotations

from collections.abc import Iterator


def of_base(base: object) -> NotImplementedError:
    """The error of a method that the classes of a base write."""
    return NotImplementedError(f"{type(base).__name__} is a base: classes of it write this.")


class CellBase:
    """The machine calls Cells, names them in errors, and asks whether they are as they were.

    Attributes:
        _cell_version: counts the changes of its members, settings and hooks.
        _begins_segment: whether its outermost call begins a new program when a derivative was
            recorded before it; an optimiser continues the step instead.
    """

    __slots__ = ()

    _cell_version: int
    _begins_segment = True

    def __call__(self, *args, **kwargs):
        """A call, with its hooks, in its mode."""
        raise of_base(self)

    def construct(self, *args, **kwargs):
        """What the network computes; its signature names the inputs of a call."""
        raise of_base(self)

    def cells_and_names(self) -> Iterator[tuple[str, CellBase]]:
        """Pairs of dotted name and Cell, this one first, each Cell once."""
        raise of_base(self)

    def _form(self, left_out=()) -> tuple:
        """What decides how it is called, to be compared one by one."""
        raise of_base(self)

    def _may_read(self, name: str) -> bool:
        """Whether code of ours may read an attribute of it."""
        raise of_base(self)

    def _in_short(self) -> str:
        """Its class and sizes in short, for messages: `Dense(13 → 12)`."""
        raise of_base(self)

    def _of_this_package(self) -> tuple[type, frozenset[str]]:
        """Its first class of ours, and the attributes that our code may read of it."""
        raise of_base(self)
