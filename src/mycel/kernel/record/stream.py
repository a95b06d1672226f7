# SPDX-License-Identifier: Apache-2.0
"""The stream: what one thread has recorded and not yet run. Everything starts here.

A Segment is kept as integers: for every node its signature's number and the slots of its inputs,
outputs at slots 0, 1, 2, …, inputs from outside at -1, -2, …. Outputs are known by weak references,
so that what nobody holds any more is never computed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import sleep
from typing import Any
from weakref import ref

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.account import Account, Report
from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.context import context
from mycel.kernel.base.division import division, fetched
from mycel.kernel.base.places import Place, is_theirs, passed, path_of, theirs, user_place
from mycel.kernel.base.signals import Reported, keep_what_python_drops
from mycel.kernel.base.structure import changed_everywhere, structure
from mycel.kernel.define.bounds import check
from mycel.kernel.define.op import Op, Signature, signatures
from mycel.kernel.record.scope import OUTSIDE, Scope
from mycel.kernel.record.value import CHANGED, COMMUNICATES, MADE, Observer, Poison, Value


def _nobody() -> None:
    """In place of the weak reference to a Value that nobody has."""


dead: Any = _nobody


# Safety nets only: programs are cut at structural boundaries, because other cuts never repeat.
MOST_OUTPUTS = 4000
MOST_BYTES = 4 << 30

# What programs say of lengths that change.
OPEN, PADDED = 1, 2

LOST = "A value was lost: its segment ran without it."


class Elsewhere(Exception):
    """An input is still pending on another thread and must be demanded first."""


class Segment:
    """The part of a stream that has not run; the source of the Values recorded in it."""

    apart = False

    __slots__ = (
        "assigned",
        "bytes",
        "count",
        "external_count",
        "external_slots",
        "externals",
        "gradients",
        "has_pending",
        "key",
        "met",
        "outputs",
        "places",
        "stream",
    )

    def __init__(self, stream: Stream):
        self.stream = stream
        self.key: list[int] = []
        self.outputs: list[ref] = []
        # How many outputs and externals there are: to ask for these calls nothing (see record).
        self.count = self.external_count = 0
        self.externals: list[Value] = []
        # By id: the Values are held by `externals`, so no id is used again.
        self.external_slots: dict[int, int] = {}
        self.places: list = []
        # Handles assigned since its first node, by weak references, each with the Value it had (its
        # slot, if that is pending here) and how many outputs there were: see execute.checks.
        self.assigned: list[tuple[ref, Value | int, int]] = []
        # The slots of what derivatives gave, while numerics are checked.
        self.gradients: list[int] = []
        self.bytes = 0
        # Whether an external is pending: its array is made when the segment runs.
        self.has_pending = False
        # The Cells called in this segment by id, and None for a derivative (see boundary).
        self.met: set[int | None] = set()

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return len(self.places) // 3

    def place(self, number: int) -> Place:
        """Where a node was recorded; one of a reverse may name the node of the forward record."""
        return place_of(self.places, number)

    def admit(self, value: Value) -> int:
        """The slot of a Value from outside this segment."""
        slot = self.external_slots.get(id(value))
        if slot is None:
            array = value.array
            if array is None:
                source = value.source
                if source is None or not source.apart:
                    raise Elsewhere(value)
                self.has_pending = True
            elif array.__class__ is Poison:
                raise array.error()
            name, size = id(value), value.aval.nbytes
            # Together, whatever interrupts: nothing is called in between.
            self.bytes += size
            self.external_count += 1
            self.external_slots[name] = slot = -self.external_count
            self.externals.append(value)
        return slot

    def produce(self, value: Value) -> None:
        """Run what was recorded; for another thread, as much of a copy as a Value needs."""
        stream = self.stream
        if stream is not local.stream:
            self._produce_for_another(value)
        elif stream.segment is self:
            stream.flush()
        else:  # its run was broken off, or goes on, and this is the handler of a signal
            stream.unfinished += 1  # a call that is being remembered lacks it
            machine.run_segment(self, None)
            if value.array is None:
                raise RuntimeError(LOST)

    def _produce_for_another(self, value: Value) -> None:
        """The record is only ever appended to, and cleared only after every Value has its array: if
        the copy does not reach it, that is there. What the thread runs at once, and once only, is
        waited for. Asked often, as for batches, all that is held is made, and it begins anew."""
        values = [made() or value for made in self.outputs[:]]
        places, externals, key = self.places[:], self.externals[:], self.key[:]
        position = first = 0
        while position < len(key) and first < len(values):
            signature = signatures[key[position]]
            if signature.op.collective:
                while first <= value.slot and value.array is None:
                    sleep(0.001)
                break
            first += len(signature.outputs)
            position += 1 + signature.arity
        if first <= value.slot:
            return
        arrays = [demand(external) for external in externals]
        self.bytes += MOST_BYTES // 8  # asked eight times it is as if it were too large
        also = values[:first] if self.bytes > MOST_BYTES else ()
        others = [v for v in also if v.source is self and v.array is None]
        held = {v.slot: v for v in (value, *others)}
        results = machine.run_by_operator(key[:position], tuple(held), arrays, places)
        for held_value, array in zip(held.values(), results, strict=True):
            held_value.array = array

    def view(self, value: Value) -> np.ndarray:
        """A Value as Python sees it; the run may leave it waiting for that look."""
        self.produce(value)
        return fetched(demand(value)) if value.source is None else seen(value)

    def clear(self) -> None:
        """Drop everything: pending Values point here, and buffers must not wait to be collected."""
        self.key, self.outputs, self.places, self.externals = [], [], [], []
        self.assigned, self.gradients = [], []
        self.external_slots = {}


def place_of(places: list, number: int) -> Place:
    """The Place of a node: its fields, or the number of the node that has them."""
    if isinstance(places[3 * number], int):
        number = places[3 * number]
    return Place(*places[3 * number : 3 * number + 3])


class Machine:
    """What the machine needs of higher layers; the package root wires it in, so that arrows point
    down.

    Attributes:
        account, report: what keeps account of what runs, and what speaks to people.
        run_segment, run_by_operator, run_directly: the executors.
        begin_step: told that a step begins, while numerics are checked.
        remember: makes of a function, and the Cell it belongs to, one that Graph mode remembers.
        initializer: the initialiser that a name or a number means.
        note_gradients: told of what a derivative gave, while numerics are checked.
        on_record: told of what runs as one program: the executable, its key, places, inputs and
            results; or None.
        on_communication: told of each operator among processes that ran: its signature, results,
            and when it began and ended; or None.
        on_operator: told of each operator, while somebody watches them: what it made goes on.
        on_gradients: told of those of each derivative, once something asked for it; else None.
    """

    __slots__ = (
        "account",
        "begin_step",
        "initializer",
        "note_gradients",
        "on_communication",
        "on_gradients",
        "on_operator",
        "on_record",
        "remember",
        "report",
        "run_by_operator",
        "run_directly",
        "run_segment",
    )

    account: Account
    report: Report

    def __init__(self):
        self.remember: Callable[..., Any] = _not_wired
        self.initializer: Callable[[Any], Any] = _not_wired
        self.on_communication: Callable[[Signature, list, int, int], None] | None = None
        self.on_gradients: Callable[[Any], None] | None = None
        self.on_record: Callable[..., None] | None = None
        self.on_operator: Callable[[Op, Any], Any] = _not_wired
        self.begin_step: Callable[[Stream, int | None], None] = _not_wired
        self.note_gradients: Callable[[list[Value]], None] = _not_wired
        self.run_segment: Callable[[Segment, Observer | None], None] = _not_wired
        self.run_by_operator: Callable[..., list] = _not_wired
        self.run_directly: Callable[[Signature, tuple, Place], list] = _not_wired


def _not_wired(*_, **__) -> Any:
    raise RuntimeError("The machine is not wired: import the package mycel itself.")


machine = Machine()


class Stream:
    """One thread's record. Only its own thread writes to it, so recording takes no lock: another
    thread that wants one of its pending Values computes it from a copy of the record.

    An exception may come from outside at any moment (see base.signals). So what belongs together is
    written without a call in between; what is changed for a while is put back in a `finally` that
    begins with plain assignments of what was there before; and a segment whose run is broken off
    stays as it is, and runs when one of its Values is demanded.

    Attributes:
        segment: what was recorded and has not run.
        scope: what holds for whatever is recorded now; exchanged by `within`.
        called: the Cell being called and those around it, as links `(cell, the link around it)`.
        generator: what random operators draw from, once something asked for it.
        unfinished: how many runs of segments, and sites, were broken off by an exception, go on, or
            were run once more for a Value.
        dynamic: 0, or what the program said of what is recorded now: its lengths are `OPEN`, or are
            to be `PADDED`.
        of_rows: whether what is recorded stands for rows of `vmap`, which have no values.
    """

    __slots__ = ("called", "dynamic", "generator", "scope", "segment", "unfinished")
    of_rows = False

    def __init__(self, scope: Scope = OUTSIDE):
        self.segment = Segment(self)
        self.scope = scope
        self.called: tuple | None = None
        self.generator: Any = None
        self.unfinished = 0
        self.dynamic = 0

    def within(self, scope: Scope, function: Callable, *args, **kwargs):
        """Call a function in another scope.

        Not a block for `with`: an exception from outside could arrive where its end begins.
        """
        before = self.scope
        try:
            self.scope = scope
            return function(*args, **kwargs)
        finally:
            self.scope = before

    def unobserved(self, function: Callable, *args, **kwargs):
        """Call a function that makes what a call being remembered then meets from outside."""
        return self.within(self.scope.but(capture=None), function, *args, **kwargs)

    def exchange(self, scope: Scope) -> Scope:
        """Let another scope hold from here on; what held is returned, and must be put back."""
        before, self.scope = self.scope, scope
        return before

    def announce(self, dynamic: int) -> int:
        """Note what the program says of lengths that change, from here on; what was noted before is
        returned, and must be put back."""
        before, self.dynamic = self.dynamic, dynamic
        return before

    def call(self, cell: CellBase, function: Callable, args: tuple, kwargs: dict):
        """Call a function as the call of a Cell."""
        around = self.called
        try:
            self.called = (cell, around)
            return function(*args, **kwargs)
        finally:
            self.called = around

    def attempt(self, function: Callable, *args):
        """Call a function; if an exception breaks it off, that stays counted as unfinished."""
        self.unfinished += 1
        result = function(*args)
        self.unfinished -= 1
        return result

    def go_on_with(self, segment: Segment) -> None:
        """Record into another segment from here on."""
        self.segment = segment

    def note_assigned(self, handle, before: Value) -> None:
        """A handle is about to be given another Value, in the place of the one that it has."""
        scope = self.scope
        if scope.capture is not None:
            scope.capture.write(handle)
        if scope.journal is not None:
            scope.journal.assigned.append((handle, before))

    def flush(self) -> None:
        """Run what was recorded."""
        segment = self.segment
        if segment.outputs:
            self.unfinished += 1
            self.segment = Segment(self)
            machine.run_segment(segment, self.scope.capture)
            self.unfinished -= 1

    def boundary(self, cell: CellBase | None = None) -> None:
        """A structural boundary: where programs are cut, because they come round here again.

        An outermost derivative always is one; the outermost call of a Cell is one if the same Cell
        was called before in this segment, or if a derivative was recorded and the Cell does not
        continue the step (as an optimiser does).
        """
        if self.scope.capture is not None or self.scope.depth:
            return
        if sys.unraisablehook.__class__ is not Reported:  # test runners set one of their own
            keep_what_python_drops()
        met = self.segment.met
        if cell is None or id(cell) in met or (None in met and cell._begins_segment):
            self.flush()
            met = self.segment.met
        if context.counts_steps and not self.scope.plain:
            machine.begin_step(self, None if cell is None else id(cell))
            met = self.segment.met
        met.add(None if cell is None else id(cell))


def cell_path() -> str:
    """The path of attributes to the Cell being called, as `Net.block.conv1`; empty outside one."""
    return path_of(local.stream.called)


class _Local(threading.local):
    """Each thread's own stream, made when the thread first asks."""

    def __init__(self):
        self.stream = Stream()


