# SPDX-License-Identifier: Apache-2.0
"""`vmap`: a function of one row is recorded once, and its nodes again for all rows.

The function runs on rows that have a shape and no values. What it recorded is then recorded on the
stream around, each operator that depends on a row as its batched form; operators that do not stay
as they are. So derivatives, remembered calls and other maps may stand around it and inside it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple
from weakref import ref

import jax.numpy as jnp
import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.places import user_place
from mycel.kernel.base.trees import rebuilt, tree_leaves, tree_map
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.op import Op
from mycel.kernel.record.generator import default_generator
from mycel.kernel.record.marker import Marker, flattened
from mycel.kernel.record.scope import OUTSIDE, Scope
from mycel.kernel.record.stream import MOST_OUTPUTS, Segment, Stream, local, machine, record, seen
from mycel.kernel.record.tensor import Tensor, made_within, new_tensor, point, rebind, resolve
from mycel.kernel.record.value import CHANGED, COMMUNICATES, HOOKS, Poison, Value
from mycel.transform.recompute import Recomputed

NO_VALUE = (
    "Inside vmap a Tensor stands for many rows, so Python cannot see its values (at {place}). "
    "Compute with operators (ops.where in place of `if`), or loop over the rows."
)
LEFT = (
    "A row of vmap is looked at outside of the mapped function (at {place}), where a hook, a list "
    "or ms.debug.capture kept it: it stands for many rows and has no values. Return it from the "
    "function; vmap gives what is returned for all rows."
)
ASSIGNED = (
    "Inside vmap {target} was assigned values that differ from row to row. Return them instead, "
    "or assign what is the same for all rows (as a mean over them, outside)."
)
OWN_REVERSE = (
    "Inside vmap {what} cannot be differentiated from outside, as its reverse is written for one "
    "row. Take the derivative inside: vmap(grad(f)) in place of grad(vmap(f))."
)

IN_ROWS = "a print, a hook that is an object, or an @every_call function inside vmap"
IN_ROWS_REMEDY = "call it outside of the function that is mapped, or let the hook be a function"


class _RowSegment(Segment):
    """What is recorded of a row: it never runs, so it needs no inputs."""

    __slots__ = ()

    def admit(self, value: Value) -> int:
        if value.array.__class__ is Poison:
            raise value.array.error()
        return 0

    def produce(self, value: Value) -> None:
        if self.stream is not local.stream:
            raise TypeError(LEFT.format(place=user_place(2)))
        super().produce(value)


class _RowStream(Stream):
    """The stream on which the function of one row records."""

    __slots__ = ("grown",)
    of_rows = True

    def __init__(self, scope: Scope, outer: Stream):
        super().__init__(scope)
        self.segment = _RowSegment(self)
        self.generator, self.called = outer.generator, outer.called
        self.grown = 0

    def flush(self) -> None:
        # A long record asks to be run as well; whoever wants a value asks twice.
        outputs = len(self.segment.outputs)
        if outputs <= MOST_OUTPUTS or outputs == self.grown:
            raise TypeError(NO_VALUE.format(place=user_place(2)))
        self.grown = outputs


@contextmanager
def outside_of_rows() -> Iterator[None]:
    """Record around the maps that are open: what is made here has values, and outlives them."""
    inner: Any = local.stream
    outer = inner
    while outer.of_rows:
        outer = outer.scope.capture.outer
    try:
        local.stream = outer
        yield
    finally:
        local.stream = inner


class _Mapping:
    """One call of a mapped function: the observer of what it does (see record.value.Observer)."""

    formatted: list | None = None

    def __init__(self, outer: Stream):
        default_generator()
        self.outer = outer
        # Whether a derivative is open around all maps.
        around = outer.scope.capture
        self.taped = outer.scope.is_taped or (isinstance(around, _Mapping) and around.taped)
        floor = int(not self.taped)
        scope = Scope(self, tape=[], hooks={}, depth=1, floor=floor, complete=True)
        self.inner = _RowStream(scope, outer)
        # By id of a Value inside: that Value, the one for all rows, whether it has rows.
        self.known: dict[int, tuple[Value, Value, bool]] = {}
        self.assigned: dict[int, tuple[Tensor, Value]] = {}
        # By id of a handle: Parameters that have rows.
        self.members: dict[int, _Member] = {}

    def row(self, rows: Value) -> Value:
        """The Value inside that stands for each row."""
        aval = rows.aval
        single = Value(None, aval_of(aval.shape[1:], aval.numpy))
        segment = self.inner.segment
        single.source, single.slot = segment, segment.count
        segment.count += 1
        segment.outputs.append(ref(single))
        self.known[id(single)] = (single, rows, True)
        return single

    # -- what the record asks of an observer ------------------------------------------------

    def lift(self, value: Value, handle=None) -> Value:
        if handle is None:
            value.capture = self
            return value
        member = self.members.get(id(handle))
        if member is not None and value is member.before:
            return member.row
        outer = self.outer
        around = outer.scope.capture
        if (
            around is None
            or value.source is outer.segment
            or value.capture is around
            or id(value) in self.known
        ):
            return value
        local.stream = outer
        try:
            return around.lift(value, handle)
        finally:
            local.stream = self.inner

    def write(self, handle) -> None:
        if not self._made_inside(handle):
            self.assigned.setdefault(id(handle), (handle, handle._value))

    def _made_inside(self, handle) -> bool:
        outside = id(handle) in self.assigned or id(handle) in self.members
        return made_within(handle, self) and not outside

    def read(self, handle, value: Value, kind: str, text) -> np.ndarray:
        if value.source is not self.inner.segment:
            local.stream = self.outer
            try:
                seen(value)
            finally:
                local.stream = self.inner
        around = self.outer.scope.capture
        if around is None or id(value) in self.known:
            return seen(value)
        return around.read(handle, value, kind, text)

    def close(self, segment, held) -> None:
        raise AssertionError("what is recorded of a row never runs")

    def site(self, function: Callable, args: tuple, kwargs: dict | None = None, label=None) -> Any:
        is_ours = (getattr(function, "__module__", None) or "").startswith("mycel.")
        if not is_ours and (label is None or not isinstance(function, FunctionType)):
            # Of hooks that are functions, what they read is seen as of others.
            self.event(CHANGED, None, IN_ROWS, IN_ROWS_REMEDY)
        return function(*args, **(kwargs or {}))

    def event(self, kind: str, subject: Any = None, what="", remedy="", place=None) -> bool:
        if kind is COMMUNICATES:
            return True  # it is recorded for all rows behind the call
        if kind is HOOKS and self.taped and self.inner.scope.depth == 1:
            raise NotImplementedError(OWN_REVERSE.format(what="a hook on a Tensor"))
        if kind is CHANGED and isinstance(subject, Tensor) and self._made_inside(subject):
            return True
        around = self.outer.scope.capture
        return around is not None and around.event(kind, subject, what, remedy, place)

    # -- running ----------------------------------------------------------------------------

    def run(self, function: Callable, args) -> Any:
        """Call the function on rows; each Tensor of its result as the Value for all rows and
        whether it has rows, other leaves as they are."""
        inner = self.inner
        local.stream = inner
        try:
            output = function(*args)
            leaves = [resolve(x) if isinstance(x, Tensor) else x for x in tree_leaves(output)]
            assigned = [(handle, resolve(handle)) for handle, _ in self.assigned.values()]
        finally:
            local.stream = self.outer
            try:
                self._put_back()
            finally:  # again: an exception may have come from outside where it began
                self._put_back()
            # Stream and segment know each other: what they hold must not wait to be collected.
            nodes = inner.exchange(OUTSIDE).tape
            inner.segment.stream = None  # type: ignore[assignment]
        assert nodes is not None
        for node in flattened(nodes):
            self._record(*node)
        if inner.segment.gradients:
            segment, known = inner.segment, self.known.values()
            slots = {inside.slot: value for inside, value, _ in known if inside.source is segment}
            machine.note_gradients([slots[slot] for slot in segment.gradients])
        for handle, value in assigned:
            rows, mapped = self._for_all(value)
            member = self.members.get(id(handle))
            if member is not None:
                member.assign(rows, mapped)
                continue
            if mapped:
                name = getattr(handle, "name", None)
                target = f"Parameter {name!r}" if name else "a Tensor from outside"
                raise TypeError(ASSIGNED.format(target=target))
            rebind(handle, rows)
        rows_of = iter([self._for_all(x) if isinstance(x, Value) else (x, False) for x in leaves])
        return tree_map(lambda leaf: _Leaf(*next(rows_of)), output)

    def _put_back(self) -> None:
        """Let the handles that were assigned show what they did: a row's Value has no array."""
        for handle, before in self.assigned.values():
            point(handle, before)

    def _record(self, op, inputs, outputs, place) -> None:
        if isinstance(op, Marker):
            if self.taped and not isinstance(op, Recomputed):
                what = f"{op.name or type(op).__name__} (a hook or a `bprop`)"
                raise NotImplementedError(OWN_REVERSE.format(what=what))
            return
        values = [self._for_all(value) for value in inputs]
        mask = tuple([mapped for _, mapped in values])
        mapped = True in mask
        results = record(op.batched(mask) if mapped else op, tuple([v for v, _ in values]), place)
        for inside, value in zip(
            outputs, (results,) if isinstance(results, Value) else results, strict=True
        ):
            self.known[id(inside)] = (inside, value, mapped)

    def _for_all(self, value: Value) -> tuple[Value, bool]:
        known = self.known.get(id(value))
        if known is not None:
            return known[1:]
        if value.capture is self:
            # Data made inside is data made here.
            around = self.outer.scope.capture
            value.capture = None
            if around is not None:
                around.lift(value)
        return value, False


