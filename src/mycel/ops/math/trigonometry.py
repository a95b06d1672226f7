# SPDX-License-Identifier: Apache-2.0
"""Angles and hyperbolas: sine, cosine, tangent, their inverses and their hyperbolic kin."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import op
from mycel.ops.common import as_float, promoted, rounded_once


@op("ops.sin(input=x)", "Sin()(input=x)", "Tensor.sin(x)", "mint.sin(input=x)")
def sin(x):
    """The sine of an angle in radians, element by element; integers give Float32.

    Example:
        >>> print(ops.sin(Tensor([0.0, 0.5])))
        [0.         0.47942555]
    """
    return jnp.sin(as_float(x))


@op("ops.cos(input=x)", "Cos()(input=x)", "Tensor.cos(x)", "mint.cos(input=x)")
def cos(x):
    """The cosine of an angle in radians, element by element; integers give Float32.

    Example:
        >>> print(ops.cos(Tensor([0.0, 0.5])))
        [1.         0.87758255]
    """
    return jnp.cos(as_float(x))


@op("ops.tan(input=x)", "Tan()(input=x)", "Tensor.tan(x)", "mint.tan(input=x)")
def tan(x):
    """The tangent of an angle in radians, element by element; integers give Float32.

    Example:
        >>> print(ops.tan(Tensor([0.0, 0.5])))
        [0.        0.5463025]
    """
    return jnp.tan(as_float(x))


@op(
    "ops.asin(input=x)",
    "ops.arcsin(x)",
    "Asin()(input=x)",
    "Tensor.asin(x)",
    "Tensor.arcsin(x)",
    "mint.asin(input=x)",
    "mint.arcsin(x)",
)
@rounded_once
def asin(x):
    """The angle between -pi/2 and pi/2 whose sine is x, element by element; integers give Float32.

    Example:
        >>> print(ops.asin(Tensor([0.0, 0.5])))
        [0.        0.5235988]
    """
    return jnp.arcsin(as_float(x))


@op(
    "ops.acos(input=x)",
    "ops.arccos(input=x)",
    "ACos()(input=x)",
    "Tensor.acos(x)",
    "Tensor.arccos(x)",
    "mint.acos(input=x)",
    "mint.arccos(input=x)",
)
def acos(x):
    """The angle between 0 and pi whose cosine is x, element by element; integers give Float32.

    Example:
        >>> print(ops.acos(Tensor([0.0, 0.5])))
        [1.5707964 1.0471976]
    """
    return jnp.arccos(as_float(x))


@op(
    "ops.atan(input=x)",
    "ops.arctan(input=x)",
    "Atan()(input=x)",
    "Tensor.atan(x)",
    "Tensor.arctan(x)",
    "mint.atan(input=x)",
    "mint.arctan(input=x)",
)
def atan(x):
    """The angle between -pi/2 and pi/2 whose tangent is x, element by element.

    Example:
        >>> print(ops.atan(Tensor([0.0, 0.5])).asnumpy().round(2))
        [0.   0.46]
    """
    return jnp.arctan(as_float(x))


@op("ops.sinh(input=x)", "Sinh()(input=x)", "Tensor.sinh(x)", "mint.sinh(input=x)")
@rounded_once
def sinh(x):
    """The hyperbolic sine, element by element; integers give Float32.

    Example:
        >>> print(ops.sinh(Tensor([0.0, 0.5])))
        [0.         0.52109534]
    """
    return jnp.sinh(as_float(x))


@op("ops.cosh(input=x)", "Cosh()(input=x)", "Tensor.cosh(x)", "mint.cosh(input=x)")
def cosh(x):
    """The hyperbolic cosine, element by element; integers give Float32.

    Example:
        >>> print(ops.cosh(Tensor([0.0, 0.5])))
        [1.       1.127626]
    """
    return jnp.cosh(as_float(x))


@op(
    "ops.asinh(input=x)",
    "ops.arcsinh(input=x)",
    "Asinh()(input=x)",
    "Tensor.asinh(x)",
    "Tensor.arcsinh(x)",
    "mint.asinh(input=x)",
    "mint.arcsinh(input=x)",
)
@rounded_once
def asinh(x):
    """The number whose hyperbolic sine is x, element by element; integers give Float32.

    Example:
        >>> print(ops.asinh(Tensor([0.0, 0.5])))
        [0.         0.48121184]
    """
    return jnp.arcsinh(as_float(x))


@op(
    "ops.acosh(input=x)",
    "ops.arccosh(input=x)",
    "Acosh()(input=x)",
    "Tensor.acosh(x)",
    "Tensor.arccosh(x)",
    "mint.acosh(input=x)",
    "mint.arccosh(input=x)",
)
@rounded_once
def acosh(x):
    """The positive number whose hyperbolic cosine is x, element by element; integers give Float32.

    Example:
        >>> print(ops.acosh(Tensor([1.0, 2.0])))
        [0.       1.316958]
    """
    return _arccosh(as_float(x))


_arccosh = jax.custom_jvp(jnp.arccosh)
# A root for each factor: below 1 there is no value, so there is no slope.
_arccosh.defjvps(lambda t, y, x: t * lax.rsqrt(x - 1) * lax.rsqrt(x + 1))


@op(
    "ops.atanh(input=x)",
    "ops.arctanh(input=x)",
    "Atanh()(input=x)",
    "Tensor.atanh(x)",
    "Tensor.arctanh(x)",
    "mint.atanh(input=x)",
    "mint.arctanh(input=x)",
)
@rounded_once
def atanh(x):
    """The number whose hyperbolic tangent is x, element by element; integers give Float32.

    Example:
        >>> print(ops.atanh(Tensor([0.0, 0.5])))
        [0.         0.54930615]
    """
    return jnp.arctanh(as_float(x))


@op(
    "ops.atan2(input=x, other=y)",
    "ops.arctan2(input=x, other=y)",
    "Atan2()(input=x, other=y)",
    "Tensor.atan2(x, other=y)",
    "Tensor.arctan2(x, other=y)",
    "mint.atan2(input=x, other=y)",
    "mint.arctan2(input=x, other=y)",
)
def atan2(x, y):
    """The angle of the point (y, x) seen from the origin, element by element.

    Example:
        >>> print(ops.atan2(Tensor([1.0, 2.0]), Tensor([2.0, 1.0])))
        [0.4636476 1.1071488]
    """
    x, y = promoted(x, y)
    return jnp.arctan2(as_float(x), as_float(y))


@op("ops.deg2rad(x)", "Tensor.deg2rad(x)")
@rounded_once
def deg2rad(x):
    """Degrees as radians, element by element.

    Example:
        >>> print(ops.deg2rad(Tensor([0.0, 90.0])))
        [0.        1.5707964]
    """
    return jnp.deg2rad(as_float(x))


@op("ops.rad2deg(x)", "Tensor.rad2deg(x)")
@rounded_once
def rad2deg(x):
    """Radians as degrees, element by element.

    Example:
        >>> print(ops.rad2deg(Tensor([0.0, 1.0])))
        [ 0.      57.29578]
    """
    return jnp.rad2deg(as_float(x))


@op("ops.sinc(input=x)", "Sinc()(input=x)", "Tensor.sinc(x)", "mint.sinc(input=x)",
    "mint.special.sinc(input=x)")  # fmt: skip
@rounded_once
def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0, element by element.

    Example:
        >>> print(ops.sinc(Tensor([0.0, 0.5])).asnumpy().round(4))
        [1.     0.6366]
    """
    # As MindSpore, sin(pi x) of the rounded pi x: versions of JAX differ at whole numbers and inf.
    angle = np.pi * as_float(x)
    is_small = abs(angle) < 0.5
    small = jnp.where(is_small, angle, 0)
    series = sum((-1) ** n * small ** (2 * n) / math.factorial(2 * n + 1) for n in range(7))
    large = jnp.where(is_small, 1, angle)
    return jnp.where(is_small, series, jnp.sin(large) / large)
