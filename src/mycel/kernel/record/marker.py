# SPDX-License-Identifier: Apache-2.0
"""Marker: what stands on the tape for something with a reverse of its own.

A Cell's `bprop`, the border of a Cell with backward hooks, a recomputed Cell: each is one node of
the tape. It is never executed; the operators that made its outputs are its `inner` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mycel.kernel.base.cell import of_base
from mycel.kernel.define.op import Op
from mycel.kernel.record.stream import Stream, local, record
from mycel.kernel.record.value import Value

# A copy of its input, so that what is marked has a Value of its own.
COPY = Op("copy", lambda x: x, rule=lambda inputs, outputs, given, mask: [given[0]])


class Inside:
    """Stands for a Value that a kept record does not keep (see transform.recompute)."""

    __slots__ = ()


class Marker:
    """A node of the tape that is never executed.

    Attributes:
        inner: the nodes that recorded its outputs; empty where nothing asks for them.
        pairwise: whether the output at a position depends only on the input at that position.
        eager: whether the rule is called also if no gradient arrives, or none is asked for.
        begins: whether gradients by its outputs are asked for whatever they depend on.
    """

    name = ""
    pairwise = False
    eager = False
    begins = False
    repeats = False

    def __init__(self):
        self.inner: list[tuple] = []

    @property
    def public(self) -> str:
        """What users call it."""
        return self.name

    def rule(self, inputs, outputs, cotangents, mask) -> list[Value | None]:
        """The gradients of the inputs; `None` where the mask asks for none."""
        raise of_base(self)

    def renewed(self, present: Callable) -> Marker:
        """The same for other Values: `present` finds the one that takes the place of another."""
        raise of_base(self)

    def described(self, name: Callable) -> tuple:
        """In comparable form; `name` says what a Value is to the call."""
        raise of_base(self)


def mark(stream: Stream, marker: Marker, values: tuple, place: tuple) -> tuple:
    """Put a pairwise marker on the tape; Values of its own for each of its inputs."""
    scope = stream.scope
    assert scope.tape is not None
    marker.inner = []
    try:
        stream.scope = scope.but(tape=marker.inner)
        copies: Any = tuple([record(COPY, (value,), place) for value in values])
    finally:
        stream.scope = scope
    scope.tape.append((marker, values, copies, place))
    return copies


def flattened(nodes: Iterable[tuple]) -> Iterable[tuple]:
    """All nodes, a marker behind the nodes inside it."""
    for node in nodes:
        if isinstance(node[0], Marker):
            yield from flattened(node[0].inner)
        yield node


def record_again(nodes: Iterable[tuple], present: Callable, keep: Callable, into=False) -> None:
    """Record the same nodes on other Values.

    Args:
        present: finds the Value that takes the place of a former input or output.
        keep: told of each former output and the Value that takes its place.
        into: whether the former Values themselves become the outputs again.
    """
    stream = local.stream
    for op, inputs, outputs, place in nodes:
        values = tuple(map(present, inputs))
        if isinstance(op, Marker):
            scope, inner = stream.scope, []
            stream.within(scope.but(tape=inner), record_again, op.inner, present, keep, into)
            if scope.tape is not None:
                renewed = op.renewed(present)
                renewed.inner = inner if scope.complete or op.pairwise else []
                scope.tape.append((renewed, values, tuple(map(present, outputs)), place))
        elif into:
            record(op, values, place, outputs)
            for output in outputs:
                keep(output, output)
        else:
            recorded = record(op, values, place)
            for before, after in zip(
                outputs, (recorded,) if isinstance(recorded, Value) else recorded, strict=True
            ):
                keep(before, after)
