# SPDX-License-Identifier: Apache-2.0
"""Keys: what of its arguments chooses the memory of a call.

Two calls with equal keys are the same to the function that is called, but for the numbers in the
Tensors, and for objects that it has by other ways as well (see Memory.holds).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from typing import Any

import numpy as np

from mycel.kernel.execute.replay import Arguments
from mycel.kernel.execute.templates import carries_tensors
from mycel.kernel.prove.kinds import slots_of
from mycel.kernel.prove.notes import Again
from mycel.kernel.prove.sources import ABSENT, SLOT, elements
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor

_SIMPLE = frozenset((bool, int, float, complex, str, bytes, type(None)))
_INEXACT = frozenset((float, complex))
# Containers that have nothing but their parts.
_BARE = frozenset((tuple, list, dict))
# Larger arrays are known by a digest.
MOST_BITS = 1 << 12
# One NaN for all, since none equals itself.
_NAN = float("nan")


def key_of(argument, arguments: Arguments):
    """What of an argument chooses the memory: avals of Tensors, values of numbers, identities."""
    kind = argument.__class__
    if kind is Tensor:
        arguments.tensors.append(argument)
        fields = argument.__dict__
        if not fields:
            return argument._value.aval
        return _again(argument, arguments) or (argument._value.aval, _fields(fields, arguments))
    if kind in _SIMPLE:
        if kind in _INEXACT and (not argument or argument != argument):
            return (kind, argument if not argument else _NAN, repr(argument))  # 0.0 is not -0.0
        return (kind, argument)
    if isinstance(argument, (tuple, list, dict)):
        # Which of them are one and the same is seen by `is`, and when one is changed; and one may
        # hold itself.
        if again := _again(argument, arguments):
            return again
        if not isinstance(argument, tuple):
            arguments.containers.append(argument)
        if isinstance(argument, dict):
            parts = _fields(argument, arguments)
        else:
            parts = tuple([key_of(part, arguments) for part in argument])
        if kind in _BARE:
            return (kind, parts)
        more = _attributes(argument, kind, arguments)
        return (kind, parts, more) if more else (kind, parts)
    if isinstance(argument, Tensor) and not isinstance(argument, Parameter):
        arguments.tensors.append(argument)
        more = _again(argument, arguments)
        return more or (kind, argument._value.aval, _attributes(argument, kind, arguments))
    return _key_of_object(argument, kind, arguments)


def _again(argument, arguments: Arguments) -> tuple | None:
    """The key of a container that was met before; None, and it is counted, where it was not."""
    count = len(arguments.met)
    number = arguments.met.setdefault(id(argument), count)
    return None if number == count else (Again, number)


def _fields(fields: dict, arguments: Arguments) -> tuple:
    """Names and keys; a name that is no string with its type, since 1 and True are equal."""
    return tuple(
        [
            (name if name.__class__ is str else (name.__class__, name), key_of(part, arguments))
            for name, part in fields.items()
        ]
    )


def _attributes(argument, kind: type, arguments: Arguments) -> tuple:
    """What an object of a class of its own has besides its parts."""
    more: list = []
    if kind.__dictoffset__:
        fields = object.__getattribute__(argument, "__dict__")
        if fields is not argument:
            more += _fields(fields, arguments)
    for slot in slots_of(kind):
        part = SLOT(argument, slot)
        if part is not ABSENT:
            more.append((slot.__name__, key_of(part, arguments)))
    if isinstance(argument, defaultdict):
        more.append(("default_factory", key_of(argument.default_factory, arguments)))
    if isinstance(argument, deque):
        more.append(("maxlen", argument.maxlen))
    return tuple(more)


def _key_of_object(argument: Any, kind: type, arguments: Arguments):
    """Arrays, sets and objects that carry Tensors are known by what is in them, all others by what
    they are: what is read of them is compared."""
    if isinstance(argument, np.generic):
        return (kind, argument.dtype, argument.tobytes())
    is_array = isinstance(argument, np.ndarray) and not argument.dtype.hasobject
    is_set = isinstance(argument, (set, frozenset, deque))
    if is_array or is_set or carries_tensors(argument):
        if again := _again(argument, arguments):
            return again
        if not isinstance(argument, frozenset):
            arguments.containers.append(argument)
        if is_array:
            return _key_of_array(argument, kind)
        if is_set:
            parts = tuple([key_of(part, arguments) for part in elements(argument)])
            more = _attributes(argument, kind, arguments)
            return (kind, parts, more) if more else (kind, parts)
        return (kind, _attributes(argument, kind, arguments))
    # Held by the memory, so that the id is not used again.
    arguments.held.append(argument)
    return (kind, id(argument))


def _key_of_array(array: Any, kind: type) -> tuple:
    """Its numbers, how they lie in memory, and whether it can be written to."""
    bits = array.tobytes()
    if len(bits) > MOST_BITS:
        bits = hashlib.blake2b(bits).digest()
    return (kind, array.dtype, array.shape, array.strides, array.flags.num, bits)
