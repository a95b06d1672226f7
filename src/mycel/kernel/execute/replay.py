# SPDX-License-Identifier: Apache-2.0
"""Memory: one call as it is replayed. Replay: guards, one executable, sites, assignments."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from weakref import finalize, ref

import numpy as np

from mycel.kernel.base.context import context
from mycel.kernel.base.division import division, fetched
from mycel.kernel.base.errors import GOES_ANOTHER_WAY, HookOrderError
from mycel.kernel.base.places import Place, user_place
from mycel.kernel.base.signals import Reported, came_from_outside, keep_what_python_drops
from mycel.kernel.execute.capture import Capture
from mycel.kernel.execute.checks import Tripped
from mycel.kernel.execute.communicate import repeat_latest
from mycel.kernel.execute.compile import NotFinite, Together, decode, executables
from mycel.kernel.execute.joined import Differs
from mycel.kernel.execute.looks import Guard, seen_bytes
from mycel.kernel.execute.numerics import present_steps
from mycel.kernel.execute.results import Results
from mycel.kernel.execute.sites import Done, Watch
from mycel.kernel.execute.store import Entering, Store
from mycel.kernel.execute.templates import bound_to, builder, leaves, of_inputs
from mycel.kernel.prove import kinds
from mycel.kernel.prove.cases import Case
from mycel.kernel.prove.kinds import kind_of
from mycel.kernel.prove.notes import Argument, Constant, Held, Slot, same, same_function
from mycel.kernel.prove.reads import contents_of
from mycel.kernel.prove.sources import Referent, first_change
from mycel.kernel.record.packed import Packed, still_packed
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.scope import Scope
from mycel.kernel.record.stream import PADDED, Stream, demand, local, machine
from mycel.kernel.record.tensor import Tensor, is_part, new_tensor, point
from mycel.kernel.record.value import ready, value_of

# Results of sites up to this size are packed; copying larger ones costs more than an output.
MOST_PACKED_BYTES = 16 << 10
# Calls whose packs may be kept whole by a Value that a site kept.
MOST_WAITING = 8
# Cases of Python state that are known for one way, as of a schedule with a few steps.
MOST_CASES = 8

_REMEDIES = {
    "bool": "a branch that changes runs in PyNative; use ops.where to compute both",
    "int": "a number that changes runs in PyNative; keep it a Tensor",
    "bits": "use `loss > .5`, return it, or move the read into a hook or @every_call",
}


class Difference(NamedTuple):
    """What kept a call from being replayed: where, in which Cell, what to write instead; and, of a
    replay that was broken off, what its sites did already (see Capture.again)."""

    what: str
    place: Place | None = None
    cell: str = ""
    remedy: str = ""
    kind: str = "other"
    again: list[Done] | None = None

    def is_raised(self) -> bool:
        """Whether a hook or its like raised an exception: what is remembered is as good as
        before."""
        return bool(self.again) and self.again[-1].error is not None


def _passed_among(passed: list, others: list) -> list[tuple[int, Any]]:
    """The arguments that are among other things too, with their numbers."""
    if not passed:
        return []
    known = {id(part): (index, part) for index, part in enumerate(passed)}
    found = {id(part): known[id(part)] for part in others if id(part) in known}
    return [*found.values()]


def _is_compared(part) -> bool:
    """Whether a key of arguments tells what it holds, not which one it is."""
    return kind_of(part) in (kinds.CONTAINER, kinds.OBJECT)


# A program had a wrong index, or made what is not finite: the call differs in nothing, and PyNative
# tells what is wrong.
TRIPPED = Difference("")


class Arguments(NamedTuple):
    """What a call was given, flat, in the order of its key.

    `tensors` are its Tensors, `containers` the lists, dicts and data objects in it, and `held`
    what the key knows by id; `met` numbers all containers by id.
    """

    tensors: list[Tensor]
    containers: list
    held: list
    met: dict[int, int]


class Memory:
    """The record of one call, in the form that is compared and replayed."""

    def __init__(self, name: str, capture: Capture, template, bindings, arguments: Arguments):
        key, used = capture.record()
        self.name = name
        self.key = key
        self.places = capture.places()
        self.template = template
        self.bindings = bindings
        self._written = [what.index for what, _ in bindings if isinstance(what, Argument)]
        self.unread = capture.unread_fields()
        self.sites = [site.without(self.unread) for site in capture.sites]
        self.reads = [read for read in capture.reads if read is not None]
        self.inputs = capture.inputs
        self.used = [capture.inputs[-1 - number] for number in used]
        self._entering = Entering(self.used, key)
        self.seen = 1
        self.padded = local.stream.dynamic == PADDED
        self.ready = False
        # Objects that the key of arguments knows by id: held, so that no id is used again.
        self._held = arguments.held
        self._handles = capture.outside_handles()
        self.repeats = capture.python.repeats if capture.python is not None else []
        # The states in which calls went this way: any of them will do.
        owners = [*capture.hook_owners.values()]
        generator = local.stream.generator
        if generator is not None and id(generator.state) not in self._handles:
            generator = None
        self.cases = [
            Case(
                capture.python,
                capture.cells_from_outside(),
                owners,
                capture.changes,
                self._entering.count_of_changes,
                generator,
            )
        ]
        others = self._parts_from_outside()
        self._met_otherwise = _passed_among(arguments.tensors, others)
        self._containers_met_otherwise = _passed_among(arguments.containers, others)
        self._containers_outside = frozenset([id(part) for part in others if _is_compared(part)])
        self._site_reads = capture.site_reads
        self.needed = self._needed()
        # Of threads that replay it one waits for another; not for sites, which run users' code.
        self.takes_turns = bool(bindings) and not self.sites
        # Whether the program that is laid out checks numerics; None before it is.
        self._prepared: bool | None = None
        # The devices that it is laid out for.
        self._grid = None
        self._values = dict(capture.read_values)

    @property
    def data_bytes(self) -> int:
        """What the data takes that was made inside the call."""
        return sum(what.array.nbytes for what in self.inputs if isinstance(what, Constant))

    def _needed(self) -> set[int]:
        """The numbers that a replay must have: results, assignments, and what sites receive."""
        numbers = {leaf.number for leaf in leaves(self.template) if isinstance(leaf, Slot)}
        numbers.update([number for _, number in self.bindings], self._site_reads)
        for site in self.sites:
            numbers.update(slot.number for slot in site.slots())
            numbers.update(number for _, number in site.bindings)
        return numbers

    def _parts_from_outside(self) -> list:
        """What the call has by other ways than as arguments: an argument that is the very same
        object is one for a program that asks `is`, or changes it."""
        (case,) = self.cases
        met: list = [member for cell, *_ in case.cells for member in cell.__dict__.values()]
        for source in case.guards.sources:
            value = source.value() if type(source.value) is Referent else source.value
            if source.snapshot is None:
                met.append(value)
            elif source.snapshot.items.__class__ is not bytes:  # those of an array
                met += source.snapshot.items
        return met

    # -- comparing ------------------------------------------------------------------------

    def holds(self, tensors: list[Tensor], containers: list) -> bool:
        """Whether the Python state that the call read is as it was, for these arguments."""
        handles = self._handles
        for tensor in tensors:
            if id(tensor) in handles:
                return False
        for index, handle in self._met_otherwise:
            if tensors[index] is not handle:
                return False
        for index in self._written:
            if is_part(tensors[index]):
                return False  # what it was taken from is written to as well
        if containers and self._containers_outside and self._is_otherwise(containers):
            return False
        cases = self.cases
        for index, case in enumerate(cases):
            if case.hold():
                if index:
                    cases.insert(0, cases.pop(index))
                return True
        return False

    def _is_otherwise(self, containers: list) -> bool:
        """Whether a container is the one that the function reads too, and was not, or was."""
        for index, part in self._containers_met_otherwise:
            if containers[index] is not part:
                return True
        known = len(self._containers_met_otherwise)
        outside = self._containers_outside
        return sum([id(part) in outside for part in containers]) != known

    def missed(self, tensors: list[Tensor], containers: list) -> Difference:
        """Why it does not hold, by what was there in the latest state."""
        both = "an argument is {} that the function also reads without being passed it"
        remedy = "pass it, or let the function read it, but not both"
        if any(id(tensor) in self._handles for tensor in tensors):
            return Difference(both.format("a Tensor"), None, "", remedy, "argument")
        if any(tensors[index] is not handle for index, handle in self._met_otherwise):
            return Difference(both.format("no longer the Tensor"), None, "", remedy, "argument")
        if self._is_otherwise(containers):
            what = both.format("a container, or no longer the container,")
            return Difference(what, None, "", remedy, "argument")
        what, place = self.cases[0].missed()
        return Difference(what, place, "", "pass it as a Tensor, or keep it constant", "state")

    def is_case_now(self) -> bool:
        """Whether it was recorded in the state that is now."""
        return any(case.hold() for case in self.cases)

    def took(self, other: Memory) -> None:
        """Take over what is known of earlier calls that went the same way."""
        self.seen = other.seen + 1
        new = self.cases[0]
        rest = [case for case in other.cases if not case.hold()]
        self.cases = [new, *rest[: MOST_CASES - 1]]

    def difference(self, other: Memory) -> Difference | None:
        """What two calls did differently, where, and what to write instead."""
        if self.reads != other.reads:
            for mine, theirs in zip(self.reads, other.reads, strict=False):
                if mine[:3] != theirs[:3]:
                    what = f"what was read of a Tensor ({theirs.kind})"
                    return Difference(
                        what, theirs.place, theirs.cell, _REMEDIES[theirs.kind], "read"
                    )
            if len(self.reads) != len(other.reads):
                return Difference("the number of reads of Tensors", kind="read")
        if self.key != other.key:
            return Difference("the operators")
        if self.used != other.used:
            remedy = "pass what changes as a Tensor, or keep it in a Parameter"
            constants = [
                index
                for index, (a, b) in enumerate(zip(self.used, other.used, strict=False))
                if a != b and isinstance(a, Constant)
            ]
            what = "a number or data made inside" if constants else "the Tensors used from outside"
            return Difference(what, remedy=remedy, kind="state")
        if self.bindings != other.bindings or not same(self.template, other.template):
            return Difference("what is assigned or returned")
        if len(self.sites) != len(other.sites):
            return Difference("the number of hooks, prints and other sites", kind="hook")
        for mine, theirs in zip(self.sites, other.sites, strict=True):
            if not mine.agrees(theirs):
                name = getattr(theirs.function, "__qualname__", repr(theirs.function))
                return Difference(f"what the site {name} was given or did", kind="hook")
        return None

    def check_way(self, capture: Capture, index: int, function, template, bindings) -> None:
        """Raise unless a call that goes on after a replay went the same way to this site.

        The sites of the replay ran on what was remembered. Another way now means that the body
        reads Python state that a later site of the same call has changed already.
        """
        site = self.sites[index]
        key, used = capture.record_so_far()
        inputs = [capture.inputs[-1 - number] for number in used]
        if (
            key != self.key[: len(key)]
            or inputs != self.used[: len(inputs)]
            or not same_function(site.function, function)
            or not same(of_inputs(site.template, self.inputs), of_inputs(template, capture.inputs))
            or bound_to(site.bindings, self.inputs) != bound_to(bindings, capture.inputs)
        ):
            name = getattr(site.function, "__qualname__", repr(site.function))
            raise HookOrderError(
                GOES_ANOTHER_WAY.format(name=self.name, site=name, place=user_place(3))
            )

    # -- preparing ------------------------------------------------------------------------

    def prepare(self) -> None:
        """Lay out what a replay needs: once, and again when numerics are to be checked or not, or
        arrays are divided among other devices."""
        if self._prepared is not None:
            self.store.give_all()
        inner = [read for read in self.reads if read.number >= 0]
        guards = tuple([Guard(read.number, read.kind) for read in inner])
        avals = [aval for node in decode(self.key) for aval in node.signature.outputs]
        packs = self._packs(avals)
        packed = [number for pack in packs for number in pack]
        live = tuple(sorted(n for n in self.needed if n >= 0 and n not in packed))
        self.executable = executables.get(self.key, live, guards, packs)
        self.executable.name = self.name
        self.executable.may_be_padded |= self.padded
        self.expected = b"".join([read.bits for read in inner])
        self.inner_reads = inner
        self.run: Callable[..., list] = self.executable
        if isinstance(self.executable, Together):
            # It compares what Python read itself, in front of what that decides about.
            bits, self.inner_reads = [read.bits for read in inner], []
            self.run = partial(self.executable, places=self.places, expected=bits)
            self.reads_together = inner
        self.input_reads = [
            (read, self.inputs[-1 - read.number], self._values.get(read.number))
            for read in self.reads
            if read.number < 0 and not isinstance(self.inputs[-1 - read.number], Constant)
        ]
        # The position of each number: an output of its own, or, behind those, a part of a pack.
        self.numbers = (*live, *packed)
        self.order = {number: position for position, number in enumerate(self.numbers)}
        self.avals = [avals[number] for number in self.numbers]
        self.alone = len(live)
        # Values in packs that sites of past calls kept, with an array that tells when they ran.
        self.kept_by_sites: deque[tuple[Any, list[tuple[ref, Packed]]]] = deque()
        # What is packed where, and in which pack each of these positions is.
        self.packs: list[dict] = []
        self.home_of: dict[int, int] = {}
        for pack in packs:
            parts, start = {}, 0
            for number in pack:
                aval = avals[number]
                size = aval.nbytes // aval.numpy.itemsize
                parts[self.order[number]] = (start, start + size, aval.shape)
                start += size
            self.home_of.update(dict.fromkeys(parts, len(self.packs)))
            self.packs.append(parts)
        self.needed_inputs = [(n, self.inputs[-1 - n]) for n in self.needed if n < 0]
        # With each site, the handles to bind before it: those that changed since the one before.
        self.prepared_sites = []
        bound: dict = {}
        for site in self.sites:
            changed = [pair for pair in site.bindings if bound.get(pair[0]) != pair[1]]
            bound = dict(site.bindings)
            self.prepared_sites.append((site, changed, builder(site.template, self.order)))
        self._lay_out_commits()
        self.simple = (
            not self.sites
            and isinstance(self.template, Slot)
            and self.template.number in self.order
            and not self.other_bindings
        )
        if self.simple:
            self.result_index = self.order[self.template.number]
        else:
            self.build_result = builder(self.template, self.order, "leaf")
        self._prepared, self._grid = context.check_numerics, division.grid

    def _lay_out_commits(self) -> None:
        """Tell what is assigned an output: Parameters that are inputs too, which the store keeps;
        other handles, with the output's position; and what is assigned something else."""
        positions = {
            id(w.handle): position for position, w in enumerate(self.used) if isinstance(w, Held)
        }
        stored: dict[int, int] = {}
        self.commits, self.other_bindings = [], []
        for target, number in self.bindings:
            if not isinstance(target, Held) or number not in self.order:
                self.other_bindings.append((target, number))
                continue
            handle, index = target.handle, self.order[number]
            position = positions.get(id(handle), -1)
            known = position >= 0 and self._entering.avals[position] is self.avals[index]
            if known and isinstance(handle, Parameter):
                stored[position] = index
            else:
                self.commits.append((handle, index))
        self.store = Store([self._holder(what) for what in self.used], stored, self.avals)
        # Parameters must not wait in the store of a call that is forgotten.
        finalize(self, self.store.give_all).atexit = False

    def commit(self, results) -> None:
        """Give the results to what was assigned."""
        self.store.keep(results)
        for handle, index in self.commits:
            point(handle, ready(results[index], self.avals[index]))

    def _packs(self, avals) -> tuple[tuple[int, ...], ...]:
        """Groups of small results of one type that only sites receive or look at. None of what is
        divided among devices: to pack it would gather it."""
        if division.grid is not None:
            return ()
        others = {leaf.number for leaf in leaves(self.template) if isinstance(leaf, Slot)}
        for bindings in (self.bindings, *[site.bindings for site in self.sites]):
            others.update(number for _, number in bindings)
        groups: dict = {}
        for number in sorted(self.needed - others):
            if number >= 0 and avals[number].nbytes <= MOST_PACKED_BYTES:
                groups.setdefault(avals[number].numpy, []).append(number)
        return tuple([tuple(group) for group in groups.values() if len(group) > 1])

    @staticmethod
    def _holder(what) -> Tensor | int:
        if isinstance(what, Held):
            return what.handle
        if isinstance(what, Constant):
            return new_tensor(value_of(what.array))
        return what.index


