# SPDX-License-Identifier: Apache-2.0
"""Activations as Cells, of inputs of any shape unless they say otherwise; and their names."""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.init import initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import positive_integer
from mycel.nn.layers.declare import Declared, layer
from mycel.nn.layers.inside import Inside


def _number(value, what: str):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(TypeError, what, "a number", f"{type(value).__name__} {value!r}")
    return value


def _no_text(axis, what: str):
    if isinstance(axis, str):
        raise wrong(TypeError, what, "an integer", repr(axis))
    return axis


def _approximation(approximate, what: str) -> str:
    """What `ops.gelu` calls it."""
    if not isinstance(approximate, bool):
        raise wrong(TypeError, what, "True or False", repr(approximate))
    return "tanh" if approximate else "none"


@layer(ops, "relu", "nn.ReLU()(x)")
class ReLU(Cell):
    """max(x, 0), element by element.

    Example:
        >>> print(nn.ReLU()(Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    relu = Inside(lambda cell: ops.ReLU())


@layer(ops, "relu6", "nn.ReLU6()(x)", "mint.nn.ReLU6(inplace=False)(input)")
class ReLU6(Cell):
    """min(max(x, 0), 6), element by element.

    Args:
        inplace: whether the result is assigned to the input as well.

    Example:
        >>> print(nn.ReLU6()(Tensor([-1.0, 2.0, 9.0])))
        [0. 2. 6.]
        >>> print(mint.nn.ReLU6()(Tensor([-1.0, 9.0])))
        [0. 6.]
    """

    relu6 = Inside(lambda cell: ops.ReLU6())


@layer(ops, "leaky_relu", "nn.LeakyReLU(alpha=0.2)(x)", alpha=_number)
class LeakyReLU(Declared):
    """x where it is positive, alpha · x elsewhere.

    Args:
        alpha: the slope below 0.

    Raises:
        TypeError: alpha is not a number.

    Example:
        >>> print(nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """


def _prelu_by_steps(cell: PReLU, x) -> Tensor:
    return cell.prelu(x, cell.w)


class PReLU(Cell):
    """x where it is positive, w · x elsewhere; w is trained: one, or one for each channel.

    Args:
        channel: 1, or the length of dimension 1 of the inputs.
        w: the first value: a number, a list of `channel` numbers, or a Tensor of them.

    Raises:
        TypeError: `channel` is not an integer, or `w` of another type.
        ValueError: `channel` is not positive, or `w` has another length.

    Source: MindSpore's `mindspore.nn.PReLU`.

    Example:
        >>> print(nn.PReLU()(Tensor([[-1.0, 2.0]])))
        [[-0.25  2.  ]]
    """

    prelu = Inside(lambda cell: ops.PReLU(), _prelu_by_steps)

    def __init__(self, channel=1, w=0.25):
        super().__init__()
        positive_integer(channel, "PReLU.channel")
        if isinstance(w, list):
            w = Tensor(w, float32)
        if not isinstance(w, (Tensor, int, float)):
            raise wrong(TypeError, "PReLU.w", "a number, a list or a Tensor", type(w).__name__)
        self.w = Parameter(initializer(w, (channel,), float32), name="a")

    def construct(self, x) -> Tensor:
        """x, multiplied by w where it is negative."""
        return ops.prelu(x, self.w)


class RReLU(Cell):
    """x where it is positive, a · x elsewhere: a drawn in training, the middle in prediction.

    Args:
        lower, upper: the bounds between which a is drawn.

    Raises:
        ValueError: `lower` exceeds `upper`.

    Source: MindSpore's `mindspore.nn.RReLU`.

    Example:
        >>> print(nn.RReLU(0.5, 0.5)(Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, lower=1 / 8, upper=1 / 3):
        super().__init__()
        if _number(lower, "RReLU.lower") > _number(upper, "RReLU.upper"):
            raise wrong(ValueError, "RReLU.lower", f"at most upper={upper}", lower)
        self.lower = lower
        self.upper = upper

    def construct(self, x) -> Tensor:
        """x, made smaller where it is negative."""
        if not self.training:
            return ops.leaky_relu(x, (self.lower + self.upper) / 2)
        return ops.rrelu(x, self.lower, self.upper)


@layer(ops, "elu", "nn.ELU(alpha=1.0)(x)", "mint.nn.ELU(alpha=1.0, inplace=False)(input)")
class ELU(Cell):
    """x where it is positive, alpha · (exp(x) - 1) elsewhere.

    Args:
        alpha: -alpha is the limit of the result for x towards -∞.
        inplace: whether the result is assigned to the input as well.

    Example:
        >>> print(nn.ELU()(Tensor([0.0, 2.0])))
        [0. 2.]
        >>> print(mint.nn.ELU(0.5)(Tensor([0.0, 2.0])))
        [0. 2.]
    """

    elu = Inside(lambda cell: ops.Elu(cell.alpha))


@layer(ops, "celu", "nn.CELU(alpha=1.0)(x)")
class CELU(Cell):
    """max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0), element by element.

    Args:
        alpha: -alpha is the limit of the result for x towards -∞; not 0.

    Example:
        >>> print(nn.CELU(2.0)(Tensor([0.0, 2.0])))
        [0. 2.]
    """

    celu = Inside(lambda cell: ops.CeLU(cell.alpha))


@layer(ops, "selu", "nn.SeLU()(input_x)", "mint.nn.SELU()(input_x)")
class SeLU(Cell):
    """The exponential linear unit, scaled so that activations keep mean 0 and variance 1.

    Example:
        >>> print(nn.SeLU()(Tensor([0.0])))
        [0.]
        >>> print(mint.nn.SELU()(Tensor([0.0])))
        [0.]
    """

    selu = Inside(lambda cell: ops.SeLU())


@layer(ops, "gelu", "nn.GELU(approximate=True)(x)", approximate=_approximation)
class GELU(Cell):
    """x · P(X ≤ x) for a normal X.

    Args:
        approximate: whether tanh stands in place of the error function.

    Raises:
        TypeError: `approximate` is not a bool.

    Example:
        >>> print(nn.GELU()(Tensor([0.0])))
        [0.]
    """

    gelu = Inside(lambda cell: ops.GeLU(cell.approximate))


@layer(ops, "fast_gelu", "nn.FastGelu()(x)")
class FastGelu(Cell):
    """x · sigmoid(1.702 · x), a cheap relative of GELU.

    Example:
        >>> print(nn.FastGelu()(Tensor([0.0])))
        [0.]
    """

    fast_gelu = Inside(lambda cell: ops.FastGeLU())


@layer(ops, "silu", "nn.SiLU()(x)", "mint.nn.SiLU(inplace=False)(input)")
class SiLU(Cell):
    """x · sigmoid(x), also called swish.

    Args:
        inplace: whether the result is assigned to the input as well.

    Example:
        >>> print(nn.SiLU()(Tensor([0.0])))
        [0.]
        >>> print(mint.nn.SiLU()(Tensor([0.0])))
        [0.]
    """

    silu = Inside(lambda cell: ops.SiLU())


@layer(ops, "sigmoid", "nn.Sigmoid()(input_x)")
class Sigmoid(Cell):
    """1 / (1 + exp(-x)), the logistic function.

    Example:
        >>> print(nn.Sigmoid()(Tensor([0.0])))
        [0.5]
    """

    sigmoid = Inside(lambda cell: ops.Sigmoid())


@layer(ops, "logsigmoid", "nn.LogSigmoid()(input_x)")
class LogSigmoid(Cell):
    """log(sigmoid(x)), element by element.

    Example:
        >>> print(nn.LogSigmoid()(Tensor([100.0])) == 0)
        [ True]
    """


@layer(ops, "tanh", "nn.Tanh()(x)")
class Tanh(Cell):
    """The hyperbolic tangent of x.

    Example:
        >>> print(nn.Tanh()(Tensor([0.0])))
        [0.]
    """

    tanh = Inside(lambda cell: ops.Tanh())


@layer(ops, "tanhshrink", "nn.Tanhshrink()(x)")
class Tanhshrink(Cell):
    """x - tanh(x), element by element.

    Example:
        >>> print(nn.Tanhshrink()(Tensor([0.0])))
        [0.]
    """


@layer(ops, "softmax", "nn.Softmax(axis=-1)(input)",
    "mint.nn.Softmax(dim=None)(input)", axis=_no_text)  # fmt: skip
class Softmax(Cell):
    """exp(x), divided by its sum along one dimension.

    Args:
        axis: the dimension.
        dim: the dimension; None is the first for 0, 1 and 3 dimensions, else the second.

    Example:
        >>> print(nn.Softmax()(Tensor([0.0, 0.0])))
        [0.5 0.5]
        >>> print(mint.nn.Softmax(-1)(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    softmax = Inside(lambda cell: ops.Softmax(cell.axis))


@layer(ops, "log_softmax", "nn.LogSoftmax(axis=-1)(x)",
    "mint.nn.LogSoftmax(dim=None)(input)", axis=_no_text)  # fmt: skip
class LogSoftmax(Cell):
    """The logarithm of softmax along one dimension, without losing small values.

    Args:
        axis: the dimension.
        dim: the dimension; None is the first for 0, 1 and 3 dimensions, else the second.

    Example:
        >>> print(nn.LogSoftmax()(Tensor([5.0])))
        [0.]
        >>> print(mint.nn.LogSoftmax(-1)(Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """

    log_softmax = Inside(lambda cell: ops.LogSoftmax(cell.axis))


@layer(ops, "softmin", "nn.Softmin(axis=-1)(x)")
class Softmin(Cell):
    """The softmax of -x along one dimension.

    Args:
        axis: the dimension.

    Example:
        >>> print(nn.Softmin()(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    Raises:
        ValueError: another number of dimensions, when called.

    Source: MindSpore's `mindspore.nn.Softmax2d`.

    Example:
        >>> print(nn.Softmax2d()(ops.zeros((2, 1, 1))))
        [[[0.5]]
        <BLANKLINE>
         [[0.5]]]
    """

    def __init__(self):
        super().__init__()

    def construct(self, x) -> Tensor:
        """Shares that sum to one over the channels."""
        if x.ndim not in (3, 4):
            raise wrong(ValueError, "The input of Softmax2d", "of 3 or 4 dimensions", x.ndim)
        return ops.softmax(x, -3)


@layer(ops, "softsign", "nn.Softsign()(x)")
class Softsign(Cell):
    """x / (1 + |x|), element by element.

    Example:
        >>> print(nn.Softsign()(Tensor([1.0])))
        [0.5]
    """

    softsign = Inside(lambda cell: ops.Softsign())


@layer(ops, "hardswish", "nn.HSwish()(input)")
class HSwish(Cell):
    """x · relu6(x + 3) / 6, element by element.

    Example:
        >>> print(nn.HSwish()(Tensor([3.0])))
        [3.]
    """

    hswish = Inside(lambda cell: ops.HSwish())


@layer(ops, "hardsigmoid", "nn.HSigmoid()(input_x)")
class HSigmoid(Cell):
    """relu6(x + 3) / 6, element by element.

    Example:
        >>> print(nn.HSigmoid()(Tensor([0.0])))
        [0.5]
    """

    hsigmoid = Inside(lambda cell: ops.HSigmoid())


@layer(ops, "mish", "nn.Mish()(input_x)")
class Mish(Cell):
    """x · tanh(log(1 + exp(x))), element by element.

    Example:
        >>> print(nn.Mish()(Tensor([0.0])))
        [0.]
    """

    mish = Inside(lambda cell: ops.Mish())


class Hardtanh(Cell):
    """x within `min_val` and `max_val`.

    Raises:
        ValueError: `min_val` is not below `max_val`.

    Source: MindSpore's `mindspore.nn.Hardtanh`.

    Example:
        >>> print(nn.Hardtanh()(Tensor([-5.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val=-1.0, max_val=1.0):
        super().__init__()
        if not min_val < max_val:
            raise wrong(ValueError, "Hardtanh.min_val", f"below max_val={max_val}", min_val)
        self.min_val = min_val
        self.max_val = max_val

    def construct(self, x) -> Tensor:
        """x within the bounds."""
        return ops.hardtanh(x, self.min_val, self.max_val)


@layer(ops, "hardshrink", "nn.HShrink(lambd=0.5)(input_x)")
class HShrink(Cell):
    """x, and 0 for what lies within -lambd … lambd.

    Args:
        lambd: the bound.

    Example:
        >>> print(nn.HShrink()(Tensor([0.25, 2.0])))
        [0. 2.]
    """

    hshrink = Inside(lambda cell: ops.HShrink(cell.lambd))


@layer(ops, "softshrink", "nn.SoftShrink(lambd=0.5)(input_x)")
class SoftShrink(Cell):
    """x moved towards 0 by `lambd`, and 0 for what is nearer.

    Args:
        lambd: by how much.

    Example:
        >>> print(nn.SoftShrink()(Tensor([0.25, 2.0])))
        [0.  1.5]
    """

    softshrink = Inside(lambda cell: ops.SoftShrink(cell.lambd))


@layer(ops, "threshold", "nn.Threshold(threshold, value)(input_x)",
    "mint.nn.Threshold(threshold, value, inplace=False)(input)")  # fmt: skip
class Threshold(Cell):
    """x where it exceeds `threshold`, `value` elsewhere.

    Args:
        threshold: what x must exceed to stay.
        value: what stands in place of the rest.
        inplace: whether the result is assigned to the input as well.

    Example:
        >>> print(nn.Threshold(0.5, 9)(Tensor([0.25, 2.0])))
        [9. 2.]
        >>> print(mint.nn.Threshold(0.5, 9.0)(Tensor([0.25, 2.0])))
        [9. 2.]
    """


@layer(ops, "glu", "nn.GLU(axis=-1)(x)", "mint.nn.GLU(dim=-1)(input)")
class GLU(Cell):
    """The first half of x along one dimension times the sigmoid of the second half.

    Args:
        axis: the dimension, of even length.
        dim: the dimension, of even length.

    Example:
        >>> print(nn.GLU()(Tensor([4.0, 0.0])))
        [2.]
        >>> print(mint.nn.GLU()(Tensor([4.0, 0.0])))
        [2.]
    """


# By the names that `Dense(activation=...)` and `get_activation` take.
ACTIVATIONS: dict[str, type[Cell]] = {
    "softmin": Softmin,
    "softmax": Softmax,
    "softmax2d": Softmax2d,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "rrelu": RReLU,
    "silu": SiLU,
    "tanh": Tanh,
    "tanhshrink": Tanhshrink,
    "hardtanh": Hardtanh,
    "gelu": GELU,
    "fast_gelu": FastGelu,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "softsign": Softsign,
    "prelu": PReLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink,
    "hshrink": HShrink,
    "threshold": Threshold,
    "mish": Mish,
}


def get_activation(name: Any, prim_name: str | None = None) -> Cell | None:
    """A new activation Cell by its name; None gives None.

    Raises:
        KeyError: an unknown name.

    Source: MindSpore's `mindspore.nn.get_activation`.

    Example:
        >>> nn.get_activation("sigmoid")
        Sigmoid()
    """
    if name is None:
        return None
    if not isinstance(name, str) or name not in ACTIVATIONS:
        whose = f" of {prim_name}" if prim_name else ""
        known = ", ".join(ACTIVATIONS)
        text = f"No activation{whose} is named {name!r}; known: {known} (at {user_place(1)})."
        raise KeyError(text)
    return ACTIVATIONS[name]()
