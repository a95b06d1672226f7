# SPDX-License-Identifier: Apache-2.0
"""find_nan: from a value that is not finite to the operator that made it."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

from mycel.kernel.base.context import context, set_check_numerics
from mycel.kernel.execute.numerics import present_steps
from mycel.kernel.record.stream import current_stream, refuse

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Blocks:
    """The blocks that are open, of all threads: the last one to end puts back what was set."""

    def __init__(self):
        self._lock = threading.RLock()
        self._open = 0
        self._before = False

    def begin(self) -> None:
        """One more is open."""
        with self._lock:
            if not self._open:
                self._before = context.check_numerics
                set_check_numerics(True)
            self._open += 1

    def end(self) -> None:
        """One is closed."""
        with self._lock:
            self._open -= 1
            if not self._open:
                set_check_numerics(self._before)


_blocks = _Blocks()


class _FindNan:
    """Numerics are checked in a block, or while a function runs."""

    def __enter__(self):
        # What a replay computes is looked at where the search is around the call.
        refuse("find_nan begins inside of it", "let it begin around the call")
        _blocks.begin()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if error is None:
                current_stream().flush()
                present_steps().settle()
        finally:
            _blocks.end()

    def __call__(self, function: _Function) -> _Function:
        checked: Any = functools.wraps(function)(self._checked(function))
        return checked

    def _checked(self, function: Callable) -> Callable:
        """A function as it is checked; of a generator or a coroutine what it does later, too."""

        def generating(*args, **kwargs):
            with self:
                return (yield from function(*args, **kwargs))

        async def awaiting(*args, **kwargs):
            with self:
                return await function(*args, **kwargs)

        def calling(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        if inspect.isgeneratorfunction(function):
            return generating
        return awaiting if inspect.iscoroutinefunction(function) else calling


@overload
def find_nan() -> _FindNan: ...


@overload
def find_nan(function: _Function) -> _Function: ...


def find_nan(function: Any = None) -> Any:
    """End a step that makes NaN or an infinity with an error that says where.

    Compiled programs stay compiled: each has one more output, which tells whether its results are
    finite. Only when one is not, the state before the step is put back, the step runs again
    operator by operator with the same random numbers, and the error names the step, the first
    operator that made something that is not finite from finite values, whether in the forward or
    in the reverse, the line of the forward, the Cell, what the operator was given, which element
    of the batch or row of `vmap`, and how it reached the result.

    Literal infinities, as in a mask, are no fault. An overflow that the program looks for itself
    (`all_finite`, loss scaling, `isfinite`) is none unless a Parameter is assigned it.
    `set_context(check_numerics=True)` and `MYCEL_CHECK_NUMERICS=1` in the environment do the same
    for a whole program, and JAX's own switch, `JAX_DEBUG_NANS`, turns this on.

    Args:
        function: the function to be checked, also a generator or a coroutine; may be left out:
            `find_nan()` is a context manager and a decorator.

    Raises:
        NonFiniteError: a `FloatingPointError`, out of the step that is checked.

    Example:
        >>> x = Tensor([1.0, 0.0])
        >>> try:
        ...     with ms.debug.find_nan():
        ...         y = ops.log(x).sum().asnumpy()
        ... except FloatingPointError as error:
        ...     error.operator, error.phase, error.element
        ('log', 'forward', (1,))
    """
    found = _FindNan()
    return found if function is None else found(function)
