# SPDX-License-Identifier: Apache-2.0
"""Functions of one number, element by element, in the type asked for by `dtype`."""

from __future__ import annotations

import jax.numpy as jnp

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, int64
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import op
from mycel.numpy.convert import as_angle, as_real, as_tensor, in_type, meeting_of
from mycel.ops.math.arithmetic import real_div


def abs(x, dtype=None):
    """The distance from zero.

    Example:
        >>> print(ms.numpy.abs(Tensor([1, -2])))
        [1 2]
    """
    return in_type(ops.abs(as_tensor(x, "x")), dtype)


absolute = fabs = abs


def negative(a, dtype=None):
    """The number with the other sign.

    Example:
        >>> print(ms.numpy.negative(Tensor([1, -2])))
        [-1  2]
    """
    return in_type(ops.neg(as_tensor(a, "a")), dtype)


def positive(a, dtype=None):
    """The number itself.

    Example:
        >>> print(ms.numpy.positive(Tensor([1, -2])))
        [ 1 -2]
    """
    return in_type(ops.identity(as_tensor(a, "a")), dtype)


def sign(x, dtype=None):
    """-1, 0 or 1 as a number is negative, zero or positive; integers give Float32.

    Example:
        >>> print(ms.numpy.sign(Tensor([-3, 0, 5])))
        [-1.  0.  1.]
    """
    x = as_tensor(x, "x")
    if x.dtype.name == "bool":
        raise errors.wrong(TypeError, "x", "numbers", "Bool")
    return in_type(ops.sign(as_real(x)), dtype)


def reciprocal(x, dtype=None):
    """One divided by a number; integers give whole numbers.

    Example:
        >>> print(ms.numpy.reciprocal(Tensor([2.0, 4.0])))
        [0.5  0.25]
    """
    x = as_tensor(x, "x")
    whole = x if x.dtype.name != "bool" else ops.cast(x, int64)
    return in_type(real_div(1, whole), dtype)


def square(x, dtype=None):
    """A number times itself.

    Example:
        >>> print(ms.numpy.square(Tensor([1, -2])))
        [1 4]
    """
    return in_type(ops.square(as_tensor(x, "x")), dtype)


def sqrt(x, dtype=None):
    """The square root; integers give Float32.

    Example:
        >>> print(ms.numpy.sqrt(Tensor([1, 4])))
        [1. 2.]
    """
    return in_type(ops.sqrt(as_tensor(x, "x")), dtype)


@op()
def cube_root(x):
    """The number whose third power is x."""
    return jnp.cbrt(x)


def cbrt(x, dtype=None):
    """The cube root; of all but Float64 in Float32.

    Example:
        >>> print(ms.numpy.cbrt(Tensor([8.0, -27.0])))
        [ 2. -3.]
    """
    x = as_tensor(x, "x")
    made = cube_root(ops.cast(x, meeting_of(x.dtype, float32)))
    return in_type(made, dtype)


def exp(x, dtype=None):
    """e to the power of a number.

    Example:
        >>> print(ms.numpy.exp(Tensor([0.0, 1.0])))
        [1.        2.7182817]
    """
    return in_type(ops.exp(as_tensor(x, "x")), dtype)


