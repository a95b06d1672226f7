# SPDX-License-Identifier: Apache-2.0
"""Comparisons, truth values and bits; choosing between two Tensors by a condition."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.common import promoted


@op(
    "ops.equal(input=x, other=y)",
    "ops.eq(input=x, other=y)",
    "Equal()(input=x, other=y)",
    "Tensor.equal(x, other=y)",
    "Tensor.eq(x, other=y)",
    "mint.eq(input=x, other=y)",
)
def equal(x, y):
    """Whether x is equal to y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.equal(Tensor([1, 2, 3]), 2))
        [False  True False]
    """
    return jnp.equal(*promoted(x, y))


@op(
    "ops.not_equal(input=x, other=y)",
    "ops.ne(input=x, other=y)",
    "NotEqual()(input=x, other=y)",
    "Tensor.not_equal(x, other=y)",
    "Tensor.ne(x, other=y)",
    "mint.not_equal(input=x, other=y)",
    "mint.ne(input=x, other=y)",
)
def not_equal(x, y):
    """Whether x is different from y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.not_equal(Tensor([1, 2, 3]), 2))
        [ True False  True]
    """
    return jnp.not_equal(*promoted(x, y))


@op(
    "ops.less(input=x, other=y)",
    "ops.lt(input=x, other=y)",
    "Less()(input=x, other=y)",
    "Tensor.less(x, other=y)",
    "Tensor.lt(x, other=y)",
    "Tensor.__lt__(x, y)",
    "mint.less(input=x, other=y)",
    "mint.lt(input=x, other=y)",
)
def less(x, y):
    """Whether x is smaller than y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.less(Tensor([1, 2, 3]), 2))
        [ True False False]
    """
    return jnp.less(*promoted(x, y))


@op(
    "ops.less_equal(input=x, other=y)",
    "ops.le(input=x, other=y)",
    "LessEqual()(input=x, other=y)",
    "Tensor.less_equal(x, other=y)",
    "Tensor.le(x, other=y)",
    "Tensor.__le__(x, y)",
    "mint.less_equal(input=x, other=y)",
    "mint.le(input=x, other=y)",
)
def less_equal(x, y):
    """Whether x is at most y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.less_equal(Tensor([1, 2, 3]), 2))
        [ True  True False]
    """
    return jnp.less_equal(*promoted(x, y))


@op(
    "ops.greater(input=x, other=y)",
    "ops.gt(input=x, other=y)",
    "Greater()(input=x, other=y)",
    "Tensor.greater(x, other=y)",
    "Tensor.gt(x, other=y)",
    "Tensor.__gt__(x, y)",
    "mint.greater(input=x, other=y)",
    "mint.gt(input=x, other=y)",
)
def greater(x, y):
    """Whether x is larger than y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.greater(Tensor([1, 2, 3]), 2))
        [False False  True]
    """
    return jnp.greater(*promoted(x, y))


@op(
    "ops.greater_equal(input=x, other=y)",
    "ops.ge(input=x, other=y)",
    "GreaterEqual()(input=x, other=y)",
    "Tensor.greater_equal(x, other=y)",
    "Tensor.ge(x, other=y)",
    "Tensor.__ge__(x, y)",
    "mint.greater_equal(input=x, other=y)",
    "mint.ge(input=x, other=y)",
)
def greater_equal(x, y):
    """Whether x is at least y, element by element, with broadcasting; Bool.

    Example:
        >>> print(ops.greater_equal(Tensor([1, 2, 3]), 2))
        [False  True  True]
    """
    return jnp.greater_equal(*promoted(x, y))


_COMPARABLE = (Tensor, bool, int, float, complex, np.ndarray, np.generic)


@composite("Tensor.__eq__(x, y)")
def equals(x, y):
    """`x == y`: element by element for Tensors and numbers, False for None and all else.

    Example:
        >>> print(Tensor([1, 2]) == 2, Tensor([1, 2]) == None)
        [False  True] False
    """
    return equal(x, y) if isinstance(y, _COMPARABLE) else False


@composite("Tensor.__ne__(x, y)")
def differs(x, y):
    """`x != y`: element by element for Tensors and numbers, True for None and all else.

    Example:
        >>> print(Tensor([1, 2]) != 2, Tensor([1, 2]) != None)
        [ True False] True
    """
    return not_equal(x, y) if isinstance(y, _COMPARABLE) else True


@op()
def all_equal(x, y):
    """One Bool: the same shape and the same elements."""
    return jnp.array_equal(x, y)


@composite("mint.equal(input=x, other=y)")
def mint_equal(x, y) -> bool:
    """Whether two Tensors have the same shape and the same elements, as one Python bool.

    Example:
        >>> mint.equal(Tensor([1, 2]), Tensor([1, 2]))
        True
    """
    return bool(all_equal(x, y))


@op(
    "ops.logical_and(input=x, other=y)",
    "LogicalAnd()(x, y)",
    "Tensor.logical_and(x, other=y)",
    "mint.logical_and(input=x, other=y)",
)
def logical_and(x, y):
    """Whether both x and y are true, element by element; a number is true unless it is zero.

    Args:
        x: a Tensor of any element type.
        y: a Tensor or a number; the shapes are broadcast.

    Example:
        >>> print(ops.logical_and(Tensor([True, True, False]), Tensor([True, False, False])))
        [ True False False]
    """
    return jnp.logical_and(x, y)


@op(
    "ops.logical_or(input=x, other=y)",
    "LogicalOr()(x, y)",
    "Tensor.logical_or(x, other=y)",
    "mint.logical_or(input=x, other=y)",
)
def logical_or(x, y):
    """Whether x or y is true, element by element; a number is true unless it is zero.

    Args:
        x: a Tensor of any element type.
        y: a Tensor or a number; the shapes are broadcast.

    Example:
        >>> print(ops.logical_or(Tensor([True, True, False]), Tensor([True, False, False])))
        [ True  True False]
    """
    return jnp.logical_or(x, y)


@op(
    "ops.logical_xor(input=x, other=y)",
    "LogicalXor()(input=x, other=y)",
    "Tensor.logical_xor(x, other=y)",
    "mint.logical_xor(input=x, other=y)",
)
def logical_xor(x, y):
    """Whether just one of x and y is true, element by element; a number is true unless it is zero.

    Example:
        >>> print(ops.logical_xor(Tensor([True, True, False]), Tensor([True, False, False])))
        [False  True False]
    """
    return jnp.logical_xor(x, y)


@op(
    "ops.logical_not(input=x)",
    "LogicalNot()(input=x)",
    "Tensor.logical_not(x)",
    "Tensor.__invert__(x)",
    "mint.logical_not(input=x)",
)
def logical_not(x):
    """Whether x is false, element by element; `~x` means the same for every element type.

    Example:
        >>> print(~Tensor([True, False]))
        [False  True]
    """
    return jnp.logical_not(x)


@op(
    "ops.bitwise_and(input=x, other=y)",
    "BitwiseAnd()(x, y)",
    "Tensor.bitwise_and(x, other=y)",
    "Tensor.__and__(x, y)",
    "Tensor.__iand__(x, y)",
    "Tensor.__rand__(y, x)",
    "mint.bitwise_and(input=x, other=y)",
)
def bitwise_and(x, y):
    """The bits of x & y, element by element; integers and booleans.

    Raises:
        TypeError: an operand holds real numbers.

    Example:
        >>> print(Tensor([1, 2, 3]) & 2)
        [0 2 2]
    """
    return jnp.bitwise_and(*_bits(x, y))


@op(
    "ops.bitwise_or(input=x, other=y)",
    "BitwiseOr()(x, y)",
    "Tensor.bitwise_or(x, other=y)",
    "Tensor.__or__(x, y)",
    "Tensor.__ior__(x, y)",
    "Tensor.__ror__(y, x)",
    "mint.bitwise_or(input=x, other=y)",
)
def bitwise_or(x, y):
    """The bits of x | y, element by element; integers and booleans.

    Raises:
        TypeError: an operand holds real numbers.

    Example:
        >>> print(Tensor([1, 2, 3]) | 2)
        [3 2 3]
    """
    return jnp.bitwise_or(*_bits(x, y))


@op(
    "ops.bitwise_xor(input=x, other=y)",
    "BitwiseXor()(x, y)",
    "Tensor.bitwise_xor(x, other=y)",
    "Tensor.__xor__(x, y)",
    "Tensor.__ixor__(x, y)",
    "Tensor.__rxor__(y, x)",
    "mint.bitwise_xor(input=x, other=y)",
)
def bitwise_xor(x, y):
    """The bits of x ^ y, element by element; integers and booleans.

    Raises:
        TypeError: an operand holds real numbers.

    Example:
        >>> print(Tensor([1, 2, 3]) ^ 2)
        [3 0 1]
    """
    return jnp.bitwise_xor(*_bits(x, y))


def _bits(x, y):
    for operand in (x, y):
        if operand.dtype.kind not in "biu":
            raise TypeError(f"Bits are those of integers and booleans, not of {operand.dtype}.")
    return promoted(x, y)


@op(
    "ops.invert(x)",
    "Invert()(x)",
    "Tensor.invert(x)",
    "Tensor.bitwise_not(x)",
    "mint.bitwise_not(input=x)",
)
def bitwise_not(x):
    """All bits of x inverted, element by element.

    Example:
        >>> print(ops.invert(Tensor([0, 1, -2])))
        [-1 -2  1]
    """
    return jnp.bitwise_not(x)


@op(
    "ops.bitwise_left_shift(input=x, other=y)",
    "LeftShift()(x1=x, x2=y)",
    "Tensor.bitwise_left_shift(x, other=y)",
    "Tensor.__lshift__(x, y)",
    "Tensor.__ilshift__(x, y)",
    "Tensor.__rlshift__(y, x)",
)
def bitwise_left_shift(x, y):
    """The bits of x moved up by y places, element by element.

    Example:
        >>> print(Tensor([1, 2, 3]) << 2)
        [ 4  8 12]
    """
    return jnp.left_shift(*_bits(x, y))


@op(
    "ops.bitwise_right_shift(input=x, other=y)",
    "RightShift()(input_x=x, input_y=y)",
    "Tensor.bitwise_right_shift(x, other=y)",
    "Tensor.__rshift__(x, y)",
    "Tensor.__irshift__(x, y)",
    "Tensor.__rrshift__(y, x)",
)
def bitwise_right_shift(x, y):
    """The bits of x shifted right by y places, element by element; the sign stays.

    Example:
        >>> print(Tensor([4, 5, -6]) >> 1)
        [ 2  2 -3]
    """
    return jnp.right_shift(*_bits(x, y))


@op(
    "ops.where(condition, input=x, other=y)",
    "ops.select(condition, input=x, other=y)",
    "Select()(condition, input=x, other=y)",
    "Tensor.where(x, condition, y)",
)
def where(x, y, condition):
    """x where the condition holds, y elsewhere; the shapes are broadcast.

    Args:
        x: a Tensor or a number; a number takes the element type of `y`.
        y: a Tensor or a number; a number takes the element type of `x`.
        condition: a Bool Tensor; in one of numbers, 0 counts as False.

    Example:
        >>> print(ops.where(Tensor([True, False]), Tensor([1.0, 2.0]), 0))
        [1. 0.]
    """
    # The condition comes last, so that a number goes by the operand it may replace.
    return jnp.where(condition.astype(np.bool_), *promoted(x, y))


@op(
    "ops.isclose(input=x, other=y, rtol=rtol, atol=atol, equal_nan=equal_nan)",
    "IsClose(rtol=rtol, atol=atol, equal_nan=equal_nan)(input=x, other=y)",
    "Tensor.isclose(x, other=y, rtol=rtol, atol=atol, equal_nan=equal_nan)",
    "mint.isclose(input=x, other=y, rtol=rtol, atol=atol, equal_nan=equal_nan)",
)
def isclose(x, y, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |x - y| is at most atol + rtol · |y|, element by element; Bool.

    Args:
        x: a Tensor.
        y: a Tensor or a number; the shapes are broadcast.
        rtol: the relative tolerance, 1e-5 by default.
        atol: the absolute tolerance, 1e-8 by default.
        equal_nan: whether NaN is close to NaN; False by default.

    Example:
        >>> print(ops.isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])))
        [ True False]
    """
    return jnp.isclose(*promoted(x, y), rtol, atol, equal_nan)


