# SPDX-License-Identifier: Apache-2.0
"""Running a Cell in another element type: what it is given and its Parameters are cast meanwhile.

While `construct` runs, the handles of its inputs and Parameters point at cast Values. The casts
are recorded like all operators, so gradients arrive in the types of the Parameters. Afterwards
the handles point at what they had; what was assigned inside is cast back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import takewhile
from types import CodeType
from weakref import WeakKeyDictionary

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import DType, bfloat16, float16, float32
from mycel.kernel.base.structure import structure
from mycel.kernel.base.trees import tree_exchange, tree_leaves
from mycel.kernel.define.op import Op
from mycel.kernel.record.stream import local, record, refuse
from mycel.kernel.record.tensor import Tensor, new_tensor, point, rebind, resolve
from mycel.kernel.record.value import Value
from mycel.nn.members import Members, cells_and_names, is_called

# The operators that cast, by the type they cast to.
_casts: dict[DType, Op] = {}

FLAGS = {"fp16": float16, "fp32": float32, "bf16": bfloat16}


class Precise(Members):
    """Choosing the element type that a Cell computes in."""

    # Whether the Parameters of this Cell keep their types in any case: because its operators take
    # inputs of another type, and state such as moving statistics must not be rounded.
    _keeps_precision = False
    _begins_segment: bool
    _computes_in: DType | None = None
    # The type of what it gives, where that is another one than it computes in.
    _gives: DType | None = None
    # The handles to cast, and when they were found.
    _handles_to_cast: tuple[int, list[Tensor]] = (-1, [])
    add_flags_recursive: Callable

    def to_float(self, dst_type: DType):
        """Compute in another element type: this Cell and all its children.

        Whatever real numbers `construct` is given, and all Parameters and Tensors that are
        attributes, are seen by it in that type. The Parameters themselves keep theirs, and so do
        their gradients; what `construct` assigns to them is cast back. A child may be given
        another type afterwards. Optimisers are left out, and the Parameters of batch
        normalisations. While `construct` runs, other threads see the cast values too.

        Args:
            dst_type: float16, bfloat16 or float32.

        Returns:
            This Cell.

        Raises:
            ValueError: the type is neither Float16, BFloat16 nor Float32.

        Source: MindSpore's `Cell.to_float`; where its modes differ, as in its Graph mode.

        Example:
            >>> net = nn.Dense(2, 1, "ones").to_float(mycel.float16)
            >>> net(ops.ones((1, 2))).dtype, net.weight.dtype
            (mindspore.float16, mindspore.float32)
        """
        if dst_type not in FLAGS.values():
            expected = "mycel.float16, mycel.bfloat16 or mycel.float32"
            raise errors.wrong(ValueError, "to_float: dst_type", expected, repr(dst_type))
        return self.add_flags_recursive(**{name: dst_type is FLAGS[name] for name in FLAGS})

    def _take_precision(self, flags: dict, recurse: bool = False) -> None:
        """Compute in the type that flags ask for, if they do; an optimiser never does."""
        dtypes = [dtype for name, dtype in FLAGS.items() if flags.get(name)]
        if not dtypes or not self._begins_segment:
            return
        self.__dict__["_computes_in"] = dtypes[-1]
        for child in self.cells() if recurse else ():
            child._take_precision(flags, True)


class _Cast:
    """A handle that points at a cast Value for a while.

    Attributes:
        outside: what it points at before and after.
        inside: the cast Value.
        source: the value in full precision; the cast one of a call around this may be less.
    """

    __slots__ = ("handle", "inside", "outside", "source")

    def __init__(self, handle: Tensor, outside: Value, inside: Value, source: Value):
        self.handle = handle
        self.outside = outside
        self.inside = inside
        self.source = source


class _Frames(threading.local):
    """The calls in another type that are open in this thread: casts by id of their handles."""

    def __init__(self):
        self.open: list[dict[int, _Cast]] = []


_frames = _Frames()
# Handles belong to all threads: only one at a time lets them point elsewhere.
_lock = threading.RLock()


def call_in_precision(cell, function: Callable, *arguments):
    """Call `function(*arguments)` with all that `cell` computes with cast to its type."""
    dtype = cell._computes_in
    frame: dict[int, _Cast] = {}
    with _lock:
        frames = _frames.open
        depth = len(frames)
        try:
            frames.append(frame)
            for leaf in (*tree_leaves(arguments), *_own_handles(cell)):
                if isinstance(leaf, Tensor):
                    _enter(frame, leaf, dtype)
            return _given(_results(function(*arguments), frame), cell._gives)
        finally:
            del frames[depth:]
            try:
                _leave(frame)
            finally:  # an exception may have come from outside where it began
                if frame:
                    _leave(frame)


def _enter(frame: dict[int, _Cast], handle: Tensor, target: DType) -> None:
    """Let a handle point at its value in the type that is wanted."""
    dtype = handle._value.aval.dtype
    if dtype is target or not dtype.is_floating or id(handle) in frame:
        return
    source = outside = resolve(handle)
    around = _around(handle) if len(_frames.open) > 1 else ()
    if around and _same(around[-1].inside, outside):
        source = around[-1].source
        _check_known(source)
    inside = _as(source, target)
    frame[id(handle)] = _Cast(handle, outside, inside, source)
    point(handle, inside)


def _leave(frame: dict[int, _Cast]) -> None:
    """Let the handles point at what they had, or at what they were assigned."""
    for key, entry in list(frame.items()):
        shown = entry.handle._value
        if _same(shown, entry.inside) or shown is entry.outside:  # if something came in between
            point(entry.handle, entry.outside)
            del frame[key]
    for key, entry in list(frame.items()):
        _keep(entry)
        del frame[key]


def _keep(entry: _Cast) -> None:
    """Cast back what was assigned, in full precision also for the calls around this one."""
    handle = entry.handle
    kept = value = _as(handle._value, entry.source.aval.dtype)
    around = _around(handle)
    if around and _same(around[-1].inside, entry.outside):
        for outer in around:
            outer.source, outer.outside = kept, value
            outer.inside = value = _as(kept, outer.inside.aval.dtype)
    journal = local.stream.scope.journal
    if journal is not None:
        # What a site undoes: the handle never had the cast Value before it.
        journal.assigned[:] = [
            (changed, entry.outside if before is entry.inside else before)
            for changed, before in journal.assigned
        ]
    rebind(handle, value)


def _around(handle: Tensor) -> list[_Cast]:
    """The casts of a handle by the calls around, the outermost first."""
    return [frame[id(handle)] for frame in _frames.open if id(handle) in frame]


def _results(output, frame: dict[int, _Cast]):
    """What was returned; a handle that points elsewhere afterwards as a Tensor of its own."""
    if not any(id(leaf) in frame for leaf in tree_leaves(output)):
        return output
    return tree_exchange(
        lambda leaf: new_tensor(leaf._value) if id(leaf) in frame else leaf,
        output,
    )


def _given(output, dtype: DType | None):
    """What was returned, real Tensors in this type."""
    if dtype is None:
        return output

    def cast(leaf):
        is_real = isinstance(leaf, Tensor) and leaf.dtype.is_floating
        return new_tensor(_as(resolve(leaf), dtype)) if is_real else leaf

    return tree_exchange(cast, output)


def _as(value: Value, dtype: DType) -> Value:
    """A Value in another real type; its gradient arrives in the type it has itself."""
    if value.aval.dtype is dtype:
        return value
    op = _casts.get(dtype)
    if op is None:
        kind = dtype.numpy
        op = Op(
            f"to_{dtype.name}",
            lambda array: array.astype(kind),
            rule=lambda inputs, outputs, cotangents, mask: [
                _as(cotangents[0], inputs[0].aval.dtype)
            ],
        )
        op = _casts.setdefault(dtype, op)
    cast = record(op, (value,))
    assert isinstance(cast, Value)
    return cast


def _same(value: Value, other: Value) -> bool:
    # A remembered call exchanges the Value of a handle for another one of the same array.
    return value is other or (value.array is not None and value.array is other.array)


def _check_known(source: Value) -> None:
    """The call being remembered must know where a value comes from, or it cannot be replayed."""
    stream = local.stream
    capture = stream.scope.capture
    if capture and source.capture is not capture and source.source is not stream.segment:
        refuse(
            "a Parameter or an argument is cast outside it, and cast otherwise inside",
            "compile the outermost Cell, or give its children one type",
        )


# -- what a Cell computes with ---------------------------------------------------------------

# The attributes that the methods of a class name.
_used: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def _own_handles(cell) -> list[Tensor]:
    """The Parameters and Tensors that the `construct` of a Cell uses itself."""
    if cell._handles_to_cast[0] != structure.changes:
        cell.__dict__["_handles_to_cast"] = (structure.changes, list(_found_handles(cell)))
    return cell._handles_to_cast[1]


def _found_handles(cell) -> Iterator[Tensor]:
    members = list(cells_and_names(cell))
    if any(not member._begins_segment for _, member in members):
        return  # a step of training: what the optimiser changes keeps its precision
    owners = {id(owner): owner for owner in _owners(cell)}
    children = [(path, member) for path, member in members if id(member) not in owners]
    theirs = {id(p) for _, member in children for p in member._params.values()}
    for owner in owners.values():
        if owner._keeps_precision:
            continue
        for value in vars(owner).values():
            if isinstance(value, Tensor):
                yield value
            elif _is_of_tensors(value) and not any(id(member) in theirs for member in value):
                # A list of the weights of a child would serve to differentiate by them.
                yield from (part for part in value if isinstance(part, Tensor))
    used = names_used(type(cell))
    for path, child in children:
        if not child._keeps_precision and used.issuperset(_names_of(path)):
            # As in `ops.matmul(x, self.embedding.table)`: the child is not called for it.
            yield from (p for name, p in child._params.items() if p is not None and name in used)


def _owners(cell) -> Iterator:
    """A Cell, and below it those that are never called, whose members are used by it."""
    yield cell
    for child in cell._cells.values():
        if child is not None and not is_called(child):
            yield from _owners(child)


def _is_of_tensors(value) -> bool:
    return isinstance(value, (tuple, list)) and bool(value) and isinstance(value[0], Tensor)


def _names_of(path: str) -> list[str]:
    """The attributes on a path; numbers are members of lists."""
    return [name for name in path.split(".") if not name.isdecimal()]


def names_used(kind: type) -> frozenset[str]:
    """The attributes that the methods of a class of Cells name."""
    names = _used.get(kind)
    if names is None:
        own = takewhile(lambda part: "_compute_cell" not in vars(part), kind.__mro__)
        codes = [code for part in own for member in vars(part).values() for code in _codes(member)]
        names = _used[kind] = frozenset(name for code in codes for name in code.co_names)
    return names


def _codes(function) -> Iterator[CodeType]:
    """The code of a function and of those written in it."""
    code = function
    if not isinstance(function, CodeType):
        function = getattr(function, "function", function)  # of a compiled one
        code = getattr(function, "__code__", None)
    if code is not None:
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _codes(constant)
