# SPDX-License-Identifier: Apache-2.0
"""Numerics: where a value that is not finite comes from, while `check_numerics` is set.

A program then has one more output, which tells of each of its results whether it is finite
(`execute.compile`). Where one is not, the record runs once more operator by operator, and what each
operator was given and gave is looked at. The operator to be named is the first one that made
something that is not finite from finite values, and on which the result depends.

Not all that is infinite is a fault: a mask of literal infinities is meant, and a program may test
its gradients and leave a step out. So a result is a fault at once if a Parameter is assigned it, if
it is a single number, such as a loss, or if it is a gradient that nothing can look at any more. Any
other waits (`Suspect`) until Python looks at it or an operator takes it; one that tests for finite
values may. A gradient that nothing has taken when the step ends is a fault then.
"""

from __future__ import annotations

import gc
import threading
from typing import Any, NamedTuple
from weakref import finalize, ref

import jax
import numpy as np

from mycel.kernel.base import log
from mycel.kernel.base.context import context, set_check_numerics
from mycel.kernel.base.division import fetched
from mycel.kernel.base.errors import NonFiniteError
from mycel.kernel.base.places import NOWHERE, Place
from mycel.kernel.base.structure import structure
from mycel.kernel.define.names import name_of
from mycel.kernel.execute.compile import Node, decode, unread_gradients
from mycel.kernel.execute.describe import (
    describe_host,
    describe_origin,
    describe_outside,
    describe_suspicion,
)
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import Segment, Stream, cell_path, machine, place_of
from mycel.kernel.record.tensor import point
from mycel.kernel.record.value import Poison, Value

FINITE, INFINITE, NAN = 0, 1, 2
# What a reverse begins with: it is given what is differentiated.
SEED = "ones_like"
# Operators by which a program looks for values that are not finite, to leave a step out or to
# replace them.
TESTS = frozenset(("isfinite", "isinf", "isnan", "nan_to_num", "overflows"))


def state_of(array) -> int:
    """Whether an array has infinities, NaN, both or neither."""
    if array.__class__ is Poison:
        return FINITE
    numbers = fetched(array)
    if numbers.dtype.kind in "biuSUO" or np.isfinite(numbers).all():
        return FINITE
    return (NAN if np.isnan(numbers).any() else 0) | (INFINITE if np.isinf(numbers).any() else 0)


class Origin(NamedTuple):
    """A node that made values that are not finite from finite ones.

    Attributes:
        index, slot: of the node, and of its output.
        operator: the name of its Op; `public`: what users call it.
        state: what its output has.
        of_finite: whether its inputs are finite; else they have infinities.
        inputs, output: its arrays, which are described only where it is what is told.
    """

    index: int
    slot: int
    operator: str
    public: str
    state: int
    of_finite: bool
    inputs: tuple
    output: Any


def phases_of(nodes: list[Node], places: list) -> list[str]:
    """Whether each node belongs to the forward, to the reverse, or to what follows it."""
    reverse, forward = [], set()
    for number, node in enumerate(nodes if places else ()):
        code = places[3 * number]
        if isinstance(code, int):
            forward.add(code)
        named = name_of(node.signature.op.name).reverse
        if named or isinstance(code, int) or (code is not None and code.co_name == "bprop"):
            reverse.append(number)
    if not reverse:
        return ["forward"] * len(nodes)
    phases = ["forward"] * reverse[0] + ["reverse"] * (reverse[-1] + 1 - reverse[0])
    phases += ["update"] * (len(nodes) - len(phases))
    for number in forward.difference(reverse):
        phases[number] = "forward"
    return phases