local = _Local()


def current_stream() -> Stream:
    """The stream of the calling thread."""
    return local.stream


def flush() -> None:
    """Run everything this thread has recorded."""
    local.stream.flush()


def demand(value: Value):
    """The array of a Value, made by its source if it has to be; raises what its operator raised."""
    array = value.array
    while array is None:
        source = value.source
        if source is not None:
            source.produce(value)
        array = value.array
        if array is None and source is None:  # else it has just run, on another thread
            raise RuntimeError(LOST)
    if array.__class__ is Poison:
        raise array.error()
    return array


def seen(value: Value) -> np.ndarray:
    """A Value as Python sees it."""
    source = value.source if value.array is None else None
    if source is not None:
        return source.view(value)
    array = demand(value)
    return np.asarray(array) if division.grid is None else fetched(array)


def note_changed(subject: Any, what: str, remedy: str) -> None:
    """Something changed that programs are made of, so that what is remembered is looked at: a Cell,
    the hooks of a Tensor, or, where it is None, what concerns all that is remembered.

    Args:
        what: what happened, should it be inside a call that is being remembered.
        remedy: what to write instead.
    """
    if subject is None:
        changed_everywhere()
    elif isinstance(subject, CellBase):
        subject.__dict__["_cell_version"] += 1
        structure.changes += 1
    capture = local.stream.scope.capture
    ends = capture is not None and capture.event(CHANGED, subject, what, remedy)
    if not ends and subject is not None and not isinstance(subject, CellBase):
        structure.changes += 1
        structure.tensor_hooks += 1


