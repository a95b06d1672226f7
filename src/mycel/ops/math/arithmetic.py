# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of two Tensors, or of a Tensor and a number."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.promotion import promote_weakly
from mycel.kernel.spell import composite, op
from mycel.ops.common import as_float, promoted, quotient, whole_quotient


def _promoted_weakly(x, y):
    """As `promoted`, but an operand without dimensions gives way to a Tensor of its own kind."""
    if x.dtype == y.dtype:
        return x, y
    meeting = promote_weakly(x.dtype, y.dtype, x.ndim, y.ndim)
    return x.astype(meeting), y.astype(meeting)


@op(
    "ops.add(input=x, other=y)",
    "Add()(input=x, other=y)",
    "Tensor.__add__(x, y)",
    "Tensor.__radd__(y, x)",
    "Tensor.__iadd__(x, y)",
)
def add(x, y):
    """x + y, element by element, with broadcasting; two booleans give their "or".

    Example:
        >>> print(ops.add(Tensor([1, 2]), 3))
        [4 5]
    """
    return jnp.add(*promoted(x, y))


@op(
    "ops.sub(input=x, other=y)",
    "Sub()(x, y)",
    "Tensor.__sub__(x, y)",
    "Tensor.__rsub__(y, x)",
    "Tensor.__isub__(x, y)",
)
def sub(x, y):
    """x - y, element by element, with broadcasting; two booleans give whether they differ.

    Example:
        >>> print(ops.sub(Tensor([1, 2]), 3))
        [-2 -1]
    """
    x, y = promoted(x, y)
    return jnp.logical_xor(x, y) if x.dtype == np.bool_ else jnp.subtract(x, y)


@op(
    "ops.mul(input=x, other=y)",
    "Mul()(input=x, other=y)",
    "Tensor.mul(x, other=y)",
    "Tensor.multiply(x, value=y)",
    "Tensor.__mul__(x, y)",
    "Tensor.__rmul__(y, x)",
    "Tensor.__imul__(x, y)",
    "ops.multiply(input=x, other=y)",
    "mint.mul(input=x, other=y)",
    "Tensor.mul_(x, other=y) -> x",
)
def mul(x, y):
    """x · y, element by element, with broadcasting; two booleans give their "and".

    A Tensor without dimensions takes the type of a larger one of the same kind.

    Example:
        >>> print(ops.mul(Tensor([1, 2]), 3))
        [3 6]
        >>> print(Tensor([1.0, 2.0]).mul_(2))
        [2. 4.]
    """
    return jnp.multiply(*_promoted_weakly(x, y))


@op(
    "ops.true_divide(dividend=x, divisor=y)",
    "Div()(input=x, other=y)",
    "Tensor.true_divide(x, other=y)",
    "Tensor.__truediv__(x, y)",
    "Tensor.__rtruediv__(y, x)",
    "Tensor.__itruediv__(x, y)",
)
def true_divide(x, y):
    """x / y as real numbers, element by element; integers give Float32.

    Example:
        >>> print(ops.true_divide(Tensor([1, 2]), 4))
        [0.25 0.5 ]
    """
    x, y = _promoted_weakly(x, y)
    return quotient(as_float(x), as_float(y))


@op(
    "ops.floor_divide(input=x, other=y)",
    "ops.floor_div(x, y)",
    "FloorDiv()(input=x, other=y)",
    "Tensor.floor_divide(x, other=y)",
    "Tensor.__floordiv__(x, y)",
    "Tensor.__rfloordiv__(y, x)",
    "Tensor.__ifloordiv__(x, y)",
    "mint.floor_divide(input=x, other=y)",
    "Tensor.floor_divide_(x, other=y) -> x",
)
def floor_divide(x, y):
    """The largest whole number not above x / y, element by element.

    An integer divided by 0 is the largest or the least integer of its type; 0 stays 0.

    Example:
        >>> print(Tensor([7, -7]) // 2)
        [ 3 -4]
        >>> print(Tensor([7.0, -7.0]).floor_divide_(2))
        [ 3. -4.]
    """
    x, y = promoted(x, y)
    if x.dtype == np.bool_:
        return jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, y.shape))
    if x.dtype.kind in "iu":
        return whole_quotient(jnp.floor_divide, x, y)
    # A division by zero is infinite, as in the quotient that is rounded.
    return jnp.floor(quotient(x, y))