class Examination:
    """What is not finite in one run of a record, operator by operator, and where it came from.

    Attributes:
        gradients: the slots of what derivatives gave and no node takes.
        tested: whether an operator looked for what is not finite.
    """

    def __init__(self, key, arrays, places, gradients=()):
        self.nodes = decode(key)
        self.arrays = arrays
        self.places = places
        self.tested = False
        # The slots of what was differentiated, as far as it is not finite.
        self.losses: list[int] = []
        self.origins: dict[int, Origin] = {}
        # Not of every reverse: a hook may have been given what another one made.
        self._unread = unread_gradients(self.nodes)
        self.gradients = frozenset(self._unread).intersection(gradients)
        self._states: dict[int, int] = {}
        # The last node that was run, with what it was given and gave.
        self._ran: tuple | None = None
        # By slot: the inputs that are not finite, and the node.
        self._sources: dict[int, tuple[int, list[int]]] = {}

    def run(self, index: int, node: Node, inputs, results) -> None:
        """A node was run. What it gave is looked at when the next one has begun to be computed."""
        ran, self._ran = self._ran, (index, node, inputs, results)
        if ran is not None:
            self._look(*ran)

    def end(self) -> None:
        """All were run."""
        ran, self._ran = self._ran, None
        if ran is not None:
            self._look(*ran)

    def _look(self, index: int, node: Node, inputs, results) -> None:
        given = [self.state(slot, array) for slot, array in zip(node.inputs, inputs, strict=True)]
        if node.signature.op.name in TESTS and any(given):
            self.tested = True
        if node.signature.op.name == SEED and given[0]:
            self.losses.append(node.inputs[0])
        for offset, array in enumerate(results):
            state = state_of(array)
            slot = node.first + offset
            self._states[slot] = state
            if not state:
                continue
            self._sources[slot] = index, [s for s, g in zip(node.inputs, given, strict=True) if g]
            made_nan = state & NAN and not any(g & NAN for g in given)
            if given and (made_nan or not any(given)):
                op = node.signature.op
                self.origins[slot] = Origin(
                    index, slot, op.name, op.public, state, not any(given), tuple(inputs), array
                )

    def state(self, slot: int, array=None) -> int:
        """What the array at a slot has."""
        found = self._states.get(slot)
        if found is None:
            found = state_of(self.arrays[-1 - slot] if array is None else array)
            self._states[slot] = found
        return found

    def finds(self, live) -> bool:
        """Whether a result, or a gradient that no node takes, is not finite."""
        return any(map(self.state, live)) or any(map(self.made, self._unread))

    def made(self, slot: int) -> int:
        """What the array at a slot has, if a node was run for it."""
        return self._states.get(slot, FINITE)

    def depends_on(self, slot: int) -> dict[int, int | None]:
        """What is not finite that a slot depends on: each slot, with the next one on the way."""
        way: dict[int, int | None] = {slot: None}
        waiting = [slot]
        for following in waiting:
            for source in self._sources.get(following, (0, []))[1]:
                if source not in way:
                    way[source] = following
                    waiting.append(source)
        return way

    def origin_of(self, slot: int) -> tuple[Origin | int | None, list[int]]:
        """The first origin of what is at a slot, or the external slot that had it from outside, and
        the slots on the way from there; None if it is what was meant to be infinite."""
        way = self.depends_on(slot)
        first = min((o for s in way if (o := self.origins.get(s))), default=None)
        outside = [s for s in way if s < 0 and self.state(s) & NAN]
        start = first.slot if first is not None else outside[0] if outside else None
        path = []
        following = start
        while following is not None:
            path.append(following)
            following = way[following]
        return (first if first is not None else start), path

    def is_born_in_forward(self, loss: int) -> bool:
        """Whether a loss is NaN because an operator of the forward made that of finite inputs: no
        scale of the loss, which is what a test of gradients looks for, makes it finite."""
        if not self.state(loss) & NAN:
            return False
        origin, _ = self.origin_of(loss)
        if not (isinstance(origin, Origin) and origin.of_finite and origin.state & NAN):
            return False
        return self.phase(origin.index) == "forward"

    def node_of(self, slot: int) -> int:
        """The number of the node that made a slot."""
        return self._sources[slot][0]

    def place(self, index: int) -> Place:
        """Where a node was recorded; of a reverse, where its forward was."""
        return place_of(self.places, index) if self.places else NOWHERE

    def phase(self, index: int) -> str:
        """Whether a node belongs to the forward, to the reverse, or to what follows it."""
        return phases_of(self.nodes, self.places)[index]

    def first_lengths(self, parameters) -> list[int]:
        """The lengths of the first axes of what comes from outside and is no Parameter."""
        return [
            array.shape[0]
            for position, array in enumerate(self.arrays)
            if position not in parameters and getattr(array, "ndim", 0)
        ]


class Suspect:
    """The source of a Value that is not finite and that nothing has used: it has its array.

    Attributes:
        gradient: whether it is what a derivative gave.
        settled: whether it was told, tested or used.
    """

    apart = True
    __slots__ = ("array", "error", "gradient", "settled", "state")

    def __init__(self, array, state: int, error: NonFiniteError, gradient: bool):
        self.array, self.state, self.error, self.gradient = array, state, error, gradient
        self.settled = False

    def produce(self, value: Value) -> None:
        """An operator takes it: what is only infinite may be meant, and goes on.

        Raises:
            NonFiniteError: it has NaN, and numerics are still checked.
        """
        if self.state & NAN and context.check_numerics:
            self.settled = True
            raise self.error
        self.release(value)

    def view(self, value: Value) -> np.ndarray:
        """Python looks at it.

        Raises:
            NonFiniteError: numerics are still checked.
        """
        if context.check_numerics:
            self.settled = True
            raise self.error
        self.release(value)
        return fetched(value.array)

    def release(self, value: Value) -> None:
        """Let the Value have its array."""
        self.settled = True
        value.array = self.array
        value.source = None


