# SPDX-License-Identifier: Apache-2.0
"""Functions that are declared in a row: how they are called, the operator, what they mean.

A row is written as operators are spelled (see `kernel.spell.spelling`), with an example beside it:

    sqrt = unary("numpy.sqrt(x, dtype=None)", ops.sqrt, "The square root.",
        "sqrt(Tensor([1, 4]))", "[1. 2.]")

A parameter `dtype` is the type in which the result is returned. All other parameters behind the
arrays are handed on to the operator, by position.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable

from mycel.kernel.base.written import compiled, place_of
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell.spelling import parse
from mycel.numpy.convert import as_tensor, in_type, operands


def unary(
    spelling: str,
    operator: Callable,
    meaning: str,
    example: str,
    printed: str,
    take: Callable = as_tensor,
) -> Callable[..., Tensor]:
    """A function of one array, its first parameter.

    Args:
        spelling: namespace, name and parameters.
        operator: what is called with the array and the other parameters.
        meaning: what its docstring says.
        example: a call of it, and `printed`: what print shows of the result.
        take: a function of the argument and its name that gives what the operator takes.
    """
    return _written(spelling, operator, take, "take({0}, {0!r})", 1, (meaning, example, printed))


def binary(
    spelling: str,
    operator: Callable,
    meaning: str,
    example: str,
    printed: str,
    take: Callable = operands,
) -> Callable[..., Tensor]:
    """A function of two arrays, its first parameters.

    Args:
        spelling, operator, meaning, example, printed: see `unary`.
        take: a function of both arguments that gives the two operands.
    """
    return _written(spelling, operator, take, "*take({0}, {1})", 2, (meaning, example, printed))


def each(take: Callable) -> Callable:
    """What takes both operands of a binary function as `take` does one."""
    return lambda x1, x2: (take(x1, "x1"), take(x2, "x2"))


def _written(spelling: str, operator, take, taken: str, arrays: int, text: tuple) -> Callable:
    parsed = parse(spelling, {})
    parameters = [argument.public for argument in parsed.called or ()]
    settings = [parameter for parameter in parameters[arrays:] if parameter != "dtype"]
    result = f"operator({', '.join([taken.format(*parameters), *settings])})"
    if "dtype" in parameters:
        result = f"in_type({result}, dtype)"
    row = sys._getframe(2)
    place = place_of(row.f_code.co_filename, row.f_lineno)
    names = {"operator": operator, "take": take, "in_type": in_type}
    source = f"def {spelling.removeprefix(f'{parsed.namespace}.')}:\n    return {result}\n"
    function = compiled(parsed.name, source, names, spelling.partition("(")[0], place)
    function.__module__ = row.f_globals["__name__"]
    function.__doc__ = _documentation(parsed.namespace, *text)
    return function


def _documentation(namespace: str, meaning: str, example: str, printed: str) -> str:
    shown = textwrap.indent(printed, "        ")
    return f"{meaning}\n\n    Example:\n        >>> print(ms.{namespace}.{example})\n{shown}\n    "
