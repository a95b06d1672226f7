# SPDX-License-Identifier: Apache-2.0
"""Sites: Python that runs at every call, in order, on real values (hooks, print, `every_call`).

What a site emits is part of what is remembered. On a replay sites run on the values that come out
of the executable, and what they emit is compared with that. If it is something new, the call goes
on in PyNative, and what the sites already emitted is emitted again, so that none runs twice. A
value that a site computes and looks at is an output of the executable too, so that looking runs
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from mycel.kernel.base.cell import CellBase
from mycel.kernel.base.errors import COLLECTIVE_IN_HOOK, wrong
from mycel.kernel.base.signals import came_from_outside, is_of_handler
from mycel.kernel.base.trees import tree_leaves, tree_map
from mycel.kernel.base.where import tell_reverse
from mycel.kernel.execute.templates import leaves
from mycel.kernel.execute.trace import Trace
from mycel.kernel.prove.notes import Constant, Held, Slot, same, same_function
from mycel.kernel.prove.sources import Left, Source, put_back, same_plain
from mycel.kernel.record.hooks import tell_hook
from mycel.kernel.record.journal import Journal
from mycel.kernel.record.marker import Inside, Marker, flattened, record_again
from mycel.kernel.record.scope import Scope
from mycel.kernel.record.stream import Segment, Stream, dead, demand, local, seen
from mycel.kernel.record.tensor import Tensor, is_part, new_tensor, point, rebind, resolve
from mycel.kernel.record.value import COMMUNICATES, Value

# The journal of sites that changed nothing; theirs is used again.
_NOTHING = Journal()


def every_call(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that runs at every call of a compiled one, on real values.

    Inside `@jit` a function's Python runs only while it is being recorded; one marked like this
    (for logging, plotting, counting) runs every time.

    Raises:
        TypeError: it cannot be called.

    Example:
        >>> seen = []
        >>> @mycel.every_call
        ... def note(value):
        ...     seen.append(float(value))
        >>> @mycel.jit
        ... def double(x):
        ...     note(x)
        ...     return x * 2
        >>> for number in (1.0, 2.0, 3.0, 4.0):
        ...     y = double(Tensor(number))
        >>> seen
        [1.0, 2.0, 3.0, 4.0]
    """
    if not callable(function):
        raise wrong(TypeError, "every_call", "given a function", repr(function))

    @functools.wraps(function)
    def called(*args, **kwargs):
        capture = local.stream.scope.capture
        if capture is None:
            return function(*args, **kwargs)
        return capture.site(function, args, kwargs)

    return called


class Emission(NamedTuple):
    """What a site did: nodes, assignments, other changes and result, in the form that is compared;
    `Done` is the live form, which is done again."""

    nodes: list
    assigned: list
    changes: list
    result: object

    def is_quiet(self) -> bool:
        """Whether nothing was done."""
        return self.result is None and not (self.nodes or self.assigned or self.changes)

    def without(self, unread: set[tuple]) -> Emission:
        """What counts of it where nobody reads some fields of Cells."""
        return self._replace(changes=[what for what in self.changes if not is_of(unread, what)])


class Site(NamedTuple):
    """One site of a remembered call: what to run, on what, in which state of the handles.

    `label` says what it is and `reversing` where in a reverse it is, for messages; `depths` are the
    depth and floor of the stream; `start` is the number of the first Value it made; `quiet` says
    whether it only looked, or kept what it was given.
    """

    function: Callable
    template: object
    bindings: list
    emitted: Emission
    label: tuple | None
    reversing: tuple | None
    depths: tuple[int, int]
    start: int
    quiet: bool

    def without(self, unread: set[tuple]) -> Site:
        """The site where nobody reads some fields of Cells."""
        emitted = self.emitted.without(unread)
        return self._replace(emitted=emitted, quiet=emitted.is_quiet())

    def slots(self) -> list[Slot]:
        """The inner Values the site receives."""
        return [leaf for leaf in leaves(self.template) if isinstance(leaf, Slot)]

    def agrees(self, other: Site) -> bool:
        """Whether two calls had the same site here."""
        return (
            same_function(self.function, other.function)
            and same(self.template, other.template)
            and self.bindings == other.bindings
            and same(tuple(self.emitted), tuple(other.emitted))
        )


