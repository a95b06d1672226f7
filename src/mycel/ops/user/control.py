# SPDX-License-Identifier: Apache-2.0
"""Loops and branches as operators: MindSpore's names for what `while`, `for` and `if` do here.

They run as Python loops, so a compiled call has one copy of the body for each round; what `while`
reads of a Tensor is compared at each replay. There is no rolled form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.ops.math.decompositions import condition_number


def cond(A: Any, p: Any = None, *rest: Any) -> Any:
    """The condition number of matrices; or, given functions, what one of two branches returns.

    `cond(A, p)` is the norm of square matrices times that of their inverses. As in other
    frameworks, `cond(pred, true_fn, false_fn, *operands)` calls `true_fn(*operands)` where `pred`
    is true and else `false_fn`; it is an `if`, so only one of them runs.

    Args:
        A: matrices [..., M, M], of any shape [..., M, N] for the norm 2; or a truth value.
        p: the order of the norm, as in `matrix_norm`: 1, -1, 2, -2, inf, -inf, "fro" or "nuc";
            None is 2: the largest over the smallest singular value. Or a function.
        rest: only after a function: the other function, and what both take.

    Returns:
        One number for each matrix, infinite where there is no inverse; or what a branch returns.

    Raises:
        TypeError: the matrices hold integers, a branch is not a function, or there are more
            arguments than a matrix and an order.
        ValueError: the order is unknown, or it is neither 2 nor -2 and the matrices are not square.

    Source: MindSpore's `ops.cond`; for branches, JAX's `lax.cond`.

    Example:
        >>> print(ops.cond(Tensor([[2.0, 0.0], [0.0, 0.5]])))
        4.0
        >>> x = Tensor([1.0, -3.0])
        >>> print(ops.cond(x.sum() > 0, ops.exp, ops.neg, x))
        [-1.  3.]
    """
    if callable(p):
        if not rest:
            raise wrong(TypeError, "cond: false_fn", "a function", "nothing")
        true_fn, false_fn, *operands = p, *rest
        return (true_fn if A else _check_function(false_fn, "cond: false_fn"))(*operands)
    if rest:
        raise wrong(TypeError, "cond: true_fn", "a function", f"{p!r:.60}")
    return condition_number(A, order=p)


def while_loop(cond_func: Callable[..., Any], loop_func: Callable[..., Any], init_val: Any) -> Any:
    """Apply `loop_func` to a value as long as `cond_func` of it is true.

    Args:
        cond_func: a function of the value; the loop ends when it returns something false.
        loop_func: a function of the value that returns the next one.
        init_val: the value at the start: a Tensor, a number, or tuples, lists and dictionaries of
            them.

    Raises:
        TypeError: the first two inputs are not functions.

    Source: MindSpore's `mindspore.ops.WhileLoop`, as a function.

    Example:
        >>> ops.while_loop(lambda x: x < 5, lambda x: x + 2, 0)
        6
    """
    _check_function(cond_func, "WhileLoop: cond_func")
    _check_function(loop_func, "WhileLoop: loop_func")
    value = init_val
    while cond_func(value):
        value = loop_func(value)
    return value


def fori_loop(
    lower: Any, upper: Any, loop_func: Callable[..., Any], init_val: Any, unroll: bool = True
) -> Any:
    """Apply `loop_func(i, value)` for each integer from `lower` up to, not with, `upper`.

    Args:
        lower, upper: integers, or Tensors of one.
        loop_func: a function of the integer and the value so far.
        init_val: the value at the start.
        unroll: accepted; a compiled call has one copy of the body for each round.

    Raises:
        TypeError: `loop_func` is not a function, or a bound not an integer.

    Source: MindSpore's `mindspore.ops.ForiLoop`, as a function.

    Example:
        >>> ops.fori_loop(0, 4, lambda i, x: x + i, 10)
        16
    """
    del unroll
    _check_function(loop_func, "ForiLoop: loop_func")
    value = init_val
    for i in range(_bound(lower, "lower"), _bound(upper, "upper")):
        value = loop_func(i, value)
    return value


def scan(
    loop_func: Callable[..., Any],
    init: Any,
    xs: Any,
    length: int | None = None,
    unroll: bool = True,
) -> tuple[Any, list[Any]]:
    """Apply `loop_func(carry, x)` to each member of `xs`; it returns the next carry and a result.

    Args:
        loop_func: a function of the carry so far and one member.
        init: the carry at the start.
        xs: a tuple, list or Tensor, taken apart along its first dimension; None gives None
            `length` times.
        length: how many members there are; needed without `xs`.
        unroll: accepted; a compiled call has one copy of the body for each round.

    Returns:
        The last carry, and a list of the results.

    Raises:
        TypeError: `loop_func` is not a function, or there is no `length` without `xs`.
        ValueError: `length` is not that of `xs`, or the function does not return a pair.

    Source: MindSpore's `mindspore.ops.Scan`, as a function.

    Example:
        >>> ops.scan(lambda total, x: (total + x, total * x), 0, [1, 2, 3])
        (6, [0, 2, 9])
    """
    del unroll
    _check_function(loop_func, "Scan: loop_func")
    if xs is None:
        if not isinstance(length, int):
            raise wrong(TypeError, "Scan: length", "an integer where xs is None", repr(length))
        xs = (None,) * length
    elif length is not None and length != len(xs):
        raise wrong(ValueError, "Scan: length", f"the {len(xs)} of xs", length)
    carry, results = init, []
    for x in xs:
        made = loop_func(carry, x)
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            expected = "a pair: the next carry and a result"
            raise wrong(ValueError, "What Scan's loop_func returns", expected, f"{made!r:.60}")
        carry, result = made
        results.append(result)
    return carry, results


class WhileLoop(Primitive):
    """`while_loop` as a Primitive.

    Args:
        cond_func: a function of the value; the loop ends when it returns something false.
        loop_func: a function of the value that returns the next one.
        init_val: the value at the start.

    Source: MindSpore's `mindspore.ops.WhileLoop`.

    Example:
        >>> ops.WhileLoop()(lambda x: x < 5, lambda x: x + 2, 0)
        6
    """

    def __init__(self):
        super().__init__("WhileLoop")

    def __call__(self, cond_func, loop_func, init_val):
        return while_loop(cond_func, loop_func, init_val)


class ForiLoop(Primitive):
    """`fori_loop` as a Primitive.

    Args:
        lower, upper: integers, or Tensors of one; `upper` is not reached.
        loop_func: a function of the integer and the value so far, which returns the next one.
        init_val: the value at the start.
        unroll: no effect.

    Source: MindSpore's `mindspore.ops.ForiLoop`.

    Example:
        >>> ops.ForiLoop()(0, 4, lambda i, x: x + i, 10)
        16
    """

    def __init__(self):
        super().__init__("ForiLoop")

    def __call__(self, lower, upper, loop_func, init_val, unroll=True):
        return fori_loop(lower, upper, loop_func, init_val, unroll)


class Scan(Primitive):
    """`scan` as a Primitive.

    Args:
        loop_func: a function of the carry so far and one member, which returns the next carry and a
            result.
        init: the carry at the start.
        xs: a tuple, list or Tensor, taken apart along its first dimension; None gives None `length`
            times.
        length: how many members there are; needed without `xs`.
        unroll: no effect.

    Source: MindSpore's `mindspore.ops.Scan`.

    Example:
        >>> ops.Scan()(lambda total, x: (total + x, total * x), 0, [1, 2, 3])
        (6, [0, 2, 9])
    """

    def __init__(self):
        super().__init__("Scan")

    def __call__(self, loop_func, init, xs, length=None, unroll=True):
        return scan(loop_func, init, xs, length, unroll)


def _check_function(function, what: str) -> Callable:
    if not callable(function):
        raise wrong(TypeError, what, "a function", f"{type(function).__name__} {function!r:.60}")
    return function


def _bound(value, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, Tensor)):
        expected = "an integer or a Tensor of one"
        raise wrong(TypeError, f"ForiLoop: {what}", expected, f"{value!r:.60}")
    return int(value)