def expm1(x, dtype=None):
    """e to the power of a number, less 1; exact near 0.

    Example:
        >>> print(ms.numpy.expm1(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.expm1(as_tensor(x, "x")), dtype)


def log(x, dtype=None):
    """The natural logarithm.

    Example:
        >>> print(ms.numpy.log(Tensor([1.0])))
        [0.]
    """
    return in_type(ops.log(as_tensor(x, "x")), dtype)


def log2(x, dtype=None):
    """The logarithm to base 2.

    Example:
        >>> print(ms.numpy.log2(Tensor([8.0])))
        [3.]
    """
    return in_type(ops.log2(as_tensor(x, "x")), dtype)


def log10(x, dtype=None):
    """The logarithm to base 10.

    Example:
        >>> print(ms.numpy.log10(Tensor([100.0])))
        [2.]
    """
    return in_type(ops.log10(as_tensor(x, "x")), dtype)


def log1p(x, dtype=None):
    """The natural logarithm of a number plus 1; exact near 0.

    Example:
        >>> print(ms.numpy.log1p(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.log1p(as_tensor(x, "x")), dtype)


def exp2(x, dtype=None):
    """2 to the power of a number; integers give integers.

    Example:
        >>> print(ms.numpy.exp2(Tensor([0, 3])))
        [1 8]
    """
    return in_type(2 ** as_tensor(x, "x"), dtype)


def floor(x, dtype=None):
    """The largest whole number that is not above.

    Example:
        >>> print(ms.numpy.floor(Tensor([1.5, -1.5])))
        [ 1. -2.]
    """
    return in_type(ops.floor(as_tensor(x, "x")), dtype)


def ceil(x, dtype=None):
    """The smallest whole number that is not below, Float32.

    Example:
        >>> print(ms.numpy.ceil(Tensor([1.5, -1.5])))
        [ 2. -1.]
    """
    return in_type(ops.ceil(ops.cast(as_tensor(x, "x"), float32)), dtype)


def fix(x):
    """The whole number on the way to zero; Float16 stays, all else gives Float32.

    Example:
        >>> print(ms.numpy.fix(Tensor([1.5, -1.5])))
        [ 1. -1.]
    """
    x = as_tensor(x, "x")
    return ops.trunc(x if x.dtype.name == "float16" else ops.cast(x, float32))


def trunc(x, dtype=None):
    """As `fix`, in the type asked for.

    Example:
        >>> print(ms.numpy.trunc(Tensor([1.5, -1.5])))
        [ 1. -1.]
    """
    return in_type(fix(x), dtype)


def rint(x, dtype=None):
    """The nearest whole number; halves go to the even neighbour.

    Example:
        >>> print(ms.numpy.rint(Tensor([0.5, 1.5])))
        [0. 2.]
    """
    return in_type(ops.round(as_tensor(x, "x")), dtype)


def around(a, decimals=0):
    """The nearest number of so many decimals; halves go to the even neighbour.

    Example:
        >>> print(ms.numpy.around(Tensor([1.26, 2.75]), 1))
        [1.3000001 2.8      ]
    """
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise errors.wrong(TypeError, "decimals", "an integer", repr(decimals))
    return ops.round(a if isinstance(a, Tensor) else Tensor(a), decimals)


round = around


def deg2rad(x, dtype=None):
    """Degrees as radians; integers give Float32.

    Example:
        >>> print(ms.numpy.deg2rad(Tensor([180.0])))
        [3.1415927]
    """
    return in_type(ops.deg2rad(as_real(as_tensor(x, "x"))), dtype)


radians = deg2rad


def rad2deg(x, dtype=None):
    """Radians as degrees; integers give Float32.

    Example:
        >>> print(ms.numpy.rad2deg(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.rad2deg(as_real(as_tensor(x, "x"))), dtype)


def sin(x, dtype=None):
    """The sine of an angle.

    Example:
        >>> print(ms.numpy.sin(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.sin(as_angle(x)), dtype)


def cos(x, dtype=None):
    """The cosine of an angle.

    Example:
        >>> print(ms.numpy.cos(Tensor([0.0])))
        [1.]
    """
    return in_type(ops.cos(as_angle(x)), dtype)


def tan(x, dtype=None):
    """The tangent of an angle.

    Example:
        >>> print(ms.numpy.tan(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.tan(as_angle(x)), dtype)


def arcsin(x, dtype=None):
    """The angle of a sine.

    Example:
        >>> print(ms.numpy.arcsin(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.asin(as_angle(x)), dtype)


def arccos(input, dtype=None):
    """The angle of a cosine.

    Example:
        >>> print(ms.numpy.arccos(Tensor([1.0])))
        [0.]
    """
    return in_type(ops.acos(as_angle(input)), dtype)


def arctan(x, dtype=None):
    """The angle of a tangent.

    Example:
        >>> print(ms.numpy.arctan(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.atan(as_angle(x)), dtype)


def sinh(x, dtype=None):
    """The hyperbolic sine.

    Example:
        >>> print(ms.numpy.sinh(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.sinh(as_angle(x)), dtype)


def cosh(x, dtype=None):
    """The hyperbolic cosine.

    Example:
        >>> print(ms.numpy.cosh(Tensor([0.0])))
        [1.]
    """
    return in_type(ops.cosh(as_angle(x)), dtype)


def tanh(x, dtype=None):
    """The hyperbolic tangent.

    Example:
        >>> print(ms.numpy.tanh(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.tanh(as_angle(x)), dtype)


def arcsinh(x, dtype=None):
    """The inverse of the hyperbolic sine.

    Example:
        >>> print(ms.numpy.arcsinh(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.asinh(as_angle(x)), dtype)


def arccosh(x, dtype=None):
    """The inverse of the hyperbolic cosine.

    Example:
        >>> print(ms.numpy.arccosh(Tensor([1.0])))
        [0.]
    """
    return in_type(ops.acosh(as_angle(x)), dtype)


def arctanh(x, dtype=None):
    """The inverse of the hyperbolic tangent.

    Example:
        >>> print(ms.numpy.arctanh(Tensor([0.0])))
        [0.]
    """
    return in_type(ops.atanh(as_angle(x)), dtype)
