# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers, and the two that only pass values on."""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from mycel import ops
from mycel.init import HeUniform, Uniform, initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive, op
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, positive_integer
from mycel.nn.layers.activation import get_activation
from mycel.nn.layers.inside import Beside, Inside


@op()
def affine(x, weight, bias=None):
    """x · weightᵀ + bias: (…, in) and (out, in) give (…, out); one node of the record.

    Raises:
        TypeError: the element types differ.
        ValueError: the last length of x is not `in`.

    Example:
        >>> from mycel.nn.layers.linear import affine
        >>> print(affine(Tensor([1.0, 2.0]), Tensor([[1.0, 1.0]])))
        [3.]
    """
    if x.dtype != weight.dtype:
        raise TypeError(
            f"inputs and weight must have one element type, but {x.dtype} and {weight.dtype} "
            "were given; convert the inputs with `.astype(...)`."
        )
    if not x.ndim or x.shape[-1] != weight.shape[1]:
        made = f", or make the layer for {x.shape[-1]}" if x.ndim else ""
        raise ValueError(
            f"the last length of the inputs {x.shape} must be in_channels={weight.shape[1]}. "
            f"Reshape the inputs{made}."
        )
    product = lax.dot_general(x, weight, (((x.ndim - 1,), (1,)), ((), ())))
    return product if bias is None else product + bias


def weight_and_bias(shape, fan: int, weight_init, bias_init, has_bias: bool, dtype):
    """The Parameters `weight` and `bias` of a layer that `fan` inputs feed; bias may be None.

    Without initialisers both are spread evenly within ±1/√fan.
    """
    if weight_init is None:
        weight_init = HeUniform(math.sqrt(5))
    weight = Parameter(initializer(weight_init, shape, dtype), name="weight")
    if not has_bias:
        return weight, None
    if bias_init is None:
        bias_init = Uniform(1 / math.sqrt(fan))
    return weight, Parameter(initializer(bias_init, (shape[0],), dtype), name="bias")


def _by_steps(dense: Dense, x) -> Tensor:
    """What `Dense` computes, an operator at a time: as MindSpore's, of two dimensions."""
    y = dense.matmul(x if x.ndim == 2 else x.reshape(-1, x.shape[-1]), dense.weight)
    y = y if dense.bias is None else dense.bias_add(y, dense.bias)
    y = y if dense.activation is None else dense.activation(y)
    return y if x.ndim == 2 else y.reshape(*x.shape[:-1], -1)


class Dense(Cell):
    """y = activation(x · weightᵀ + bias): inputs (…, in_channels) to outputs (…, out_channels).

    Weight and bias start evenly spread within ±1/√in_channels unless initialisers are given.

    Args:
        in_channels, out_channels: the last lengths of input and output.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        has_bias: whether a bias is added.
        activation: a Cell, Primitive or name ('relu') applied to the result.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: a size is not an integer, has_bias not a bool, or activation of another type.
        ValueError: a size is not positive, or a given Tensor has another shape.

    Source: MindSpore's `mindspore.nn.Dense`.

    Example:
        >>> layer = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        >>> print(layer(Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    matmul = Inside(lambda dense: ops.MatMul(transpose_b=True), _by_steps)
    bias_add = Inside(lambda dense: ops.BiasAdd(), _by_steps)
    reshape = Beside(lambda dense: ops.Reshape())
    shape_op = Beside(lambda dense: ops.Shape())

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init=None,
        bias_init=None,
        has_bias=True,
        activation=None,
        dtype=float32,
    ):
        super().__init__()
        self.in_channels = positive_integer(in_channels, "Dense.in_channels")
        self.out_channels = positive_integer(out_channels, "Dense.out_channels")
        self.has_bias = boolean(has_bias, "Dense.has_bias")
        self.weight, self.bias = weight_and_bias(
            (out_channels, in_channels), in_channels, weight_init, bias_init, has_bias, dtype
        )
        self.activation = activation_of(activation, "Dense.activation")
        self.activation_flag = self.activation is not None

    def construct(self, x) -> Tensor:
        """The outputs for inputs x."""
        x = affine(x, self.weight, self.bias)
        return x if self.activation is None else self.activation(x)

    def extend_repr(self) -> str:
        """The sizes, has_bias and activation."""
        shown = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            shown += f", has_bias={self.has_bias}"
        if self.activation is not None:
            shown += f", activation={self.activation}"
        return shown


class MatMul(Cell):
    """The matrix product of two inputs as a Cell; either may be transposed in its last two axes.

    Args:
        transpose_x1, transpose_x2: whether the last two axes of the first, of the second input are
            exchanged.

    Raises:
        TypeError: one of them is not a bool.

    Source: MindSpore's `mindspore.nn.MatMul`, until its version 1.10.

    Example:
        >>> print(nn.MatMul()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[11.]]
    """

    def __init__(self, transpose_x1=False, transpose_x2=False):
        super().__init__()
        self.transpose_x1 = boolean(transpose_x1, "MatMul.transpose_x1")
        self.transpose_x2 = boolean(transpose_x2, "MatMul.transpose_x2")

    def construct(self, x1, x2) -> Tensor:
        """The product of x1 and x2, with leading axes broadcast."""
        x1 = x1.swapaxes(-1, -2) if self.transpose_x1 else x1
        x2 = x2.swapaxes(-1, -2) if self.transpose_x2 else x2
        return ops.matmul(x1, x2)


def activation_of(activation, what: str):
    """The Cell or Primitive that a name means; Cells, Primitives and None as they are.

    Raises:
        TypeError: something else.
        KeyError: an unknown name.
    """
    if isinstance(activation, str):
        return get_activation(activation)
    if activation is not None and not isinstance(activation, (Cell, Primitive)):
        expected = "a name, a Cell or a Primitive"
        raise wrong(TypeError, what, expected, f"{type(activation).__name__} {activation!r}")
    return activation


class Identity(Cell):
    """Its input, unchanged; arguments of the constructor are ignored.

    Source: MindSpore's `mindspore.nn.Identity`.

    Example:
        >>> print(nn.Identity()(Tensor([1, 2])))
        [1 2]
    """

    def __init__(self, *args, **kwargs):
        del args, kwargs
        super().__init__()

    def construct(self, x) -> Any:
        """x."""
        return x


class Flatten(Cell):
    """The dimensions from `start_dim` to `end_dim` as one: (N, C, H, W) to (N, C·H·W).

    Raises:
        ValueError: the input does not have the dimension, when called.

    Source: MindSpore's `mindspore.nn.Flatten`.

    Example:
        >>> nn.Flatten()(ops.ones((2, 3, 4))).shape
        (2, 12)
    """

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def construct(self, x) -> Tensor:
        """x with fewer dimensions."""
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)
