# SPDX-License-Identifier: Apache-2.0
"""Indices of a program: looked at before it runs where they come from outside, and by a flag where
it makes them itself.

An index that is an input, perhaps in another shape, is looked at by NumPy before the program is
launched, which waits for nothing. For all others the program has one more output: whether any of
them was wrong. Either way the program's results are dropped, and the record runs operator by
operator (`execute.fused`), where the wrong one is found and named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import OutOfRangeError
from mycel.kernel.base.structure import structure
from mycel.kernel.define.bounds import LEAST, MOST, Bounds, Shares
from mycel.kernel.define.op import Signature
from mycel.kernel.record.tensor import point
from mycel.kernel.record.value import Poison, Value, value_of

INTEGERS = frozenset("iu")


class Tripped(Exception):
    """A program was given a wrong index, or made one: it has no results."""


class Indices(NamedTuple):
    """The indices of one program.

    Attributes:
        outside: those that come from outside: which input, and what it may hold.
        inside: those that the program makes: the slot, and what it may hold.
    """

    outside: tuple[tuple[int, Bounds], ...]
    inside: tuple[tuple[int, Bounds], ...]

    def look(self, arrays: Sequence) -> None:
        """Look at the inputs.

        Raises:
            Tripped: one is wrong.
        """
        for position, bounds in self.outside:
            array = arrays[position]
            if array is not None and bounds.offence(array) is not None:
                raise Tripped

    @staticmethod
    def look_behind(flag) -> None:
        """Look at the flag of a program that was launched, and wait for it.

        Raises:
            Tripped: an index that it made is wrong.
        """
        if np.asarray(flag):
            raise Tripped

    def flag(self, at):
        """Whether any index that the program made is wrong; `at` finds an array by its slot."""
        wrong = [jnp.any(bounds.wrong(at(slot))) for slot, bounds in self.inside]
        return jnp.any(jnp.stack(wrong))


def indices_of(nodes) -> Indices | None:
    """The indices of a program, if any are to be looked at.

    Args:
        nodes: those of `execute.compile.decode`.
    """
    # By slot: the slot of what has the same elements in another shape or type, as far as these are
    # between two numbers.
    origins: dict[int, tuple[int, int, int]] = {}
    outside: dict[tuple[int, Bounds], None] = {}
    inside: dict[tuple[int, Bounds], None] = {}
    # Slots of what certainly lies between 0 and 1.
    shares: set[int] = set()
    for node in nodes:
        signature = node.signature
        op = signature.op
        if op.gives_shares or (op.rearranges and node.inputs[0] in shares):
            shares.add(node.first)
        if _keeps_integers(signature):
            slot, least, most = origins.get(node.inputs[0], (node.inputs[0], LEAST, MOST))
            held = np.iinfo(signature.aval.numpy)
            origins[node.first] = slot, max(least, int(held.min)), min(most, int(held.max))
        for bounds in signature.bounds:
            slot = node.inputs[bounds.position]
            if slot in shares and isinstance(bounds, Shares):
                continue
            origin, least, most = origins.get(slot, (slot, LEAST, MOST))
            if slot < 0:
                outside[-1 - slot, bounds] = None
            elif origin < 0 and bounds.fit(least, most):
                outside[-1 - origin, bounds] = None
            else:
                inside[slot, bounds] = None
    return Indices(tuple(outside), tuple(inside)) if outside or inside else None


def _keeps_integers(signature: Signature) -> bool:
    """Whether a node gives the integers that it is given, in another shape or type."""
    if not signature.op.rearranges:
        return False
    return {signature.inputs[0].numpy.kind, signature.aval.numpy.kind} <= INTEGERS


# -- what becomes of assignments ----------------------------------------------------------------


def has_wrong_index(result) -> bool:
    """Whether an operator failed of a wrong index, itself or one that it depends on."""
    return result.__class__ is Poison and isinstance(result.cause, OutOfRangeError)


def slots_assigned(assigned: list, failed: int) -> tuple[int, ...]:
    """The slots of what handles had in front of a node, of those assigned behind it."""
    return tuple({had for _, had, _ in assigned if isinstance(had, int) and had < failed})


def take_back(assigned: list, failed: int, arrays: dict[int, Any]) -> None:
    """Take back the assignments recorded behind a node that failed: as if it had run at once,
    they do not happen.

    Args:
        assigned: those of the segment.
        failed: the slot of its first output.
        arrays: the array of each of the `slots_assigned`.
    """
    for handle_of, had, outputs in reversed(assigned):
        handle = handle_of()
        if handle is None or outputs <= failed:
            continue
        if isinstance(had, int) and had not in arrays:
            continue  # an assignment in front of this one has what is wanted
        value = had if isinstance(had, Value) else value_of(arrays[had])
        if handle._value.aval is not value.aval:
            structure.changes += 1
        point(handle, value)
