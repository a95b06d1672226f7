# SPDX-License-Identifier: Apache-2.0
"""The functions that a running frame may be of, found without running anything."""

from __future__ import annotations

import functools
import types
from builtins import getattr  # not what stands in for them meanwhile

# What code of ours calls of a Cell.
CALLED_OF_CELLS = ("construct", "bprop", "__call__")
# Where wrappers, of Python's library and of programs, keep the function that they call.
_FUNCTIONS_IN = ("__func__", "fget", "fset", "fdel", "__wrapped__", "func")


def by_first_argument(frame) -> list:
    """Functions of the class of the first argument: methods are mostly found like that."""
    code = frame.f_code
    if not code.co_argcount:
        return []
    first = frame.f_locals.get(code.co_varnames[0])
    functions: list = []
    for owner in (first if isinstance(first, type) else type(first)).__mro__:
        functions += _functions_in(owner.__dict__.get(code.co_name))
    return functions


def by_name(frame) -> list:
    """The function of a module or class that has the name of a frame's code."""
    first, *names = frame.f_code.co_qualname.split(".")
    named = frame.f_globals.get(first)
    for name in names:
        named = named.__dict__.get(name) if isinstance(named, type) else None
    return _functions_in(named)


def _functions_in(described) -> list:
    """A function, or those that what wraps it holds."""
    if type(described) is types.FunctionType and not described.__dict__:
        return [described]
    parts = [described]
    if not runs_code_when_asked(type(described)):
        parts += [getattr(described, part, None) for part in _FUNCTIONS_IN]
    return [part for part in parts if type(part) is types.FunctionType]


def unwrapped(described) -> tuple:
    """What a descriptor of Python's own makes a method of; else the very thing."""
    if type(described) is functools.partialmethod:
        return (*unwrapped(described.func), described.args, described.keywords)
    if type(described) in (staticmethod, classmethod):
        return unwrapped(described.__func__)
    return (described,)


def runs_code_when_asked(kind: type) -> bool:
    """Whether asking an object for an attribute would run a program's code."""
    asked = (kind.__getattribute__, getattr(kind, "__getattr__", None))
    return any(isinstance(function, types.FunctionType) for function in asked)