def field_set(what: tuple) -> tuple | None:
    """Which field of a Cell a change, in comparable form, set to something plain, and not to a
    Tensor (which is a tuple there) or a Cell: the id of the fields, and the name."""
    if what[0] != "attribute" or isinstance(what[3], (tuple, CellBase)):
        return None
    return id(what[1].__dict__), what[2]


def is_of(unread: set[tuple], what: tuple) -> bool:
    """Whether a change, in comparable form, set a field that nobody reads."""
    return bool(unread) and field_set(what) in unread


def emission(capture, arguments, nodes, journal: Journal, result) -> Emission:
    """The comparable form of what a site did; `capture` says what each Value is to the call."""
    name = capture.describe
    listed = [
        (op.described(name) if isinstance(op, Marker) else op, tuple(map(name, inputs)))
        for op, inputs, _, _ in flattened(nodes)
    ]
    assigned = []
    if journal.assigned:
        positions = {id(leaf): ("given", i) for i, leaf in enumerate(tree_leaves(arguments))}
        for handle in {id(handle): handle for handle, _ in journal.assigned}.values():
            target = capture.outside.get(id(handle)) or positions.get(id(handle))
            if target is not None:
                assigned.append((target, name(resolve(handle))))
    changes = [shown(capture, change.what) for change in journal.changes]
    return Emission(listed, assigned, changes, shown(capture, result))


def shown(capture, tree):
    """The comparable form of a tree of Tensors, Values and other objects."""

    def show(leaf):
        if isinstance(leaf, Tensor):
            return ("tensor", capture.describe(resolve(leaf)))
        return ("value", capture.describe(leaf)) if isinstance(leaf, Value) else leaf

    return tree_map(show, tree)