class _Member(NamedTuple):
    """A Parameter of the first Cell of a CellList, which inside stands for those of all Cells.

    Attributes:
        row: the Value inside.
        before: its own when the call began.
        each: the Parameters, one for each Cell.
    """

    row: Value
    before: Value
    each: tuple[Tensor, ...]

    def assign(self, rows: Value, mapped: bool) -> None:
        """Give each Cell's Parameter its row of what was assigned, or what is the same for all."""
        for number, parameter in enumerate(self.each):
            rebind(parameter, _one(record(_member(number), (rows,))) if mapped else rows)


class _Leaf:
    """A leaf of a result: a Value or something else, and whether it has rows."""

    __slots__ = ("mapped", "what")

    def __init__(self, what, mapped: bool):
        self.what = what
        self.mapped = mapped


class Mapped:
    """The function that `vmap` returns."""

    def __init__(self, function: Any, in_axes=0, out_axes=0):
        # A CellList, or a list of Cells: one member for each row.
        several = getattr(function, "is_ensemble", False) or (
            isinstance(function, (list, tuple))
            and all(hasattr(member, "get_parameters") for member in function)
        )
        self.members = list(function) if several else None
        if several and not self.members:
            raise ValueError("vmap has no Cell to map: the list is empty.")
        if self.members is None:
            if not callable(function):
                raise errors.wrong(
                    TypeError,
                    "What vmap maps",
                    expected="a function, a Cell or a CellList",
                    actual=f"{type(function).__name__} {function!r:.60}",
                )
            for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
                if axes is None:
                    raise ValueError(f"{name} of vmap is None: then nothing would be mapped.")
            functools.update_wrapper(self, function, updated=())
        self.function: Any = self.members[0] if self.members else function
        self.in_axes = _as_axes(in_axes, "in_axes")
        self.out_axes = _as_axes(out_axes, "out_axes")

    def __call__(self, *args):
        axes = self.in_axes
        if not isinstance(axes, tuple):
            axes = (axes,) * len(args)
        elif len(axes) != len(args):
            raise ValueError(
                f"vmap got {len(axes)} in_axes for {len(args)} inputs (at {user_place(2)})."
            )
        stream = local.stream
        mapping = _Mapping(stream)
        sizes: set[int] = set()
        rows = [
            _with_axes(
                functools.partial(_as_row, mapping, sizes), argument, axis, f"input {number}"
            )
            for number, (argument, axis) in enumerate(zip(args, axes, strict=True))
        ]
        if self.members is not None:
            sizes.add(len(self.members))
            _stack_members(mapping, self.members)
        if len(sizes) != 1:
            lengths = " and ".join(map(str, sorted(sizes))) or "none"
            raise ValueError(
                f"vmap needs inputs of one length along their mapped axes, but they have {lengths} "
                f"(at {user_place(2)})."
            )
        size = sizes.pop()
        output = mapping.run(self.function, rows)
        axes = self.out_axes
        if isinstance(axes, tuple) and not isinstance(output, (tuple, list)):
            axes = axes[0] if len(axes) == 1 else axes
        return _with_axes(functools.partial(_as_output, size), output, axes, "the output")


