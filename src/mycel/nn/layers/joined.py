# SPDX-License-Identifier: Apache-2.0
"""Layers of several parts: with normalisation and activation, of two inputs, over time."""

from __future__ import annotations

import math
from collections.abc import Callable

from mycel import ops
from mycel.init import Uniform
from mycel.kernel.base.dtypes import as_dtype, float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import Primitive
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, positive_integer
from mycel.nn.layers.activation import LeakyReLU, get_activation
from mycel.nn.layers.convolution import Conv2d
from mycel.nn.layers.linear import Dense, weight_and_bias
from mycel.nn.layers.normalization import BatchNorm1d, BatchNorm2d


def _activation(activation, alpha, what: str):
    """A Cell or Primitive; 'leakyrelu' has its slope from alpha.

    Raises:
        KeyError: an unknown name.
        TypeError: the argument is of another type.
    """
    if activation == "leakyrelu":
        return LeakyReLU(alpha=alpha)
    if activation is None or isinstance(activation, (Cell, Primitive)):
        return activation
    if not isinstance(activation, str):
        expected = "a name, a Cell or a Primitive"
        raise wrong(TypeError, what, expected, f"{type(activation).__name__} {activation!r}")
    return get_activation(activation)


class Conv2dBnAct(Cell):
    """A two-dimensional convolution, then batch normalisation and an activation if asked for.

    Args:
        in_channels … bias_init: of `Conv2d`.
        has_bn, momentum, eps: whether `BatchNorm2d` follows, and its settings.
        activation: a name, a Cell or a Primitive.
        alpha: the slope of 'leakyrelu' below 0.
        after_fake: accepted for programs that quantise.

    Raises:
        TypeError: an argument is of another type.

    Source: MindSpore's `mindspore.nn.Conv2dBnAct`.

    Example:
        >>> layer = nn.Conv2dBnAct(1, 4, 3, has_bn=True, activation="relu")
        >>> layer(ops.ones((1, 1, 5, 5))).shape
        (1, 4, 5, 5)
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init="normal",
        bias_init="zeros",
        has_bn=False,
        momentum=0.997,
        eps=1e-05,
        activation=None,
        alpha=0.2,
        after_fake=True,
    ):
        super().__init__()
        self.conv = Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
        )
        self.has_bn = boolean(has_bn, "Conv2dBnAct.has_bn")
        self.after_fake = boolean(after_fake, "Conv2dBnAct.after_fake")
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.has_act = activation is not None
        self.activation = _activation(activation, alpha, "Conv2dBnAct.activation")

    def construct(self, x) -> Tensor:
        """The convolution, normalised and activated."""
        x = self.conv(x)
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act and self.activation is not None else x


class DenseBnAct(Cell):
    """A fully connected layer, then batch normalisation and an activation if asked for.

    Args:
        in_channels … has_bias: of `Dense`.
        has_bn, momentum, eps: whether `BatchNorm1d` follows, and its settings.
        activation: a name, a Cell or a Primitive.
        alpha: the slope of 'leakyrelu' below 0.
        after_fake: accepted for programs that quantise.

    Raises:
        TypeError: an argument is of another type.

    Source: MindSpore's `mindspore.nn.DenseBnAct`.

    Example:
        >>> layer = nn.DenseBnAct(3, 2, "ones", activation="relu")
        >>> print(layer(Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        weight_init="normal",
        bias_init="zeros",
        has_bias=True,
        has_bn=False,
        momentum=0.9,
        eps=1e-05,
        activation=None,
        alpha=0.2,
        after_fake=True,
    ):
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn = boolean(has_bn, "DenseBnAct.has_bn")
        self.after_fake = boolean(after_fake, "DenseBnAct.after_fake")
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.has_act = activation is not None
        self.activation = _activation(activation, alpha, "DenseBnAct.activation")

    def construct(self, x) -> Tensor:
        """The products, normalised and activated."""
        x = self.dense(x)
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act and self.activation is not None else x


class BiDense(Cell):
    """y = input1ᵀ · weight · input2 + bias for each of the outputs.

    Weight and bias start evenly spread within ±1/√in1_channels unless initialisers are given.

    Args:
        in1_channels, in2_channels, out_channels: the last lengths of the inputs and the output.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        has_bias: whether a bias is added.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: a size is not an integer, or has_bias not a bool.
        ValueError: a size is not positive, or a given Tensor has another shape.

    Source: MindSpore's `mindspore.nn.BiDense`.

    Example:
        >>> layer = nn.BiDense(2, 3, 1, weight_init="ones", bias_init="zeros")
        >>> print(layer(Tensor([[1.0, 2.0]]), Tensor([[1.0, 1.0, 1.0]])))
        [[9.]]
    """

    def __init__(
        self,
        in1_channels,
        in2_channels,
        out_channels,
        weight_init=None,
        bias_init=None,
        has_bias=True,
        dtype=float32,
    ):
        super().__init__()
        self.in1_channels = positive_integer(in1_channels, "BiDense.in1_channels")
        self.in2_channels = positive_integer(in2_channels, "BiDense.in2_channels")
        self.out_channels = positive_integer(out_channels, "BiDense.out_channels")
        self.has_bias = boolean(has_bias, "BiDense.has_bias")
        shape = (out_channels, in1_channels, in2_channels)
        if weight_init is None:
            weight_init = Uniform(1 / math.sqrt(in1_channels))
        self.weight, self.bias = weight_and_bias(
            shape, in1_channels, weight_init, bias_init, has_bias, as_dtype(dtype)
        )

    def construct(self, input1, input2) -> Tensor:
        """The outputs for both inputs."""
        return ops.bidense(input1, input2, self.weight, self.bias)

    def extend_repr(self) -> str:
        """The sizes and has_bias."""
        return (
            f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, "
            f"output_channels={self.out_channels}, has_bias={self.has_bias}"
        )


class TimeDistributed(Cell):
    """A layer applied to every step of a sequence alike.

    Args:
        layer: a Cell, or any function of one Tensor.
        time_axis: the dimension of the steps.
        reshape_with_axis: a dimension that the layer treats as samples; the steps are joined to it
            and the layer is called once. None calls the layer for each step.

    Raises:
        TypeError: an axis is not an integer, or the layer cannot be called.
        ValueError: there are fewer than three dimensions, or one axis is given twice.

    Source: MindSpore's `mindspore.nn.TimeDistributed`.

    Example:
        >>> layer = nn.TimeDistributed(nn.Dense(3, 2), time_axis=1, reshape_with_axis=0)
        >>> layer(ops.ones((4, 5, 3))).shape
        (4, 5, 2)
    """

    def __init__(self, layer: Callable[..., Tensor], time_axis, reshape_with_axis=None):
        super().__init__()
        if not callable(layer):
            raise wrong(TypeError, "TimeDistributed.layer", "a Cell or a function", repr(layer))
        axes = {"time_axis": time_axis, "reshape_with_axis": reshape_with_axis}
        for name, axis in axes.items():
            if not is_integer(axis) and (axis is not None or name == "time_axis"):
                raise wrong(TypeError, f"TimeDistributed.{name}", "an integer", repr(axis))
        self.layer = layer
        self.time_axis = time_axis
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs) -> Tensor:
        """The outputs of all steps, along the same dimension."""
        if inputs.ndim < 3:
            expected, actual = "of three dimensions or more", f"shape {inputs.shape}"
            raise wrong(ValueError, "The input of TimeDistributed", expected, actual)
        time = self.time_axis % inputs.ndim
        steps = inputs.shape[time]
        if self.reshape_with_axis is None:
            outputs = [self.layer(part) for part in ops.unbind(inputs, time)]
            return ops.stack(outputs, time)
        samples = self.reshape_with_axis % inputs.ndim
        if samples == time:
            raise wrong(ValueError, "TimeDistributed.reshape_with_axis", "another axis", samples)
        # Beside the samples, in front of them: one reshape joins both.
        rest = [axis for axis in range(inputs.ndim) if axis != time]
        place = rest.index(samples)
        moved = inputs.transpose(*rest[:place], time, *rest[place:])
        shape = moved.shape
        output = self.layer(moved.reshape(*shape[:place], -1, *shape[place + 2 :]))
        output = output.reshape(*output.shape[:place], steps, -1, *output.shape[place + 1 :])
        others = [axis for axis in range(output.ndim) if axis != place]
        order = [*others[:time], place, *others[time:]]
        return output.transpose(*order)
