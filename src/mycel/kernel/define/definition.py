# SPDX-License-Identifier: Apache-2.0
"""One definition per operation: the function as written, and its Ops by static attributes."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from marshal import dumps
from math import copysign, nan
from operator import is_
from types import FunctionType
from typing import Any

import jax
import numpy as np

from mycel.kernel.base.dtypes import DType
from mycel.kernel.define.bounds import Bounds
from mycel.kernel.define.op import Op

# The last form of marshal in which equal strings and tuples are equal bytes, shared or not.
PLAIN = 2

# Every definition by name, in the order of definition: what coverage and the meta-tests read.
definitions: dict[str, Definition] = {}


class Definition:
    """A pure function whose positional parameters are arrays and whose keywords are static.

    Attributes:
        reverse: an optional derivative better than JAX's own,
            `reverse(*inputs, output, cotangent, **statics) -> one gradient per input`.
        arrays: names of the array parameters; the one after `*` takes any number.
        optional: those whose default is None: leaving one out chooses other code.
        statics: names of the static parameters; `defaults` has the defaults of both kinds.
        windows: whether it reads its inputs through windows, as a convolution does.
        indices: what its indices may hold (see define.bounds): a function with the parameters of
            this one, given shapes and types for the arrays, that returns a list of Bounds.
        rearranges, gives_shares: see define.op.Op.
    """

    def __init__(self, name: str, function: Callable, rule=None, fallible=False):
        self.name = name
        self.function = function
        self.rule = rule
        self.fallible = fallible
        self.reverse: Callable | None = None
        self.arrays: tuple[str, ...] = ()
        self.statics: tuple[str, ...] = ()
        self.optional: frozenset[str] = frozenset()
        self.variadic = ""
        self.defaults: dict[str, object] = {}
        # How it is spelled, and the public names that follow from that.
        self.spellings: tuple[str, ...] = ()
        self.names: list[str] | None = []
        self.windows = False
        self.indices: Callable | None = None
        self.rearranges = self.gives_shares = False
        self.composite = False
        self._read_signature()
        self._ops: dict[tuple, Op] = {}
        # By values without their classes: with the objects that they were at first.
        self._first: dict[tuple, tuple[tuple, Op]] = {}

    def _read_signature(self):
        function = self.function
        if isinstance(function, FunctionType) and not function.__dict__:
            self._read_code(function)
            return
        optional = set()
        for parameter in inspect.signature(self.function).parameters.values():
            if parameter.default is not parameter.empty:
                self.defaults[parameter.name] = parameter.default
            if parameter.kind is parameter.KEYWORD_ONLY:
                self.statics += (parameter.name,)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self.variadic = parameter.name
            else:
                self.arrays += (parameter.name,)
                if parameter.default is None:
                    optional.add(parameter.name)
        self.optional = frozenset(optional)

    def _read_code(self, function: FunctionType) -> None:
        """What `inspect.signature` tells of a plain function, at a tenth of the time: there are
        hundreds of them at every import."""
        code = function.__code__
        count, keywords = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames
        self.arrays, self.statics = names[:count], names[count : count + keywords]
        if code.co_flags & inspect.CO_VARARGS:
            self.variadic = names[count + keywords]
        defaults = function.__defaults__ or ()
        self.defaults = dict(zip(self.arrays[count - len(defaults) :], defaults, strict=True))
        self.optional = frozenset(name for name, given in self.defaults.items() if given is None)
        self.defaults |= function.__kwdefaults__ or {}

    def set_reverse(self, reverse: Callable) -> None:
        """Take a hand-written derivative; Ops made so far are rebuilt in place."""
        self.reverse = reverse
        for (values, present, _), op in self._ops.items():
            op.set_function(self._function(values, present))

    def forget(self) -> bool:
        """Forget all Ops; whether there were any."""
        known = bool(self._ops)
        self._ops.clear()
        self._first.clear()
        return known

    def bind(self, *values, present: tuple[bool, ...] | None = None) -> Op:
        """The Op with these static values, in the order of `statics`.

        Args:
            present: which arrays are given, for a call that may leave some out.
        """
        try:
            known, op = self._first[values, present]
            # 1, 1.0 and True are equal, as 0.0 and -0.0 are, and choose different code; the same
            # objects do not.
            if all(map(is_, values, known)):
                return op
        except (KeyError, TypeError):
            pass
        return self._bind(values, present)

    def _bind(self, values, present) -> Op:
        try:
            op = self._ops[values, present, static_key(values)]
        except (KeyError, TypeError):
            return self._bind_new(values, present)
        self._first.setdefault((values, present), (values, op))
        return op

    def _bind_new(self, values, present) -> Op:
        values = tuple(map(static_value, values))
        key = (values, present, static_key(values))
        op = self._ops.get(key)
        if op is None:
            new = Op(self.name, self._function(values, present), self.rule, self.fallible)
            new.reads, new.rearranges = int(self.windows), self.rearranges
            new.names, new.gives_shares = self.names, self.gives_shares
            new.origin = Definition._function, self, values, present
            if self.indices is not None:
                new.bounds = functools.partial(self._bounds, values, present)
            op = self._ops.setdefault(key, new)
        return op

    def _bounds(self, values, present, avals) -> tuple[Bounds, ...]:
        """What the indices may hold; positions count the arrays that are given."""
        assert self.indices is not None
        structs = [aval.struct for aval in avals]
        positions = range(len(avals))
        if present is not None:
            present_structs = iter(structs)
            structs = [next(present_structs) if there else None for there in present]
            positions = list(itertools.accumulate(present, initial=0))
        try:
            bounds = self.indices(*structs, **dict(zip(self.statics, values, strict=True)))
        except (TypeError, ValueError, IndexError):
            return ()  # the shapes do not fit; the operator itself says so better
        return tuple([limits._replace(position=positions[limits.position]) for limits in bounds])

    def _function(self, values, present):
        keywords = dict(zip(self.statics, values, strict=True))
        function = functools.partial(self.function, **keywords) if keywords else self.function
        if self.reverse is not None:
            function = _with_reverse(function, functools.partial(self.reverse, **keywords))
        return function if present is None else _leave_out(function, present)


# Classes whose equal values are alike in everything.
_ALIKE = frozenset((bool, int, str, bytes, type(None), DType))


def static_key(values: tuple):
    """What tells static values that are equal apart: their classes and the signs of zeros, also
    within tuples."""
    kinds = tuple(map(type, values))
    if _ALIKE.issuperset(kinds):
        return kinds
    try:
        return dumps(values, PLAIN)  # a fifth of the time
    except ValueError:  # a value that has no such form
        return kinds, *[_told(value) for value in values]


def _told(value):
    """What tells a value from another of its class that is equal."""
    if isinstance(value, float):
        return copysign(1.0, value)
    if isinstance(value, complex):
        return copysign(1.0, value.real), copysign(1.0, value.imag)
    if isinstance(value, tuple):
        return static_key(tuple(value))
    fields = getattr(value, "__dataclass_fields__", None)
    if fields and not isinstance(value, type):
        return static_key(tuple([getattr(value, name) for name in fields]))
    return None


def interned(value):
    """The one object for equal static values: layers give the same at every call, and an Op is
    found at once by what it was found by before."""
    value = static_value(value)
    return _interned.setdefault((value, static_key((value,))), value)


_interned: dict = {}


def _with_reverse(function, reverse):
    better = jax.custom_vjp(function)

    def forward(*inputs):
        output = function(*inputs)
        return output, (inputs, output)

    def backward(kept, cotangent):
        inputs, output = kept
        gradients = reverse(*inputs, output, cotangent)
        return gradients if isinstance(gradients, tuple) else (gradients,)

    better.defvjp(forward, backward)
    return better


def _leave_out(function, present):
    def shorter(*arrays):
        rest = iter(arrays)
        return function(*[next(rest) if there else None for there in present])

    return shorter


def static_value(value) -> Any:
    """A hashable form of a static attribute: lists become tuples, NumPy numbers Python's."""
    if isinstance(value, (list, tuple)):
        return tuple(map(static_value, value))
    if isinstance(value, np.generic):
        return static_value(value.item())
    if isinstance(value, (float, complex)):
        # What is not a number equals nothing, itself neither, unless it is the same object.
        return value if value == value else _undefined(value)
    if isinstance(value, np.ndarray):
        return static_value(value.tolist())
    if hasattr(value, "asnumpy"):
        return static_value(value.asnumpy().tolist())
    if isinstance(value, slice):
        raise TypeError("A slice cannot be a static attribute; pass its bounds.")
    return value


def _undefined(value):
    """The one object for a number that has a NaN in it."""
    if isinstance(value, float):
        return nan
    real, imaginary = map(static_value, (value.real, value.imag))
    return _interned.setdefault(dumps(complex(real, imaginary), PLAIN), complex(real, imaginary))


def define(name: str, function: Callable, rule=None, fallible=False) -> Definition:
    """Register a definition; a name is defined once.

    Raises:
        ValueError: the name is taken.
    """
    if name in definitions:
        raise ValueError(f"The operation {name!r} is defined twice.")
    definition = definitions[name] = Definition(name, function, rule, fallible)
    return definition
