# SPDX-License-Identifier: Apache-2.0
"""Activations as Cells, as PyTorch calls them."""

from __future__ import annotations

from mycel.init import initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.mint.nn import functional
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, positive_integer
from mycel.nn.layers import activation
from mycel.nn.layers.activation import HShrink as Hardshrink
from mycel.nn.layers.activation import HSigmoid as Hardsigmoid
from mycel.nn.layers.activation import HSwish as Hardswish
from mycel.nn.layers.activation import LogSigmoid, Mish, ReLU, Sigmoid, Tanh
from mycel.nn.layers.activation import SoftShrink as Softshrink

__all__ = [
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softshrink",
    "Tanh",
    "Threshold",
]


class _InPlace(Cell):
    """What the activations share that may assign their result to their input."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = boolean(inplace, f"{type(self).__name__}.inplace")


class SiLU(_InPlace):
    """x · sigmoid(x).

    Args:
        inplace: assign the result to the input as well.

    Source: MindSpore's `mint.nn.SiLU`.

    Example:
        >>> print(mint.nn.SiLU()(Tensor([0.0])))
        [0.]
    """

    def construct(self, input) -> Tensor:
        """The activation of the input."""
        return functional.silu(input, self.inplace)


class ReLU6(_InPlace):
    """min(max(x, 0), 6).

    Args:
        inplace: assign the result to the input as well.

    Source: MindSpore's `mint.nn.ReLU6`.

    Example:
        >>> print(mint.nn.ReLU6()(Tensor([-1.0, 9.0])))
        [0. 6.]
    """

    def construct(self, input) -> Tensor:
        """The input within 0 and 6."""
        return functional.relu6(input, self.inplace)


class ELU(_InPlace):
    """x where it is positive, alpha · (exp(x) - 1) elsewhere.

    Args:
        inplace: assign the result to the input as well.

    Source: MindSpore's `mint.nn.ELU`.

    Example:
        >>> print(mint.nn.ELU(0.5)(Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(inplace)
        self.alpha = alpha

    def construct(self, input) -> Tensor:
        """The activation of the input."""
        return functional.elu(input, self.alpha, self.inplace)


class Hardtanh(_InPlace):
    """x within `min_val` and `max_val`.

    Args:
        inplace: assign the result to the input as well.

    Source: MindSpore's `mint.nn.Hardtanh`.

    Example:
        >>> print(mint.nn.Hardtanh()(Tensor([-5.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__(inplace)
        self.min_val = min_val
        self.max_val = max_val

    def construct(self, input) -> Tensor:
        """The input within the bounds."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(_InPlace):
    """x where it exceeds `threshold`, `value` elsewhere.

    Args:
        inplace: assign the result to the input as well.

    Source: MindSpore's `mint.nn.Threshold`.

    Example:
        >>> print(mint.nn.Threshold(0.5, 9.0)(Tensor([0.25, 2.0])))
        [9. 2.]
    """

    def __init__(self, threshold, value, inplace=False):
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def construct(self, input) -> Tensor:
        """The input, or the value where it is small."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class GELU(Cell):
    """x times the share of the normal distribution below x.

    Args:
        approximate: 'none', or 'tanh' for an approximation.

    Source: MindSpore's `mint.nn.GELU`.

    Example:
        >>> print(mint.nn.GELU()(Tensor([0.0])))
        [0.]
    """

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def construct(self, input) -> Tensor:
        """The activation of the input."""
        return functional.gelu(input, self.approximate)


class SELU(activation.SeLU):
    """scale · x where x is positive, scale · alpha · (exp(x) - 1) elsewhere.

    Source: MindSpore's `mint.nn.SELU`.

    Example:
        >>> print(mint.nn.SELU()(Tensor([0.0])))
        [0.]
    """


class GLU(Cell):
    """The first half of x along `dim` times the sigmoid of the second half.

    Source: MindSpore's `mint.nn.GLU`.

    Example:
        >>> print(mint.nn.GLU()(Tensor([4.0, 0.0])))
        [2.]
    """

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def construct(self, input) -> Tensor:
        """Half of the input, let through as far as the other half says."""
        return functional.glu(input, self.dim)


class Softmax(Cell):
    """exp(x), divided by its sum along `dim`.

    Args:
        dim: the dimension; None is the first for 0, 1 and 3 dimensions, else the second.

    Source: MindSpore's `mint.nn.Softmax`.

    Example:
        >>> print(mint.nn.Softmax(-1)(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input) -> Tensor:
        """The shares."""
        return functional.softmax(input, self.dim)


class LogSoftmax(Cell):
    """The logarithm of softmax, without losing small values; see Softmax.

    Source: MindSpore's `mint.nn.LogSoftmax`.

    Example:
        >>> print(mint.nn.LogSoftmax(-1)(Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input) -> Tensor:
        """The logarithms of the shares."""
        return functional.log_softmax(input, self.dim)


class PReLU(Cell):
    """x where it is positive, weight · x elsewhere; the weight is trained.

    Args:
        num_parameters: 1, or the length of dimension 1 of the inputs.
        init: the first value of the weight.
        dtype: the element type of the weight; None is Float32.

    Raises:
        TypeError: `num_parameters` is not an integer.
        ValueError: `num_parameters` is not positive.

    Source: MindSpore's `mint.nn.PReLU`.

    Example:
        >>> print(mint.nn.PReLU()(Tensor([[-1.0, 2.0]])))
        [[-0.25  2.  ]]
    """

    def __init__(self, num_parameters=1, init=0.25, dtype=None):
        super().__init__()
        positive_integer(num_parameters, "PReLU.num_parameters")
        start = initializer(init, (num_parameters,), dtype or float32)
        self.weight = Parameter(start, name="weight")

    def construct(self, input) -> Tensor:
        """The input, multiplied by the weight where it is negative."""
        return functional.prelu(input, self.weight)
