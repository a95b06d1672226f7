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
)
from mycel.numpy.declare import binary, each, unary


def _truth(x, name: str = "x") -> Tensor:
    """Whether each element is not zero."""
    return ops.cast(as_tensor(x, name), "bool")


# fmt: off
equal = binary("numpy.equal(x1, x2, dtype=None)", ops.equal, "Whether two numbers are equal.",
    "equal(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[False  True False]")
not_equal = binary("numpy.not_equal(x1, x2, dtype=None)", ops.not_equal,
    "Whether two numbers differ.",
    "not_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[ True False  True]")
less = binary("numpy.less(x1, x2, dtype=None)", ops.less, "Whether x1 is below x2.",
    "less(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[ True False False]")
less_equal = binary("numpy.less_equal(x1, x2, dtype=None)", ops.less_equal,
    "Whether x1 is not above x2.",
    "less_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[ True  True False]")
greater = binary("numpy.greater(x1, x2, dtype=None)", ops.greater, "Whether x1 is above x2.",
    "greater(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[False False  True]")
greater_equal = binary("numpy.greater_equal(x1, x2, dtype=None)", ops.greater_equal,
    "Whether x1 is not below x2.",
    "greater_equal(Tensor([1, 2, 3]), Tensor([2, 2, 2]))", "[False  True  True]")
logical_and = binary("numpy.logical_and(x1, x2, dtype=None)", ops.logical_and,
    "Whether both are true (not zero).",
    "logical_and(Tensor([0, 0, 1]), Tensor([0, 1, 1]))", "[False False  True]", each(_truth))
logical_or = binary("numpy.logical_or(x1, x2, dtype=None)", ops.logical_or,
    "Whether one of them is true (not zero).",
    "logical_or(Tensor([0, 0, 1]), Tensor([0, 1, 1]))", "[False  True  True]", each(_truth))
logical_xor = binary("numpy.logical_xor(x1, x2, dtype=None)", ops.logical_xor,
    "Whether exactly one of them is true (not zero).",
    "logical_xor(Tensor([0, 0, 1]), Tensor([0, 1, 1]))", "[False  True False]", each(_truth))
logical_not = unary("numpy.logical_not(a, dtype=None)", ops.logical_not,
    "Whether a number is zero.", "logical_not(Tensor([0, 5]))", "[ True False]", _truth)
isnan = unary("numpy.isnan(x, dtype=None)", ops.isnan, "Whether it is no number.",
    'isnan(Tensor([1.0, float("nan")]))', "[False  True]")
isinf = unary("numpy.isinf(x, dtype=None)", ops.isinf, "Whether it is infinite.",
    'isinf(Tensor([1.0, float("-inf")]))', "[False  True]")
isfinite = unary("numpy.isfinite(x, dtype=None)", ops.isfinite,
    "Whether it is a number and not infinite.",
    'isfinite(Tensor([1.0, float("inf")]))', "[ True False]")
isposinf = unary("numpy.isposinf(x)", ops.isposinf, "Whether it is positive and infinite.",
    'isposinf(Tensor([float("-inf"), float("inf")]))', "[False  True]")
isneginf = unary("numpy.isneginf(x)", ops.isneginf, "Whether it is negative and infinite.",
    'isneginf(Tensor([float("-inf"), float("inf")]))', "[ True False]")
isclose = binary("numpy.isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", ops.isclose,
    "Whether |a - b| is at most atol + rtol · |b|.",
    "isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1]))", "[ True False]")
# fmt: on


def signbit(x, dtype=None):
    """Whether a number is below zero.

    Example:
        >>> print(ms.numpy.signbit(Tensor([1, -2])))
        [False  True]
    """
    if dtype is not None and element(dtype).name != "bool":
        raise errors.wrong(TypeError, "The dtype of signbit", "bool", dtype)
    return ops.less(as_tensor(x, "x"), 0)


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