@op("RealDiv()(x, y)")
def real_div(x, y):
    """x / y; quotients of integers are truncated towards zero.

    Example:
        >>> print(ops.RealDiv()(Tensor([7, -7]), Tensor([2, 2])))
        [ 3 -3]
    """
    x, y = promoted(x, y)
    return whole_quotient(lax.div, x, y) if x.dtype.kind in "iu" else quotient(x, y)


@composite(
    "ops.div(input=x, other=y, rounding_mode=rounding_mode)",
    "ops.divide(input=x, other=y, rounding_mode=rounding_mode)",
    "Tensor.div(x, other=y, rounding_mode=rounding_mode)",
    "Tensor.divide(x, other=y, rounding_mode=rounding_mode)",
    "mint.div(input=x, other=y, rounding_mode=rounding_mode)",
    "mint.divide(input=x, other=y, rounding_mode=rounding_mode)",
    "Tensor.div_(x, other=y, rounding_mode=rounding_mode) -> x",
)
def divide(x, y, rounding_mode=None):
    """x / y, element by element, rounded on request.

    Args:
        x: a Tensor or a number.
        y: a Tensor or a number; the shapes are broadcast.
        rounding_mode: 'floor' rounds down, 'trunc' rounds towards zero, None (the default) does not
            round.

    Raises:
        ValueError: `rounding_mode` is unknown.

    Example:
        >>> print(ops.div(Tensor([7, -7]), 2, rounding_mode="trunc"))
        [ 3 -3]
        >>> print(Tensor([7, -7]).div_(2, rounding_mode="floor"))
        [ 3 -4]
    """
    if rounding_mode is None:
        return true_divide(x, y)
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if rounding_mode == "trunc":
        return truncated_div(x, y)
    raise ValueError(
        f"rounding_mode must be None, 'floor' or 'trunc', but {rounding_mode!r} was given."
    )


@op()
def truncated_div(x, y):
    x, y = promoted(x, y)
    if x.dtype.kind in "iu":
        return whole_quotient(lax.div, x, y)
    return jnp.trunc(quotient(as_float(x), as_float(y)))


@op(
    "ops.remainder(input=x, other=y)",
    "ops.floor_mod(x, y)",
    "FloorMod()(x, y)",
    "Tensor.remainder(x, other=y)",
    "Tensor.__mod__(x, y)",
    "Tensor.__rmod__(y, x)",
    "Tensor.__imod__(x, y)",
    "mint.remainder(input=x, other=y)",
    "Tensor.remainder_(x, other=y) -> x",
)
def remainder(x, y):
    """The remainder of x / y, which has the sign of y, element by element.

    All of an integer is left of its division by 0.

    Args:
        x: a Tensor or a number.
        y: a Tensor or a number; the shapes are broadcast.

    Example:
        >>> print(Tensor([7, -7]) % 3)
        [1 2]
        >>> print(Tensor([7.0, -7.0]).remainder_(4))
        [3. 1.]
    """
    x, y = promoted(x, y)
    if x.dtype.kind in "iu":
        return jnp.where(y == 0, x, jnp.remainder(x, y))
    return _left_over(x, y) if x.dtype == np.bool_ else jnp.remainder(x, y)


@op(
    "ops.fmod(input=x, other=y)",
    "Mod()(x, y)",
    "TruncateMod()(x, y)",
    "ops.truncate_mod(x, y)",
    "Tensor.fmod(x, other=y)",
    "mint.fmod(input=x, other=y)",
)
def fmod(x, y):
    """What is left of x after whole multiples of y, with the sign of x, element by element.

    Example:
        >>> print(ops.fmod(Tensor([7, -7]), 3))
        [ 1 -1]
    """
    x, y = promoted(x, y) if y.ndim else _promoted_weakly(x, y)
    if x.dtype.kind in "iu":
        return jnp.where(y == 0, x, jnp.fmod(x, y))
    return _left_over(x, y) if x.dtype == np.bool_ else jnp.fmod(x, y)


def _left_over(x, y):
    """The remainder between booleans: all of x where y is 0."""
    return jnp.logical_and(x, jnp.logical_not(y))