def replay(stream: Stream, memory: Memory, arguments: Arguments) -> Any:
    """Run a remembered call as one executable: its result, or the Difference that prevents it."""
    tensors = arguments.tensors
    stream.flush()
    if sys.unraisablehook.__class__ is not Reported:
        keep_what_python_drops()
    if memory._prepared is not context.check_numerics or memory._grid is not division.grid:
        memory.prepare()
    for read, source, value in memory.input_reads:
        if not _reads_the_same(read, source, value, tensors):
            return _changed(read)
    try:
        arrays = memory.store.inputs(tensors)
        if machine.on_record is not None:
            machine.on_record(memory.executable, memory.key, memory.places, arrays, memory.numbers)
        results = memory.run(arrays)
    except Differs as differs:
        return _changed(memory.reads_together[differs.number])
    except Tripped as tripped:
        if isinstance(tripped, NotFinite):
            present_steps().one_by_one = True
        return TRIPPED
    except Exception as error:
        if came_from_outside(error):
            raise
        # A value is poisoned: PyNative says which.
        return Difference(f"it could not run: {type(error).__name__}")
    if memory.inner_reads:
        seen = np.asarray(results.pop()).tobytes()
        if seen != memory.expected:
            return _changed(_first_difference(memory, seen))
    if memory.simple:
        memory.commit(results)
        index = memory.result_index
        result = new_tensor(ready(results[index], memory.avals[index]))
    else:
        result = _finish(stream, memory, arguments, results)
        if result.__class__ is Difference:
            if memory.run is not memory.executable:
                repeat_latest()
            return result
    machine.account.counts.replays += 1
    if machine.account.limits:
        machine.account.raise_if_over()
    return result


