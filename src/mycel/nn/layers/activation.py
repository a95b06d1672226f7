# SPDX-License-Identifier: Apache-2.0
"""Activations as Cells, each on every element unless it says otherwise; and their names."""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.init import initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import positive_integer


class _Plain(Cell):
    """What the activations without settings share: they are made without arguments."""

    def __init__(self):
        super().__init__()


class ReLU(_Plain):
    """max(x, 0).

    Source: MindSpore's `mindspore.nn.ReLU`.

    Example:
        >>> print(nn.ReLU()(Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def construct(self, x) -> Tensor:
        """max(x, 0)."""
        return ops.relu(x)


class ReLU6(_Plain):
    """min(max(x, 0), 6).

    Source: MindSpore's `mindspore.nn.ReLU6`.

    Example:
        >>> print(nn.ReLU6()(Tensor([-1.0, 2.0, 9.0])))
        [0. 2. 6.]
    """

    def construct(self, x) -> Tensor:
        """x within 0 and 6."""
        return ops.relu6(x)


class LeakyReLU(Cell):
    """x where it is positive, alpha · x elsewhere.

    Raises:
        TypeError: alpha is not a number.

    Source: MindSpore's `mindspore.nn.LeakyReLU`.

    Example:
        >>> print(nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, alpha=0.2):
        super().__init__()
        self.alpha = _number(alpha, "LeakyReLU.alpha")

    def construct(self, x) -> Tensor:
        """x, made smaller where it is negative."""
        return ops.leaky_relu(x, self.alpha)


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
        drawn = ops.rand_like(x) * (self.upper - self.lower) + self.lower
        return ops.select(x < 0, x * drawn, x)