class Steps:
    """The steps of one thread while numerics are checked.

    Attributes:
        armed: which time it is that numerics are checked.
        number: of the present step.
        one_by_one: whether the present step runs operator by operator, because its program has
            made something that is not finite.
    """

    def __init__(self, armed: int):
        self.armed = armed
        self.number = 1
        self.one_by_one = False
        # What was called or differentiated in it, outermost: what comes round again begins a step.
        self._met: set[int | None] = set()
        # The handles assigned since the step began, by id, with what they had before it.
        self._assigned: dict[int, tuple[ref, Value | None]] = {}
        # Values with the Suspects that are their sources, which stay when those are gone.
        self._suspects: list[tuple[ref, Suspect]] = []
        # What is known of infinite arrays that operators went on with, by their ids.
        self._known: dict[int, NonFiniteError] = {}

    def meet(self, what: int | None) -> bool:
        """Whether a step begins where this is about to be called."""
        begins = what in self._met
        if begins:
            self._met.clear()
        self._met.add(what)
        return begins

    def begin(self) -> None:
        """One more step begins.

        Raises:
            NonFiniteError: as of `settle`; infinite gradients that are kept may wait.
        """
        self.number += 1
        self.one_by_one = False
        self._assigned.clear()
        self.settle(False)

    def settle(self, ends: bool = True) -> None:
        """What was suspected has to be settled.

        Args:
            ends: whether this is the end; else gradients that are only infinite and are kept, to be
                added up and tested in a later step, wait.

        Raises:
            NonFiniteError: something that has NaN is still there, or a gradient was not finite, and
                nothing has tested it.
        """
        suspects, self._suspects = self._suspects, []
        for reference, found in suspects:
            value = reference()
            if found.settled:
                continue
            if value is not None:
                if found.gradient and not found.state & NAN and not ends:
                    self._suspects.append((reference, found))
                    continue
                found.release(value)
            if found.gradient or (value is not None and found.state & NAN):
                raise found.error

    def before(self, key, externals) -> None:
        """A segment is about to run: those that it tests are no longer suspected."""
        if not any(isinstance(value.source, Suspect) for value in externals):
            return
        if any(node.signature.op.name in TESTS for node in decode(key)):
            for value in externals:
                if isinstance(value.source, Suspect):
                    value.source.release(value)

    def assigned(self, handles: list[tuple[ref, Value | int, int]]) -> None:
        """These handles were assigned, and had that before (see Segment.assigned). What was made in
        the step is not kept."""
        for reference, had, _ in handles:
            handle = reference()
            if handle is not None and id(handle) not in self._assigned:
                before = had if isinstance(had, Value) and not _made_inside(had) else None
                self._assigned[id(handle)] = reference, before

    def put_back(self) -> None:
        """Let every handle have what it had before the step."""
        while self._assigned:
            reference, had = self._assigned.popitem()[1]
            handle = reference()
            if handle is not None and had is not None:
                if handle._value.aval is not had.aval:
                    structure.changes += 1
                point(handle, had)

    def judge(self, seen: Examination, held, externals) -> NonFiniteError | None:
        """The error of a segment that ran operator by operator; None if it is none, or waits.

        Args:
            held: its Values that are still held, by slot.
            externals: the Values it took from outside.
        """
        faults = [(slot, value) for slot, value in held if seen.state(slot)]
        handled = seen.tested or machine.on_gradients is not None
        lost = seen.gradients.difference([slot for slot, _ in held])
        for slot in filter(seen.is_born_in_forward, seen.losses if handled else ()):
            self.put_back()
            return self._error(seen, slot, externals)
        assigned = self._parameters_assigned()
        for slot, value in faults:
            if id(value) in assigned or (not handled and value.aval.inexact and _is_one(value)):
                error = self._error(seen, slot, externals)
                if error is not None:
                    self.put_back()
                    return error
        for slot in sorted(lost) if not handled else ():
            error = self._error(seen, slot, externals) if seen.made(slot) else None
            if error is not None:
                self.put_back()
                return error
        for slot, value in faults if not handled else ():
            error = self._error(seen, slot, externals)
            if error is not None:
                self._know(value.array, error)
                found = Suspect(value.array, seen.state(slot), error, slot in seen.gradients)
                value.source, value.array = found, None
                self._suspects.append((ref(value), found))
        return None

    def judge_copy(self, seen: Examination, slot: int, single: bool) -> None:
        """A part of another thread's record ran operator by operator, for one of its Values.

        Raises:
            NonFiniteError: it has NaN, or is a single number that is infinite.
        """
        state = seen.state(slot)
        told = state & NAN or (state and single)
        error = self._error(seen, slot, ()) if told else None
        if error is not None:
            raise error

    def _parameters_assigned(self) -> set[int]:
        """The ids of the Values that the Parameters assigned in this step have now."""
        handles = [reference() for reference, _ in self._assigned.values()]
        return {id(handle._value) for handle in handles if isinstance(handle, Parameter)}

    def _error(self, seen: Examination, slot: int, externals) -> NonFiniteError | None:
        for start in (*seen.losses, slot):
            origin, path = seen.origin_of(start)
            if origin is not None:
                break
        if not isinstance(origin, Origin) or seen.state(path[0]) & NAN:
            outside = [seen.arrays[-1 - s] for s in seen.depends_on(slot) if s < 0]
            known = [self._known[id(array)] for array in outside if id(array) in self._known]
            earlier = known[0] if known else None
            if earlier is not None or origin is None:
                return earlier
        names = self._names(seen, externals)
        if isinstance(origin, int):
            return describe_outside(self.number, seen, path, names)
        return describe_origin(self.number, seen, origin, path, names)

    def _know(self, array, error: NonFiniteError) -> None:
        """Know of an array, as long as it is there, why it is not finite."""
        name = id(array)
        self._known[name] = error
        finalize(array, self._known.pop, name, None).atexit = False

    def _names(self, seen: Examination, externals) -> dict[int, str]:
        """The Parameters among what came from outside, by position: they have these Values, or had
        them when the step began."""
        handles: list[tuple] = [(p, p._value) for p in _parameters_of(seen, externals)]
        handles += [(reference(), had) for reference, had in self._assigned.values()]
        # A recorded call has a Value of its own for what it meets, with the same array.
        held = [(h, had) for h, had in handles if isinstance(h, Parameter) and had is not None]
        names = {id(had.array): h.name for h, had in held}
        return {
            position: f"Parameter {names[id(value.array)]}"
            for position, value in enumerate(externals)
            if value.array is not None and id(value.array) in names
        }

    def differs(self) -> None:
        """The compiled program made something that its operators one by one do not make."""
        log.logger.warning(describe_suspicion(self.number))


