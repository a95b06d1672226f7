# SPDX-License-Identifier: Apache-2.0
"""Activation functions, element by element or along one dimension."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in, one_or_more
from mycel.ops.common import as_float, rounded_once
from mycel.ops.math.comparison import where
from mycel.ops.random.drawing import draw_key, draw_uniform


@op("ops.relu(input=x, inplace=False)", "ReLU()(input=x)", "Tensor.relu(x)",
    "mint.nn.functional.relu(input=x, inplace=False)",
    "mint.nn.functional.relu_(input=x) -> x")  # fmt: skip
def relu(x):
    """max(x, 0), element by element; `inplace` assigns it to x as well.

    Example:
        >>> print(ops.relu(Tensor([-1.0, 2.0])))
        [0. 2.]
        >>> x = Tensor([-1.0, 2.0])
        >>> print(mint.nn.functional.relu_(x) is x, x)
        True [0. 2.]
    """
    # Its derivative reuses the comparison: four times cheaper than that of jnp.maximum.
    return x if x.dtype == np.bool_ else jax.nn.relu(x)


@op("ops.relu6(x)", "ReLU6()(x)", "mint.nn.functional.relu6(input=x, inplace=False)")
def relu6(x):
    """min(max(x, 0), 6), element by element; mint's `inplace` assigns it to x as well.

    Example:
        >>> print(ops.relu6(Tensor([-1.0, 2.0, 9.0])))
        [0. 2. 6.]
    """
    return _clipped(x, 0, 6, "high")


def _real(x, what):
    """x itself.

    Raises:
        TypeError: x does not hold real numbers.
    """
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"{what} needs real numbers, but its input is {x.dtype}; cast it first.")
    return x


def _clipped(x, low, high, *ends):
    """x within bounds, its derivative 1 between them and at those that `ends` names, else 0."""
    low, high = jnp.array(low, x.dtype), jnp.array(high, x.dtype)
    inside = (x >= low if "low" in ends else x > low) & (x <= high if "high" in ends else x < high)
    return jnp.where(inside, x, jax.lax.stop_gradient(jnp.clip(x, low, high)))


@op("ops.leaky_relu(input=x, alpha=slope)",
    "mint.nn.functional.leaky_relu(input=x, negative_slope=(slope, 0.01))")  # fmt: skip
def leaky_relu(x, *, slope=0.2):
    """x where it is positive, slope · x elsewhere.

    Example:
        >>> print(ops.leaky_relu(Tensor([-1.0, 2.0]), 0.5))
        [-0.5  2. ]
    """
    output = jnp.where(x > 0, x, x * jnp.array(slope, x.dtype))
    # At 0 the derivative is the middle of both slopes, as in MindSpore, which takes the larger of x
    # and slope · x. This is 0 everywhere, and never -0, so that the sign of a result stays.
    more, still = (1 - slope) / 2, jax.lax.stop_gradient(x)
    corner = jnp.where(x == 0, still - x if more >= 0 else x - still, 0)
    return output - corner * jnp.array(abs(more), x.dtype)


@composite("ops.rrelu(input=x, lower=lower, upper=upper)")
def rrelu(x, lower=1 / 8, upper=1 / 3):
    """x where it is positive, a · x elsewhere, with a drawn anew for each element.

    Args:
        x: any shape, real.
        lower: the least value of a; 1/8 by default.
        upper: the largest value of a; 1/3 by default.

    Raises:
        ValueError: `lower` exceeds `upper`.

    Example:
        >>> print(ops.rrelu(Tensor([-1.0, 2.0]), 0.5, 0.5))
        [-0.5  2. ]
    """
    if lower > upper:
        raise wrong(ValueError, "rrelu: lower", f"at most upper={upper}", lower)
    drawn = draw_uniform(draw_key(), x.shape, x.dtype.name) * (upper - lower) + lower
    return where(x * drawn, x, x < 0)


@op("ops.elu(input_x=x, alpha=alpha)", "Elu(alpha=1.0)(input_x=x)",
    "mint.nn.functional.elu(input=x, alpha=1.0, inplace=False)",
    "mint.nn.functional.elu_(input=x, alpha=1.0, inplace=True)")  # fmt: skip
@rounded_once
def elu(x, *, alpha=1.0):
    """x where it is positive, alpha · (exp(x) - 1) elsewhere.

    Args:
        x: any shape, real.
        alpha: the factor where `x` is negative; 1 by default.
        inplace: in `mint`, whether the result is assigned to `x` too; False by default, and True in
            the functions whose name ends in an underscore.

    Example:
        >>> print(ops.elu(Tensor([0.0, 2.0])))
        [0. 2.]
    """
    return jax.nn.elu(_real(x, "elu"), jnp.array(alpha, x.dtype))


@op("ops.celu(x, alpha=alpha)", "CeLU(alpha=1.0)(x)")
@rounded_once
def celu(x, *, alpha=1.0):
    """max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0).

    Example:
        >>> print(ops.celu(Tensor([0.0, 2.0])))
        [0. 2.]
    """
    return jax.nn.celu(_real(x, "celu"), jnp.array(alpha, x.dtype))


@op("ops.selu(input_x=x)", "SeLU()(input_x=x)", "mint.nn.functional.selu(input=x)")
@rounded_once
def selu(x):
    """The exponential linear unit, scaled so that activations keep mean 0 and variance 1.

    Example:
        >>> print(ops.selu(Tensor([0.0])))
        [0.]
    """
    above = _real(x, "selu") >= 0
    bend = jnp.array(1.6732632423543772, x.dtype)
    # The slope at 0 is that from above.
    below = bend * jnp.expm1(jnp.where(above, jnp.zeros((), x.dtype), x))
    return jnp.array(1.0507009873554805, x.dtype) * jnp.where(above, x, below)


@op(
    "ops.gelu(input=x, approximate=approximate)",
    "GeLU(approximate='tanh')(input=x)",
    "mint.nn.functional.gelu(input=x, approximate=approximate)",
    "mint.npu_gelu(input=x, approximate=approximate)",
)
@rounded_once
def gelu(x, *, approximate="none"):
    """x · P(X ≤ x) for a normal X: exactly ('none'), or with 'tanh' in place of the error function.

    Raises:
        ValueError: `approximate` is unknown.

    Example:
        >>> print(ops.gelu(Tensor([0.0, 10.0])))
        [ 0. 10.]
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu is approximated by 'none' or 'tanh', not {approximate!r}.")
    return jax.nn.gelu(_real(x, "gelu"), approximate=approximate == "tanh")