@composite(
    "Tensor.add(x, other=y, alpha=alpha)",
    "mint.add(input=x, other=y, alpha=alpha)",
    "Tensor.add_(x, other=y, alpha=alpha) -> x",
)
def add_multiple(x, y, alpha=1):
    """x + alpha · y, element by element.

    Args:
        x: a Tensor or a number.
        y: a Tensor or a number; the shapes are broadcast.
        alpha: the factor of `y`, a number; 1 by default.

    Example:
        >>> print(Tensor([1, 2]).add(3, alpha=10))
        [31 32]
        >>> x = Tensor([1.0, 2.0])
        >>> print(x.add_(3, alpha=2) is x, x)
        True [7. 8.]
    """
    return add(x, y) if alpha == 1 else add(x, mul(y, alpha))


@composite(
    "ops.subtract(input=x, other=y, alpha=alpha)",
    "Tensor.sub(x, other=y, alpha=alpha)",
    "Tensor.subtract(x, other=y, alpha=alpha)",
    "mint.sub(input=x, other=y, alpha=alpha)",
    "Tensor.sub_(x, other=y, alpha=alpha) -> x",
)
def sub_multiple(x, y, alpha=1):
    """x - alpha · y, element by element.

    Args:
        x: a Tensor or a number.
        y: a Tensor or a number; the shapes are broadcast.
        alpha: the factor of `y`, a number; 1 by default.

    Example:
        >>> print(ops.subtract(Tensor([1, 2]), 3, alpha=10))
        [-29 -28]
        >>> print(Tensor([1.0, 2.0]).sub_(1))
        [0. 1.]
    """
    return sub(x, y) if alpha == 1 else sub(x, mul(y, alpha))


@op(
    "ops.neg(input=x)",
    "ops.negative(input=x)",
    "Neg()(input=x)",
    "Tensor.neg(x)",
    "Tensor.negative(x)",
    "Tensor.__neg__(x)",
    "mint.neg(input=x)",
    "mint.negative(input=x)",
)
def neg(x):
    """-x, element by element; unsigned integers wrap round.

    Example:
        >>> print(-Tensor([1, -2]))
        [-1  2]
    """
    return jnp.negative(x)


@composite("ops.positive(input=x)", "Tensor.positive(x)", "Tensor.__pos__(x)")
def positive(x):
    """x itself.

    Example:
        >>> print(+Tensor([1, -2]))
        [ 1 -2]
    """
    return x


@op(
    "ops.abs(input=x)",
    "ops.absolute(input=x)",
    "Abs()(input=x)",
    "Tensor.abs(x)",
    "Tensor.absolute(x)",
    "Tensor.__abs__(x)",
    "mint.abs(input=x)",
)
def abs(x):
    """The absolute value, element by element.

    Example:
        >>> print(abs(Tensor([1, -2])))
        [1 2]
    """
    return x if x.dtype == np.bool_ else jnp.abs(x)


@abs.reverse
def _abs_reverse(x, output, cotangent):
    # 0 at 0, where JAX's own has 1. Of complex numbers as JAX has it, the conjugate.
    return cotangent * jnp.conj(jnp.sign(x))


@op(
    "ops.sign(input=x)",
    "ops.sgn(input=x)",
    "Sign()(input=x)",
    "Tensor.sign(x)",
    "Tensor.sgn(x)",
    "mint.sign(input=x)",
    "Tensor.sign_(x) -> x",
)
def sign(x):
    """-1, 0 or 1 as x is negative, zero or positive, element by element.

    Example:
        >>> print(ops.sign(Tensor([-3.0, 0.0, 5.0])))
        [-1.  0.  1.]
        >>> print(Tensor([-2.0, 0.0]).sign_())
        [-1.  0.]
    """
    return x if x.dtype == np.bool_ else jnp.sign(x)


@op(
    "ops.maximum(input=x, other=y)",
    "Maximum()(input=x, other=y)",
    "Tensor.maximum(x, other=y)",
    "mint.maximum(input=x, other=y)",
)
def maximum(x, y):
    """The larger of x and y, element by element; where they are equal each gets half the gradient.

    Example:
        >>> print(ops.maximum(Tensor([1, 5]), 3))
        [3 5]
    """
    return jnp.maximum(*promoted(x, y))


@op(
    "ops.minimum(input=x, other=y)",
    "Minimum()(input=x, other=y)",
    "Tensor.minimum(x, other=y)",
    "mint.minimum(input=x, other=y)",
)
def minimum(x, y):
    """The smaller of x and y, element by element; where they are equal each gets half the gradient.

    Example:
        >>> print(ops.minimum(Tensor([1, 5]), 3))
        [1 3]
    """
    return jnp.minimum(*promoted(x, y))
