# SPDX-License-Identifier: Apache-2.0
"""Layers for volumes: convolution and pooling in three dimensions; and adaptive maxima."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean
from mycel.nn.layers.convolution import Convolution
from mycel.nn.layers.declare import layer
from mycel.nn.layers.pooling import AveragePooling, MaximumPooling
from mycel.ops.nn.volumes import max_pool3d, max_pool_volume, mean_pool_volume


class Conv3d(Convolution):
    """Slide kernels over volumes: (N, in_channels, D, H, W) to (N, out_channels, D', H', W').

    Weight and bias start evenly spread within ±1/√(inputs of one output) unless given.

    Args:
        in_channels, out_channels: the channels of input and output.
        kernel_size, stride, dilation: an integer, or three for D, H and W.
        pad_mode: 'same' (as many outputs as inputs / stride), 'valid' (none), or 'pad'.
        padding: zeros with 'pad': an integer, three, or six: head, tail, top, bottom, left, right.
        group: channels fall into as many groups that do not mix.
        has_bias: whether a bias is added.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        data_format: 'NCDHW'.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, padding without 'pad', or
            channels that the groups do not divide.

    Source: MindSpore's `mindspore.nn.Conv3d`.

    Example:
        >>> layer = nn.Conv3d(1, 2, 2, pad_mode="valid", weight_init="ones")
        >>> print(layer(ops.ones((1, 1, 2, 2, 2))).asnumpy().ravel())
        [8. 8.]
    """

    space = 3
    _formats = ("NCDHW",)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, has_bias=False, weight_init=None, bias_init=None,
        data_format="NCDHW", dtype=float32,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, dilation, group
        starts = has_bias, weight_init, bias_init, data_format, dtype
        super().__init__(in_channels, out_channels, *window, *starts)

    def construct(self, x) -> Tensor:
        """The outputs for volumes x."""
        if x.ndim != 5:
            raise wrong(ValueError, "The input of Conv3d", "(N, C, D, H, W)", f"shape {x.shape}")
        settings = self.stride, self.pad_mode, self.padding, self.dilation, self.group
        return ops.conv3d(x, self.weight, self.bias, *settings)


class MaxPool3d(MaximumPooling):
    """The maximum of every window: (N, C, D, H, W) to (N, C, D', H', W'), or without N.

    Args:
        kernel_size, stride: an integer, or three for D, H and W.
        pad_mode: 'valid' (none), 'same' (as many outputs as inputs / stride), or 'pad'.
        padding, dilation, return_indices, ceil_mode: only with 'pad'; indices are Int64,
            counted through D, H and W.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, or what needs 'pad' without it.

    Source: MindSpore's `mindspore.nn.MaxPool3d`.

    Example:
        >>> nn.MaxPool3d(2, 2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    space = 3

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1,
        return_indices=False, ceil_mode=False,
    ):  # fmt: skip
        settings = padding, dilation, return_indices, ceil_mode
        super().__init__(kernel_size, stride, pad_mode, *settings)

    def _pooled(self, x):
        if self.pad_mode != "PAD":
            return max_pool_volume(x, self.kernel_size, self.stride, self.pad_mode)
        settings = self.padding, self.dilation, self.ceil_mode, self.return_indices
        return max_pool3d(x, self.kernel_size, self.stride, *settings)


class AvgPool3d(AveragePooling):
    """The mean of every window: (N, C, D, H, W) to (N, C, D', H', W'), or without N.

    Args:
        kernel_size, stride: an integer, or three for D, H and W.
        pad_mode: 'valid' (none), 'same' (as many outputs as inputs / stride), or 'pad'.
        padding: only with 'pad'.
        ceil_mode: whether a last window may reach over the end, as with 'same' it does.
        count_include_pad: whether padding counts in the mean.
        divisor_override: a number to divide by instead of the count.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, or what needs 'pad' without it.

    Source: MindSpore's `mindspore.nn.AvgPool3d`.

    Example:
        >>> nn.AvgPool3d(2, 2)(ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 2, 2, 2)
    """

    space = 3

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False,
        count_include_pad=True, divisor_override=None,
    ):  # fmt: skip
        counting = ceil_mode, count_include_pad, divisor_override
        super().__init__(kernel_size, stride, pad_mode, padding, *counting)

    def _pooled(self, x):
        counting = self.ceil_mode, self.count_include_pad, self.divisor_override or 0
        window = self.kernel_size, self.stride, self.pad_mode, self.padding
        return mean_pool_volume(x, *window, *counting)


@layer(ops, "adaptive_avg_pool3d", "nn.AdaptiveAvgPool3d(output_size)(input)",
    "mint.nn.AdaptiveAvgPool3d(output_size)(input)")  # fmt: skip
class AdaptiveAvgPool3d(Cell):
    """The mean of regions that cover D, H and W: (N, C, D, H, W) to (N, C, *output_size).

    Args:
        output_size: an integer, or three; None keeps a length.

    Example:
        >>> print(nn.AdaptiveAvgPool3d(1)(Tensor([[[[[1.0, 3.0]]]]])).asnumpy().ravel())
        [2.]
        >>> print(mint.nn.AdaptiveAvgPool3d(1)(Tensor([[[[[1.0, 3.0]]]]])))
        [[[[[2.]]]]]
    """


@layer(ops, "adaptive_max_pool1d", "nn.AdaptiveMaxPool1d(output_size)(input)",
    "mint.nn.AdaptiveMaxPool1d(output_size, return_indices=False)(input)")  # fmt: skip
class AdaptiveMaxPool1d(Cell):
    """The maximum of `output_size` regions of L: (N, C, L) to (N, C, output_size).

    Args:
        output_size: how many regions.
        return_indices: give the positions of the maxima too, Int64.

    Example:
        >>> print(nn.AdaptiveMaxPool1d(1)(Tensor([[[1.0, 3.0]]])))
        [[[3.]]]
        >>> print(mint.nn.AdaptiveMaxPool1d(1)(Tensor([[[1.0, 3.0]]])))
        [[[3.]]]
    """


@layer(ops, "adaptive_max_pool3d", "nn.AdaptiveMaxPool3d(output_size, return_indices=False)(input)",
    return_indices=boolean)  # fmt: skip
class AdaptiveMaxPool3d(Cell):
    """The maximum of regions that cover D, H and W: (N, C, D, H, W) to (N, C, *output_size).

    Args:
        output_size: an integer, or three; None keeps a length.
        return_indices: give the positions of the maxima too, counted through D, H and W.

    Example:
        >>> print(nn.AdaptiveMaxPool3d(1)(Tensor([[[[[1.0, 3.0]]]]])).asnumpy().ravel())
        [3.]
    """
