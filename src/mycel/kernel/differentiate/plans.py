# SPDX-License-Identifier: Apache-2.0
"""Walks backwards that are kept: the same record again gets the same nodes appended, as integers.

What a walk over the tape records is decided by the forward record alone, as long as no Python of
the user takes part in it (hooks, markers, reverses of user operators). So it is done once for each
structure of the forward record, and then copied: some microseconds instead of two for every node.
"""

from __future__ import annotations

from typing import NamedTuple

from mycel.kernel.define.aval import Aval
from mycel.kernel.record.stream import Segment, Stream, dead, waiting
from mycel.kernel.record.value import Value

# Plans beyond this many are forgotten, the oldest first.
MOST_PLANS = 256

_plans: dict[tuple, Plan] = {}


class Plan(NamedTuple):
    """What a walk appends to a segment: its key, its places, and how many Values it makes.

    `places` points back to the nodes of the forward record; `found` has the slot of every gradient,
    `avals` those of the slots that the walk made, each once.
    """

    key: list[int]
    places: list
    outputs: int
    found: list[int]
    avals: dict[int, Aval]


class Start(NamedTuple):
    """Where the record stood before a walk."""

    name: tuple
    segment: Segment
    key: int
    nodes: int
    outputs: int
    externals: int


class Forward(NamedTuple):
    """Where the record stood before what is differentiated was called."""

    segment: Segment
    nodes: int


def begin(stream: Stream) -> Forward:
    """Remember where the record stands."""
    return Forward(stream.segment, len(stream.segment.places) // 3)


def start(stream: Stream, forward: Forward, nodes, seeds, leaves) -> Start | None:
    """Where a walk begins, and what it is told from others by; None if it cannot be kept.

    It can if the tape is just what the present segment has, and only our own rules take part.
    """
    segment, scope = stream.segment, stream.scope
    count, recorded = segment.count, len(segment.places) // 3
    if (
        scope.hooks
        or scope.journal is not None
        or segment is not forward.segment
        or recorded - forward.nodes != len(nodes)
    ):
        return None
    for node in nodes:
        if not node[0].repeats:
            return None
    known = segment.external_slots.get
    values = [*leaves, *[value for pair in seeds for value in pair]]
    slots = [v.slot if v.source is segment else known(id(v)) for v in values]
    if None in slots:
        return None
    key = tuple(segment.key)
    name = (key, forward.nodes, len(leaves), tuple(slots))
    begun = Start(name, segment, len(key), recorded, count, len(segment.externals))
    # What the handler of a signal ran or recorded meanwhile makes it another record.
    return begun if stream.segment is segment and segment.count == count else None


def repeat(stream: Stream, begun: Start, seeds) -> list[Value] | None:
    """Append what the same walk appended before; the gradients, or None if it is a new one."""
    plan = _plans.get(begun.name)
    if plan is None:
        return None
    segment, avals, first = begun.segment, plan.avals, begun.outputs
    values, references = waiting(segment, avals, avals.values())
    outputs: list = [dead] * plan.outputs
    for slot, reference in zip(avals, references, strict=True):
        outputs[slot - first] = reference
    made = {seed.slot: seed for _, seed in seeds if seed.source is segment}
    made.update(zip(avals, values, strict=True))
    found = [made[slot] for slot in plan.found]
    if stream.segment is not segment or segment.count != first:
        return None  # the handler of a signal came in between
    # Together, whatever interrupts: nothing is called in between.
    segment.count = first + plan.outputs
    segment.key += plan.key
    segment.places += plan.places
    segment.outputs += outputs
    return found


def keep(stream: Stream, begun: Start, seeds, found: list[Value]) -> None:
    """Keep what a walk appended, if it can be copied."""
    segment = begun.segment
    key, places, count = segment.key, segment.places, segment.count
    if stream.segment is not segment or len(segment.externals) != begun.externals:
        return  # it was cut, or met something new
    known = {seed.slot for _, seed in seeds if seed.source is segment}
    for value in found:
        if value.source is not segment or (value.slot < begun.outputs and value.slot not in known):
            return
    first: dict[tuple, int] = {}
    for number in range(begun.nodes):
        first.setdefault(tuple(places[3 * number : 3 * number + 3]), number)
    back: list = []
    for number in range(begun.nodes, len(places) // 3):
        origin = first.get(tuple(places[3 * number : 3 * number + 3]))
        if origin is None:
            return
        back += (origin, None, None)
    while len(_plans) >= MOST_PLANS:
        _plans.pop(next(iter(_plans)), None)
    avals = {value.slot: value.aval for value in found if value.slot not in known}
    slots = [value.slot for value in found]
    plan = Plan(key[begun.key :], back, count - begun.outputs, slots, avals)
    if segment.count == count:  # else the handler of a signal recorded more meanwhile
        _plans[begun.name] = plan