def vmap(
    fn: Callable[..., Any] | Sequence[Callable[..., Any]], in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """A function that computes `fn` for every row of its inputs at once.

    Args:
        fn: a function or Cell of one row, or a CellList or list of Cells alike: then each row has
            its own Cell, whose Parameters are assigned by themselves. `construct` of the first is
            called, for all of them.
        in_axes: along which axis each input has its rows: a number for all inputs, or a tuple with
            a number, None (the same for all rows) or a nested tuple for each.
        out_axes: where the rows go in the outputs; None for an output without rows.

    Raises:
        TypeError: `fn` cannot be called, an axis is not a number, or `fn` looks at values of a row.
        ValueError: the lengths along the mapped axes differ, an axis is out of bounds, or the Cells
            differ in their Parameters or share some of them.
        NotImplementedError: a `bprop` or hook inside is to be differentiated from outside.

    Source: MindSpore's `mindspore.vmap`. Random operators draw the same for every row.

    Example:
        >>> import mycel as ms
        >>> rows = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.vmap(lambda row, scale: (row * scale).sum(), in_axes=(0, None))(rows, 2.0))
        [ 6. 14.]
    """
    return Mapped(fn, in_axes, out_axes)


def _as_axes(axes, name: str):
    if isinstance(axes, (tuple, list)):
        return tuple([_as_axes(part, name) for part in axes])
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return axes
    raise errors.wrong(
        TypeError, f"An axis in {name} of vmap", expected="a number or None", actual=repr(axes)
    )


def _with_axes(function: Callable, tree, axes, what: str):
    """Apply `function(leaf, axis, what)`; a tuple of axes goes along with the branches."""
    if isinstance(tree, (tuple, list)):
        parts = axes if isinstance(axes, tuple) else (axes,) * len(tree)
        if len(parts) != len(tree):
            raise ValueError(f"vmap got {len(parts)} axes for the {len(tree)} parts of {what}.")
        branches = [_with_axes(function, t, a, what) for t, a in zip(tree, parts, strict=True)]
        return rebuilt(tree, branches)
    if isinstance(tree, dict):
        return rebuilt(tree, [_with_axes(function, tree[key], axes, what) for key in tree])
    if isinstance(axes, tuple):
        raise ValueError(f"vmap got axes {axes} for {what}, which has no parts.")
    return function(tree, axes, what)


def _as_row(mapping: _Mapping, sizes: set[int], leaf, axis, what: str):
    if axis is None or not isinstance(leaf, Tensor):
        return leaf
    value = resolve(leaf)
    axis = _in_bounds(axis, len(value.aval.shape), what)
    sizes.add(value.aval.shape[axis])
    return new_tensor(mapping.row(_one(record(_moved(axis, 0), (value,))) if axis else value))


def _as_output(size: int, leaf: _Leaf, axis, what: str):
    value = leaf.what
    if not isinstance(value, Value):
        if isinstance(value, (bool, int, float, complex)) and axis is not None:
            value = resolve(Tensor(value))
        else:
            return value
    if axis is None:
        if leaf.mapped:
            raise ValueError(f"out_axes of vmap is None for {what}, which differs by row.")
        return new_tensor(value)
    if not leaf.mapped:
        value = _one(record(_repeated(size), (value,)))
    axis = _in_bounds(axis, len(value.aval.shape), what)
    return new_tensor(_one(record(_moved(0, axis), (value,))) if axis else value)


def _in_bounds(axis: int, dimensions: int, what: str) -> int:
    if not -dimensions <= axis < dimensions:
        raise ValueError(
            f"Axis {axis} of vmap is out of bounds for {what} of {dimensions} dimensions."
        )
    return axis % dimensions


def _stack_members(mapping: _Mapping, members) -> None:
    """Let the Parameters of the first Cell have one row for each Cell."""
    each = [list(member.get_parameters()) for member in members]
    if len({tuple([p.shape for p in parameters]) for parameters in each}) > 1:
        raise ValueError("The Cells of a CellList that is mapped must have the same Parameters.")
    for parameters in zip(*each, strict=True):
        first = parameters[0]
        shared = len(set(map(id, parameters))) != len(members)
        if shared and all(parameter is first for parameter in parameters):
            continue  # it is as any other thing from outside
        if shared:
            raise ValueError(f"Some of the Cells that are mapped share Parameter {first.name!r}.")
        rows = _one(record(_STACK, tuple(map(resolve, parameters))))
        mapping.members[id(first)] = _Member(mapping.row(rows), first._value, parameters)


@functools.cache
def _moved(source: int, destination: int) -> Op:
    return Op("moveaxis", lambda x: jnp.moveaxis(x, source, destination))


@functools.cache
def _member(number: int) -> Op:
    return Op("row_of_member", lambda rows: rows[number])


@functools.cache
def _repeated(size: int) -> Op:
    return Op("repeat_rows", lambda x: jnp.broadcast_to(x[None], (size, *x.shape)))


_STACK = Op("stack_members", lambda *members: jnp.stack(members))


def _one(result) -> Value:
    assert isinstance(result, Value)
    return result