def _reads_the_same(read, source, value, tensors) -> bool:
    handle = source.handle if isinstance(source, Held) else tensors[source.index]
    present = handle._value
    if value is not None and (present is value or present.array is value.array):
        return True
    return seen_bytes(fetched(demand(present)), read.kind) == read.bits


def _changed(read) -> Difference:
    what = f"a Tensor read ({read.kind}) changed"
    return Difference(what, read.place, read.cell, _REMEDIES[read.kind], "read")


def _first_difference(memory: Memory, seen: bytes):
    position = 0
    for read in memory.inner_reads:
        if seen[position : position + len(read.bits)] != read.bits:
            return read
        position += len(read.bits)
    return memory.inner_reads[-1]


def _finish(stream: Stream, memory: Memory, arguments: Arguments, results) -> Any:
    before: dict[int, tuple] = {}
    values = Results(memory, arguments, results, None)
    if memory.sites:
        order = memory.order
        watch = values.watch = Watch(
            stream,
            lambda number: values.output(order[number]) if number in order else None,
            memory.unread,
        )
        parts = (memory, values, watch, before)
        difference = _run_sites(stream, *parts, contents_of(arguments.containers))
        if difference is not None:
            return difference
        values.watch = None
        kept = watch.provided
        watch.forget()
        # What the sites recorded runs now, as far as they kept it: it holds nothing any more.
        stream.flush()
        if memory.packs:
            kept += [
                ref(value) for value in values.by_position[memory.alone :] if value is not None
            ]
            values.by_position = values.by_position[: memory.alone]
            kept = still_packed(kept)
            if kept:
                memory.kept_by_sites.append((results[memory.alone], kept))
            _separate(memory)
    if memory.other_bindings:
        values.bind(memory.other_bindings, before)
    memory.commit(results)
    if memory.sites:
        memory.cases[0].settle()
    return memory.build_result(values)