@op("ops.fast_gelu(x)", "FastGeLU()(x)")
@rounded_once
def fast_gelu(x):
    """x / (1 + exp(-1.702·|x|)) · exp(0.851·(x - |x|)): a cheap relative of gelu.

    Example:
        >>> print(ops.fast_gelu(Tensor([0.0])))
        [0.]
    """
    return x * jax.nn.sigmoid(x * jnp.array(1.702, x.dtype))


@op("ops.silu(input=x)", "SiLU()(input=x)",
    "mint.nn.functional.silu(input=x, inplace=False)")  # fmt: skip
@rounded_once
def silu(x):
    """x · sigmoid(x), also called swish; mint's `inplace` assigns it to x as well.

    Example:
        >>> print(ops.silu(Tensor([0.0])))
        [0.]
    """
    return jax.nn.silu(_real(x, "silu"))


@op("ops.mish(x)", "Mish()(x)", "mint.nn.functional.mish(input=x)")
@rounded_once
def mish(x):
    """x · tanh(log(1 + exp(x))).

    Example:
        >>> print(ops.mish(Tensor([0.0])))
        [0.]
    """
    return x * jnp.tanh(jax.nn.softplus(_real(x, "mish")))


@op("ops.sigmoid(input=x)", "Sigmoid()(input=x)", "Tensor.sigmoid(x)", "mint.sigmoid(input=x)",
    "mint.nn.functional.sigmoid(input=x)", "Tensor.sigmoid_(x) -> x",
    "mint.nn.functional.sigmoid_(input=x) -> x", gives_shares=True)  # fmt: skip