class Watch(Trace):
    """Stands where a capture stands while the sites of one replay run.

    Values have numbers as in the capture; inputs are listed here in the order they are met.
    """

    def __init__(self, stream: Stream, known: Callable[[int], Value | None], unread: set[tuple]):
        super().__init__(stream)
        self._unread = unread
        # What the executable gave for a number: a Value, or None.
        self._known = known
        # What handles assigned earlier in the call hold, by their ids: a number, or an input.
        self.bound: dict[int, object] = {}
        # In a call that goes on: the present Values by the ids of those of the replay.
        self.now: dict[int, Value] = {}
        # Values made by sites whose results the executable gave.
        self.provided: list[ref] = []
        # As of a Capture.
        self._lifted: dict[int, tuple[Value, Value]] = {}
        # The Values that handles from outside have at the present site.
        self.met_here: list[tuple[Value, Tensor]] = []
        self._site: Site | None = None
        self._tape: list = []
        self._journal = Journal()
        self._used = False
        # What to add to a slot of a segment for a number: by the first slot it holds for.
        self._spans: list[tuple[Segment, int, int]] = []
        self._verified = 0
        self._differs = False

    # -- running --------------------------------------------------------------------------

    def run(self, site: Site, args, kwargs) -> tuple[Done, bool]:
        """Run a site: what it did, and whether that is what is remembered."""
        stream = self.stream
        self._site = site
        self._verified, self._differs = 0, False
        if self._used:
            self._tape, self._journal, self._used = [], Journal(), False
        (depth, floor), tape, journal = site.depths, self._tape, self._journal
        hooks, traced = {} if depth else None, stream.scope.traced
        scope = Scope(self, tape, hooks, depth, floor, True, journal, traced=traced)
        # Without a call in between: what the handler of a signal records is before it or in it.
        segment = stream.segment
        self._spans += [(segment, segment.count, site.start - segment.count)]
        result = error = None
        try:
            result = stream.within(scope, site.function, *args, **kwargs)
        except BaseException as raised:
            if isinstance(raised, Exception):
                tell_hook(raised, site.label)
                if site.reversing is not None:
                    tell_reverse(raised, *site.reversing)
            if is_of_handler(raised):
                raise
            error = raised
        met, self.met_here = self.met_here, []
        if result is None and error is None and not tape and not journal:
            return Done(self, met, args, kwargs, (), _NOTHING, (), None, None), site.quiet
        self._used = True
        assigned = list({id(h): (h, h._value) for h, _ in journal.assigned}.values())
        done = Done(self, met, args, kwargs, tape, journal, assigned, result, error)
        return done, error is None and self._agrees(site, done)

    def _agrees(self, site: Site, done: Done) -> bool:
        expected, result = site.emitted, done.result
        plain = not (done.journal or expected.assigned or expected.changes)
        if plain and len(done.nodes) == len(expected.nodes) and self._verify(done.nodes):
            # The most common: nothing but a few operators.
            return same(shown(self, result), expected.result)
        seen = emission(self, (done.args, done.kwargs), done.nodes, done.journal, result)
        return same(tuple(seen.without(self._unread)), tuple(expected))

    def _verify(self, nodes) -> bool:
        """Whether the nodes recorded so far are those remembered."""
        assert self._site is not None
        expected = self._site.emitted.nodes
        # The handler of a signal may come round here, and verify the same, at any moment.
        number = self._verified
        while number < len(nodes) and not self._differs:
            op, inputs, _, _ = nodes[number]
            if number >= len(expected) or isinstance(op, Marker):
                self._differs = True
                break
            known, names = expected[number]
            self._differs = op is not known or not all(map(self._is, inputs, names))
            self._verified = number = number + 1
        return not self._differs

    def _is(self, value: Value, name) -> bool:
        if value.capture is None and value.source is None:
            return name.__class__ is Constant and name.holds(demand(value))
        return self.describe(value) == name

    # -- what the record asks of it --------------------------------------------------------

    def lift(self, value: Value, handle: Tensor | None = None) -> Value:
        """A handle from outside is met, or data made inside."""
        if handle is None:
            return self.know(value, Constant(value.array))
        known = self._lifted.get(id(handle))
        if known is not None and known[0] is value:
            return known[1]
        fresh = Value(demand(value), value.aval)
        self.outside.setdefault(id(handle), Held(handle))
        self._number(fresh, handle)
        self._lifted[id(handle)] = value, fresh
        return fresh

    def meet(self, handle: Tensor, noted) -> None:
        """A site is given a handle from outside, which is `noted` to the call."""
        self.outside[id(handle)] = noted
        if handle._value.capture is not self:
            self._number(handle._value, handle)

    def _number(self, value: Value, handle: Tensor) -> None:
        what = self.bound.get(id(handle), self.outside[id(handle)])
        value.capture = self
        value.number = what if isinstance(what, int) else self.new_input(what)
        self.met_here.append((value, handle))

    def read(self, handle, value: Value, kind: str, text) -> np.ndarray:
        """What a site sees belongs to it."""
        if value.array is None:
            self._provide(value)
        return seen(value)

    def _provide(self, value: Value) -> None:
        """A Value recorded here is looked at: its array is there if the executable gave it."""
        segment = self.stream.segment
        if value.source is not segment or self.stream.scope.tape is not self._tape:
            return
        if not self._verify(self._tape):
            return
        number = self._number_of(segment, value.slot)
        if number is None:
            return
        known = self._known(number)
        # Still: the handler of a signal may have run it.
        if known is not None and value.source is segment:
            segment.outputs[value.slot] = dead
            value.array, value.source = known.array, known.source
            if known.array is None:
                value.slot = known.slot
            value.capture, value.number = self, number
            self.provided.append(ref(value))

    def event(self, kind: str, subject: Any = None, what="", remedy="", place=None) -> bool:
        """A site that calls an operator among processes is not replayed."""
        if kind is COMMUNICATES:
            raise RuntimeError(COLLECTIVE_IN_HOOK.format(operator=what))
        return super().event(kind, subject, what, remedy, place)

    def close(self, segment: Segment, held) -> None:
        """A segment runs: what it makes is made inside."""
        for slot, value in held:
            number = self._number_of(segment, slot)
            if number is not None:
                value.capture, value.number = self, number
        number, following = self._number_of(segment, segment.count), self.stream.segment
        if number is not None:
            # It may have some already, of the handler of a signal.
            self._spans += [(following, following.count, number - following.count)]

    def _number_of(self, segment: Segment, slot: int) -> int | None:
        """The number of a slot; None for what is recorded by the handler of a signal."""
        for of, begin, base in reversed(self._spans):
            if of is segment and begin <= slot:
                return base + slot
        return None

    def number_of(self, value: Value) -> int | None:
        """The number of a Value; None for one of the handler of a signal, or made elsewhere."""
        segment = self.stream.segment
        if value.source is segment:
            return self._number_of(segment, value.slot)
        return value.number if value.capture is self else None

    def is_as_left(self, left: Left) -> bool:
        """Whether the sites left again what the call found behind them."""
        try:
            parts = left.now()
        except Exception as error:
            if came_from_outside(error):
                raise
            return False
        return len(parts) == len(left.parts) and all(map(self._is_left, parts, left.parts))

    def _is_left(self, part, noted) -> bool:
        if noted.__class__ is not Slot:
            return same_plain(part, noted)
        return isinstance(part, Tensor) and self.describe(part._value) == noted.number

    def is_constant(self, value: Value) -> bool:
        """Whether a Value is data that a site made."""
        if value.capture is not self or value.number >= 0:
            return False
        return isinstance(self.inputs[-1 - value.number], Constant)


