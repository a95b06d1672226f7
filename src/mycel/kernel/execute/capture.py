# SPDX-License-Identifier: Apache-2.0
"""Capture: what is noted while a call runs in PyNative, so that it can be replayed.

Nothing is done per operator: the segments' own records are kept. Values are known by numbers:
those made inside from 0 upwards in the order of recording, inputs from -1 downwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.places import Place, user_place
from mycel.kernel.base.structure import structure
from mycel.kernel.base.trees import tree_map
from mycel.kernel.define.op import signatures
from mycel.kernel.execute.looks import seen_bytes
from mycel.kernel.execute.sites import Site, emission, field_set
from mycel.kernel.execute.templates import Templates
from mycel.kernel.execute.trace import Trace
from mycel.kernel.prove.notes import Argument, Constant, Held, Read, Slot
from mycel.kernel.prove.reads import Reads
from mycel.kernel.prove.sources import CONTENT, FIELD
from mycel.kernel.record.hooks import call_labelled
from mycel.kernel.record.journal import Journal
from mycel.kernel.record.stream import Segment, Stream, cell_path, demand, seen
from mycel.kernel.record.tensor import Tensor, resolve
from mycel.kernel.record.value import CALLED, COMMUNICATES, HOOKS, MADE, Shown, Value

_SEEN = {"bool": "bool", "int": "int"}


class Capture(Trace):
    """The notes of one call.

    Attributes:
        inputs: what the call takes from outside, by number: arguments, handles and constants.
        assigned: handles from outside that were given another value.
        reads: what Python saw of values outside sites; each is a guard of the replay.
        sites: Python that runs at every call.
        refused: why the call cannot be remembered, and what to write instead.
        again: what the first sites did in the replay that was broken off: they do not run twice.
        check: told of each of these before it is emitted again: its number, what is called, and
            what it is given; raises if the call goes another way than the replay.
        python: the Python state that the call reads, or None while nothing watches Python.
        watch: tells `python` which Python runs.
        made_cells: the Cells made inside, by id.
        in_site: whether a site runs, or what Python runs when it collects garbage.
        site_changes: the fields of Cells that sites set: the id of the fields, and the name.
    """

    def __init__(
        self, stream: Stream, again: list | None = None, check: Callable[..., None] | None = None
    ):
        super().__init__(stream)
        self.changes = structure.changes
        self.assigned: dict[int, Tensor] = {}
        self.reads: list[Read | None] = []
        self.read_values: dict[int, Value] = {}
        self.sites: list[Site] = []
        self.refused: tuple[str, str, Place, str] | None = None
        self.cells: dict[int, object] = {}
        # Values made in a site and looked at there: a replay has them from its executable.
        self.site_reads: set[int] = set()
        self.hook_owners: dict[int, Tensor] = {}
        self.made_cells: dict[int, object] = {}
        self.python: Reads | None = None
        self.watch: Any = None
        self.site_changes: set[tuple[int, str]] = set()
        self.again = again or []
        # How many of them were begun.
        self.repeated = 0
        self.check = check
        self.formatted: list[Shown] | None = []
        self._containers: dict[int, int] = {}
        # By the ids of handles from outside: the Values they had, and what these were lifted to.
        self._lifted: dict[int, tuple[Value, Value]] = {}
        self._segments: list[tuple] = []
        self._places: list[list] = []
        self._survivors: list[tuple[int, ref]] = []
        self._site_spans: list[range] = []
        self._site_results: set[int] = set()
        self.in_site = False
        self._site_start = 0
        self._count = 0

    # -- what the record asks of a capture --------------------------------------------------

    def lift(self, value: Value, handle: Tensor | None = None) -> Value:
        """The Value of a handle from outside, met for the first time: an input of its own; or data
        made inside.

        It is a fresh Value with the same array: two handles that share a Value stay two inputs,
        because next time they may not share it. The handle keeps its own, which other threads have.
        """
        if handle is None:
            return self.know(value, Constant(value.array))
        known = self._lifted.get(id(handle))
        if known is not None and known[0] is value:
            known[1].array = value.array  # it may have been laid out on several devices since
            return known[1]
        array = demand(value)
        fresh = Value(array, value.aval)
        if known is not None and known[1].array is array:
            fresh.capture, fresh.number = self, known[1].number
        else:
            self.know(fresh, Held(handle))
        self.outside.setdefault(id(handle), Held(handle))
        self._lifted[id(handle)] = value, fresh
        return fresh

    def write(self, handle: Tensor) -> None:
        """A handle is about to be given another value."""
        super().write(handle)
        if id(handle) in self.outside:
            self.assigned[id(handle)] = handle

    def read(self, handle: Tensor, value: Value, kind: str, text) -> np.ndarray:
        """Python sees a value."""
        array = seen(value)
        if self.in_site:
            if value.capture is self and value.number >= self._site_start:
                self.site_reads.add(value.number)
            return array
        kind = _SEEN.get(kind, "bits")
        number = self.number_of(value)
        if number < 0:
            self.read_values[number] = value
        place = user_place(3)
        if text is not None and self.formatted is not None:
            self.formatted.append(Shown(text(array), handle, text, len(self.reads), place))
            if self.python is not None:
                self.python.numpy_settings()
        self.reads.append(Read(number, kind, seen_bytes(array, kind), place, cell_path()))
        return array

    def close(self, segment: Segment, held) -> None:
        """A segment is about to run: its record is kept, its survivors are numbered."""
        numbers = [self.number_of(value) for value in segment.externals]
        # Together: the handler of a signal may run what it recorded, before or behind this.
        base = self._count
        self._segments += [(segment.key, numbers, base)]
        self._places += [segment.places]
        self._count = base + segment.count
        for slot, value in held:
            value.capture = self
            value.number = base + slot
            self._survivors.append((value.number, ref(value)))

    def event(self, kind: str, subject: Any = None, what="", remedy="", place=None) -> bool:
        """Note the Cells called and the Tensors from outside whose hooks are asked for; refuse what
        changes, but for Cells made inside: setting them up changes nothing that is remembered."""
        if super().event(kind, subject, what, remedy, place):
            return True
        if kind is CALLED:
            self.meet(subject)
            if self.python is not None:
                self.python.called(subject)
        elif kind is COMMUNICATES:
            self._communicates(what)
        elif kind is MADE:
            self.made_cells[id(subject)] = subject
        elif kind is HOOKS:
            # Those of arguments choose the memory.
            if isinstance(self.outside.get(id(subject)), Held):
                self.hook_owners[id(subject)] = subject
        elif id(subject) not in self.made_cells:
            self.refuse(what, remedy, place)
        return False

    def _communicates(self, operator: str) -> None:
        """A replay runs hooks behind its program, so one that is to run in front of an operator
        among processes, or calls one, is called in PyNative."""
        if self.refused is None and (self.in_site or self.sites):
            what = f"{operator} was called {'in' if self.in_site else 'behind'} a hook or a print"
            remedy = "call it in front of them, or outside of what is compiled"
            self.refused = (what, remedy, user_place(2), cell_path())

    def meet(self, cell: CellBase) -> None:
        """What is remembered depends on the structure of a Cell."""
        self.cells[id(cell)] = cell

    def cells_from_outside(self) -> list:
        """The Cells that were met, but for those made inside."""
        return [cell for key, cell in self.cells.items() if key not in self.made_cells]

    def refuse(self, what: str, remedy: str, place: Place | None = None) -> None:
        """Something happened that a replay could not do."""
        if not self.in_site and self.refused is None:
            self.refused = (what, remedy, place or user_place(2), cell_path())

    # -- sites ----------------------------------------------------------------------------

    def site(self, function: Callable, args: tuple, kwargs: dict | None = None, label=None):
        """Run Python that runs at every call, and note what it emits."""
        if self.in_site:
            return super().site(function, args, kwargs, label)
        # Left as it is by an exception that the function catches: see record.stream.
        return self.stream.attempt(self._site, function, args, kwargs or {}, label)

    def _site(self, function: Callable, args: tuple, kwargs: dict, label):
        if self.python is not None:
            self.python.before_site(self.site_changes)
        number = self.repeated
        again = self.again[number] if number < len(self.again) else None
        self.repeated += again is not None
        arguments: Any = (args, kwargs)
        template = self.template(arguments)
        bindings = self.bindings()
        if again is not None and self.check is not None:
            self.check(self, number, function, template, bindings)
        start = self._site_start = self._next_number()
        scope, journal, nodes = self.stream.scope, Journal(), []
        floor = scope.depth if scope.tape is None else scope.floor
        inner = scope.but(tape=nodes, journal=journal, complete=True, floor=floor)

        def run():
            if again is not None:
                result = again.emit_again(*arguments)
            else:
                result = call_labelled(function, args, kwargs, label)
            return result, emission(self, arguments, nodes, journal, result)

        try:
            self.in_site = True
            result, emitted = self.stream.within(inner, run)
        finally:
            self.in_site = False
        if scope.tape is not None:
            scope.tape.extend(nodes)
        for change in journal.changes:
            if change.what[0] == "attribute":
                self.site_changes.add((id(change.what[1].__dict__), change.what[2]))
        self._site_spans.append(range(start, self._next_number()))
        for leaf in _tensors(result):
            self._site_results.add(self.number_of(resolve(leaf)))
        depths = (int(scope.depth > 0), int(scope.depth > 0 and scope.tape is None))
        reversing = scope.reversing and scope.reversing.at
        where = (label, reversing, depths, start, emitted.is_quiet())
        self.sites.append(Site(function, template, bindings, emitted, *where))
        if self.python is not None:
            self.python.behind_site(self.site_changes)
            self.watch.go_on()
        return result

    # -- numbers --------------------------------------------------------------------------

    def number_of(self, value: Value) -> int:
        """The number of a Value; one from nowhere is a constant."""
        if value.source is self.stream.segment:
            return self._count + value.slot
        if value.capture is not self:
            self.lift(value)
        return value.number

    def extent(self) -> tuple[int, int]:
        """How much was recorded so far: of values, and of handles that were assigned."""
        return self._next_number(), len(self.assigned)

    def _next_number(self) -> int:
        return self._count + len(self.stream.segment.outputs)

    # -- arguments and results ----------------------------------------------------------------

    def take(self, tensors: list[Tensor], containers: list) -> None:
        """Know what was passed: the same Tensor twice is the first of the two."""
        self._containers = {id(part): index for index, part in enumerate(containers)}
        for index, tensor in enumerate(tensors):
            if id(tensor) not in self.outside:
                self.outside[id(tensor)] = what = Argument(index)
                value = tensor._value
                fresh = self.know(Value(demand(value), value.aval), what)
                self._lifted[id(tensor)] = value, fresh

    def outside_handles(self) -> frozenset[int]:
        """The ids of the handles that were met by other ways than as arguments."""
        return frozenset([key for key, what in self.outside.items() if isinstance(what, Held)])

    def template(self, tree, parts=False):
        """`tree` with everything replaced that a replay makes anew; of what is returned, what is
        another object each time counts, and `parts` stay parts of what the program has."""
        known = self._leaf, self._containers, self._is_known, self.refuse
        is_made = self.python.has_made if parts and self.python is not None else _never
        return Templates(*known, is_made, parts).of(tree)

    def _is_known(self, thing) -> bool:
        return self.python is not None and id(thing) in self.python.reached

    def _leaf(self, leaf: Tensor):
        value = resolve(leaf)
        return self.outside.get(id(leaf)) or Slot(self.number_of(value))

    def bindings(self) -> list[tuple]:
        """The handles assigned so far, with the numbers of their present values."""
        return [
            (self.outside[id(handle)], self.number_of(resolve(handle)))
            for handle in self.assigned.values()
        ]

    # -- the whole record -----------------------------------------------------------------

    def record_so_far(self) -> tuple[tuple, list[int]]:
        """As `record`, with the segment that is open."""
        segment = self.stream.segment
        numbers = [self.number_of(value) for value in segment.externals]
        return self.record((segment.key, numbers, self._count))

    def places(self) -> list:
        """Where the nodes of all segments were recorded (see record.stream.Segment)."""
        places: list = []
        for segment in self._places:
            before = len(places) // 3
            places += [
                part + before if isinstance(part, int) and number % 3 == 0 else part
                for number, part in enumerate(segment)
            ]
        return places

    def record(self, *more: tuple) -> tuple[tuple, list[int]]:
        """All segments as one: the flat key, and the inputs it uses in the order of first use."""
        key: list[int] = []
        used: dict[int, int] = {}

        def slot_of(number: int) -> int:
            if number >= 0:
                return number
            return used.setdefault(number, -1 - len(used))

        for segment, numbers, base in (*self._segments, *more):
            position = 0
            while position < len(segment):
                arity = signatures[segment[position]].arity
                key.append(segment[position])
                inputs = segment[position + 1 : position + 1 + arity]
                key += [slot_of(base + s if s >= 0 else numbers[-1 - s]) for s in inputs]
                position += 1 + arity
        return tuple(key), list(used)

    def kept(self, needed: set[int]) -> int:
        """How many Tensors made inside were kept outside, where a replay would leave them stale."""
        count = 0
        for number, survivor in self._survivors:
            if number in needed or survivor() is None:
                continue
            by_site = any(number in span for span in self._site_spans)
            if not by_site or number in self._site_results:
                count += number not in self._given_to_sites()
        return count

    def unread_fields(self) -> set[tuple]:
        """The fields of Cells that sites set and nothing else of the call reads, as a count of
        calls: see `field_set`."""
        unread: set[tuple] = set()
        reads = self.python
        if reads is None:
            return unread
        for what in [what for site in self.sites for what in site.emitted.changes]:
            field = field_set(what)
            if field is None or what[1]._may_read(what[2]):
                continue
            read = (FIELD, *field), (CONTENT, field[0], None)
            if not any(key in known for known in (reads.sources, reads.checks) for key in read):
                unread.add(field)
        return unread

    def _given_to_sites(self) -> set[int]:
        return {leaf.number for site in self.sites for leaf in site.slots()}


def _never(_) -> bool:
    return False


def _tensors(tree) -> list[Tensor]:
    tensors: list[Tensor] = []
    tree_map(lambda leaf: tensors.append(leaf) if isinstance(leaf, Tensor) else None, tree)
    return tensors
