# SPDX-License-Identifier: Apache-2.0
"""One counter of changes to what programs are made of: Cell attributes, hooks, training flags.

A remembered call compares the counter first; only when it moved does it look at the versions of
the Cells it met. `flags` counts changes that concern every remembered call (`requires_grad`),
`tensor_hooks` the hooks registered on and removed from Tensors and Parameters.
"""

from __future__ import annotations


class Structure:
    __slots__ = ("changes", "flags", "tensor_hooks")

    def __init__(self):
        self.changes = 0
        self.flags = 0
        self.tensor_hooks = 0


structure = Structure()


def changed_everywhere() -> None:
    """Note a change that no single Cell owns."""
    structure.changes += 1
    structure.flags += 1