def _separate(memory: Memory) -> None:
    """Give packed Values that sites kept arrays of their own, so that nothing else is kept.

    Done when their calls have run, to wait for nothing; the calls that have not are few.
    """
    waiting = memory.kept_by_sites
    while waiting and (len(waiting) > MOST_WAITING or waiting[0][0].is_ready()):
        for survivor, pack in waiting.popleft()[1]:
            value = survivor()
            if value is not None and value.source is pack:
                value.source = pack.alone(value)


def _run_sites(stream, memory, values, watch, before, contents) -> Difference | None:
    """Run all sites; what ends the replay, if one of them did something new."""
    again: list[Done] = []
    kept_alive = memory.cases[0].kept_alive()
    scope = Scope(watch, complete=True, traced=stream.scope.traced)
    parts = (memory, values, watch, before, again, contents)
    site = stream.within(scope, _first_that_differs, *parts)
    if site is None:
        return None
    case = memory.cases[0]
    # Before what the sites did is taken back: it belongs to the state behind them.
    kept = case.note_behind(again, contents)
    for handle, value in before.values():
        point(handle, value)
    for done in reversed(again):
        done.undo()
    name = getattr(site.function, "__qualname__", repr(site.function))
    kept = kept or case.set_back(contents)
    if kept is not None:
        place = kept.place or user_place(3)
        told = GOES_ANOTHER_WAY.format(name=memory.name, site=name, place=place)
        raise HookOrderError(told) from again[-1].error
    del kept_alive
    did = "did something new" if again[-1].error is None else "raised an exception"
    return Difference(f"the site {name} {did}", kind="hook", again=again)


def _first_that_differs(memory, values, watch, before, again, contents):
    """Run sites until one does something new, which is returned; None if none does."""
    case, site = memory.cases[0], None
    left = case.left
    for index, (following, bindings, build) in enumerate(memory.prepared_sites):
        if left and not all(watch.is_as_left(one) for one in left if one.after == index):
            return site
        site = following
        if bindings:
            values.bind(bindings, before)
        args, kwargs = build(values)
        done, agrees = watch.run(site, args, kwargs)
        again.append(done)
        if done.assigned:
            for handle, value in done.before():
                before.setdefault(id(handle), (handle, value))
        # What the body read may be another now: then it may go another way after this site.
        unchanged = not contents or first_change(contents) is None
        if not (agrees and unchanged and case.behind_sites[index].hold()):
            return site
    ended = len(memory.prepared_sites)
    as_left = not left or all(watch.is_as_left(one) for one in left if one.after == ended)
    return None if as_left and case.is_current() else site
