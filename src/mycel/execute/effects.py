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
from mycel.record.stream import Stream, demand, local, record
from mycel.record.tensor import Tensor, new_tensor, rebind, resolve
from mycel.record.value import Value


class Emission(NamedTuple):
    """What a site did to the record: nodes, assignments and result, in comparable form."""

    nodes: list
    assigned: list
    result: object


class Site(NamedTuple):
    """One site of a remembered call: what to run, on what, in which state of the handles."""

    function: Callable
    template: object
    bindings: list
    emitted: Emission

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

    listed = []
    for op, inputs, outputs, _ in nodes:
        listed.append((op, [name(value) for value in inputs]))
        for value in outputs:
            local_names[id(value)] = ("made", len(local_names))
    written = {id(handle): handle for handle, _ in journal}
    assigned = [
        (Held(handle), name(handle._value))
        for handle in written.values()
        if capture.is_outside(handle)
    ]
    shown = tree_map(
        lambda leaf: ("tensor", name(leaf._value)) if isinstance(leaf, Tensor) else leaf, result
    )
    return Emission(listed, assigned, shown)


class Watch:
    """Stands where a capture stands while a site runs on replay: tells outside from inside."""

    formatted: list | None = None

    def __init__(self, stream: Stream, bound: dict[int, object]):
        self.stream = stream
        # What handles assigned earlier in the call hold: an inner number, or an input.
        self.bound = bound
        self.made: dict[int, tuple] = {}
        self.outside: set[int] = set()

    def lift(self, handle: Tensor, value: Value) -> Value:
        """A handle from outside is met."""
        fresh = Value(demand(value), value.aval)
        fresh.capture = self
        self.made[id(fresh)] = (fresh, self.bound.get(id(handle)) or Held(handle), handle)
        self.outside.add(id(handle))
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
            self.outside.add(id(handle))

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

    def site(self, function, args, kwargs=None):
        """A site within a site is a part of it."""
        return function(*args, **(kwargs or {}))

    def read(self, handle, value, kind, array, text) -> None:
        """Reads belong to the site."""

    def met(self, cell) -> None:
        """Cells belong to the site."""

    def made_cell(self, cell) -> None:
        """Cells belong to the site."""

    def changed_cell(self, cell, what) -> None:
        """Cells belong to the site."""

    def refuse(self, what, remedy) -> None:
        """Whatever a site does, it does at every call."""


class Emitted:
    """What a site did on a replay that was broken off, to be done again on new Values."""

    def __init__(self, watch: Watch, given, nodes, journal, result):
        self.watch = watch
        self.given = given
        self.nodes = nodes
        self.assigned = list({id(h): (h, h._value) for h, _ in journal}.values())
        self.before = list({id(h): (h, v) for h, v in reversed(journal)}.values())
        self.result = result

    def emit_again(self, args, kwargs):
        """Record the same nodes and assignments on the Values of the call that goes on."""
        old = [leaf for leaf in tree_leaves(self.given) if isinstance(leaf, Tensor)]
        new = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        now = {id(o._value): resolve(n) for o, n in zip(old, new, strict=True)}

        def present(value: Value) -> Value:
            found = now.get(id(value))
            if found is None:
                known = self.watch.made.get(id(value))
                handle = known[2] if known is not None else None
                if handle is not None:
                    found = resolve(handle)
                else:
                    found = Value(demand(value), value.aval)
                now[id(value)] = found
            return found

        for op, inputs, outputs, place in self.nodes:
            made = record(op, tuple([present(value) for value in inputs]), place)
            made = (made,) if isinstance(made, Value) else made
            for before, after in zip(outputs, made, strict=True):
                now[id(before)] = after
        for handle, value in self.assigned:
            rebind(handle, present(value))
        return tree_map(
            lambda leaf: new_tensor(present(leaf._value)) if isinstance(leaf, Tensor) else leaf,
            self.result,
        )


def run_site(stream: Stream, site: Site, args, kwargs, bound) -> tuple[Emitted, bool]:
    """Run a site on replay: what it emitted, and whether that is what is remembered.

    `bound` says what the handles hold that were assigned earlier in the call, by their ids.
    """
    watch = Watch(stream, bound)
    for leaf, noted in zip(tree_leaves((args, kwargs)), tree_leaves(site.template), strict=True):
        if isinstance(leaf, Tensor):
            leaf._value.capture = watch
            if not isinstance(noted, Slot):
                watch.outside.add(id(leaf))
    stream.capture = watch
    stream.tape, stream.journal = [], []
    try:
        result = site.function(*args, **kwargs)
        nodes, journal = stream.tape, stream.journal
        emitted = emission(watch, (args, kwargs), nodes, journal, result)
    finally:
        stream.capture = None
        stream.tape = stream.journal = None
    agrees = same(tuple(emitted), tuple(site.emitted))
    return Emitted(watch, (args, kwargs), nodes, journal, result), agrees


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