def refuse(what: str, remedy: str, place: Place | None = None) -> None:
    """Something happens, here or at a place, that the replay of a call could not do."""
    capture = local.stream.scope.capture
    if capture is not None:
        capture.event(CHANGED, None, what, remedy, place)


def note_made(cell: CellBase) -> None:
    """A Cell is made; setting it up changes nothing that was there."""
    structure.changes += 1
    scope = local.stream.scope
    if scope.capture is not None:
        scope.capture.event(MADE, cell)
        if scope.journal is not None:
            scope.journal.made[id(cell)] = cell


def find_place(depth: int) -> tuple:
    """The fields of a Place: the nearest user frame and the Cell being called."""
    frame = sys._getframe(depth)
    code = frame.f_code
    while code.co_filename in passed or (
        code.co_filename not in theirs and not is_theirs(code.co_filename)
    ):
        frame = frame.f_back
        if frame is None:  # a thread that runs us alone
            return user_place(depth + 1)
        code = frame.f_code
    return (code, frame.f_lasti, local.stream.called)


def record(
    op: Op,
    inputs: tuple[Value, ...],
    place: tuple | None = None,
    into: tuple[Value, ...] | None = None,
    apart: bool = True,
) -> Value | tuple:
    """Append a node of any arity; the Value of its output, or a tuple of them.

    Nothing of the stream is touched before every input is resolved, so a raise leaves no trace.

    Args:
        into: Values of a call that was broken off, which become the outputs.
        apart: whether it is run directly, or told to who watches, where that is asked for.
    """
    if context.apart and apart:
        return _record_apart(op, inputs, place, into)
    avals = tuple([value.aval for value in inputs])
    signature = op.many.get(avals) or op.signature(avals)
    if place is None:
        place = find_place(2)
    stream = local.stream
    scope = stream.scope
    runs_at_once = signature.special and _is_special(signature, inputs, place, scope)
    segment = stream.segment
    known = segment.external_slots.get  # no slot of an external is 0
    try:
        slots = [
            v.slot if v.source is segment else known(id(v)) or segment.admit(v) for v in inputs
        ]
    except Elsewhere as elsewhere:
        demand(elsewhere.args[0])
        return record(op, inputs, place, into)
    first, after = segment.count, segment.count + len(signature.outputs)
    if into is not None:
        values, outputs = into, [dead] * len(into)
    elif signature.single:
        value = _new_value(Value)
        value.array = None
        value.aval = signature.aval
        value.source = segment
        value.capture = None
        value.slot = first
        values, outputs = (value,), (ref(value),)
    else:
        values, outputs = waiting(segment, range(first, after), signature.outputs)
    if stream.segment is not segment or segment.count != first:
        return record(op, inputs, place, into)  # a signal's handler recorded in between
    # Together, whatever interrupts: nothing is called in between.
    segment.count = after
    segment.key += (signature.id, *slots)
    segment.places += place
    segment.outputs += outputs
    if into is not None:
        _connect(segment, range(first, after), signature.outputs, into)
    if runs_at_once or segment.count > MOST_OUTPUTS or segment.bytes > MOST_BYTES:
        stream.flush()
        if runs_at_once:
            demand(values[0])
    if scope.tape is not None:
        scope.tape.append((op, inputs, values, place))
    return values[0] if signature.single else values


