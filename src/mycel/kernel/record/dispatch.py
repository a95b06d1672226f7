# SPDX-License-Identifier: Apache-2.0
"""From handles to the record: the hot path of every operator call.

Separate functions for no, one, two and any number of inputs; the common case (one output, nothing
unusual) is written out, everything else goes through `record`.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any
from weakref import ref

import numpy as np

from mycel.kernel.base.context import context
from mycel.kernel.base.places import theirs, user_place
from mycel.kernel.base.promotion import scalar_dtype
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.op import Op
from mycel.kernel.record.data import opts_out, type_beside
from mycel.kernel.record.stream import (
    MOST_BYTES,
    MOST_OUTPUTS,
    Elsewhere,
    find_place,
    local,
    record,
)
from mycel.kernel.record.tensor import StandIn, Tensor, data_value, new_tensor, resolve
from mycel.kernel.record.value import Value

_new_handle = Tensor.__new__
_new_value = Value.__new__
NO_RETURN = " A function or construct without `return` gives None."
_NUMBERS = frozenset((bool, int, float, complex))
_BASES: tuple[Any, ...] = (int, float, complex)
_scalar_kinds: dict = {}
_ALONE = {bool: np.bool_, int: np.int64, float: np.float32, complex: np.complex64}


def apply0(op: Op):
    """Record an operator without inputs."""
    return wrap(record(op, ()))


def apply1(op: Op, x):
    """Record a one-input operator and return the handle(s) of its output."""
    stream = local.stream
    try:
        a = x._value
    except AttributeError:
        return wrap(record(op, (to_value(x),)))
    signature = op.one.get(a.aval)
    scope = stream.scope
    capture = scope.capture
    if (
        signature is None
        or not signature.single
        or context.apart
        or (capture is not None and a.source is not stream.segment and a.capture is not capture)
    ):
        return wrap(record(op, (to_value(x),)))
    segment = stream.segment
    try:
        i = a.slot if a.source is segment else segment.admit(a)
    except Elsewhere:
        return applyn(op, (x,))
    frame = _getframe(2)  # the caller is a function written by spell
    code = frame.f_code
    place = (code, frame.f_lasti, stream.called) if code.co_filename in theirs else find_place(3)
    value = _new_value(Value)
    value.array = None
    value.aval = signature.aval
    value.capture = None
    known = ref(value)
    if stream.segment is not segment:
        return applyn(op, (x,))  # the handler of a signal came in between
    # Together, whatever interrupts: nothing is called in between.
    value.source = segment
    value.slot = slot = segment.count
    segment.count = slot + 1
    segment.key += (signature.id, i)
    segment.places += place
    segment.outputs.append(known)
    if slot > MOST_OUTPUTS or segment.bytes > MOST_BYTES:
        stream.flush()
    if scope.tape is not None:
        scope.tape.append((op, (a,), (value,), place))
    handle = _new_handle(Tensor)
    handle._value = value
    return handle


def apply2(op: Op, x, y):
    """Record a two-input operator and return the handle(s) of its output."""
    stream = local.stream
    scope = stream.scope
    capture = scope.capture
    if context.apart:
        return applyn(op, (x, y))
    kind = y.__class__
    if kind is Tensor:
        a = x._value if isinstance(x, Tensor) else number_value(x, y._value)
        b = y._value
    elif kind in _NUMBERS:
        if not isinstance(x, Tensor):
            return applyn(op, (x, y))
        a = x._value
        try:
            b = number_value(y, a)
        except OverflowError:
            return applyn(op, (x, y))
    else:
        a, b = to_values((x, y))
    if capture is not None and (_is_new(x, a, stream) or _is_new(y, b, stream)):
        return applyn(op, (x, y))
    try:
        signature = op.two[a.aval][b.aval]
    except KeyError:
        signature = op.signature((a.aval, b.aval))
        if signature.special:
            return wrap(record(op, (a, b)))
    if not signature.single:
        return wrap(record(op, (a, b)))
    segment = stream.segment
    try:
        i = a.slot if a.source is segment else segment.admit(a)
        j = b.slot if b.source is segment else segment.admit(b)
    except Elsewhere:
        return applyn(op, (x, y))
    frame = _getframe(2)  # the caller is a function written by spell
    code = frame.f_code
    place = (code, frame.f_lasti, stream.called) if code.co_filename in theirs else find_place(3)
    value = _new_value(Value)
    value.array = None
    value.aval = signature.aval
    value.capture = None
    known = ref(value)
    if stream.segment is not segment:
        return applyn(op, (x, y))  # the handler of a signal came in between
    # Together, whatever interrupts: nothing is called in between.
    value.source = segment
    value.slot = slot = segment.count
    segment.count = slot + 1
    segment.key += (signature.id, i, j)
    segment.places += place
    segment.outputs.append(known)
    if slot > MOST_OUTPUTS or segment.bytes > MOST_BYTES:
        stream.flush()
    if scope.tape is not None:
        scope.tape.append((op, (a, b), (value,), place))
    handle = _new_handle(Tensor)
    handle._value = value
    return handle


def _is_new(x, value: Value, stream) -> bool:
    """Whether the call being remembered has yet to meet a handle from outside."""
    return (
        value.source is not stream.segment
        and value.capture is not stream.scope.capture
        and isinstance(x, Tensor)
    )


def applyn(op: Op, inputs):
    """Record an operator of any number of inputs and return the handle(s) of its outputs."""
    try:
        values = to_values(inputs)
    except OverflowError:
        # By themselves they are Int64. What is true of the numbers can be told, other results
        # would be of another type.
        values = tuple(map(to_value, inputs))
        if op.signature(tuple([value.aval for value in values])).aval.numpy != np.bool_:
            raise
    return wrap(record(op, values))


def wrap(outputs):
    """Handles for what was recorded."""
    if outputs.__class__ is Value:
        return new_tensor(outputs)
    return tuple([new_tensor(value) for value in outputs])


def to_value(x) -> Value:
    """The Value of one operand."""
    if isinstance(x, Tensor):
        return resolve(x)
    return number_value(x, None)


def to_values(inputs) -> tuple[Value, ...]:
    """The Values of operands; Python numbers take their type from the first Tensor."""
    if local.stream.scope.capture is None:
        try:
            return tuple([x._value for x in inputs])
        except AttributeError:  # a number or an array is among them
            pass
    like = None
    for x in inputs:
        if isinstance(x, Tensor):
            like = x._value
            break
    return tuple([resolve(x) if isinstance(x, Tensor) else number_value(x, like) for x in inputs])


def defers(x, reflected: str) -> bool:
    """Whether a binary operator leaves the result to the method `reflected` of its other operand,
    as Python's numbers do: `x` has no numbers itself, and its class, not one of Python's own, has
    that method."""
    kind = x.__class__
    if isinstance(x, Tensor) or kind.__module__ == "builtins":
        return False
    if isinstance(x, (np.ndarray, np.generic, list, tuple)) and not opts_out(kind):
        return False
    return getattr(kind, reflected, None) not in (None, getattr(object, reflected, None))


def _half(x) -> np.float16:
    """A number as a Float16; one that is too large is infinite, as in every operator."""
    with np.errstate(over="ignore"):
        return np.float16(x)


def number_value(x, like: Value | None) -> Value:
    """A Python number as a 0-d input: what varies is never a constant of the program."""
    kind = x.__class__
    if kind in _NUMBERS:
        key = (kind, None if like is None else like.aval.numpy)
        scalar = _scalar_kinds.get(key)
        if scalar is None:
            dtype = np.dtype(_ALONE[kind]) if like is None else scalar_dtype(like.aval.numpy, kind)
            of_type = _half if dtype == np.float16 else dtype.type
            scalar = _scalar_kinds[key] = (of_type, aval_of((), dtype))
        try:
            return Value(scalar[0](x), scalar[1])
        except OverflowError:
            raise OverflowError(
                f"{x} does not fit {scalar[1].dtype} (at {user_place(3)})."
            ) from None
    for base in _BASES:
        if isinstance(x, base):  # of a class of the program's own, or an enum
            return number_value(base(x), like)
    if like is not None and isinstance(x, (np.number, np.bool_)):
        return number_value(x.item(), like)  # as MindSpore takes NumPy's scalars
    if isinstance(x, StandIn):
        return resolve(x.operand)
    if isinstance(x, (np.ndarray, np.generic, list, tuple)) and not opts_out(kind):
        return data_value(x, None if like is None else type_beside(x, like.aval.numpy))
    if hasattr(x, "__array__"):
        return data_value(np.asarray(x), None)
    raise TypeError(
        f"A Tensor or a number is needed, but {kind.__name__} {x!r:.60} was given "
        f"at {user_place(3)}." + NO_RETURN * (x is None)
    )
