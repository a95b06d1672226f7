# SPDX-License-Identifier: Apache-2.0
"""Sites: Python that runs at every call, in order, on real values (hooks, print, `every_call`).

What a site emits is part of what is remembered; `execute.watch` runs sites on a replay.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from mycel.kernel.base.trees import tree_leaves, tree_map
from mycel.kernel.execute.templates import leaves
from mycel.kernel.prove.notes import Slot, same, same_function
from mycel.kernel.record.journal import Journal
from mycel.kernel.record.marker import Marker, flattened
from mycel.kernel.record.stream import local
from mycel.kernel.record.tensor import Tensor, resolve
from mycel.kernel.record.value import Value


class Emission(NamedTuple):
    """What a site did: nodes, assignments, other changes and result, in comparable form."""

    nodes: list
    assigned: list
    changes: list
    result: object

    def is_quiet(self) -> bool:
        """Whether nothing was done."""
        return self.result is None and not (self.nodes or self.assigned or self.changes)


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


def emission(capture, given, nodes, journal: Journal, result) -> Emission:
    """The comparable form of what a site did; `capture` says what each Value is to the call."""
    name = capture.describe
    listed = [
        (op.described(name) if isinstance(op, Marker) else op, tuple(map(name, inputs)))
        for op, inputs, _, _ in flattened(nodes)
    ]
    assigned = []
    if journal.assigned:
        places = {id(leaf): ("given", i) for i, leaf in enumerate(tree_leaves(given))}
        for handle in {id(handle): handle for handle, _ in journal.assigned}.values():
            target = capture.outside.get(id(handle)) or places.get(id(handle))
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


def every_call(function: Callable[..., Any]) -> Callable[..., Any]:
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
        capture = local.stream.scope.capture
        if capture is None:
            return function(*args, **kwargs)
        return capture.site(function, args, kwargs)

    return called
