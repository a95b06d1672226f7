# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of two operands, with broadcasting, in the type asked for by `dtype`."""

from __future__ import annotations

from functools import partial

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, int64
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import (
    as_angle,
    as_float32,
    as_tensor,
    in_type,
    meeting_type,
    operands,
)
from mycel.numpy.declare import binary, each, unary
from mycel.ops.math.arithmetic import real_div

# Beside one of these a quotient keeps the type the operands meet in; all others give Float32.
_QUOTIENT = {"float16", "bfloat16", "float32", "complex64", "complex128"}


def _left_over(operator, x1, x2):
    """What a division leaves; nothing of integers that are divided by zero."""
    quotient = operator(x1, x2)
    return quotient if quotient.dtype.is_inexact else ops.where(ops.equal(x2, 0), 0, quotient)


def _of_integers(operator, x1, x2):
    """In the type that the operands meet in; real numbers count as the whole numbers they are."""
    meeting = meeting_type(x1, x2)
    if meeting.is_inexact or meeting.name == "bool":
        x1, x2 = ops.cast(x1, int64), ops.cast(x2, int64)
    return ops.cast(operator(x1, x2), meeting)


# fmt: off
add = binary("numpy.add(x1, x2, dtype=None)", ops.add, "The sum.",
    "add(Tensor([1, 2]), Tensor([3, 4]))", "[4 6]")
subtract = binary("numpy.subtract(x1, x2, dtype=None)", ops.sub, "The difference.",
    "subtract(Tensor([1, 2]), Tensor([3, 5]))", "[-2 -3]")
floor_divide = binary("numpy.floor_divide(x1, x2, dtype=None)", ops.floor_divide,
    "The largest whole number not above the quotient.",
    "floor_divide(Tensor([7, -7]), Tensor([2, 2]))", "[ 3 -4]")
remainder = binary("numpy.remainder(x1, x2, dtype=None)", partial(_left_over, ops.remainder),
    "What is left after whole multiples of x2, with its sign; 0 for an integer x2 of 0.",
    "remainder(Tensor([7, -7]), Tensor([3, 3]))", "[1 2]")
mod = remainder
fmod = binary("numpy.fmod(x1, x2, dtype=None)", partial(_left_over, ops.fmod),
    "What is left after whole multiples of x2, with the sign of x1; 0 for an integer x2 of 0.",
    "fmod(Tensor([7, -7]), Tensor([3, 3]))", "[ 1 -1]")
power = binary("numpy.power(x1, x2, dtype=None)", ops.pow, "x1 to the power x2.",
    "power(Tensor([2, 3]), Tensor([3, 2]))", "[8 9]")
float_power = binary("numpy.float_power(x1, x2, dtype=None)", ops.pow,
    "x1 to the power x2, Float32.",
    "float_power(Tensor([2, 3]), Tensor([3, 2]))", "[8. 9.]", each(as_float32))
heaviside = binary("numpy.heaviside(x1, x2, dtype=None)", ops.heaviside,
    "0 where x1 is negative, 1 where it is positive, x2 where it is zero.",
    "heaviside(Tensor([-1.0, 0.0, 1.0]), Tensor([0.5, 0.5, 0.5]))", "[0.  0.5 1. ]")
arctan2 = binary("numpy.arctan2(x1, x2, dtype=None)", ops.atan2, "The angle of the point (x2, x1).",
    "arctan2(Tensor([0.0]), Tensor([1.0]))", "[0.]", each(as_angle))
logaddexp = binary("numpy.logaddexp(x1, x2, dtype=None)", ops.logaddexp,
    "The logarithm of the sum of the exponentials, without overflow.",
    "logaddexp(Tensor([1000.0]), Tensor([1000.0]))", "[1000.6932]")
logaddexp2 = binary("numpy.logaddexp2(x1, x2, dtype=None)", ops.logaddexp2,
    "The logarithm to base 2 of the sum of the powers of 2, without overflow.",
    "logaddexp2(Tensor([1000.0]), Tensor([1000.0]))", "[1001.]")
gcd = binary("numpy.gcd(x1, x2, dtype=None)", partial(_of_integers, ops.gcd),
    "The greatest common divisor.",
    "gcd(Tensor([12, 7]), Tensor([18, 5]))", "[6 1]", each(as_tensor))
lcm = binary("numpy.lcm(x1, x2, dtype=None)", partial(_of_integers, ops.lcm),
    "The least common multiple.",
    "lcm(Tensor([4, 7]), Tensor([6, 5]))", "[12 35]", each(as_tensor))
bitwise_and = binary("numpy.bitwise_and(x1, x2, dtype=None)", ops.bitwise_and,
    "The bits that both have.", "bitwise_and(Tensor([6, 1]), Tensor([5, 3]))", "[4 1]")
bitwise_or = binary("numpy.bitwise_or(x1, x2, dtype=None)", ops.bitwise_or,
    "The bits that either has.", "bitwise_or(Tensor([6, 1]), Tensor([5, 3]))", "[7 3]")