def _parameters_of(seen: Examination, externals) -> list[Parameter]:
    """The Parameters of the Cells that were called; where none was, those that have one of these
    Values, which takes long to find out."""
    outermost = {}
    for called in seen.places[2::3] if seen.places else ():
        if called is not None:
            while called[1] is not None:
                called = called[1]
            outermost[id(called[0])] = called[0]
    if not outermost:
        return [held for held in gc.get_referrers(*externals) if isinstance(held, Parameter)]
    cells = {id(c): c for root in outermost.values() for _, c in root.cells_and_names()}
    members = [member for cell in cells.values() for member in vars(cell)["_params"].values()]
    return [member for member in members if isinstance(member, Parameter)]


def _made_inside(value: Value) -> bool:
    """Whether the call that is being remembered made a Value."""
    return value.capture is not None and value.number >= 0


def _is_one(value: Value) -> bool:
    return value.aval.nbytes == value.aval.numpy.itemsize


class _Local(threading.local):
    """Each thread's own steps, from the last time on that numerics began to be checked."""

    steps = Steps(-1)


_local = _Local()


def present_steps() -> Steps:
    """The steps of the calling thread."""
    steps = _local.steps
    if steps.armed != context.armed:
        steps = _local.steps = Steps(context.armed)
    return steps


def begin_step(stream: Stream, what: int | None) -> None:
    """What is outermost is about to be called, or, where it is None, a derivative to be taken.

    Args:
        what: the id of a Cell or of a remembered function.
    """
    steps = present_steps()
    if steps.meet(what):
        stream.flush()
        steps.begin()


def note_gradients(gradients: list[Value]) -> None:
    """A derivative has given these, while numerics are checked: a step may not end without a look
    at them."""
    for value in gradients:
        source = value.source
        if isinstance(source, Segment):
            source.gradients.append(value.slot)
        elif isinstance(source, Suspect):
            source.gradient = True


def judge_host(operator: str, place: Place, inputs, outputs) -> None:
    """A function on the host, defined at a place, was called, while numerics are checked.

    Raises:
        NonFiniteError: it made NaN, and was given none.
    """
    numbers = [n for n, array in enumerate(outputs) if state_of(array) & NAN]
    if numbers and not any(state_of(array) & NAN for array in inputs):
        steps = present_steps()
        steps.put_back()
        what = operator, place, cell_path(), inputs, outputs, numbers[0]
        raise describe_host(steps.number, *what)


def heed_jax() -> None:
    """JAX's own search for NaN would end each of our programs: this one takes its place."""
    names = ("jax_debug_nans", "jax_debug_infs")
    asked = [name for name in names if getattr(jax.config, name)]
    for name in asked:
        jax.config.update(name, False)
    if asked:
        set_check_numerics(True)
        text = f"{' and '.join(asked)}: mycel checks numerics instead, see mycel.debug.find_nan"
        log.logger.warning(text)
