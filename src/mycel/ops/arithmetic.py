# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of two Tensors, or of a Tensor and a number."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from mycel.ops.common import as_float, promoted
from mycel.spell import op


@op(
    "ops.add(input=x, other=y)",
    "Add()",
    "Tensor.add(x, other=y)",
    "Tensor.__add__(x, y)",
    "Tensor.__radd__(y, x)",
    "Tensor.__iadd__(x, y)",
    "mint.add(input=x, other=y)",
)
def add(x, y):
    """x + y, element by element, with broadcasting.

    Example:
        >>> print(ops.add(Tensor([1, 2]), 3))
        [4 5]
    """
    return jnp.add(*promoted(x, y))


@op(
    "ops.sub(input=x, other=y)",
    "Sub()",
    "Tensor.sub(x, other=y)",
    "Tensor.__sub__(x, y)",
    "Tensor.__rsub__(y, x)",
    "mint.sub(input=x, other=y)",
)
def sub(x, y):
    """x - y, element by element, with broadcasting.

    Example:
        >>> print(ops.sub(Tensor([1, 2]), 3))
        [-2 -1]
    """
    return jnp.subtract(*promoted(x, y))


@op(
    "ops.mul(input=x, other=y)",
    "Mul()",
    "Tensor.mul(x, other=y)",
    "Tensor.__mul__(x, y)",
    "Tensor.__rmul__(y, x)",
    "mint.mul(input=x, other=y)",
)
def mul(x, y):
    """x · y, element by element, with broadcasting.

    Example:
        >>> print(ops.mul(Tensor([1, 2]), 3))
        [3 6]
    """
    return jnp.multiply(*promoted(x, y))


@op(
    "ops.true_divide(dividend=x, divisor=y)",
    "Tensor.__truediv__(x, y)",
    "Tensor.__rtruediv__(y, x)",
)
def true_divide(x, y):
    """x / y as real numbers, element by element; integers give Float32.

    Example:
        >>> print(ops.true_divide(Tensor([1, 2]), 4))
        [0.25 0.5 ]
    """
    x, y = promoted(x, y)
    return jnp.divide(as_float(x), as_float(y))


@op("ops.pow(input=x, exponent=y)", "Tensor.__pow__(x, y)", "Tensor.__rpow__(y, x)")
def pow_(x, y):
    """x to the power y, element by element.

    Example:
        >>> print(ops.pow(Tensor([1.0, 2.0]), 3))
        [1. 8.]
    """
    return jnp.power(*promoted(x, y))


@op("ops.cast(input=x, dtype=dtype)", "Cast()(input_x=x, dtype=dtype)", "Tensor.astype(x, dtype)")
def cast(x, *, dtype):
    """x in another element type.

    Example:
        >>> ops.cast(Tensor([1.5, -1.5]), mycel.int32)
        Tensor(shape=[2], dtype=Int32, value= [ 1, -1])
    """
    return x.astype(np.dtype(dtype.numpy))
