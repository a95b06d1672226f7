# SPDX-License-Identifier: Apache-2.0
"""Comparisons and questions about numbers; the answers are Bool unless `dtype` is given."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_tensor,
    axes_of,
    broadcast_shape,
    element,
    in_type,
    operands,
)


def equal(x1, x2, dtype=None):
    """Whether two numbers are equal.

    Example:
        >>> print(ms.numpy.equal(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [False  True False]
    """
    return in_type(ops.equal(*operands(x1, x2)), dtype)


def not_equal(x1, x2, dtype=None):
    """Whether two numbers differ.

    Example:
        >>> print(ms.numpy.not_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [ True False  True]
    """
    return in_type(ops.not_equal(*operands(x1, x2)), dtype)


def less(x1, x2, dtype=None):
    """Whether x1 is below x2.

    Example:
        >>> print(ms.numpy.less(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [ True False False]
    """
    return in_type(ops.less(*operands(x1, x2)), dtype)


def less_equal(x1, x2, dtype=None):
    """Whether x1 is not above x2.

    Example:
        >>> print(ms.numpy.less_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [ True  True False]
    """
    return in_type(ops.less_equal(*operands(x1, x2)), dtype)


def greater(x1, x2, dtype=None):
    """Whether x1 is above x2.

    Example:
        >>> print(ms.numpy.greater(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [False False  True]
    """
    return in_type(ops.greater(*operands(x1, x2)), dtype)


def greater_equal(x1, x2, dtype=None):
    """Whether x1 is not below x2.

    Example:
        >>> print(ms.numpy.greater_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2])))
        [False  True  True]
    """
    return in_type(ops.greater_equal(*operands(x1, x2)), dtype)


def logical_and(x1, x2, dtype=None):
    """Whether both are true (not zero).

    Example:
        >>> print(ms.numpy.logical_and(Tensor([0, 0, 1]), Tensor([0, 1, 1])))
        [False False  True]
    """
    return in_type(ops.logical_and(_truth(x1), _truth(x2)), dtype)


def logical_or(x1, x2, dtype=None):
    """Whether one of them is true (not zero).

    Example:
        >>> print(ms.numpy.logical_or(Tensor([0, 0, 1]), Tensor([0, 1, 1])))
        [False  True  True]
    """
    return in_type(ops.logical_or(_truth(x1), _truth(x2)), dtype)


def logical_xor(x1, x2, dtype=None):
    """Whether exactly one of them is true (not zero).

    Example:
        >>> print(ms.numpy.logical_xor(Tensor([0, 0, 1]), Tensor([0, 1, 1])))
        [False  True False]
    """
    return in_type(ops.logical_xor(_truth(x1), _truth(x2)), dtype)


def logical_not(a, dtype=None):
    """Whether a number is zero.

    Example:
        >>> print(ms.numpy.logical_not(Tensor([0, 5])))
        [ True False]
    """
    return in_type(ops.logical_not(_truth(a)), dtype)


def _truth(x) -> Tensor:
    return ops.cast(as_tensor(x, "x"), "bool")


def isnan(x, dtype=None):
    """Whether it is no number.

    Example:
        >>> print(ms.numpy.isnan(Tensor([1.0, float("nan")])))
        [False  True]
    """
    return in_type(ops.isnan(as_tensor(x, "x")), dtype)


def isinf(x, dtype=None):
    """Whether it is infinite.

    Example:
        >>> print(ms.numpy.isinf(Tensor([1.0, float("-inf")])))
        [False  True]
    """
    return in_type(ops.isinf(as_tensor(x, "x")), dtype)


def isfinite(x, dtype=None):
    """Whether it is a number and not infinite.

    Example:
        >>> print(ms.numpy.isfinite(Tensor([1.0, float("inf")])))
        [ True False]
    """
    return in_type(ops.isfinite(as_tensor(x, "x")), dtype)


def isposinf(x):
    """Whether it is positive and infinite.

    Example:
        >>> print(ms.numpy.isposinf(Tensor([float("-inf"), float("inf")])))
        [False  True]
    """
    return ops.isposinf(as_tensor(x, "x"))


def isneginf(x):
    """Whether it is negative and infinite.

    Example:
        >>> print(ms.numpy.isneginf(Tensor([float("-inf"), float("inf")])))
        [ True False]
    """
    return ops.isneginf(as_tensor(x, "x"))


def signbit(x, dtype=None):
    """Whether a number is below zero.

    Example:
        >>> print(ms.numpy.signbit(Tensor([1, -2])))
        [False  True]
    """
    if dtype is not None and element(dtype).name != "bool":
        raise errors.wrong(TypeError, "The dtype of signbit", "bool", dtype)
    return ops.less(as_tensor(x, "x"), 0)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| is at most atol + rtol · |b|.

    Example:
        >>> print(ms.numpy.isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])))
        [ True False]
    """
    return ops.isclose(*operands(a, b), rtol, atol, equal_nan)


def array_equal(a1, a2, equal_nan=False):
    """Whether two Tensors have one shape and equal elements, as a Bool Tensor.

    Example:
        >>> print(ms.numpy.array_equal(Tensor([1, 2]), Tensor([1, 2])))
        True
    """
    if not isinstance(equal_nan, bool):
        raise errors.wrong(TypeError, "equal_nan", "True or False", repr(equal_nan))
    a1, a2 = as_tensor(a1, "a1"), as_tensor(a2, "a2")
    if a1.shape != a2.shape:
        return Tensor(False)
    same = ops.equal(a1, a2)
    if equal_nan:
        same = ops.logical_or(same, ops.logical_and(ops.isnan(a1), ops.isnan(a2)))
    return ops.all(same)


def array_equiv(a1, a2):
    """As `array_equal`, after broadcasting.

    Example:
        >>> print(ms.numpy.array_equiv(Tensor([1, 1]), Tensor(1)))
        True
    """
    a1, a2 = as_tensor(a1, "a1"), as_tensor(a2, "a2")
    try:
        broadcast_shape(a1.shape, a2.shape)
    except ValueError:
        return Tensor(False)
    return ops.all(ops.equal(a1, a2))


def isscalar(element) -> bool:
    """Whether something is a Python number or text; a Tensor never is.

    Example:
        >>> ms.numpy.isscalar(3.1), ms.numpy.isscalar(Tensor(3.1))
        (True, False)
    """
    return isinstance(element, (bool, int, float, complex, str))


def sometrue(a, axis=None, keepdims=False):
    """Whether some element along `axis` is not zero.

    Example:
        >>> print(ms.numpy.sometrue(Tensor([[0, 1], [0, 0]]), 0))
        [False  True]
    """
    if not isinstance(keepdims, int):
        raise errors.wrong(TypeError, "keepdims", "True or False", repr(keepdims))
    a = as_tensor(a, "a")
    return ops.any(_truth(a), axes_of(axis, a.ndim), bool(keepdims))
