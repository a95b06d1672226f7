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
from mycel.nn.layers.declare import layer, twin

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


@twin(activation.ELU, functional, inplace=boolean)
class ELU(Cell): ...


@twin(activation.GLU, functional)
class GLU(Cell): ...


@twin(activation.LogSoftmax, functional)
class LogSoftmax(Cell): ...


@twin(activation.ReLU6, functional, inplace=boolean)
class ReLU6(Cell): ...


@twin(activation.SiLU, functional, inplace=boolean)
class SiLU(Cell): ...


@twin(activation.Softmax, functional)
class Softmax(Cell): ...


@twin(activation.Threshold, functional, inplace=boolean)
class Threshold(Cell): ...


@layer(
    functional,
    "hardtanh",
    "mint.nn.Hardtanh(min_val=-1.0, max_val=1.0, inplace=False)(input)",
    inplace=boolean,
)
class Hardtanh(Cell):
    """x within `min_val` and `max_val`, of any shape.

    Args:
        min_val, max_val: the bounds.
        inplace: whether the result is assigned to the input as well.

    Example:
        >>> print(mint.nn.Hardtanh()(Tensor([-5.0, 0.5])))
        [-1.   0.5]
    """


@layer(functional, "gelu", "mint.nn.GELU(approximate='none')(input)")
class GELU(Cell):
    """x times the share of the normal distribution below x, of any shape.

    Args:
        approximate: 'none', or 'tanh' for an approximation.

    Example:
        >>> print(mint.nn.GELU()(Tensor([0.0])))
        [0.]
    """


@twin(activation.SeLU, functional)
class SELU(activation.SeLU): ...


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