@rounded_once
def sigmoid(x):
    """1 / (1 + exp(-x)); integers give Float32.

    Example:
        >>> print(ops.sigmoid(Tensor([0.0])))
        [0.5]
        >>> print(Tensor([0.0]).sigmoid_())
        [0.5]
        >>> print(mint.nn.functional.sigmoid_(Tensor([0.0])))
        [0.5]
    """
    return jax.nn.sigmoid(as_float(x))


@op("ops.tanh(input=x)", "Tanh()(input=x)", "Tensor.tanh(x)", "mint.tanh(input=x)",
    "mint.nn.functional.tanh(input=x)", "Tensor.tanh_(x) -> x",
    "ops.tanh_(input=x) -> x")  # fmt: skip
def tanh(x):
    """The hyperbolic tangent; integers give Float32.

    Example:
        >>> print(ops.tanh(Tensor([0.0])))
        [0.]
        >>> print(Tensor([0.0]).tanh_())
        [0.]
    """
    return jnp.tanh(as_float(x))


@op("ops.hardswish(input=x)", "HSwish()(input=x)", "mint.nn.functional.hardswish(input=x)")
@rounded_once
def hardswish(x):
    """x · relu6(x + 3) / 6.

    Example:
        >>> print(ops.hardswish(Tensor([-4.0, 0.0, 4.0])))
        [-0.  0.  4.]
    """
    gate = _hard_gate(_real(x, "hardswish"), "low", "high")
    # Minus infinity times 0 is no number, but the function is 0 there.
    return jnp.where(x == -jnp.inf, jnp.zeros((), x.dtype), x) * gate


@op("ops.hardsigmoid(input=x)", "HSigmoid()(input=x)", "mint.nn.functional.hardsigmoid(input=x)")
@rounded_once
def hardsigmoid(x):
    """relu6(x + 3) / 6.

    Example:
        >>> print(ops.hardsigmoid(Tensor([-4.0, 0.0, 4.0])))
        [0.  0.5 1. ]
    """
    return _hard_gate(_real(x, "hardsigmoid"))


def _hard_gate(x, *ends):
    return _clipped(x + jnp.array(3, x.dtype), 0, 6, *ends) * jnp.array(1 / 6, x.dtype)


@op("ops.hardtanh(input=x, min_val=low, max_val=high)",
    "mint.nn.functional.hardtanh(input=x, min_val=(low, -1.0), max_val=(high, 1.0), inplace=False)",
    "mint.nn.functional.hardtanh_(input=x, min_val=(low, -1), max_val=(high, 1), inplace=True)",
)  # fmt: skip
def hardtanh(x, *, low=-1.0, high=1.0):
    """x, limited to the interval from `low` to `high`.

    Args:
        x: any shape, real.
        low: the least value, -1 by default.
        high: the greatest value, 1 by default.
        inplace: in `mint`, whether the result is assigned to `x` too; False by default, and True in
            the functions whose name ends in an underscore.

    Example:
        >>> print(ops.hardtanh(Tensor([-4.0, 0.5])))
        [-1.   0.5]
    """
    # Half the gradient passes at the bounds, as in MindSpore.
    return jnp.clip(x, jnp.array(low, x.dtype), jnp.array(high, x.dtype))


@op("ops.softplus(input=x, beta=beta, threshold=threshold)", "Softplus()(x)",
    "mint.nn.functional.softplus(input=x, beta=beta, threshold=threshold)")  # fmt: skip
@rounded_once
def softplus(x, *, beta=1, threshold=20):
    """log(1 + exp(beta · x)) / beta, a smooth form of ReLU.

    Args:
        x: any shape, real.
        beta: the sharpness of the bend, 1 by default.
        threshold: where beta · x exceeds it the result is `x` itself; 20 by default.

    Example:
        >>> print(ops.softplus(Tensor([30.0])))
        [30.]
    """
    beta = jnp.array(beta, x.dtype)
    scaled = _real(x, "softplus") * beta
    return jnp.where(scaled > threshold, x, jax.nn.softplus(scaled) / beta)


