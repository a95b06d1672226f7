# SPDX-License-Identifier: Apache-2.0
"""Functions of one element: rounding, tests, bounds, mixtures and the error function."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from mycel.kernel.base.trees import rebuilt
from mycel.kernel.spell import composite, op
from mycel.ops.common import as_float, promoted, quotient, rounded_once, sum_of
from mycel.ops.math.arithmetic import maximum, minimum


@op("ops.floor(input=x)", "Floor()(input=x)", "Tensor.floor(x)", "mint.floor(input=x)",
    "Tensor.floor_(x) -> x")  # fmt: skip
def floor(x):
    """The largest whole number not above x, element by element; the type stays.

    Example:
        >>> print(ops.floor(Tensor([-1.5, 0.5, 1.5])))
        [-2.  0.  1.]
        >>> print(Tensor([1.5]).floor_())
        [1.]
    """
    return jnp.floor(x) if x.dtype.kind in "fV" else x


@op("ops.ceil(input=x)", "Ceil()(input=x)", "Tensor.ceil(x)", "mint.ceil(input=x)")
def ceil(x):
    """The smallest whole number not below x, element by element; the type stays.

    Example:
        >>> print(ops.ceil(Tensor([-1.5, 0.5, 1.5])))
        [-1.  1.  2.]
    """
    return jnp.ceil(x) if x.dtype.kind in "fV" else x


@op("ops.trunc(input=x)", "Trunc()(input=x)", "Tensor.trunc(x)", "mint.trunc(input=x)",
    "mint.fix(input=x)")  # fmt: skip
def trunc(x):
    """x truncated towards zero, element by element; the type stays.

    Example:
        >>> print(ops.trunc(Tensor([-1.5, 0.5, 1.5])))
        [-1.  0.  1.]
    """
    return jnp.trunc(x) if x.dtype.kind in "fV" else x


@op(
    "ops.round(input=x, decimals=decimals)",
    "Round()(input=x, decimals=decimals)",
    "Rint()(input_x=x)",
    "Tensor.round(x, decimals=decimals)",
    "Tensor.__round__(x, decimals)",
    "mint.round(input=x, decimals=decimals)",
    "mint.special.round(input=x, decimals=decimals)",
)
def round(x, *, decimals=0):
    """x rounded to integers or to some decimals; halves go to the even neighbour.

    Example:
        >>> print(ops.round(Tensor([0.5, 1.5, 2.4])))
        [0. 2. 2.]
    """
    return jnp.round(x, decimals or 0) if x.dtype.kind in "fV" else x


@op("ops.frac(x)", "Tensor.frac(x)", "mint.frac(input=x)")
def frac(x):
    """The fractional part, with the sign of x, element by element.

    Example:
        >>> print(ops.frac(Tensor([-1.5, 0.5, 1.5])))
        [-0.5  0.5  0.5]
    """
    return x - jnp.trunc(x) if x.dtype.kind in "fV" else jnp.zeros_like(x)


@op("ops.isnan(input=x)", "IsNan()(input=x)", "Tensor.isnan(x)", "mint.isnan(tensor=x)")
def isnan(x):
    """Whether x is no number, element by element; Bool.

    Example:
        >>> print(ops.isnan(Tensor([1.0, float("nan"), float("inf")])))
        [False  True False]
    """
    return jnp.isnan(x)


@op("ops.isinf(input=x)", "IsInf()(input=x)", "Tensor.isinf(x)", "mint.isinf(input=x)")
def isinf(x):
    """Whether x is infinite, element by element; Bool.

    Example:
        >>> print(ops.isinf(Tensor([1.0, float("nan"), float("inf")])))
        [False False  True]
    """
    return jnp.isinf(x)


@op(
    "ops.isfinite(input=x)",
    "IsFinite()(input=x)",
    "Tensor.isfinite(x)",
    "mint.isfinite(input=x)",
)
def isfinite(x):
    """Whether x is a number and finite, element by element; Bool.

    Example:
        >>> print(ops.isfinite(Tensor([1.0, float("nan"), float("inf")])))
        [ True False False]
    """
    return jnp.isfinite(x)


@op("ops.isneginf(input=x)", "Tensor.isneginf(x)", "mint.isneginf(input=x)")
def isneginf(x):
    """Whether x is minus infinity, element by element; Bool.

    Example:
        >>> print(ops.isneginf(Tensor([1.0, float("nan"), float("inf")])))
        [False False False]
    """
    return jnp.isneginf(x)


@op("ops.isposinf(input=x)", "Tensor.isposinf(x)")
def isposinf(x):
    """Whether x is plus infinity, element by element; Bool.

    Example:
        >>> print(ops.isposinf(Tensor([1.0, float("nan"), float("inf")])))
        [False False  True]
    """
    return jnp.isposinf(x)


@op("ops.isreal(input=x)", "Tensor.isreal(x)")
def isreal(x):
    """Whether x has no imaginary part, element by element; Bool.

    Example:
        >>> print(ops.isreal(Tensor([1.0, float("nan"), float("inf")])))
        [ True  True  True]
    """
    return jnp.isreal(x)


@op("ops.signbit(input=x)", "Tensor.signbit(x)")
def signbit(x):
    """Whether the sign of x is minus, -0.0 included, element by element; Bool.

    Example:
        >>> print(ops.signbit(Tensor([-0.0, 0.0, 1.0])))
        [ True False False]
    """
    return jnp.signbit(x) if x.dtype.kind in "fV" else x < 0


@op("ops.erf(input=x)", "Erf()(input=x)", "Tensor.erf(x)", "mint.erf(input=x)")
def erf(x):
    """The error function, element by element.

    Example:
        >>> print(ops.erf(Tensor([0.0, 0.5])))
        [0.        0.5204999]
    """
    return jax.lax.erf(as_float(x))


@op("ops.erfc(input=x)", "Erfc()(input=x)", "Tensor.erfc(x)", "mint.erfc(input=x)",
    "mint.special.erfc(input=x)")  # fmt: skip
def erfc(x):
    """1 less the error function, exact for large x, element by element.

    Example:
        >>> print(ops.erfc(Tensor([0.0, 0.5])))
        [1.         0.47950017]
    """
    return jax.lax.erfc(as_float(x))


@op("ops.erfinv(input=x)", "Erfinv()(input=x)", "Tensor.erfinv(x)", "mint.erfinv(input=x)",
    "Tensor.erfinv_(x) -> x", "ops.erfinv_(input=x) -> x")  # fmt: skip
def erfinv(x):
    """The number whose error function is x, element by element.

    Example:
        >>> print(ops.erfinv(Tensor([0.0, 0.5])))
        [0.         0.47693628]
        >>> print(Tensor([0.0]).erfinv_())
        [0.]
    """
    return jax.lax.erf_inv(as_float(x))


@op("ops.lgamma(input=x)", "Lgamma()(x)", "Tensor.lgamma(x)")
def lgamma(x):
    """The logarithm of the size of the gamma function, element by element.

    Example:
        >>> print(ops.lgamma(Tensor([0.5, 3.0])).asnumpy().round(4))
        [0.5724 0.6931]
    """
    return _log_gamma(as_float(x))


_log_gamma = jax.custom_jvp(jax.lax.lgamma)
_log_gamma.defjvps(lambda t, y, x: t * _digamma(x))


@jax.custom_jvp
def _digamma(x):
    # A pole whose side is that of the zero; at the other poles there is no answer.
    pole = jnp.copysign(jnp.array(jnp.inf, x.dtype), -x)
    return jnp.where(x == 0, pole, jax.lax.digamma(x))


_digamma.defjvps(lambda t, y, x: t * jax.scipy.special.polygamma(1, x))


@op("ops.digamma(input=x)", "Digamma()(x)", "Tensor.digamma(x)")
def digamma(x):
    """The derivative of the logarithm of the gamma function, element by element.

    Example:
        >>> print(ops.digamma(Tensor([0.5, 3.0])))
        [-1.96351     0.92278427]
    """
    return _digamma(as_float(x))


@op("ops.copysign(x, other=y)", "Tensor.copysign(x, other=y)")
def copysign(x, y):
    """The size of x with the sign of y, element by element.

    Example:
        >>> print(ops.copysign(Tensor([1.0, 2.0]), -1.0))
        [-1. -2.]
    """
    x, y = promoted(x, y)
    return _with_sign(as_float(x), as_float(y))


_with_sign = jax.custom_jvp(jnp.copysign)
_with_sign.defjvps(
    lambda t, made, x, y: t * jnp.where(x == 0, 0, jnp.sign(x) * jnp.copysign(1, y)), None
)


@op("ops.heaviside(input=x, values=y)", "Heaviside()(x, values=y)", "Tensor.heaviside(x, values=y)")
def heaviside(x, y):
    """0 where x is negative, 1 where it is positive, y where it is zero, element by element.

    Example:
        >>> print(ops.heaviside(Tensor([-1.0, 0.0, 1.0]), Tensor([0.5, 0.5, 0.5])))
        [0.  0.5 1. ]
    """
    x, y = promoted(x, y)
    return jnp.heaviside(x, y).astype(x.dtype)


@op(
    "ops.nextafter(input=x, other=y)",
    "NextAfter()(input=x, other=y)",
    "Tensor.nextafter(x, other=y)",
)
def nextafter(x, y):
    """The next number after x on the way to y, element by element.

    Example:
        >>> print(ops.nextafter(Tensor([1.0]), Tensor([2.0])))
        [1.0000001]
    """
    x, y = promoted(x, y)
    return _next(x, y)


_next = jax.custom_jvp(jnp.nextafter)
_next.defjvps(lambda t, made, x, y: jnp.broadcast_to(t, made.shape), None)


@op(
    "ops.gcd(input=x, other=y)",
    "Gcd()(input=x, other=y)",
    "Tensor.gcd(x, other=y)",
    "mint.gcd(input=x, other=y)",
)
def gcd(x, y):
    """The greatest common divisor, element by element.

    Example:
        >>> print(ops.gcd(Tensor([12, 7]), Tensor([18, 5])))
        [6 1]
    """
    return _divisor(*promoted(x, y))


def _divisor(x, y):
    if not jnp.issubdtype(x.dtype, jnp.signedinteger):
        return jnp.gcd(x, y)
    # Without signs: the smallest number has no positive one of its type, and was never done with.
    sizes = [jnp.abs(n).astype(f"u{n.dtype}") for n in (x, y)]
    return jnp.gcd(*sizes).astype(x.dtype)


@op("ops.lcm(input=x, other=y)", "Lcm()(x1=x, x2=y)", "Tensor.lcm(x, other=y)")
def lcm(x, y):
    """The least common multiple, element by element.

    Example:
        >>> print(ops.lcm(Tensor([4, 7]), Tensor([6, 5])))
        [12 35]
    """
    x, y = promoted(x, y)
    divisor = _divisor(x, y)
    return jnp.abs(x // jnp.where(divisor == 0, 1, divisor) * y)


@op("SquaredDifference()(x, y)")
def squared_difference(x, y):
    """(x - y)², element by element.

    Example:
        >>> print(ops.SquaredDifference()(Tensor([1, 5]), Tensor([3, 4])))
        [4 1]
    """
    x, y = promoted(x, y)
    return jnp.square(x - y)


@op("DivNoNan()(x1=x, x2=y)")
def div_no_nan(x, y):
    """x / y, and 0 where y is 0, element by element.

    Example:
        >>> print(ops.DivNoNan()(Tensor([1.0, 6.0]), Tensor([0.0, 3.0])))
        [0. 2.]
    """
    x, y = promoted(x, y)
    zero = y == 0
    return jnp.where(zero, 0, quotient(x, jnp.where(zero, 1, y))).astype(x.dtype)


@op("SquareSumAll()(x, y)")
def square_sum_all(x, y) -> tuple[Array, Array]:
    """The sums of the squares of all elements of x and of y.

    Example:
        >>> ops.SquareSumAll()(Tensor([3.0, 4.0]), Tensor([1.0, 1.0]))
        (Tensor(shape=[], dtype=Float32, value= 25), Tensor(shape=[], dtype=Float32, value= 2))
    """
    return sum_of(jnp.square(x), dtype=x.dtype), sum_of(jnp.square(y), dtype=y.dtype)


@op(
    "ops.addn(x=tensors)",
    "AddN()(x=tensors)",
    "ops.accumulate_n(x=tensors)",
    "AccumulateNV2()(x=tensors)",
)
def addn(*tensors):
    """The sum of Tensors of one shape, element by element.

    Raises:
        ValueError: there are no Tensors, or their shapes differ.

    Example:
        >>> print(ops.addn((Tensor([1, 2]), Tensor([3, 4]), Tensor([5, 6]))))
        [ 9 12]
    """
    if not tensors or len({x.shape for x in tensors}) > 1:
        shapes = ", ".join(str(x.shape) for x in tensors) or "no Tensor"
        raise ValueError(f"Tensors of one shape are needed, but {shapes} was given.")
    made = tensors[0]
    for x in tensors[1:]:
        made = jnp.add(*promoted(made, x))
    return made


@op(
    "ops.lerp(input=x, end=y, weight=weight)",
    "Lerp()(input=x, end=y, weight=weight)",
    "LerpScalar()(input=x, end=y, weight=weight)",
    "Tensor.lerp(x, end=y, weight=weight)",
    "mint.lerp(input=x, end=y, weight=weight)",
)
def lerp(x, y, weight):
    """x + weight · (y - x), element by element: x at weight 0, y at weight 1.

    Args:
        x: a Tensor.
        y: a Tensor; the shapes are broadcast.
        weight: a Tensor or a number.

    Example:
        >>> print(ops.lerp(Tensor([0.0, 10.0]), Tensor([4.0, 20.0]), 0.25))
        [ 1.  12.5]
    """
    x, y = promoted(x, y)
    return x + weight.astype(x.dtype) * (y - x)


@op(
    "ops.addcmul(input=x, tensor1=a, tensor2=b, value=value)",
    "Addcmul()(input=x, tensor1=a, tensor2=b, value=value)",
    "Tensor.addcmul(x, tensor1=a, tensor2=b, value=value)",
    "mint.addcmul(input=x, tensor1=a, tensor2=b, value=value)",
)
def addcmul(x, a, b, value=1):
    """x + value · a · b, element by element.

    Args:
        x: a Tensor.
        a: a Tensor; the shapes are broadcast.
        b: a Tensor; the shapes are broadcast.
        value: the factor of the product, a number or a Tensor of one; 1 by default.

    Example:
        >>> print(ops.addcmul(Tensor([1.0]), Tensor([2.0]), Tensor([3.0]), 0.5))
        [4.]
    """
    a, b = promoted(a, b)
    return jnp.add(*promoted(x, jnp.asarray(value, a.dtype) * a * b))


@op(
    "ops.addcdiv(input=x, tensor1=a, tensor2=b, value=value)",
    "Addcdiv()(input=x, tensor1=a, tensor2=b, value=value)",
    "Tensor.addcdiv(x, tensor1=a, tensor2=b, value=value)",
    "mint.addcdiv(input=x, tensor1=a, tensor2=b, value=value)",
)
def addcdiv(x, a, b, value=1):
    """x + value · a / b, element by element.

    Args:
        x: a Tensor.
        a: a Tensor; the shapes are broadcast, and integers are taken as Float32.
        b: a Tensor; the shapes are broadcast, and integers are taken as Float32.
        value: the factor of the quotient, a number or a Tensor of one; 1 by default.

    Example:
        >>> print(ops.addcdiv(Tensor([1.0]), Tensor([3.0]), Tensor([2.0]), 2))
        [4.]
    """
    a, b = promoted(as_float(a), as_float(b))
    return jnp.add(*promoted(x, quotient(jnp.asarray(value, a.dtype) * a, b)))


def _raise_to(x, low):
    """As a choice, x keeps its gradient at the bound, and the derivative is another choice."""
    x, low = promoted(x, low)
    return jnp.where(x < low, low, x)


def _lower_to(x, high):
    x, high = promoted(x, high)
    return jnp.where(x > high, high, x)


@op()
def clamp_both(x, low, high):
    """x between two bounds, of which the upper one wins where they cross."""
    return _lower_to(_raise_to(x, low), high)


@op()
def clamp_below(x, low):
    """x, but nowhere below a bound; what `clamp` records."""
    return _raise_to(x, low)


@op()
def clamp_above(x, high):
    """x, but nowhere above a bound; what `clamp` records."""
    return _lower_to(x, high)


@composite(
    "ops.clamp(input=x, min=low, max=high)",
    "ops.clip(input=x, min=low, max=high)",
    "Tensor.clamp(x, min=low, max=high)",
    "Tensor.clip(x, min=low, max=high)",
    "mint.clamp(input=x, min=low, max=high)",
    "mint.clip(input=x, min=low, max=high)",
)
def clamp(x, low=None, high=None):
    """x, limited to a minimum and a maximum, element by element.

    The gradient passes between the bounds and at them.

    Args:
        x: a Tensor, or a tuple or list of Tensors, each of which is limited.
        low: the minimum, a number or a Tensor; None, the default, for no minimum.
        high: the maximum, a number or a Tensor; None, the default, for no maximum.

    Raises:
        ValueError: neither bound is given.

    Example:
        >>> print(ops.clamp(Tensor([-2.0, 0.5, 3.0]), -1, 1))
        [-1.   0.5  1. ]
    """
    if isinstance(x, (tuple, list)):
        return rebuilt(x, [clamp(part, low, high) for part in x])
    if low is None and high is None:
        raise ValueError("One of `min` and `max` must be given.")
    if low is None:
        return clamp_above(x, high)
    return clamp_below(x, low) if high is None else clamp_both(x, low, high)


@composite("ops.clip_by_value(x, clip_value_min=low, clip_value_max=high)")
def clip_by_value(x, low=None, high=None):
    """x, limited to a minimum and a maximum, element by element.

    Half the gradient passes where an element is equal to a bound.

    Args:
        x: a Tensor, or a tuple or list of Tensors, each of which is limited.
        low: the minimum, a number or a Tensor; None, the default, for no minimum.
        high: the maximum, a number or a Tensor; None, the default, for no maximum.

    Raises:
        ValueError: neither bound is given.

    Example:
        >>> print(ops.clip_by_value(Tensor([-2.0, 0.5, 3.0]), -1, 1))
        [-1.   0.5  1. ]
    """
    if isinstance(x, (tuple, list)):
        return rebuilt(x, [clip_by_value(part, low, high) for part in x])
    if low is None and high is None:
        raise ValueError("One of `clip_value_min` and `clip_value_max` must be given.")
    raised = x if low is None else maximum(x, low)
    return raised if high is None else minimum(raised, high)


@op(
    "ops.nan_to_num(input=x, nan=nan, posinf=posinf, neginf=neginf)",
    "NanToNum(nan=nan, posinf=posinf, neginf=neginf)(input=x)",
    "Tensor.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)",
    "mint.nan_to_num(input=x, nan=nan, posinf=posinf, neginf=neginf)",
)
def nan_to_num(x, *, nan=None, posinf=None, neginf=None):
    """x with numbers in place of NaN and of the infinities.

    Args:
        x: any shape.
        nan: what stands for NaN; None, the default, for 0.
        posinf: what stands for infinity; None, the default, for the largest finite number of the
            type.
        neginf: what stands for -infinity; None, the default, for the smallest finite number of the
            type.

    Example:
        >>> print(ops.nan_to_num(Tensor([1.0, float("nan"), float("inf")]), posinf=9.0))
        [1. 0. 9.]
    """
    return jnp.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op("ops.logit(input=x, eps=eps)", "Logit(eps=(eps, -1.0))(input=x)", "Tensor.logit(x, eps=eps)")
@rounded_once
def logit(x, *, eps=None):
    """log(x / (1 - x)), element by element; `eps` keeps x away from 0 and 1.

    Example:
        >>> print(ops.logit(Tensor([0.5])))
        [0.]
    """
    if eps is not None and eps >= 0:
        x = jnp.clip(x, np.asarray(eps, x.dtype), np.asarray(1 - eps, x.dtype))
    return _log_odds(x)


_log_odds = jax.custom_jvp(lambda x: jnp.log(x / (1 - x)))
# Outside of 0 … 1 there is no value, so there is no slope.
_log_odds.defjvps(lambda t, y, x: t * jnp.where((x < 0) | (x > 1), jnp.nan, 1 / (x * (1 - x))))
