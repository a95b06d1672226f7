# SPDX-License-Identifier: Apache-2.0
"""Records of a pipeline: programs of one stage each, in the order that `stage_plan` gives them.

Programs of equal structure are compiled once for each stage. Each is started when its turn comes,
and devices run what they are given in order; so those of several stages run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.stages import Stages
from mycel.kernel.define.constraint import Constraint
from mycel.kernel.define.op import Signature
from mycel.kernel.execute.checks import Indices
from mycel.kernel.execute.looks import Checked, Guard, are_finite, have_finite_sums, seen_bytes
from mycel.kernel.execute.stage_plan import Turn, divide, order, place, reads, slots_of

# Programs of parts that are kept.
MOST_PROGRAMS = 4096


class Step(NamedTuple):
    """One program of a stage.

    Attributes:
        function: the compiled function.
        given, made: the slots of its inputs and outputs.
        frees: what nothing behind it needs.
        turn: of which turn; None for the end, which looks at results.
        stage: on whose devices.
    """

    function: Callable
    given: tuple[int, ...]
    made: tuple[int, ...]
    frees: tuple[int, ...]
    turn: Turn | None
    stage: int


class Ends(NamedTuple):
    """What a record gives besides its results.

    Attributes:
        guards: what Python reads.
        inside: the indices that it makes: the slot of each, and what it may hold.
        checked: the slots of what is to be finite; None if nothing is looked at.
    """

    guards: tuple[Guard, ...]
    inside: tuple
    checked: Checked | None

    def looks(self, slots: tuple[int, ...]) -> Callable:
        """The function of arrays at these slots, all of one stage, that looks at them: it gives
        whether an index is wrong, and what `execute.looks` says of numbers."""
        inside = tuple([one for one in self.inside if one[0] in slots])
        alone, others = [
            [slot for slot in some if slot in slots] for some in self.checked or ((), ())
        ]

        def run(*arrays):
            at = dict(zip(slots, arrays, strict=True)).__getitem__
            flags = []
            if self.inside:
                flags.append(Indices((), inside).flag(at) if inside else jnp.array(False))
            if self.checked is not None:
                sums = have_finite_sums(list(map(at, alone)))
                flags.append(jnp.stack([sums, are_finite(list(map(at, others)))]))
            return flags

        return run

    @property
    def looked_at(self) -> list[int]:
        """The slots that are looked at."""
        return [slot for slot, _ in self.inside] + [s for some in self.checked or () for s in some]

    @property
    def flags(self) -> int:
        """How many flags `looks` gives."""
        return bool(self.inside) + (self.checked is not None)


class Schedule:
    """The function of a record whose inputs lie in the stages of a pipeline.

    Args:
        grid: the devices.
        nodes, live: the operators, and the slots that come out.
        ends: what else comes out.
        entering: the stages of the inputs.
        write: gives the function of some operators, `write(nodes, live, functions=functions)`.
        jitted: compiles a function, `jitted(function, shardings of its outputs)`.

    Attributes:
        steps: what runs, in order.
        inputs: of each of them, the inputs of the first run, without their elements.
    """

    def __init__(
        self, grid: Stages, nodes, live, ends: Ends, entering, write: Callable, jitted: Callable
    ):
        self._grid, self._nodes, self._live, self._ends = grid, nodes, live, ends
        self._write, self._jitted = write, jitted
        self._places = place(nodes, entering)
        turns = order(divide(nodes, self._places), len(grid.stages), grid.scheduler)
        kept = {*live, *[guard.slot for guard in ends.guards]}
        steps = self._tails(ends.looked_at)
        needed = kept.union(*[step.given for step in steps])
        for turn in reversed(turns):
            step = self._step(turn, needed)
            if not step.made:
                continue
            frees = tuple([s for s in (*step.given, *step.made) if s not in needed])
            steps.insert(0, step._replace(frees=frees))
            needed.update(step.given)
        self.steps: list[Step] = steps
        self.inputs: list[list] = []

    def _step(self, turn: Turn, needed: set[int]) -> Step:
        nodes = [self._nodes[number] for number in turn.part.nodes]
        stage, made_here = turn.part.placed.stage, {s for node in nodes for s in slots_of(node)}
        read = [
            slot
            for node in nodes
            for slot, is_read in zip(node.inputs, reads(node.signature), strict=True)
            if is_read
        ]
        given = tuple(dict.fromkeys([slot for slot in read if slot not in made_here]))
        made = tuple([slot for node in nodes for slot in slots_of(node) if slot in needed])
        return Step(self._program(stage, nodes, given, made), given, made, (), turn, stage)

    def _program(self, stage: int, nodes, given, made) -> Callable:
        """The compiled function of some operators of a stage; the same for the same ones."""
        renamed, outputs = _renamed(nodes, given, made)
        key = (
            self._grid, stage, outputs, tuple([(n.signature.id, n.inputs) for n in renamed]),
        )  # fmt: skip
        function = _programs.get(key)
        if function is None:
            if len(_programs) > MOST_PROGRAMS:
                _programs.clear()
            grid = self._grid.stages[stage]
            functions = [node.signature.op.inlined for node in renamed]
            run, shardings = self._written(renamed, outputs, functions, grid)
            function = _programs[key] = self._jitted(run, shardings)
        return function

    def _written(self, nodes, outputs, functions, grid, scopes=None):
        """The function of some operators of a stage, and how its results lie."""
        adapted = [
            _adapted(node.signature, function, grid)
            for node, function in zip(nodes, functions, strict=True)
        ]
        ops = {node.first: node.signature.op for node in nodes}
        from_outside = any(slot < 0 for node in nodes for slot in node.inputs)
        shardings = [_lies(ops.get(slot), grid, from_outside) for slot in outputs]
        return self._write(nodes, outputs, functions=adapted, scopes=scopes), shardings

    @property
    def stages(self) -> int:
        """How many stages there are."""
        return len(self._grid.stages)

    def counts(self) -> list[tuple[int, int]]:
        """Of each step, how many operators it has, and how many bytes it gets of other stages."""
        made_in: dict[int, tuple[int, int]] = {}
        there: set[tuple[int, int]] = set()
        found = []
        for step in self.steps:
            new = {(slot, step.stage) for slot in step.given if slot in made_in} - there
            there |= new
            got = [made_in[slot] for slot, _ in new]
            received = sum(size for stage, size in got if stage != step.stage)
            numbers = step.turn.part.nodes if step.turn is not None else ()
            found.append((len(numbers), received))
            for node in [self._nodes[number] for number in numbers]:
                for slot, aval in zip(slots_of(node), node.signature.outputs, strict=True):
                    made_in[slot] = step.stage, aval.nbytes
        return found

    def again(self, number: int) -> tuple[list, Callable, Callable, list]:
        """What one of the steps that ran is made of, to compile it once more.

        Returns:
            The numbers of its operators; what writes its function, perhaps of others for these;
            what compiles that; and its inputs without their elements.
        """
        step = self.steps[number]
        assert step.turn is not None and self.inputs
        numbers = step.turn.part.nodes
        renamed, outputs = _renamed([self._nodes[n] for n in numbers], step.given, step.made)
        grid = self._grid.stages[step.stage]
        own = [node.signature.op.inlined for node in renamed]
        shardings = self._written(renamed, outputs, own, grid)[1]

        def write(functions=own, scopes=None):
            return self._written(renamed, outputs, functions, grid, scopes)[0]

        return numbers, write, partial(self._jitted, shardings=shardings), self.inputs[number]

    def _tails(self, slots) -> list[Step]:
        """The programs that look at results, one for each stage that has some."""
        stage_of = {s: p.stage for n, p in zip(self._nodes, self._places, strict=True)
                    for s in slots_of(n)}  # fmt: skip
        by_stage: dict[int, dict[int, None]] = {}
        for slot in slots:
            by_stage.setdefault(stage_of[slot], {})[slot] = None
        steps = []
        for stage, own in sorted(by_stage.items()):
            whole = self._grid.stages[stage].whole
            function = self._jitted(self._ends.looks(tuple(own)), [whole] * self._ends.flags)
            steps.append(Step(function, tuple(own), (), (), None, stage))
        return steps

    def __call__(self, *arrays) -> list:
        """What the record gives."""
        grid, ends = self._grid, self._ends
        # By slot: the array, by the stage where it lies.
        held: dict[int, dict[int | None, Any]] = {
            -1 - n: {grid.stage_of(array): array} for n, array in enumerate(arrays)
        }
        flags: list[list] = []
        first = not self.inputs
        for step in self.steps:
            given = [self._in_stage(held[slot], step.stage) for slot in step.given]
            if first:
                self.inputs.append(list(map(_without_elements, given)))
            results = grid.stages[step.stage].run(step.function, *given)
            if step.turn is None:
                flags.append(results)
                continue
            for slot, array in zip(step.made, results, strict=True):
                held[slot] = {step.stage: array}
            for slot in step.frees:
                del held[slot]
        outputs = [next(iter(held[slot].values())) for slot in self._live]
        if ends.guards:
            read = [
                seen_bytes(np.asarray(next(iter(held[guard.slot].values()))), guard.kind)
                for guard in ends.guards
            ]
            outputs.append(np.frombuffer(b"".join(read), np.uint8))
        if ends.inside:
            outputs.append(np.any([np.asarray(one[0]) for one in flags]))
        if ends.checked is not None:
            outputs.append(np.all([np.asarray(one[-1]) for one in flags], 0))
        return outputs

    def _in_stage(self, places: dict[int | None, Any], stage: int):
        array = places.get(stage)
        if array is None:
            array = places[stage] = self._grid.moved(next(iter(places.values())), stage)
        return array


_programs: dict[tuple, Callable] = {}


def _without_elements(array) -> jax.ShapeDtypeStruct:
    sharding = getattr(array, "sharding", None)
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)


def _lies(op, grid, from_outside: bool):
    """How a result of a program lies; None leaves it to XLA, which takes the devices of what comes
    from outside, and forgets of a single one which grid it is."""
    if isinstance(op, Constraint):
        return grid.sharding(op.axes)
    return None if from_outside and grid.size > 1 else grid.whole


def _renamed(nodes, given, made) -> tuple[list, tuple[int, ...]]:
    """The operators of a part with slots of its own, and the slots of its outputs."""
    numbers = {slot: -1 - position for position, slot in enumerate(given)}
    renamed, first = [], 0
    for node in nodes:
        numbers.update({slot: first + n for n, slot in enumerate(slots_of(node))})
        inputs = [
            numbers[slot]
            for slot, is_read in zip(node.inputs, reads(node.signature), strict=True)
            if is_read
        ]
        renamed.append(node._replace(inputs=tuple(inputs), first=first))
        first += len(node.signature.outputs)
    return renamed, tuple([numbers[slot] for slot in made])


def _adapted(signature: Signature, function: Any, grid) -> Callable:
    """The array function of an operator, of those inputs that it reads, on the devices of a
    stage."""
    op = signature.op
    if isinstance(op, Constraint):
        function = op.on(grid)
    read = reads(signature)
    if all(read):
        return function
    return partial(_with_shapes, function, signature.inputs, read)


def _with_shapes(function, avals, read, *arrays):
    """Call a function with zeros for the inputs of which it needs but the shape."""
    given = iter(arrays)
    return function(*[
        next(given) if is_read else jnp.zeros(aval.shape, aval.numpy)
        for aval, is_read in zip(avals, read, strict=True)
    ])  # fmt: skip
