# SPDX-License-Identifier: Apache-2.0
"""Operators of a program that are computed together, in one pass over their arrays.

XLA joins its own loops. What runs in C++ it can join neither with what follows nor, in the reverse,
with what comes before. So an operation may declare, with `continued`, that with other static
attributes it gives what another one makes of its first result.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

from mycel.kernel.define.op import Op


class Continued(NamedTuple):
    """What an operation gives when another one follows; see `continued`."""

    serves: Callable
    statics: dict[str, object]


class Joint(NamedTuple):
    """Two nodes that are computed together: the Op of both, the Op of the second one, and the slot
    between them."""

    op: Op
    follower: Op
    slot: int


class Result(NamedTuple):
    """What a slot has in place of a result of its own node: one of an Op with these inputs."""

    op: Op
    inputs: tuple[int, ...]
    number: int

    def of(self, arrays: dict[int, Any]) -> Any:
        """The result, of what is in the slots. XLA computes once what is written several times."""
        results = self.op.inlined(*[arrays[slot] for slot in self.inputs])
        return results[self.number] if isinstance(results, (tuple, list)) else results


# By the names of an operation and of what follows it.
_known: dict[tuple[str, str], Continued] = {}


def continued(operation, follower, serves: Callable, **statics) -> None:
    """Declare what an operation gives when another one follows.

    Args:
        operation: with these static attributes in place of its own, its first result is what the
            follower makes of it; its others are as before.
        follower: an operation of one array, without static attributes.
        serves: whether the inputs of the operation are such that this is faster.
    """
    names = operation.definition.name, follower.definition.name
    _known[names] = Continued(serves, statics)


def together(nodes, live) -> dict[int, Result]:
    """By slot: what is computed together with what comes before or behind it.

    Nothing is where others read what lies between the two: that has to be written anyway.

    Args:
        nodes: those of `execute.compile.decode`.
        live: the slots that are asked for.
    """
    makers = {node.first: node for node in nodes}
    pairs = [(makers[node.inputs[0]], node) for node in nodes if _follows(makers, node)]
    if not pairs:
        return {}
    readers = collections.defaultdict(list)
    for node in nodes:
        for slot in node.inputs:
            readers[slot].append(node)
    live = frozenset(live)
    found: dict[int, Result] = {}
    joints: dict[tuple, Joint] = {}
    for before, node in pairs:
        between = before.first
        alone = all(
            reader is node or _reverses(reader, node.signature.op) for reader in readers[between]
        )
        if between in live or not alone or not _serves(before, node):
            continue
        op = _joined(before.signature.op, node.signature.op)
        joints[before.signature.op, before.inputs] = Joint(op, node.signature.op, between)
        found[node.first] = Result(op, before.inputs, 0)
        for number in range(1, len(before.signature.outputs)):
            found[between + number] = Result(op, before.inputs, number)
    for node in nodes:
        back = _joined_reverse(node, makers, joints)
        if back is not None and readers[node.inputs[-1]] == [node] and node.inputs[-1] not in live:
            for number in range(len(node.signature.outputs)):
                found[node.first + number] = back._replace(number=number)
    return found


def _follows(makers, node) -> bool:
    before = makers.get(node.inputs[0]) if node.inputs else None
    return before is not None and (before.signature.op.name, node.signature.op.name) in _known


def _serves(before, node) -> bool:
    serves = _known[before.signature.op.name, node.signature.op.name].serves
    return serves(*[aval.struct for aval in before.signature.inputs])


def _joined(first: Op, second: Op) -> Op:
    """The Op of two nodes: that of the first one with other static attributes."""
    statics = _known[first.name, second.name].statics
    assert first.origin is not None
    _, definition, values, present = first.origin
    named = zip(definition.statics, values, strict=True)
    return definition.bind(*[statics.get(name, v) for name, v in named], present=present)


def _reverses(node, op: Op) -> bool:
    """Whether a node is the reverse of an Op, to the gradient of all its inputs."""
    origin = node.signature.op.origin
    return origin is not None and origin[1] is op and all(origin[2]) and all(origin[3])


def _joined_reverse(node, makers, joints) -> Result | None:
    """The reverse of a joint, where a node is that of its first part, and what it is given comes
    from that of the second one alone."""
    origin = node.signature.op.origin
    if origin is None or not isinstance(origin[1], Op):
        return None
    _, first, mask, present = origin
    joint = joints.get((first, node.inputs[: len(mask)]))
    after = makers.get(node.inputs[-1])
    if joint is None or after is None or not present[0] or any(present[1:]):
        return None
    if not _reverses(after, joint.follower) or after.inputs[0] != joint.slot:
        return None
    inputs = (*node.inputs[: len(mask)], after.inputs[1])
    return Result(joint.op.reverse(mask, present), inputs, 0)
