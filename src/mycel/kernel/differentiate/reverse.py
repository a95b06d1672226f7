# SPDX-License-Identifier: Apache-2.0
"""Walking a tape backwards: gradients of leaves from cotangents of results, as more nodes.

What a walk records is decided by the forward record alone, as long as no Python of the user takes
part in it (hooks, markers, reverses of user operators). So it is done once for each structure of
the forward record, and kept as a Plan: the same record again gets the same nodes appended, as
integers, which takes some microseconds instead of two for every node.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from mycel.kernel.base.where import tell_reverse
from mycel.kernel.define.aval import Aval
from mycel.kernel.define.names import ADDS_GRADIENTS
from mycel.kernel.define.op import Op, nothing_flows
from mycel.kernel.differentiate.fire import fire_hooks
from mycel.kernel.record.stream import Segment, Stream, dead, record, waiting
from mycel.kernel.record.value import Value

# The tape entry: op, inputs, outputs, place.
Node = tuple
# Plans beyond this many are forgotten, the oldest first.
MOST_PLANS = 256

STOP = Op("stop_gradient", lambda x: x, rule=nothing_flows)
ADD = Op(
    ADDS_GRADIENTS,
    lambda x, y: x + y,
    rule=lambda inputs, outputs, cotangents, mask: [
        cotangents[0] if asked else None for asked in mask
    ],
)
ONES = Op("ones_like", lambda x: jnp.full(x.shape, 1, x.dtype), rule=nothing_flows)
ZEROS = Op("zeros_like", lambda x: jnp.full(x.shape, 0, x.dtype), rule=nothing_flows)


def reverse(
    stream: Stream,
    nodes: list[Node],
    seeds: list[tuple[Value, Value]],
    leaves: list[Value],
    consume: bool,
) -> list[Value]:
    """Gradients of the leaves.

    Args:
        nodes: the slice of the tape to walk; emptied on the way if `consume` is set, so that what
            only the reverse needs is freed as soon as it is used.
        seeds: results and their cotangents.
        leaves: what to differentiate by; a leaf nothing depends on gets zeros.
    """
    needed = _reached(nodes, leaves)
    cotangents: dict[int, Value] = {}
    for result, seed in seeds:
        _accumulate(cotangents, result, seed)
    scope = stream.scope
    hooks, walk = {} if scope.hooks is None else scope.hooks, scope.reversing
    assert walk is not None
    first = nodes[0][3] if nodes else None
    position = len(nodes)
    around = walk.at
    while position:
        position -= 1
        op, inputs, outputs, place = nodes.pop() if consume else nodes[position]
        arriving = [cotangents.pop(id(output), None) for output in outputs]
        if not any(arriving) and not op.eager:
            continue
        try:
            if hooks or op.rule is not None:
                walk.at = (op.name, place)
            if hooks:
                arriving = [
                    fire_hooks(hooks, output, cotangent)
                    for output, cotangent in zip(outputs, arriving, strict=True)
                ]
            mask = [id(value) in needed for value in inputs]
            if True not in mask and not op.eager:
                continue
            gradients = _gradients(op, inputs, outputs, arriving, mask, place)
        except Exception as error:
            tell_reverse(error, op.public, place)
            raise
        finally:
            walk.at = around
        for value, gradient in zip(inputs, gradients, strict=True):
            if gradient is not None and id(value) in needed:
                _accumulate(cotangents, value, gradient, place)
        del arriving, gradients
    gradients_of_leaves = []
    for leaf in leaves:
        gradient = cotangents.get(id(leaf))
        if gradient is None:
            gradient = record(ZEROS, (leaf,), first)
        elif hooks and id(leaf) in hooks:
            gradient = fire_hooks(hooks, leaf, gradient)
        gradients_of_leaves.append(gradient)
    return gradients_of_leaves


def _reached(nodes, leaves) -> set[int]:
    """Ids of the Values that depend on a leaf and can carry a gradient."""
    reached = {id(leaf) for leaf in leaves}
    for op, inputs, outputs, _ in nodes:
        for source in inputs:
            if id(source) in reached:
                break
        else:
            if not op.begins:
                continue
        for position, output in enumerate(outputs):
            sources = inputs[position : position + 1] if op.pairwise else inputs
            if op.pairwise and id(sources[0]) not in reached:
                continue
            if output.aval.inexact or _from_integers(output, sources, reached):
                reached.add(id(output))
    return reached


def _from_integers(output, inputs, reached) -> bool:
    """Integers carry gradients only from integers that are differentiated: a real number that was
    rounded, or used as an index, passes nothing on."""
    return output.aval.numpy.kind != "b" and any(
        id(source) in reached and not source.aval.inexact for source in inputs
    )


def _gradients(op, inputs, outputs, cotangents, mask, place):
    if op.rule is not None:
        return op.rule(inputs, outputs, cotangents, mask)
    present = tuple([cotangent is not None for cotangent in cotangents])
    backward = op.reverse(tuple(mask), present)
    arriving = tuple([cotangent for cotangent in cotangents if cotangent is not None])
    outputs = record(backward, inputs + arriving, place)
    gradients = iter((outputs,) if isinstance(outputs, Value) else outputs)
    return [next(gradients) if asked else None for asked in mask]


def _accumulate(cotangents, value, gradient, place=None):
    before = cotangents.get(id(value))
    if before is not None:
        gradient = record(ADD, (before, gradient), place)
    cotangents[id(value)] = gradient


# -- walks that are kept ------------------------------------------------------------------------


class Forward(NamedTuple):
    """Where the record stood before what is differentiated was called."""

    segment: Segment
    nodes: int


def begin(stream: Stream) -> Forward:
    """Remember where the record stands."""
    return Forward(stream.segment, len(stream.segment.places) // 3)


def reverse_by_plan(
    stream: Stream,
    forward: Forward,
    nodes: list[Node],
    seeds: list[tuple[Value, Value]],
    leaves: list[Value],
) -> list[Value]:
    """Gradients of the leaves, by a plan that is kept or by a walk, which is kept if it can be.

    Args:
        forward: where the record stood before what is differentiated was called.
        nodes: what that put on the tape; emptied.
        seeds: results and their cotangents.
        leaves: what to differentiate by; a leaf nothing depends on gets zeros.
    """
    begun = _start(stream, forward, nodes, seeds, leaves)
    if begun is None:
        return reverse(stream, nodes, seeds, leaves, consume=True)
    gradients = _repeat(stream, begun, seeds)
    if gradients is None:
        gradients = reverse(stream, nodes, seeds, leaves, consume=True)
        _keep(stream, begun, seeds, gradients)
    nodes.clear()
    return gradients


class Plan(NamedTuple):
    """What a walk appends to a segment: its key, its places, and how many Values it makes.

    `places` points back to the nodes of the forward record; `gradients` has the slot of every
    gradient, `avals` those of the slots that the walk made, each once.
    """

    key: list[int]
    places: list
    outputs: int
    gradients: list[int]
    avals: dict[int, Aval]


_plans: dict[tuple, Plan] = {}


class Start(NamedTuple):
    """Where the record stood before a walk."""

    name: tuple
    segment: Segment
    key: int
    nodes: int
    outputs: int
    externals: int


def _start(stream: Stream, forward: Forward, nodes, seeds, leaves) -> Start | None:
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


def _repeat(stream: Stream, begun: Start, seeds) -> list[Value] | None:
    """Append what the same walk appended before; the gradients, or None if it is a new one."""
    plan = _plans.get(begun.name)
    if plan is None:
        return None
    segment, avals, first = begun.segment, plan.avals, begun.outputs
    values, references = waiting(segment, avals, avals.values())
    outputs: list = [dead] * plan.outputs
    for slot, reference in zip(avals, references, strict=True):
        outputs[slot - first] = reference
    by_slot = {seed.slot: seed for _, seed in seeds if seed.source is segment}
    by_slot.update(zip(avals, values, strict=True))
    gradients = [by_slot[slot] for slot in plan.gradients]
    if stream.segment is not segment or segment.count != first:
        return None  # the handler of a signal came in between
    # Together, whatever interrupts: nothing is called in between.
    segment.count = first + plan.outputs
    segment.key += plan.key
    segment.places += plan.places
    segment.outputs += outputs
    return gradients


def _keep(stream: Stream, begun: Start, seeds, gradients: list[Value]) -> None:
    """Keep what a walk appended, if it can be copied."""
    segment = begun.segment
    key, places, count = segment.key, segment.places, segment.count
    if stream.segment is not segment or len(segment.externals) != begun.externals:
        return  # it was cut, or met something new
    known = {seed.slot for _, seed in seeds if seed.source is segment}
    for value in gradients:
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
    avals = {value.slot: value.aval for value in gradients if value.slot not in known}
    slots = [value.slot for value in gradients]
    plan = Plan(key[begun.key :], back, count - begun.outputs, slots, avals)
    if segment.count == count:  # else the handler of a signal recorded more meanwhile
        _plans[begun.name] = plan
