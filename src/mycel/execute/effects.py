# SPDX-License-Identifier: Apache-2.0
"""Sites: Python that runs at every call, in order, on real values (hooks, print, `every_call`).

On a replay the Values a site receives come out of the executable. What it emits is compared with
what is remembered; if it emits something new, the call goes on in PyNative, and what the sites
already emitted is emitted again, so that none runs twice.
"""

from __future__ import annotations

import builtins
import functools
import threading
from collections.abc import Callable
from typing import NamedTuple

from mycel.base.trees import tree_leaves, tree_map
from mycel.execute.notes import Constant, Held, Slot, same, same_function
from mycel.record.hooks import call_labelled
from mycel.record.journal import Journal
from mycel.record.marker import Inside, Marker, flattened, record_again
from mycel.record.stream import Stream, demand, local
from mycel.record.tensor import Tensor, rebind, resolve
from mycel.record.value import Value


class Emission(NamedTuple):
    """What a site did: nodes, assignments, other changes and result, in comparable form."""

    nodes: list
    assigned: list
    changes: list
    result: object


class Site(NamedTuple):
    """One site of a remembered call: what to run, on what, in which state of the handles.

    `label` says what it is, for messages; `differentiated` whether a derivative was open.
    """

    function: Callable
    template: object
    bindings: list
    emitted: Emission
    label: tuple | None
    differentiated: bool

    def slots(self) -> list[Slot]:
        """The inner Values the site receives."""
        return [leaf for leaf in tree_leaves(self.template) if isinstance(leaf, Slot)]

    def agrees(self, other: Site) -> bool:
        """Whether two calls had the same site here."""
        return (
            same_function(self.function, other.function)
            and same(self.template, other.template)
            and self.bindings == other.bindings
            and same(tuple(self.emitted), tuple(other.emitted))
        )


def emission(capture, given, nodes, journal, result) -> Emission:
    """The comparable form of what a site did.

    Values are named by the order in which the site met or made them; others by what they are to
    the call: an inner number, a handle, or a constant.
    """
    local_names: dict[int, tuple] = {}
    for leaf in tree_leaves(given):
        if isinstance(leaf, Tensor):
            local_names.setdefault(id(leaf._value), ("given", len(local_names)))

    def name(value):
        return local_names.get(id(value)) or capture.describe(value)

    def show(leaf):
        if isinstance(leaf, Tensor):
            return ("tensor", name(resolve(leaf)))
        return ("value", name(leaf)) if isinstance(leaf, Value) else leaf

    listed = []
    for op, inputs, outputs, _ in flattened(nodes):
        what = op.described(name) if isinstance(op, Marker) else op
        listed.append((what, [name(value) for value in inputs]))
        for value in outputs:
            local_names.setdefault(id(value), ("made", len(local_names)))
    written = {id(handle): handle for handle, _ in journal.assigned}
    assigned = [
        (capture.target(handle), name(handle._value))
        for handle in written.values()
        if capture.is_outside(handle)
    ]
    changes = [tree_map(show, change.what) for change in journal.changes]
    return Emission(listed, assigned, changes, tree_map(show, result))


class Watch:
    """Stands where a capture stands while a site runs on replay: tells outside from inside."""

    formatted: list | None = None

    def __init__(self, stream: Stream, bound: dict[int, object]):
        self.stream = stream
        # What handles assigned earlier in the call hold: an inner number, or an input.
        self.bound = bound
        self.made: dict[int, tuple] = {}
        # Handles that live longer than the site, by id, and what each is to the call.
        self.outside: dict[int, object] = {}

    def lift(self, handle: Tensor, value: Value) -> Value:
        """A handle from outside is met."""
        fresh = Value(demand(value), value.aval)
        fresh.capture = self
        self.made[id(fresh)] = (fresh, self.bound.get(id(handle)) or Held(handle), handle)
        self.outside.setdefault(id(handle), Held(handle))
        handle._value = fresh
        return fresh

    def constant(self, value: Value) -> None:
        """Data is made inside."""
        value.capture = self
        self.made[id(value)] = (value, Constant(value.array), None)

    def write(self, handle: Tensor) -> None:
        """A handle is assigned."""
        value = handle._value
        if value.segment is not self.stream.segment and value.capture is not self:
            self.outside.setdefault(id(handle), Held(handle))

    def close(self, segment, held) -> None:
        """A segment runs: what it makes is made inside."""
        for _, value in held:
            value.capture = self

    def describe(self, value: Value):
        """What a Value is to the emission."""
        known = self.made.get(id(value))
        return known[1] if known is not None else Constant(demand(value))

    def is_outside(self, handle: Tensor) -> bool:
        """Whether a handle lives longer than the site."""
        return id(handle) in self.outside

    def target(self, handle: Tensor):
        """What a handle from outside is to the call: a handle, or an argument."""
        return self.outside[id(handle)]

    def site(self, function, args, kwargs=None, label=None):
        """A site within a site is a part of it."""
        return call_labelled(function, args, kwargs or {}, label)

    def read(self, handle, value, kind, array, text) -> None:
        """Reads belong to the site."""

    def met(self, cell) -> None:
        """Cells belong to the site."""

    def made_cell(self, cell) -> None:
        """Cells belong to the site."""

    def changed_cell(self, cell, what) -> None:
        """Cells belong to the site."""

    def hooked(self, handle) -> None:
        """A derivative within the site belongs to it."""

    def refuse(self, what, remedy) -> None:
        """Whatever a site does, it does at every call."""