@op("ops.softsign(x)", "Softsign()(x)")
@rounded_once
def softsign(x):
    """x / (1 + |x|).

    Example:
        >>> print(ops.softsign(Tensor([1.0])))
        [0.5]
    """
    return _soft_sign(_real(x, "softsign"))


_soft_sign = jax.custom_jvp(jax.nn.soft_sign)
_soft_sign.defjvps(lambda t, y, x: t / jnp.square(1 + jnp.abs(x)))


@op("ops.softshrink(input=x, lambd=bound)", "SoftShrink(lambd=(bound, 0.5))(input=x)",
    "ops.soft_shrink(input=x, lambd=bound)", "Tensor.soft_shrink(x, lambd=bound)",
    "mint.nn.functional.softshrink(input=x, lambd=bound)")  # fmt: skip
def softshrink(x, *, bound=0.5):
    """x moved towards 0 by `bound`, and 0 where its absolute value is less.

    Raises:
        ValueError: the bound is negative.

    Example:
        >>> print(ops.softshrink(Tensor([-1.0, 0.2])))
        [-0.5  0. ]
    """
    if bound < 0:
        raise ValueError(f"The lambd of softshrink must not be negative, but it is {bound}.")
    bound = jnp.array(bound, x.dtype)
    zero = jnp.zeros((), x.dtype)
    near = (x >= -bound) & (x <= bound)
    return jnp.where(near, zero, jnp.where(x < 0, x + bound, x - bound))


@op("ops.hardshrink(input=x, lambd=bound)", "HShrink(lambd=(bound, 0.5))(input=x)",
    "Tensor.hardshrink(x, lambd=bound)",
    "mint.nn.functional.hardshrink(input=x, lambd=bound)")  # fmt: skip
def hardshrink(x, *, bound=0.5):
    """x where its absolute value exceeds the bound, 0 elsewhere.

    Example:
        >>> print(ops.hardshrink(Tensor([-1.0, 0.2])))
        [-1.  0.]
    """
    bound = jnp.array(bound, x.dtype)
    return jnp.where((x >= -bound) & (x <= bound), jnp.zeros((), x.dtype), x)


@op("ops.tanhshrink(input=x)")
@rounded_once
def tanhshrink(x):
    """x - tanh(x).

    Example:
        >>> print(ops.tanhshrink(Tensor([0.0])))
        [0.]
    """
    x = as_float(x)
    return x - jnp.tanh(x)


@op("ops.threshold(input=x, thr=bound, value=value)",
    "mint.nn.functional.threshold(input=x, threshold=bound, value=value, inplace=False)",
    "mint.nn.functional.threshold_(input=x, threshold=bound, value=value, inplace=True)",
)  # fmt: skip
def threshold(x, bound, value):
    """x where it exceeds a bound, a fixed value elsewhere.

    Args:
        x: any shape.
        bound: a number.
        value: what stands where `x` does not exceed `bound`, a number.
        inplace: in `mint`, whether the result is assigned to `x` too; False by default, and True in
            the functions whose name ends in an underscore.

    Example:
        >>> print(ops.threshold(Tensor([0.1, 0.3]), 0.2, 9.0))
        [9.  0.3]
    """
    return jnp.where(x > bound, x, value.astype(x.dtype))


_softmax, _log_softmax = map(rounded_once, (jax.nn.softmax, jax.nn.log_softmax))


