# SPDX-License-Identifier: Apache-2.0
"""Powers, roots, exponentials and logarithms, element by element."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import complex128, float64
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.casting import cast
from mycel.ops.common import as_float, from_above, promoted, rounded_once

# Exponents of a size that programs write down; larger ones may be counters, which vary.
_WRITTEN = 8


@op("Pow()(input=x, exponent=y)", "Tensor.__rpow__(y, x)")
def pow(x, y):
    """x to the power y, both Tensors, element by element.

    Example:
        >>> print(ops.Pow()(Tensor([1.0, 2.0]), Tensor([3.0, 0.5])))
        [1.        1.4142135]
    """
    x, y = promoted(x, y)
    if x.dtype.kind == "i":
        whole = jnp.power(x, jnp.maximum(y, 0))
        return jnp.where(y < 0, _one_over(x, y), whole)
    return jnp.power(x, y) if x.dtype.kind == "c" else _power(x, y)


@jax.custom_jvp
def _power(x, y):
    """A power of real numbers; JAX has NaN for its derivatives where the base is 0."""
    return jnp.power(x, y)


@_power.defjvp
def _(primals, tangents):
    x, y = primals
    made = _power(x, y)
    # x⁰ is 1 everywhere; 0 to positive powers is 0 everywhere.
    by_base = jnp.where(y == 0, 0, y * _power(x, jnp.where(y == 0, 1, y) - 1)).astype(made.dtype)
    by_exponent = made * jnp.log(jnp.where((x == 0) & (y >= 0), 1, x))
    return made, tangents[0] * by_base + tangents[1] * by_exponent


def _one_over(x, y):
    """A negative power of integers: of 1 and -1 a whole number, of all others rounded to 0.

    That of 0 is the least number of the type, which stands for no number in MindSpore too; in a
    type of less than 32 bits it is 0 there.
    """
    none = jnp.iinfo(x.dtype).min if x.dtype.itemsize >= 4 else 0
    odd = jnp.where(y % 2 == 0, 1, x)
    made = jnp.where(jnp.abs(x) == 1, odd, jnp.where(x == 0, none, 0))
    return made.astype(x.dtype)


@op()
def integer_pow(x, *, exponent):
    """x to a power that is part of the program: it becomes multiplications."""
    if x.dtype == np.bool_:
        x = x.astype(np.int64)
    if exponent < 0 and x.dtype.kind in "iu":
        return _one_over(x, exponent)
    return lax.integer_pow(x, exponent)


@composite(
    "ops.pow(input=x, exponent=y)",
    "Tensor.pow(x, exponent=y)",
    "Tensor.__pow__(x, y)",
    "Tensor.__ipow__(x, y)",
    "mint.pow(input=x, exponent=y)",
)
def power(x, y):
    """x to the power y, element by element.

    A small Python integer is part of the program: `x ** 2` is a multiplication.

    Example:
        >>> print(ops.pow(Tensor([1.0, 2.0]), 3), 2 ** Tensor([3, 4]))
        [1. 8.] [ 8 16]
    """
    if y.__class__ is int and -_WRITTEN <= y <= _WRITTEN and isinstance(x, Tensor):
        return integer_pow(x, y)
    return pow(x, y)


@composite(
    "ops.float_power(input=x, exponent=y)",
    "Tensor.float_power(x, other=y)",
    "mint.float_power(input=x, exponent=y)",
)
def float_power(x, y):
    """x to the power y as Float64, or Complex128 where one is complex.

    Example:
        >>> ops.float_power(Tensor([2]), 3)
        Tensor(shape=[1], dtype=Float64, value= [ 8.00000000e+00])
    """
    tensors = [n for n in (x, y) if isinstance(n, Tensor)]
    wide = complex128 if any(n.is_complex() for n in tensors) else float64
    return power(*[cast(n, wide) if isinstance(n, Tensor) else n for n in (x, y)])


@op("ops.square(input=x)", "Square()(input=x)", "Tensor.square(x)", "mint.square(input=x)")
def square(x):
    """x · x, element by element; integers stay integers.

    Example:
        >>> print(ops.square(Tensor([1.0, 4.0])))
        [ 1. 16.]
    """
    return jnp.square(x)


@op("ops.sqrt(x)", "Sqrt()(x)", "Tensor.sqrt(x)", "mint.sqrt(input=x)")
def sqrt(x):
    """The square root, element by element; integers give Float32, negative numbers NaN.

    Example:
        >>> print(ops.sqrt(Tensor([1.0, 4.0])))
        [1. 2.]
    """
    return jnp.sqrt(as_float(x))


@op("ops.rsqrt(input=x)", "Rsqrt()(input=x)", "Tensor.rsqrt(x)", "mint.rsqrt(input=x)")
def rsqrt(x):
    """One over the square root, element by element; integers give Float32.

    Example:
        >>> print(ops.rsqrt(Tensor([1.0, 4.0])))
        [1.  0.5]
    """
    return _one_over_root(as_float(x))


_one_over_root = jax.custom_jvp(lax.rsqrt)
_one_over_root.defjvps(lambda t, y, x: t * jnp.array(-0.5, x.dtype) * y * y * y)


@op(
    "ops.reciprocal(input=x)",
    "Reciprocal()(input=x)",
    "Tensor.reciprocal(x)",
    "mint.reciprocal(input=x)",
)
def reciprocal(x):
    """1 / x, element by element; integers give Float32.

    Example:
        >>> print(ops.reciprocal(Tensor([1.0, 4.0])))
        [1.   0.25]
    """
    return jnp.reciprocal(as_float(x))


@op("ops.exp(input=x)", "Exp()(input=x)", "Tensor.exp(x)", "mint.exp(input=x)",
    "Tensor.exp_(x) -> x")  # fmt: skip
def exp(x):
    """e to the power x, element by element; integers give Float32.

    Example:
        >>> print(ops.exp(Tensor([0.0, 1.0])))
        [1.        2.7182817]
        >>> print(Tensor([0.0]).exp_())
        [1.]
    """
    return jnp.exp(as_float(x))


@op("ops.exp2(input=x)", "mint.exp2(input=x)",
    "mint.special.exp2(input=x)")  # fmt: skip
@rounded_once
def exp2(x):
    """2 to the power x, element by element; integers give Float32.

    Example:
        >>> print(ops.exp2(Tensor([0.0, 3.0])))
        [1. 8.]
    """
    return jnp.exp2(as_float(x))


@op("ops.expm1(input=x)", "Expm1()(input=x)", "Tensor.expm1(x)", "mint.expm1(input=x)",
    "mint.special.expm1(input=x)")  # fmt: skip
@rounded_once
def expm1(x):
    """e to the power x, less 1, exact near zero, element by element.

    Example:
        >>> print(ops.expm1(Tensor([0.0, 1.0])).asnumpy().round(4))
        [0.     1.7183]
    """
    return jnp.expm1(as_float(x))


@op("ops.log(input=x)", "Log()(input=x)", "Tensor.log(x)", "mint.log(input=x)",
    "Tensor.log_(x) -> x")  # fmt: skip
def log(x):
    """The natural logarithm, element by element; integers give Float32, negative numbers NaN.

    Example:
        >>> print(ops.log(Tensor([1.0, 4.0])))
        [0.        1.3862944]
        >>> print(Tensor([1.0]).log_())
        [0.]
    """
    return jnp.log(from_above(as_float(x)))


@op("ops.log2(input=x)", "Tensor.log2(x)", "mint.log2(input=x)")
@rounded_once
def log2(x):
    """The logarithm to base 2, element by element; integers give Float32.

    Example:
        >>> print(ops.log2(Tensor([1.0, 4.0])))
        [0. 2.]
    """
    return jnp.log2(from_above(as_float(x)))


@op("ops.log10(input=x)", "Tensor.log10(x)", "mint.log10(input=x)")
@rounded_once
def log10(x):
    """The logarithm to base 10, element by element; integers give Float32.

    Example:
        >>> print(ops.log10(Tensor([1.0, 100.0])))
        [0. 2.]
    """
    return jnp.log10(from_above(as_float(x)))


@op("ops.log1p(input=x)", "Log1p()(input=x)", "Tensor.log1p(x)", "mint.log1p(input=x)",
    "mint.special.log1p(input=x)")  # fmt: skip
def log1p(x):
    """The natural logarithm of 1 + x, exact near zero, element by element.

    Example:
        >>> print(ops.log1p(Tensor([0.0, 1.0])))
        [0.        0.6931472]
    """
    return jnp.log1p(as_float(x))


@op(
    "ops.logaddexp(input=x, other=y)",
    "Tensor.logaddexp(x, other=y)",
    "mint.logaddexp(input=x, other=y)",
)
def logaddexp(x, y):
    """log(exp(x) + exp(y)) without overflow, element by element.

    Example:
        >>> print(ops.logaddexp(Tensor([0.0, 100.0]), Tensor([0.0, 100.0])))
        [  0.6931472 100.693146 ]
    """
    x, y = promoted(x, y)
    return _log_of_sum(as_float(x), as_float(y), np.e)


@op(
    "ops.logaddexp2(input=x, other=y)",
    "Tensor.logaddexp2(x, other=y)",
    "mint.logaddexp2(input=x, other=y)",
)
def logaddexp2(x, y):
    """log2(2**x + 2**y) without overflow, element by element.

    Example:
        >>> print(ops.logaddexp2(Tensor([0.0, 100.0]), Tensor([0.0, 100.0])))
        [  1. 101.]
    """
    x, y = promoted(x, y)
    return _log_of_sum(as_float(x), as_float(y), 2)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _log_of_sum(x, y, base):
    """The logarithm of the sum of two powers; each has its share in the derivative."""
    return jnp.logaddexp2(x, y) if base == 2 else jnp.logaddexp(x, y)


@_log_of_sum.defjvp
def _(base, primals, tangents):
    x, y = primals
    share = jax.nn.sigmoid((x - y) * jnp.array(np.log(base), x.dtype))
    rest = jax.nn.sigmoid((y - x) * jnp.array(np.log(base), x.dtype))
    return _log_of_sum(x, y, base), tangents[0] * share + tangents[1] * rest


@op(
    "ops.xlogy(input=x, other=y)",
    "Xlogy()(input=x, other=y)",
    "Tensor.xlogy(x, other=y)",
    "mint.xlogy(input=x, other=y)",
)
def xlogy(x, y):
    """x · log(y), and 0 where x is 0, element by element.

    Example:
        >>> print(ops.xlogy(Tensor([0.0, 2.0]), Tensor([0.0, 1.0])))
        [0. 0.]
    """
    x, y = promoted(x, y)
    return _times_log(as_float(x), as_float(y))


@jax.custom_jvp
def _times_log(x, y):
    return jax.scipy.special.xlogy(x, y)


@_times_log.defjvp
def _(primals, tangents):
    x, y = primals
    # Where x is 0 the product is 0 whatever y is: what has no logarithm has no say in it.
    by_x = jnp.where((x == 0) & (y <= 0), 0, jnp.log(y))
    return _times_log(x, y), tangents[0] * by_x + tangents[1] * _over(x, y)


@op("ops.xdivy(x, y)", "Xdivy()(x, y)", "Tensor.xdivy(x, y)")
def xdivy(x, y):
    """x / y, and 0 where x is 0, element by element.

    Example:
        >>> print(ops.xdivy(Tensor([0.0, 2.0]), Tensor([0.0, 4.0])))
        [0.  0.5]
    """
    x, y = (as_float(n) for n in promoted(x, y))
    return _over(x, y)


def _over(x, y):
    """x / y, and 0 where x is 0."""
    return jnp.where(x == 0, 0, x / jnp.where(x == 0, 1, y))


@op("ops.hypot(input=x, other=y)", "Hypot()(x1=x, x2=y)", "Tensor.hypot(x, other=y)")
def hypot(x, y):
    """The length of the hypotenuse over x and y, element by element.

    Example:
        >>> print(ops.hypot(Tensor([3.0]), Tensor([4.0])))
        [5.]
    """
    x, y = promoted(x, y)
    return _hypotenuse(as_float(x), as_float(y))


@jax.custom_jvp
def _hypotenuse(x, y):
    return jnp.hypot(x, y)


@_hypotenuse.defjvp
def _(primals, tangents):
    made = _hypotenuse(*primals)
    # The derivative of a length is 0 at 0, as that of every norm.
    by_x, by_y = (_over(side, made) for side in primals)
    return made, tangents[0] * by_x + tangents[1] * by_y


@op("ops.ldexp(x, other=y)", "Tensor.ldexp(x, other=y)")
def ldexp(x, y):
    """x · 2**y, element by element.

    Example:
        >>> print(ops.ldexp(Tensor([1.5]), Tensor([3])))
        [12.]
    """
    x = as_float(x)
    return x * jnp.exp2(y.astype(x.dtype))