class Emitted:
    """What a site did on a replay that was broken off, to be done again on new Values."""

    def __init__(self, watch: Watch, given, nodes, journal: Journal, result):
        self.watch = watch
        self.given = given
        self.nodes = nodes
        self.journal = journal
        self.assigned = list({id(h): (h, h._value) for h, _ in journal.assigned}.values())
        self.result = result

    def before(self) -> list[tuple]:
        """The handles assigned, with the Values they had before the site."""
        return list({id(h): (h, v) for h, v in reversed(self.journal.assigned)}.values())

    def emit_again(self, args, kwargs):
        """Record the same nodes, assignments and changes on the Values of the call that goes on.

        What the site may have kept stays connected: the handles it was given get the new Values,
        and the Values it made are recorded again as themselves.
        """
        old = [leaf for leaf in tree_leaves(self.given) if isinstance(leaf, Tensor)]
        new = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        now = {id(o._value): resolve(n) for o, n in zip(old, new, strict=True)}
        handles = {id(o): n for o, n in zip(old, new, strict=True)}
        for handle in old:
            if id(handle) not in self.watch.outside:
                handle._value = now[id(handle._value)]

        def present(value):
            found = value if isinstance(value, Inside) else now.get(id(value))
            if found is None:
                known = self.watch.made.get(id(value))
                handle = known[2] if known is not None else None
                if handle is not None:
                    found = resolve(handle)
                else:
                    found = Value(demand(value), value.aval)
                now[id(value)] = found
            return found

        def connect(tree):
            for leaf in tree_leaves(tree):
                if isinstance(leaf, Tensor) and not self._is_known(leaf, handles):
                    leaf._value = present(leaf._value)

        record_again(
            self.nodes, present, lambda before, after: now.update({id(before): after}), True
        )
        for handle, value in self.assigned:
            rebind(handles.get(id(handle), handle), present(value))
        connect(self.result)
        for change in self.journal.changes:
            connect(change.what)
            change.redo(present)
        return tree_map(lambda leaf: handles.get(id(leaf), leaf), self.result)

    def _is_known(self, handle, handles) -> bool:
        return id(handle) in handles or id(handle) in self.watch.outside


def run_site(stream: Stream, site: Site, args, kwargs, bound) -> tuple[Emitted, bool]:
    """Run a site on replay: what it emitted, and whether that is what is remembered.

    `bound` says what the handles hold that were assigned earlier in the call, by their ids.
    """
    watch = Watch(stream, bound)
    for leaf, noted in zip(tree_leaves((args, kwargs)), tree_leaves(site.template), strict=True):
        if isinstance(leaf, Tensor):
            leaf._value.capture = watch
            if not isinstance(noted, Slot):
                watch.outside[id(leaf)] = noted
    stream.capture = watch
    stream.tape, stream.complete = [], True
    stream.journal = Journal()
    if site.differentiated:
        stream.depth, stream.hooks = 1, {}
    try:
        result = call_labelled(site.function, args, kwargs, site.label)
        emitted = Emitted(watch, (args, kwargs), stream.tape, stream.journal, result)
        seen = emission(watch, (args, kwargs), stream.tape, stream.journal, result)
    finally:
        stream.capture = None
        stream.tape = stream.journal = stream.hooks = None
        stream.complete, stream.depth = False, 0
    return emitted, same(tuple(seen), tuple(site.emitted))


def every_call(function: Callable) -> Callable:
    """Mark a function that runs at every call of a compiled one, on real values.

    Inside `@jit` a function's Python runs only while it is being recorded; one marked like this
    (for logging, plotting, counting) runs every time.

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

    @functools.wraps(function)
    def called(*args, **kwargs):
        capture = local.stream.capture
        if capture is None:
            return function(*args, **kwargs)
        return capture.site(function, args, kwargs)

    return called


# -- print ------------------------------------------------------------------------------------

_print = builtins.print
_lock = threading.Lock()
_recording = 0
_FORMATTED = "formatted text"


def watch_print(on: bool) -> None:
    """Take `print` over while any thread records a call; other threads pass through."""
    global _recording, _print
    with _lock:
        _recording += 1 if on else -1
        if on and _recording == 1:
            _print = builtins.print
            builtins.print = _print_site
        elif not on and _recording == 0 and builtins.print is _print_site:
            builtins.print = _print


def _print_site(*args, **kwargs):
    capture = local.stream.capture
    if capture is None or capture.formatted is None:
        return _print(*args, **kwargs)
    shown = tuple([_operand(capture, argument) for argument in args])
    return capture.site(_print_shown, shown, kwargs)


def _operand(capture, argument):
    """What stands for an argument of print: a text that shows values keeps the values apart."""
    if not isinstance(argument, str) or not capture.formatted:
        return argument
    parts: list = []
    rest, used = argument, []
    for text, handle, formatter, read in capture.formatted:
        if text and text in rest:
            before, rest = rest.split(text, 1)
            parts += [before, (handle, formatter)]
            used.append(read)
    if not used:
        return argument
    for read in used:
        capture.reads[read] = None
    capture.formatted.clear()
    return (_FORMATTED, *parts, rest)


def _print_shown(*args, **kwargs):
    _print(*[_text(argument) for argument in args], **kwargs)


def _text(argument):
    if not (argument.__class__ is tuple and argument and argument[0] is _FORMATTED):
        return argument
    return "".join(
        part if isinstance(part, str) else part[1](part[0].asnumpy()) for part in argument[1:]
    )