def _is_special(signature: Signature, inputs, place: tuple, scope: Scope) -> bool:
    """Look at indices; whether an operator is one among processes, and runs at once.

    Raises:
        OutOfRangeError: an index is wrong.
        NotImplementedError: it is one among processes in what becomes a part of another program.
    """
    op = signature.op
    if scope.traced:
        if op.collective:
            text = errors.COLLECTIVE_IN_TRACE.format(operator=op.name, place=Place(*place))
            raise NotImplementedError(text)
        return False
    if signature.bounds:
        check(op, signature.bounds, [value.array for value in inputs], place)
    capture = scope.capture
    return op.collective and not (
        capture is not None and capture.event(COMMUNICATES, None, op.name)
    )


_new_value = Value.__new__


def waiting(segment: Segment, slots, avals) -> tuple[tuple[Value, ...], list]:
    """New Values for slots of a segment, which has yet to know them, and references to them."""
    values, references = [], []
    for slot, aval in zip(slots, avals, strict=True):
        value = _new_value(Value)
        value.array = None
        value.aval = aval
        value.source = segment
        value.capture = None
        value.slot = slot
        values.append(value)
        references.append(ref(value))
    return tuple(values), references


def _connect(segment: Segment, slots, avals, values) -> None:
    """Let Values of a call that was broken off become the outputs at slots of a segment."""
    outputs = segment.outputs
    for slot, aval, value in zip(slots, avals, values, strict=True):
        known = ref(value)
        # Together, as above.
        value.array = None
        value.aval = aval
        value.source = segment
        value.capture = None
        value.slot = slot
        outputs[slot] = known


def _record_apart(op: Op, inputs: tuple[Value, ...], place: tuple | None, into):
    """Record an operator where none takes the quick way."""
    scope = local.stream.scope
    if context.direct and scope.capture is None:
        made = _run_directly(op, inputs, place or find_place(3), scope)
    else:
        made = record(op, inputs, place, into, False)
    # What is recorded at a given place was called before: a reverse, or rows for all rows.
    return made if place is not None or not context.watching else machine.on_operator(op, made)


def _run_directly(op: Op, inputs: tuple[Value, ...], place: tuple, scope: Scope):
    avals = tuple([value.aval for value in inputs])
    signature = op.many.get(avals) or op.signature(avals)
    if signature.special:
        _is_special(signature, inputs, place, scope)
    arrays = tuple([demand(value) for value in inputs])
    results = machine.run_directly(signature, arrays, Place(*place))
    values = tuple(
        [Value(array, aval) for array, aval in zip(results, signature.outputs, strict=True)]
    )
    if scope.tape is not None:
        scope.tape.append((op, inputs, values, place))
    return values[0] if signature.single else values