@op(
    "ops.softmax(input=x, axis=axis, dtype=dtype)",
    "Softmax(axis=-1)(input=x)",
    "Tensor.softmax(x, axis, dtype=dtype)",
    gives_shares=True,
)
def softmax(x, *, axis=-1, dtype=None):
    """The softmax along a dimension: exp(x) over its sum.

    Args:
        x: any shape, real.
        axis: the dimension along which the results add up to 1, the last one by default.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(ops.softmax(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    return _softmax(_converted(x, dtype), axis=_one_axis(axis, x))


@softmax.reverse
def _(x, output, cotangent, *, axis, dtype):
    weighted = output * cotangent
    total = jnp.sum(weighted, _one_axis(axis, x), keepdims=True)
    return (weighted - output * total).astype(x.dtype)


@op("ops.softmin(x, axis=axis, dtype=dtype)", gives_shares=True)
def softmin(x, *, axis=-1, dtype=None):
    """The softmax of -x: exp(-x) over its sum along a dimension.

    Args:
        x: any shape, real.
        axis: the dimension along which the results add up to 1, the last one by default.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(ops.softmin(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    return _softmax(-_converted(x, dtype), axis=_one_axis(axis, x))


@op(
    "ops.log_softmax(logits=x, axis=axis)",
    "LogSoftmax(axis=-1)(logits=x)",
    "Tensor.log_softmax(x, axis=axis, dtype=dtype)",
)
def log_softmax(x, *, axis=-1, dtype=None):
    """The logarithm of softmax along a dimension, computed without underflow.

    Args:
        x: any shape, real.
        axis: the dimension along which the softmax adds up to 1, the last one by default.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(ops.log_softmax(Tensor([0.0])))
        [0.]
    """
    return _log_softmax(_converted(x, dtype), axis=_one_axis(axis, x))


@log_softmax.reverse
def _(x, output, cotangent, *, axis, dtype):
    total = jnp.sum(cotangent, _one_axis(axis, x), keepdims=True)
    return (cotangent - jnp.exp(output) * total).astype(x.dtype)


def _one_axis(axis, x):
    """Softmax is taken over one dimension; a tuple of one is allowed, None is the last."""
    axes = one_or_more(-1 if axis is None else axis)
    if len(axes) != 1:
        raise ValueError(f"softmax takes one axis, not {axis}.")
    axis = axis_in(axes[0], x.ndim)
    return axis if x.ndim else ()


def _converted(x, dtype):
    return _real(x, "softmax") if dtype is None else x.astype(np.dtype(dtype.numpy))


@op("ops.logsigmoid(x)", "mint.nn.functional.logsigmoid(input=x)")
@rounded_once
def logsigmoid(x):
    """log(sigmoid(x)), without losing small values.

    Example:
        >>> print(ops.logsigmoid(Tensor([100.0])))
        [-0.]
    """
    return jax.nn.log_sigmoid(_real(x, "logsigmoid"))


@op("ops.prelu(input=x, weight=weight)", "PReLU()(input=x, weight=weight)",
    "mint.nn.functional.prelu(input=x, weight=weight)")  # fmt: skip
def prelu(x, weight):
    """x where it is positive, weight · x elsewhere; one weight, or one for each channel.

    Args:
        x: [N, C, …].
        weight: [1] or [C].

    Raises:
        ValueError: there are neither one weight nor one for each channel.

    Example:
        >>> print(ops.prelu(Tensor([[-1.0, 2.0]]), Tensor([0.5])))
        [[-0.5  2. ]]
    """
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.size not in (1, channels):
        raise ValueError(f"prelu needs 1 weight or {channels}, but {weight.size} are given.")
    if x.ndim > 1:
        weight = weight.reshape((1, weight.size) + (1,) * (x.ndim - 2))
    return jnp.where(x > 0, x, x * weight.astype(x.dtype))


@op("ops.glu(x, axis=axis)", "GLU(axis=axis)(x)", "mint.nn.functional.glu(input=x, dim=axis)")
@rounded_once
def glu(x, *, axis=-1):
    """The first half along `axis` times the sigmoid of the second.

    Raises:
        ValueError: the length along `axis` is odd.

    Example:
        >>> print(ops.glu(Tensor([2.0, 0.0])))
        [1.]
    """
    axis = axis_in(axis, x.ndim)
    if x.shape[axis] % 2:
        raise ValueError(f"glu halves dimension {axis}, whose length {x.shape[axis]} is odd.")
    value, gate = jnp.split(x, 2, axis)
    return value * jax.nn.sigmoid(gate)