bitwise_xor = binary("numpy.bitwise_xor(x1, x2, dtype=None)", ops.bitwise_xor,
    "The bits that one of them has.", "bitwise_xor(Tensor([6, 1]), Tensor([5, 3]))", "[3 2]")
invert = unary("numpy.invert(x, dtype=None)", ops.invert, "All bits turned round.",
    "invert(Tensor([0, 5]))", "[-1 -6]")
bitwise_not = invert
# fmt: on


def multiply(x1, x2, dtype=None):
    """The product.

    Example:
        >>> print(ms.numpy.multiply(Tensor([1, 2]), Tensor([3, 4])))
        [3 8]
    """
    x1, x2 = operands(x1, x2)
    if isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype is not x2.dtype:
        # Beside a larger operand of its kind, `ops.mul` would take one without dimensions weakly.
        meeting = meeting_type(x1, x2)
        x1, x2 = ops.cast(x1, meeting), ops.cast(x2, meeting)
    return in_type(ops.mul(x1, x2), dtype)


def divide(x1, x2, dtype=None):
    """The quotient as a real number: Float32, unless an operand is real or complex.

    Two of Float64 give Float32, as in MindSpore.

    Example:
        >>> print(ms.numpy.divide(Tensor([1, 2]), Tensor([4, 4])))
        [0.25 0.5 ]
    """
    x1, x2 = (as_tensor(x, "An operand") for x in (x1, x2))
    if not {x1.dtype.name, x2.dtype.name} & _QUOTIENT:
        x1, x2 = ops.cast(x1, float32), ops.cast(x2, float32)
    return in_type(real_div(x1, x2), dtype)


true_divide = divide


def divmod(x1, x2, dtype=None) -> tuple[Tensor, Tensor]:
    """The quotient rounded down, and the remainder.

    Example:
        >>> print(*ms.numpy.divmod(Tensor([7, -7]), Tensor([3, 3])))
        [ 2 -3] [1 2]
    """
    return floor_divide(x1, x2, dtype), remainder(x1, x2, dtype)


def maximum(x1, x2, dtype=None):
    """The larger of two numbers, NaN beside NaN.

    An operand without dimensions gives way to the type of the other.

    Example:
        >>> print(ms.numpy.maximum(Tensor([1, 5]), Tensor([3, 3])))
        [3 5]
    """
    return _extreme(ops.maximum, x1, x2, dtype)


def minimum(x1, x2, dtype=None):
    """The smaller of two numbers, NaN beside NaN.

    An operand without dimensions gives way to the type of the other.

    Example:
        >>> print(ms.numpy.minimum(Tensor([1, 5]), Tensor([3, 3])))
        [1 3]
    """
    return _extreme(ops.minimum, x1, x2, dtype)


def _extreme(operator, x1, x2, dtype):
    x1, x2 = as_tensor(x1, "x1"), as_tensor(x2, "x2")
    if dtype is None and bool(x1.ndim) != bool(x2.ndim):
        dtype = x1.dtype if x1.ndim else x2.dtype
    return in_type(operator(x1, x2), dtype)


def clip(x, xmin, xmax, dtype=None):
    """The number, but at least xmin and at most xmax, in its own type.

    Raises:
        ValueError: neither bound is given.

    Example:
        >>> print(ms.numpy.clip(Tensor([1, 5, 9]), 2, 6))
        [2 5 6]
    """
    if xmin is None and xmax is None:
        raise errors.wrong(ValueError, "xmin or xmax", "given", "neither")
    x = as_tensor(x, "x")
    if xmin is not None:
        x = maximum(x, xmin, dtype)
    return x if xmax is None else minimum(x, xmax, dtype)


def hypot(x1, x2, dtype=None):
    """The root of the sum of squares; integers give Float32.

    Example:
        >>> print(ms.numpy.hypot(Tensor([3.0]), Tensor([4.0])))
        [5.]
    """
    x1, x2 = (as_tensor(x, "An operand") for x in (x1, x2))
    meeting = meeting_type(x1, x2)
    meeting = meeting if meeting.is_inexact else float32
    return in_type(ops.hypot(ops.cast(x1, meeting), ops.cast(x2, meeting)), dtype)


def copysign(x1, x2, dtype=None):
    """The size of x1 with the sign of x2, in the type of x1.

    Example:
        >>> print(ms.numpy.copysign(Tensor([1.0, 2.0]), Tensor([-1.0, 1.0])))
        [-1.  2.]
    """
    x1, x2 = as_tensor(x1, "x1"), as_tensor(x2, "x2")
    if "bool" in (x1.dtype.name, x2.dtype.name):
        raise errors.wrong(TypeError, "x1 and x2", "numbers", "Bool")
    size = ops.abs(x1)
    return in_type(ops.where(ops.less(x2, 0), ops.neg(size), size), dtype)
