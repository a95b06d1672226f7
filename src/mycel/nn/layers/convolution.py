# SPDX-License-Identifier: Apache-2.0
"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.define.definition import interned
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of, positive_integer, positive_integers
from mycel.nn.layers.inside import Beside, Inside
from mycel.nn.layers.linear import weight_and_bias
from mycel.ops.nn.convolution import conv

PAD_MODES = ("same", "valid", "pad")


def padding_of(value, pad_mode: str, owner: str, count: int):
    """An integer or `count` of them, 0 unless pad_mode is 'pad'.

    Raises:
        TypeError: neither.
        ValueError: negative, or not 0 with another pad_mode.
    """
    numbers = (value,) if is_integer(value) else value
    what, expected = f"{owner}.padding", f"an integer or {count} of them"
    if not isinstance(numbers, tuple) or not all(map(is_integer, numbers)):
        raise wrong(TypeError, what, expected, f"{type(value).__name__} {value!r}")
    if min(numbers, default=-1) < 0 or len(numbers) not in (1, count):
        raise wrong(ValueError, what, f"{expected}, not negative", value)
    if pad_mode != "pad" and any(numbers):
        raise wrong(ValueError, what, f"0 with pad_mode={pad_mode!r}", value)
    return value


class SlidingKernel(Cell):
    """What convolutions, transposed or not, share: checks and their description."""

    space = 2
    _formats: tuple[str, ...] = ("NCHW",)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group,
        has_bias, weight_init, bias_init, data_format,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = positive_integer(in_channels, f"{owner}.in_channels")
        self.out_channels = positive_integer(out_channels, f"{owner}.out_channels")
        self.kernel_size = self._sizes(kernel_size, "kernel_size")
        self.stride = interned(self._sizes(stride, "stride"))
        self.pad_mode = one_of(pad_mode, f"{owner}.pad_mode", PAD_MODES)
        self.data_format = one_of(data_format, f"{owner}.data_format", self._formats)
        self.padding = interned(self._sides(padding))
        self.dilation = interned(self._sizes(dilation, "dilation"))
        self.group = positive_integer(group, f"{owner}.group")
        if in_channels % group or out_channels % group:
            expected = f"a divisor of in_channels={in_channels} and out_channels={out_channels}"
            raise wrong(ValueError, f"{owner}.group", expected, group)
        self.has_bias = boolean(has_bias, f"{owner}.has_bias")
        self.weight_init = weight_init
        self.bias_init = bias_init

    def _sizes(self, value, name: str) -> tuple[int, ...]:
        """A number for each dimension; sequences are rows of a height of 1."""
        what = f"{type(self).__name__}.{name}"
        if self.space == 1:
            return 1, positive_integer(value, what)
        return positive_integers(value, what, self.space)

    def _sides(self, padding):
        """What is given for the two sides of each dimension, or for all alike."""
        is_triple = self.space == 3 and isinstance(padding, tuple) and len(padding) == 3
        count = 3 if is_triple else 2 * self.space
        padding_of(padding, self.pad_mode, type(self).__name__, count)
        if self.space > 1:
            return padding
        sides = padding if isinstance(padding, tuple) else (padding,)
        return 0, 0, sides[0], sides[-1]

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
        )


