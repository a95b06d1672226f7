# SPDX-License-Identifier: Apache-2.0
"""Quotients that are cut off, reciprocals, and what treats NaN as missing; element by element."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_float, promoted, quotient, sum_of, whole_quotient


@op("ops.inv(x)", "Inv()(x)", "Tensor.inv(x)")
def inv(x):
    """1 / x, element by element; integers stay integers, so that only 1 and -1 are left.

    The inverse of matrices is `ops.inverse`.

    Example:
        >>> print(ops.inv(Tensor([2.0, 4.0])))
        [0.5  0.25]
    """
    if x.dtype.kind in "iu":
        return whole_quotient(lax.div, jnp.ones_like(x), x)
    return 1 / as_float(x)


@op("ops.truncate_div(x, y)", "TruncateDiv()(x, y)")
def truncate_div(x, y):
    """x / y truncated towards zero, element by element; `ops.fmod` gives the remainder.

    Example:
        >>> print(ops.truncate_div(Tensor([-7, 7]), Tensor([2, 2])))
        [-3  3]
    """
    x, y = promoted(x, y)
    return whole_quotient(lax.div, x, y) if x.dtype.kind in "iu" else jnp.trunc(quotient(x, y))


@op("MulNoNan()(x, y)")
def mul_no_nan(x, y):
    """x · y, and 0 where y is 0 even if x is infinite or NaN, element by element.

    Example:
        >>> print(ops.MulNoNan()(Tensor([2.0, float("inf")]), Tensor([3.0, 0.0])))
        [6. 0.]
    """
    x, y = promoted(x, y)
    return _product(x, y)


@jax.custom_jvp
def _product(x, y):
    return jnp.where(y == 0, 0, jnp.where(y == 0, 0, x) * y).astype(x.dtype)


_product.defjvps(lambda t, made, x, y: _product(t, y), lambda t, made, x, y: x * t)


@op("ops.fmax(input=x, other=y)", "Fmax()(x1=x, x2=y)", "Tensor.fmax(x, other=y)")
def fmax(x, y):
    """The larger of x and y, or the one that is a number, element by element.

    Example:
        >>> print(ops.fmax(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])))
        [2. 3.]
    """
    x, y = promoted(x, y)
    return jnp.where((x >= y) | jnp.isnan(y), x, y)


@op("ops.fmin(input=x, other=y)", "Fmin()(x1=x, x2=y)", "Tensor.fmin(x, other=y)")
def fmin(x, y):
    """The smaller of x and y, or the one that is a number, element by element.

    Example:
        >>> print(ops.fmin(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])))
        [1. 3.]
    """
    x, y = promoted(x, y)
    return jnp.where((x <= y) | jnp.isnan(y), x, y)


@op("ops.population_count(input_x=x)", "PopulationCount()(input=x)")
def population_count(x):
    """How many bits of an integer are 1, UInt8, element by element.

    Example:
        >>> print(ops.population_count(Tensor([0, 7, 8])))
        [0 3 1]
    """
    if x.dtype.kind not in "iu":
        raise TypeError(f"population_count needs integers, but the type is {x.dtype}.")
    return lax.population_count(x).astype(np.uint8)


@op("ops.trapz(y, x=x, dx=dx, dim=axis)")
def trapz(y, x=None, dx=1.0, *, axis=-1):
    """The area below the line through the points y along an axis.

    Args:
        y: at least one dimension.
        x: where the points are: a vector, or of the shape of `y`; None, the default, for points
            `dx` apart.
        dx: the distance of the points, 1 by default.
        axis: the dimension along which, the last one by default.

    Example:
        >>> print(ops.trapz(Tensor([1.0, 2.0, 3.0])))
        4.0
    """
    y = as_float(y)
    axis = axis_in(axis, y.ndim)
    y = jnp.moveaxis(y, axis, -1)
    between = (y[..., 1:] + y[..., :-1]) / 2
    if x is None:
        return sum_of(between, -1, dtype=y.dtype) * jnp.asarray(dx, y.dtype)
    x = jnp.moveaxis(x, axis, -1) if x.ndim > 1 else x
    return sum_of(between * jnp.diff(x.astype(y.dtype)), -1, dtype=y.dtype)


@op("CumulativeLogsumexp(exclusive=exclusive, reverse=reverse)(x, axis)")
def cumulative_logsumexp(x, *, axis, exclusive=False, reverse=False):
    """The logarithms of the sums of exponentials up to each element, without overflow.

    Args:
        x: any shape, real.
        axis: the dimension along which.
        exclusive: whether each sum leaves out the element at its own position; the first one is
            then the smallest number of the type. False by default.
        reverse: whether the sums start at the end of the dimension; False by default.

    Example:
        >>> print(ops.CumulativeLogsumexp()(Tensor([0.0, 0.0]), 0))
        [0.        0.6931472]
    """
    x = as_float(x)
    axis = axis_in(axis, x.ndim)
    if exclusive:
        lowest = float(jnp.finfo(x.dtype).min)
        edges = [(0, 0)] * x.ndim
        edges[axis] = (0, 1) if reverse else (1, 0)
        cut = slice(1, None) if reverse else slice(0, -1)
        x = jnp.pad(x, edges, constant_values=lowest)[(slice(None),) * axis + (cut,)]
    return lax.cumlogsumexp(x, axis, reverse)