class Done(NamedTuple):
    """What a site did on a replay, on its own Values and handles; if the replay is broken off, it
    is undone and done again. The form that is compared is `Emission`.

    `met` has the Values that handles from outside had, `assigned` the handles it assigned, with
    their Values at its end, and `state` Python's state behind it. `error` is what it raised: where
    the call goes on in PyNative, that may be caught.
    """

    watch: Watch
    met: Sequence[tuple[Value, Tensor]]
    args: tuple
    kwargs: dict
    nodes: Sequence[tuple]
    journal: Journal
    assigned: Sequence[tuple[Tensor, Value]]
    result: object
    error: BaseException | None
    state: Sequence[Source] = ()

    def before(self) -> list[tuple]:
        """The handles assigned, with the Values they had before the site."""
        return list({id(h): (h, v) for h, v in reversed(self.journal.assigned)}.values())

    def undo(self) -> None:
        """Take back what the site changed besides handles."""
        for change in reversed(self.journal.changes):
            change.undo()

    def emit_again(self, args, kwargs):
        """Record the same nodes, assignments and changes on the Values of the call that goes on.

        What the site may have kept stays connected: the handles it was given get the new Values,
        and the Values it made are recorded again as themselves.
        """
        watch, now = self.watch, self.watch.now
        capture = watch.stream.scope.capture
        assert capture is not None
        old = [leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, Tensor)]
        new = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        handles: dict[int, Tensor] = {id(o): n for o, n in zip(old, new, strict=True)}
        for former, handle in zip(old, new, strict=True):
            if id(former) not in watch.outside:
                now.setdefault(id(former._value), resolve(handle))
                point(former, resolve(handle))

        for value, handle in self.met:
            now.setdefault(id(value), resolve(handles.get(id(handle), handle)))

        def present(value) -> Any:
            if isinstance(value, Inside):
                return value
            value_now = now.get(id(value))
            if value_now is None:
                value_now = now[id(value)] = Value(demand(value), value.aval)
                if watch.is_constant(value):
                    capture.lift(value_now)
            return value_now

        def connect(tree):
            for leaf in tree_leaves(tree):
                known = id(leaf) in handles or id(leaf) in watch.outside
                if not isinstance(leaf, Tensor) or known:
                    continue
                # What the replay made; a handle that it never met is that of the present call.
                value = leaf._value
                if value.capture is watch or id(value) in now:
                    point(leaf, present(value))

        def keep(before, after):
            now[id(before)] = after

        record_again(self.nodes, present, keep, into=True)
        for handle, value in self.assigned:
            target = handles.get(id(handle), handle)
            if is_part(target):  # in the replay its handle was part of nothing
                target[...] = new_tensor(present(value))
            else:
                rebind(target, present(value))
        connect(self.result)
        for change in self.journal.changes:
            connect(change.what)
            change.redo(present)
        put_back(self.state)
        if self.error is not None:
            raise self.error
        return tree_map(lambda leaf: handles.get(id(leaf), leaf), self.result)