@composite(
    "Tensor.allclose(x, other=y, rtol=rtol, atol=atol, equal_nan=equal_nan)",
    "mint.allclose(input=x, other=y, rtol=rtol, atol=atol, equal_nan=equal_nan)",
)
def allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all elements are close, as a Python bool; see `ops.isclose`.

    Args:
        x: a Tensor.
        y: a Tensor or a number; the shapes are broadcast.
        rtol: the relative tolerance, 1e-5 by default.
        atol: the absolute tolerance, 1e-8 by default.
        equal_nan: whether NaN is close to NaN; False by default.

    Example:
        >>> mint.allclose(Tensor([1.0]), Tensor([1.0 + 1e-7]))
        True
    """
    return bool(all_close(x, y, rtol, atol, equal_nan))


@op()
def all_close(x, y, *, rtol, atol, equal_nan):
    """One Bool: all elements are close."""
    return jnp.all(jnp.isclose(*promoted(x, y), rtol, atol, equal_nan))


@op(
    "ops.approximate_equal(x, y, tolerance=tolerance)",
    "ApproximateEqual(tolerance=tolerance)(x, y)",
    "Tensor.approximate_equal(x, other=y, tolerance=tolerance)",
)
def approximate_equal(x, y, *, tolerance=1e-05):
    """Whether |x - y| is less than `tolerance`, element by element; Bool.

    Args:
        x: a Tensor.
        y: a Tensor; the shapes are broadcast.
        tolerance: a number, 1e-5 by default.

    Example:
        >>> print(ops.approximate_equal(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])))
        [ True False]
    """
    x, y = promoted(x, y)
    return jnp.abs(x - y) < tolerance


@composite("ops.is_nonzero(input=x)")
def is_nonzero(x) -> bool:
    """Whether the only element is not 0, a Python bool; the value is read.

    Raises:
        ValueError: x does not have exactly one element.

    Example:
        >>> ops.is_nonzero(Tensor([2.0]))
        True
    """
    return bool(x != 0)


@op("CompareAndBitpack()(x, threshold=bound)")
def compare_and_bitpack(x, bound):
    """Whether elements are above a bound, eight of the last dimension as bits of a UInt8.

    Raises:
        ValueError: the length of the last dimension is not a multiple of 8.

    Example:
        >>> print(ops.CompareAndBitpack()(Tensor([0.0] * 7 + [2.0]), Tensor(1.0)))
        [1]
    """
    if not x.ndim or x.shape[-1] % 8:
        raise ValueError(f"Multiples of 8 are packed, but the shape is {x.shape}.")
    return jnp.packbits(x > bound.astype(x.dtype), -1)
