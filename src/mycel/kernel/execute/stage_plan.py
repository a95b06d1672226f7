# SPDX-License-Identifier: Apache-2.0
"""Which operators of a record of a pipeline make one program, and in which order programs run.

Each operator gets a stage, by the arrays that it takes, and perhaps a part of a batch. Operators of
one stage, one part and one direction (forward, or behind it) make one program, unless one of them
waits for another program that waits for it. The order is that of '1f1b' or 'gpipe', as far as what
they wait for permits; nothing is added up in another order than in the record, so numbers are the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax

from mycel.kernel.define.constraint import Constraint, Entered, Micro
from mycel.kernel.define.names import ADDS_GRADIENTS, makes_gradients
from mycel.kernel.define.op import Signature

FORWARD, REVERSE, UPDATE = "forward", "reverse", "update"
# Stands for the part of a batch of what depends on several.
SEVERAL = -1
BACKWARDS = (
    "A Cell of stage {number} is given a Tensor of shape {shape} that stage {before} has computed. "
    "Stages follow each other: give Cells that are called later the same pipeline_stage or a "
    "higher one."
)
# Operators of which only the shape of their input is of use.
_OF_SHAPES = ("ones_like", "zeros_like")


# -- what belongs where ----------------------------------------------------------------------------


class Placed(NamedTuple):
    """Where one operator of a record belongs.

    Attributes:
        stage: the number of its stage.
        phase: FORWARD, REVERSE, or UPDATE for what belongs to no part of a batch behind a reverse.
        micro: the part of a batch; None for what belongs to none, or to several.
    """

    stage: int
    phase: str
    micro: int | None


class _Known(NamedTuple):
    """What is known of an array: its stage, None where it lies anywhere; its part of a batch, None
    where it depends on none; and whether it comes from a reverse."""

    stage: int | None
    micro: int | None
    behind: bool


def stage_for(op, stages: Sequence[int | None], avals, behind: bool) -> int | None:
    """The stage of an operator, by those of its inputs; None if it may be any.

    Forward it is the last of them. Behind that it is the one with most bytes, the first of equal
    ones: so a weight is not moved to a gradient of another stage, but that to the weight.

    Raises:
        ValueError: a Cell is given what a later stage has computed.
    """
    if isinstance(op, Constraint) and op.stage is not None:
        return op.stage
    if isinstance(op, Entered):
        before = stages[0]
        if before is not None and before > op.stage:
            shape = avals[0].shape
            raise ValueError(BACKWARDS.format(number=op.stage, shape=shape, before=before))
        return op.stage
    if op.name == "enter_stage'":
        return stages[0]
    sizes: dict[int, int] = {}
    for stage, aval in zip(stages, avals, strict=True):
        if stage is not None:
            sizes[stage] = sizes.get(stage, 0) + aval.nbytes
    if not sizes:
        return None
    if not behind:
        return max(sizes)
    most = max(sizes.values())
    return min(stage for stage, size in sizes.items() if size == most)


def place(nodes, entering: Sequence[int | None]) -> list[Placed]:
    """Where each operator of a record belongs.

    Args:
        nodes: those of `execute.compile.decode`.
        entering: the stages of what comes from outside.
    """
    known = {-1 - n: _Known(stage, None, False) for n, stage in enumerate(entering)}
    found: list[_Known] = []
    for node in nodes:
        signature, op = node.signature, node.signature.op
        inputs = [known[slot] for slot in node.inputs]
        behind = makes_gradients(op.name) or any(one.behind for one in inputs)
        stage = stage_for(op, [one.stage for one in inputs], signature.inputs, behind)
        read = [one.micro for one, is_read in zip(inputs, reads(signature), strict=True) if is_read]
        found.append(_Known(stage, _part_of(op, read), behind))
        for slot in slots_of(node):
            known[slot] = found[-1]
    return _settled(nodes, found)


def _part_of(op, inputs: list[int | None]) -> int | None:
    """The part of a batch that an operator belongs to, by those of its inputs."""
    if isinstance(op, Micro):
        return op.number
    if op.name == ADDS_GRADIENTS and inputs[1] is not None:
        return inputs[1]  # which adds to the sum of those before
    parts = {part for part in inputs if part is not None}
    if makes_gradients(op.name) and len(parts) > 1:
        parts.discard(SEVERAL)  # the part whose forward it had
    return None if not parts else parts.pop() if len(parts) == 1 else SEVERAL


def _settled(nodes, found: list[_Known]) -> list[Placed]:
    """The same, where what may lie anywhere lies where it is used first."""
    used_in: dict[int, int] = {}
    placed: list[Placed] = []
    for node, one in zip(reversed(nodes), reversed(found), strict=True):
        stage = one.stage
        if stage is None:
            stage = min((used_in[s] for s in slots_of(node) if s in used_in), default=0)
        for slot in node.inputs:
            used_in[slot] = min(stage, used_in.get(slot, stage))
        part = None if one.micro == SEVERAL else one.micro
        behind = UPDATE if part is None else REVERSE
        placed.append(Placed(stage, behind if one.behind else FORWARD, part))
    return placed[::-1]


def slots_of(node) -> range:
    return range(node.first, node.first + len(node.signature.outputs))


_reads: dict[int, tuple[bool, ...]] = {}


def reads(signature: Signature) -> tuple[bool, ...]:
    """Which inputs an operator needs the elements of; a reverse often needs but the shape of what
    the forward had, and must not wait for that."""
    known = _reads.get(signature.id)
    if known is None:
        op = signature.op
        if op.name in _OF_SHAPES:
            known = (False,) * signature.arity
        elif not makes_gradients(op.name) or op.fallible:
            known = (True,) * signature.arity
        else:
            known = _read_by(op.function, [aval.struct for aval in signature.inputs])
        _reads[signature.id] = known
    return known


def _read_by(function: Callable, structs) -> tuple[bool, ...]:
    traced = jax.make_jaxpr(function)(*structs).jaxpr
    needed = {id(variable) for variable in traced.outvars}
    for step in reversed(traced.eqns):
        if step.effects or any(id(variable) in needed for variable in step.outvars):
            needed.update(map(id, step.invars))
    return tuple([id(variable) in needed for variable in traced.invars])


# -- programs --------------------------------------------------------------------------------------


class Part:
    """Operators of one stage that run as one program.

    Attributes:
        placed: where it belongs.
        nodes: the numbers of its operators.
        needs: the parts that it waits for.
    """

    def __init__(self, placed: Placed):
        self.placed = placed
        self.nodes: list[int] = []
        self.needs: set[Part] = set()

    @property
    def name(self) -> str:
        """What it is, as `F2` and `B2` of the third part of a batch, `U` for what follows."""
        letter = {FORWARD: "F", REVERSE: "B", UPDATE: "U"}[self.placed.phase]
        return letter if self.placed.micro is None else f"{letter}{self.placed.micro}"


def divide(nodes, places: Sequence[Placed]) -> list[Part]:
    """The parts of a record, none of which waits for one that waits for it."""
    made_by = {slot: number for number, node in enumerate(nodes) for slot in slots_of(node)}
    sources = [
        {made_by[slot] for slot, read in zip(node.inputs, reads(node.signature), strict=True)
         if read and slot >= 0}
        for node in nodes
    ]  # fmt: skip
    # An operator is as deep as the longest way to it through others that belong elsewhere: those of
    # one place and one depth never wait for each other through a third.
    depths: list[int] = []
    parts: dict[tuple[Placed, int], Part] = {}
    part_of: list[Part] = []
    for number, own in enumerate(places):
        depth = max((depths[s] + (places[s] != own) for s in sources[number]), default=0)
        depths.append(depth)
        part = parts.setdefault((own, depth), Part(own))
        part.nodes.append(number)
        part_of.append(part)
        part.needs.update(part_of[s] for s in sources[number])
    by_place: dict[Placed, list[Part]] = {}
    for (own, _), part in sorted(parts.items(), key=lambda item: item[0][1]):
        part.needs.discard(part)
        by_place.setdefault(own, []).append(part)
    for own, several in by_place.items():
        if own.micro is not None:  # what belongs to no part of a batch would only be delayed
            _join(several, [*parts.values()])
    return [part for part in parts.values() if part.nodes]


def _join(several: list[Part], all_of_them: list[Part]) -> None:
    """Make one of parts of one place, where none between them waits for the first."""
    first = several[0]
    for part in several[1:]:
        between = any(_waits_for(other, first) for other in part.needs - {first})
        if between or _waits_for(first, part):
            first = part
            continue
        first.nodes = sorted(first.nodes + part.nodes)
        first.needs = (first.needs | part.needs) - {first, part}
        part.nodes, part.needs = [], set()
        for other in all_of_them:
            if part in other.needs:
                other.needs.discard(part)
                if other is not first:
                    other.needs.add(first)


def _waits_for(part: Part, other: Part) -> bool:
    seen, waiting = {part}, [part]
    for one in waiting:
        if other in one.needs:
            return True
        waiting += one.needs - seen
        seen |= one.needs
    return False


class Turn(NamedTuple):
    """A part, and when its turn is: in one turn each stage runs at most one part of a batch."""

    number: int
    part: Part


def order(parts: Sequence[Part], stages: int, scheduler: str) -> list[Turn]:
    """The turns in which parts run.

    In '1f1b' a stage prefers the reverse of a part of a batch, and begins another one only if at
    most as many are under way as stages follow, itself included; so no more activations wait. In
    'gpipe' it runs all forwards first. Either is given up where nothing else could run.
    """
    rank = _ranks(parts)
    ends = {(p.placed.stage, p.placed.micro) for p in parts if p.placed.phase == REVERSE}
    waiting, done = [*parts], set()
    turns, turn = [], 0
    under_way: list[set] = [set() for _ in range(stages)]

    def next_of(stage: int, ready: list[Part], limited: bool) -> list[Part]:
        own = [p for p in ready if p.placed.stage == stage and p.placed.micro is not None]
        begun = under_way[stage]
        if limited and len(begun) >= stages - stage:
            own = [p for p in own if p.placed.phase == REVERSE or p.placed.micro in begun]
        return sorted(own, key=partial(_urgency, rank=rank, scheduler=scheduler))[:1]

    while waiting:
        ready = [part for part in waiting if part.needs <= done]
        chosen = [part for part in ready if part.placed.micro is None]
        # More has to be under way than 1f1b has where parts wait for each other otherwise.
        for limited in (scheduler == "1f1b", False):
            chosen += [part for n in range(stages) for part in next_of(n, ready, limited)]
            if chosen:
                break
        for part in chosen:
            stage, phase, number = part.placed
            if phase == FORWARD and (stage, number) in ends:
                under_way[stage].add(number)
            turns.append(Turn(turn, part))
        turn += 1
        done.update(chosen)
        waiting = [part for part in waiting if part not in done]
        for stage, numbers in enumerate(under_way):
            left = {p.placed.micro for p in waiting if p.placed[:2] == (stage, REVERSE)}
            numbers &= left
    return turns


def _urgency(part: Part, rank: dict, scheduler: str) -> tuple:
    first = REVERSE if scheduler == "1f1b" else FORWARD
    return part.placed.phase != first, rank[part.placed.micro]


def _ranks(parts: Sequence[Part]) -> dict[int | None, int]:
    """In which order parts of a batch go: as their reverses wait for each other, since each adds
    its gradients to those of another one."""
    depths: dict[Part, int] = {}
    waiting = [*parts]
    while waiting:
        ready = [part for part in waiting if part.needs <= depths.keys()]
        depths.update(
            {part: 1 + max([depths[other] for other in part.needs], default=0) for part in ready}
        )
        waiting = [part for part in waiting if part not in depths]
    last: dict[int, int] = {}
    for part, depth in depths.items():
        number = part.placed.micro
        if number is not None:
            own = depth if part.placed.phase == REVERSE else 0
            last[number] = max(last.get(number, 0), own)
    ranked = sorted(last, key=lambda number: (last[number], number))
    return {None: -1} | {number: rank for rank, number in enumerate(ranked)}