class ELU(Cell):
    """x where it is positive, alpha · (exp(x) - 1) elsewhere.

    Source: MindSpore's `mindspore.nn.ELU`.

    Example:
        >>> print(nn.ELU()(Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def construct(self, x) -> Tensor:
        """x, with an exponential where it is negative."""
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0).

    Source: MindSpore's `mindspore.nn.CELU`.

    Example:
        >>> print(nn.CELU(2.0)(Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def construct(self, x) -> Tensor:
        """x, with an exponential where it is negative."""
        return ops.celu(x, self.alpha)


class SeLU(_Plain):
    """The exponential linear unit, scaled so that activations keep mean 0 and variance 1.

    Source: MindSpore's `mindspore.nn.SeLU`.

    Example:
        >>> print(nn.SeLU()(Tensor([0.0])))
        [0.]
    """

    def construct(self, input_x) -> Tensor:
        """The scaled exponential linear unit of the input."""
        return ops.selu(input_x)


class GELU(Cell):
    """x · P(X ≤ x) for a normal X; `approximate` uses tanh in place of the error function.

    Source: MindSpore's `mindspore.nn.GELU`.

    Example:
        >>> print(nn.GELU()(Tensor([0.0])))
        [0.]
    """

    def __init__(self, approximate=True):
        super().__init__()
        if not isinstance(approximate, bool):
            raise wrong(TypeError, "GELU.approximate", "True or False", repr(approximate))
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x) -> Tensor:
        """x, weighted by the chance of a smaller number."""
        return ops.gelu(x, self.approximate)


class FastGelu(_Plain):
    """A cheap relative of GELU.

    Source: MindSpore's `mindspore.nn.FastGelu`.

    Example:
        >>> print(nn.FastGelu()(Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        """x, weighted by a sigmoid."""
        return ops.fast_gelu(x)


class SiLU(_Plain):
    """x · sigmoid(x), also called swish.

    Source: MindSpore's `mindspore.nn.SiLU`.

    Example:
        >>> print(nn.SiLU()(Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        """x · sigmoid(x)."""
        return ops.silu(x)


class Sigmoid(_Plain):
    """1 / (1 + exp(-x)).

    Source: MindSpore's `mindspore.nn.Sigmoid`.

    Example:
        >>> print(nn.Sigmoid()(Tensor([0.0])))
        [0.5]
    """

    def construct(self, input_x) -> Tensor:
        """The logistic function of the input."""
        return ops.sigmoid(input_x)


class LogSigmoid(_Plain):
    """log(sigmoid(x)).

    Source: MindSpore's `mindspore.nn.LogSigmoid`.

    Example:
        >>> print(nn.LogSigmoid()(Tensor([100.0])) == 0)
        [ True]
    """

    def construct(self, input_x) -> Tensor:
        """The logarithm of the logistic function."""
        return ops.logsigmoid(input_x)


class Tanh(_Plain):
    """The hyperbolic tangent.

    Source: MindSpore's `mindspore.nn.Tanh`.

    Example:
        >>> print(nn.Tanh()(Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        """tanh(x)."""
        return ops.tanh(x)


class Tanhshrink(_Plain):
    """x - tanh(x).

    Source: MindSpore's `mindspore.nn.Tanhshrink`.

    Example:
        >>> print(nn.Tanhshrink()(Tensor([0.0])))
        [0.]
    """

    def construct(self, x) -> Tensor:
        """x - tanh(x)."""
        return ops.tanhshrink(x)


class Softmax(Cell):
    """exp(x), divided by its sum along `axis`.

    Source: MindSpore's `mindspore.nn.Softmax`.

    Example:
        >>> print(nn.Softmax()(Tensor([0.0, 0.0])))
        [0.5 0.5]
    """

    def __init__(self, axis=-1):
        super().__init__()
        if isinstance(axis, str):
            raise wrong(TypeError, "Softmax.axis", "an integer", repr(axis))
        self.axis = axis

    def construct(self, input) -> Tensor:
        """Shares that sum to one along the axis."""
        return ops.softmax(input, self.axis)


class LogSoftmax(Cell):
    """The logarithm of softmax along `axis`.

    Source: MindSpore's `mindspore.nn.LogSoftmax`.

    Example:
        >>> print(nn.LogSoftmax()(Tensor([5.0])))
        [0.]
    """

    def __init__(self, axis=-1):
        super().__init__()
        if isinstance(axis, str):
            raise wrong(TypeError, "LogSoftmax.axis", "an integer", repr(axis))
        self.axis = axis

    def construct(self, x) -> Tensor:
        """Logarithms of shares that sum to one along the axis."""
        return ops.log_softmax(x, self.axis)


class Softmin(Cell):
    """The softmax of -x along `axis`.

    Source: MindSpore's `mindspore.nn.Softmin`.

    Example:
        >>> print(nn.Softmin()(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.axis = axis

    def construct(self, x) -> Tensor:
        """Shares that sum to one along the axis, small inputs first."""
        return ops.softmin(x, axis=self.axis)


class Softmax2d(_Plain):
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

    def construct(self, x) -> Tensor:
        """Shares that sum to one over the channels."""
        if x.ndim not in (3, 4):
            raise wrong(ValueError, "The input of Softmax2d", "of 3 or 4 dimensions", x.ndim)
        return ops.softmax(x, -3)


class Softsign(_Plain):
    """x / (1 + |x|).

    Source: MindSpore's `mindspore.nn.Softsign`.

    Example:
        >>> print(nn.Softsign()(Tensor([1.0])))
        [0.5]
    """

    def construct(self, x) -> Tensor:
        """x / (1 + |x|)."""
        return ops.softsign(x)


class HSwish(_Plain):
    """x · relu6(x + 3) / 6.

    Source: MindSpore's `mindspore.nn.HSwish`.

    Example:
        >>> print(nn.HSwish()(Tensor([3.0])))
        [3.]
    """

    def construct(self, input) -> Tensor:
        """x · relu6(x + 3) / 6."""
        return ops.hardswish(input)


class HSigmoid(_Plain):
    """relu6(x + 3) / 6.

    Source: MindSpore's `mindspore.nn.HSigmoid`.

    Example:
        >>> print(nn.HSigmoid()(Tensor([0.0])))
        [0.5]
    """

    def construct(self, input_x) -> Tensor:
        """relu6(x + 3) / 6."""
        return ops.hardsigmoid(input_x)


class Mish(_Plain):
    """x · tanh(log(1 + exp(x))).

    Source: MindSpore's `mindspore.nn.Mish`.

    Example:
        >>> print(nn.Mish()(Tensor([0.0])))
        [0.]
    """

    def construct(self, input_x) -> Tensor:
        """x · tanh(softplus(x))."""
        return ops.mish(input_x)


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


class HShrink(Cell):
    """x, and 0 for what lies within -lambd … lambd.

    Source: MindSpore's `mindspore.nn.HShrink`.

    Example:
        >>> print(nn.HShrink()(Tensor([0.25, 2.0])))
        [0. 2.]
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def construct(self, input_x) -> Tensor:
        """x without its small values."""
        return ops.hardshrink(input_x, self.lambd)


class SoftShrink(Cell):
    """x moved towards 0 by `lambd`, and 0 for what is nearer.

    Source: MindSpore's `mindspore.nn.SoftShrink`.

    Example:
        >>> print(nn.SoftShrink()(Tensor([0.25, 2.0])))
        [0.  1.5]
    """

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def construct(self, input_x) -> Tensor:
        """x, nearer to 0."""
        return ops.softshrink(input_x, self.lambd)


class Threshold(Cell):
    """x where it exceeds `threshold`, `value` elsewhere.

    Source: MindSpore's `mindspore.nn.Threshold`.

    Example:
        >>> print(nn.Threshold(0.5, 9)(Tensor([0.25, 2.0])))
        [9. 2.]
    """

    def __init__(self, threshold, value):
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, input_x) -> Tensor:
        """x, or the value where x is small."""
        return ops.threshold(input_x, self.threshold, self.value)


class GLU(Cell):
    """The first half of x along `axis` times the sigmoid of the second half.

    Source: MindSpore's `mindspore.nn.GLU`.

    Example:
        >>> print(nn.GLU()(Tensor([4.0, 0.0])))
        [2.]
    """

    def __init__(self, axis=-1):
        super().__init__()
        self.axis = axis

    def construct(self, x) -> Tensor:
        """Half of x, let through as far as the other half says."""
        return ops.glu(x, self.axis)


def _number(value, what: str):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(TypeError, what, "a number", f"{type(value).__name__} {value!r}")
    return value


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
        raise KeyError(f"No activation{whose} is named {name!r}; known: {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[name]()
