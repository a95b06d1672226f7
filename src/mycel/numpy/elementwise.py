# SPDX-License-Identifier: Apache-2.0
"""Functions of one number, element by element, in the type asked for by `dtype`."""

from __future__ import annotations

import jax.numpy as jnp

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, int64
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import op
from mycel.numpy.convert import as_angle, as_float32, as_real, as_tensor, in_type, meeting_of
from mycel.numpy.declare import unary
from mycel.ops.math.arithmetic import real_div


@op()
def cube_root(x):
    """The number whose third power is x."""
    return jnp.cbrt(x)


def _as_float(x, name: str) -> Tensor:
    """Of at least Float32."""
    x = as_tensor(x, name)
    return ops.cast(x, meeting_of(x.dtype, float32))


# fmt: off
abs = unary("numpy.abs(x, dtype=None)", ops.abs, "The distance from zero.",
    "abs(Tensor([1, -2]))", "[1 2]")
absolute = fabs = abs
negative = unary("numpy.negative(a, dtype=None)", ops.neg, "The number with the other sign.",
    "negative(Tensor([1, -2]))", "[-1  2]")
positive = unary("numpy.positive(a, dtype=None)", ops.identity, "The number itself.",
    "positive(Tensor([1, -2]))", "[ 1 -2]")
square = unary("numpy.square(x, dtype=None)", ops.square, "A number times itself.",
    "square(Tensor([1, -2]))", "[1 4]")
sqrt = unary("numpy.sqrt(x, dtype=None)", ops.sqrt, "The square root; integers give Float32.",
    "sqrt(Tensor([1, 4]))", "[1. 2.]")
cbrt = unary("numpy.cbrt(x, dtype=None)", cube_root,
    "The cube root; of all but Float64 in Float32.",
    "cbrt(Tensor([8.0, -27.0]))", "[ 2. -3.]", _as_float)
exp = unary("numpy.exp(x, dtype=None)", ops.exp, "e to the power of a number.",
    "exp(Tensor([0.0, 1.0]))", "[1.        2.7182817]")
expm1 = unary("numpy.expm1(x, dtype=None)", ops.expm1,
    "e to the power of a number, less 1; exact near 0.", "expm1(Tensor([0.0]))", "[0.]")
log = unary("numpy.log(x, dtype=None)", ops.log, "The natural logarithm.",
    "log(Tensor([1.0]))", "[0.]")
log2 = unary("numpy.log2(x, dtype=None)", ops.log2, "The logarithm to base 2.",
    "log2(Tensor([8.0]))", "[3.]")
log10 = unary("numpy.log10(x, dtype=None)", ops.log10, "The logarithm to base 10.",
    "log10(Tensor([100.0]))", "[2.]")
log1p = unary("numpy.log1p(x, dtype=None)", ops.log1p,
    "The natural logarithm of a number plus 1; exact near 0.", "log1p(Tensor([0.0]))", "[0.]")
floor = unary("numpy.floor(x, dtype=None)", ops.floor,
    "The largest whole number that is not above.", "floor(Tensor([1.5, -1.5]))", "[ 1. -2.]")
ceil = unary("numpy.ceil(x, dtype=None)", ops.ceil,
    "The smallest whole number that is not below, Float32.",
    "ceil(Tensor([1.5, -1.5]))", "[ 2. -1.]", as_float32)
rint = unary("numpy.rint(x, dtype=None)", ops.round,
    "The nearest whole number; halves go to the even neighbour.",
    "rint(Tensor([0.5, 1.5]))", "[0. 2.]")
deg2rad = unary("numpy.deg2rad(x, dtype=None)", ops.deg2rad,
    "Degrees as radians; integers give Float32.",
    "deg2rad(Tensor([180.0]))", "[3.1415927]", as_real)
radians = deg2rad
rad2deg = unary("numpy.rad2deg(x, dtype=None)", ops.rad2deg,
    "Radians as degrees; integers give Float32.", "rad2deg(Tensor([0.0]))", "[0.]", as_real)
sin = unary("numpy.sin(x, dtype=None)", ops.sin, "The sine of an angle.",
    "sin(Tensor([0.0]))", "[0.]", as_angle)
cos = unary("numpy.cos(x, dtype=None)", ops.cos, "The cosine of an angle.",
    "cos(Tensor([0.0]))", "[1.]", as_angle)
tan = unary("numpy.tan(x, dtype=None)", ops.tan, "The tangent of an angle.",
    "tan(Tensor([0.0]))", "[0.]", as_angle)
arcsin = unary("numpy.arcsin(x, dtype=None)", ops.asin, "The angle of a sine.",
    "arcsin(Tensor([0.0]))", "[0.]", as_angle)
arccos = unary("numpy.arccos(input, dtype=None)", ops.acos, "The angle of a cosine.",
    "arccos(Tensor([1.0]))", "[0.]", as_angle)
arctan = unary("numpy.arctan(x, dtype=None)", ops.atan, "The angle of a tangent.",
    "arctan(Tensor([0.0]))", "[0.]", as_angle)
sinh = unary("numpy.sinh(x, dtype=None)", ops.sinh, "The hyperbolic sine.",
    "sinh(Tensor([0.0]))", "[0.]", as_angle)
cosh = unary("numpy.cosh(x, dtype=None)", ops.cosh, "The hyperbolic cosine.",
    "cosh(Tensor([0.0]))", "[1.]", as_angle)
tanh = unary("numpy.tanh(x, dtype=None)", ops.tanh, "The hyperbolic tangent.",
    "tanh(Tensor([0.0]))", "[0.]", as_angle)
arcsinh = unary("numpy.arcsinh(x, dtype=None)", ops.asinh, "The inverse of the hyperbolic sine.",
    "arcsinh(Tensor([0.0]))", "[0.]", as_angle)
arccosh = unary("numpy.arccosh(x, dtype=None)", ops.acosh, "The inverse of the hyperbolic cosine.",
    "arccosh(Tensor([1.0]))", "[0.]", as_angle)
arctanh = unary("numpy.arctanh(x, dtype=None)", ops.atanh, "The inverse of the hyperbolic tangent.",
    "arctanh(Tensor([0.0]))", "[0.]", as_angle)
# fmt: on


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


def exp2(x, dtype=None):
    """2 to the power of a number; integers give integers.

    Example:
        >>> print(ms.numpy.exp2(Tensor([0, 3])))
        [1 8]
    """
    return in_type(2 ** as_tensor(x, "x"), dtype)


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