class Convolution(SlidingKernel):
    """What the convolutions share: their Parameters."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group,
        has_bias, weight_init, bias_init, data_format, dtype,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, dilation, group
        starts = has_bias, weight_init, bias_init
        super().__init__(in_channels, out_channels, *window, *starts, data_format)
        inputs = in_channels // group
        shape = (out_channels, inputs, *self.kernel_size)
        if data_format == "NHWC":
            shape = (out_channels, *self.kernel_size, inputs)
        fan = inputs * math.prod(self.kernel_size)
        self.weight, self.bias = weight_and_bias(
            shape, fan, weight_init, bias_init, has_bias, dtype
        )


class _ChannelsLast(ops.Conv2D):
    """The operator inside of a layer whose inputs and weight have their channels last."""

    def __call__(self, x: Any, weight: Any) -> Any:
        output = super().__call__(x.transpose(0, 3, 1, 2), weight.transpose(0, 3, 1, 2))
        return output.transpose(0, 2, 3, 1)


def _operator(cell: Conv1d | Conv2d):
    kind = ops.Conv2D if cell.data_format == "NCHW" else _ChannelsLast
    window = cell.pad_mode, cell.padding, cell.stride, cell.dilation, cell.group
    return kind(cell.out_channels, cell.kernel_size, 1, *window)


def _by_steps(cell: Conv2d, x) -> Tensor:
    """What `Conv2d` computes, an operator at a time."""
    y = cell.conv2d(x, cell.weight)
    return y if cell.bias is None else cell.bias_add(y, cell.bias)


class Conv2d(Convolution):
    """Slide kernels over images: (N, in_channels, H, W) to (N, out_channels, H', W').

    Weight and bias start evenly spread within ±1/√(inputs of one output) unless given.

    Args:
        in_channels, out_channels: the channels of input and output.
        kernel_size, stride, dilation: an integer, or two for H and W.
        pad_mode: 'same' (as many outputs as inputs / stride), 'valid' (none), or 'pad'.
        padding: zeros with 'pad': an integer, or four: top, bottom, left, right.
        group: channels fall into as many groups that do not mix.
        has_bias: whether a bias is added.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        data_format: 'NCHW', or 'NHWC' for channels last (then the weight has them last too).
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, padding without 'pad', or
            channels that the groups do not divide.

    Source: MindSpore's `mindspore.nn.Conv2d`.

    Subclasses with steps of their own have `self.conv2d(x, weight)`, without bias, and
    `self.bias_add(x, bias)`.

    Example:
        >>> layer = nn.Conv2d(1, 2, 3, pad_mode="valid", weight_init="ones")
        >>> print(layer(ops.ones((1, 1, 3, 3), mycel.float32)).asnumpy().ravel())
        [9. 9.]
        >>> class Doubled(nn.Conv2d):
        ...     def construct(self, x):
        ...         return self.conv2d(x, 2 * self.weight)
        >>> layer = Doubled(1, 1, 1, weight_init="ones")
        >>> print(layer(ops.ones((1, 1, 1, 2), mycel.float32)).asnumpy().ravel())
        [2. 2.]
    """

    _formats = ("NCHW", "NHWC")
    conv2d = Inside(_operator, _by_steps)
    bias_add = Inside(lambda cell: ops.BiasAdd(cell.data_format), _by_steps)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None,
        data_format="NCHW", dtype=float32,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, dilation, group
        starts = has_bias, weight_init, bias_init, data_format, dtype
        super().__init__(in_channels, out_channels, *window, *starts)

    def construct(self, x) -> Tensor:
        """The outputs for images x."""
        if self.data_format == "NCHW":
            return self._convolved(x, self.weight)
        output = self._convolved(x.transpose(0, 3, 1, 2), self.weight.transpose(0, 3, 1, 2))
        return output.transpose(0, 2, 3, 1)

    def _convolved(self, x, weight):
        return conv(
            x,
            weight,
            self.bias,
            self.stride,
            self.pad_mode,
            self.padding,
            self.dilation,
            self.group,
        )


class Conv1d(Convolution):
    """Slide kernels over sequences: (N, in_channels, L) to (N, out_channels, L').

    The weight has shape (out_channels, in_channels / group, 1, kernel_size), as in MindSpore.

    Args:
        kernel_size, stride, dilation: an integer.
        padding: zeros on both sides with 'pad': an integer, or two: left, right.
        weight_init: as for Conv2d; a Tensor may be of shape (out_channels, in_channels / group,
            kernel_size), as in MindSpore.
        others: as for Conv2d.

    Raises:
        TypeError: an argument of another type.
        ValueError: as for Conv2d, or an input that has not three dimensions.

    Source: MindSpore's `mindspore.nn.Conv1d`.

    Example:
        >>> layer = nn.Conv1d(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(layer(Tensor([[[1.0, 2.0, 3.0]]])))
        [[[3. 5.]]]
    """

    space = 1
    expand_dims = Beside(lambda cell: ops.ExpandDims())
    conv2d = Beside(_operator)
    bias_add = Beside(lambda cell: ops.BiasAdd())
    squeeze = Beside(lambda cell: ops.Squeeze(2))
    shape = Beside(lambda cell: ops.Shape())

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None, dtype=float32,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, dilation, group
        if isinstance(weight_init, Tensor) and weight_init.ndim == 3:
            weight_init = weight_init.expand_dims(2)
        starts = has_bias, weight_init, bias_init, "NCHW", dtype
        super().__init__(in_channels, out_channels, *window, *starts)

    def construct(self, x) -> Tensor:
        """The outputs for sequences x."""
        if x.ndim != 3:
            raise wrong(ValueError, "The input of Conv1d", "(N, C, L)", f"shape {x.shape}")
        output = ops.conv2d(
            x.expand_dims(2),
            self.weight,
            self.bias,
            self.stride,
            self.pad_mode,
            self.padding,
            self.dilation,
            self.group,
        )
        return output.squeeze(2)
