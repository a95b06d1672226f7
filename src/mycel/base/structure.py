# SPDX-License-Identifier: Apache-2.0
"""One counter of changes to what programs are made of: Cell attributes, hooks, training flags.

A remembered call compares the counter first; only when it moved does it look at the versions of
the Cells it met. `flags` counts changes that concern every remembered call (`requires_grad`).
"""

from __future__ import annotations


class Structure:
    __slots__ = ("changes", "flags")

    def __init__(self):
        self.changes = 0
        self.flags = 0


structure = Structure()


def changed_everywhere() -> None:
    """Note a change that no single Cell owns."""
    structure.changes += 1
    structure.flags += 1
