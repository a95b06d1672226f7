# SPDX-License-Identifier: Apache-2.0
"""Bases of layers that MindSpore keeps to itself and from which programs derive their own."""

from __future__ import annotations

import math

from mycel.kernel.base.dtypes import float32
from mycel.nn.cell import Cell
from mycel.nn.layers.convolution import Convolution
from mycel.nn.layers.linear import weight_and_bias


class ConvolutionBase(Convolution):
    """The Parameters of a convolution; for classes that say in `construct` what is computed.

    Args:
        in_channels, out_channels: channels of the input and of the output.
        kernel_size: a tuple, one extent for each dimension that the weight has.
        stride, pad_mode, padding, dilation, group: kept as attributes.
        has_bias: whether there is a `bias`; it is None otherwise.
        weight_init, bias_init: initialisers; None takes the default ones.
        data_format: 'NCHW' or 'NHWC'.
        transposed: the weight has the shape of a transposed convolution, the inputs first.
        dtype: the element type of the Parameters.

    Source: MindSpore's `mindspore.nn.layer.conv._Conv`.

    Example:
        >>> from mycel.compat.layers import ConvolutionBase
        >>> ConvolutionBase(4, 6, (3,), 1, "same", 0, 1, 2, True, None, None).weight.shape
        (6, 2, 3)
    """

    _formats = ("NCHW", "NHWC")

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group,
        has_bias, weight_init, bias_init, data_format="NCHW", transposed=False, dtype=float32,
    ):  # fmt: skip
        # A transposed convolution is the reverse of one whose channels are exchanged.
        channels = (out_channels, in_channels) if transposed else (in_channels, out_channels)
        super().__init__(
            *channels, kernel_size, stride, pad_mode, padding, dilation, group,
            has_bias and not transposed, weight_init, bias_init, data_format, dtype,
        )  # fmt: skip
        self.in_channels, self.out_channels = in_channels, out_channels
        if transposed and has_bias:
            fan = out_channels // group * math.prod(kernel_size)
            self.has_bias = True
            self.bias = weight_and_bias((out_channels,), fan, "zeros", bias_init, True, dtype)[1]

    def _sizes(self, value, name):
        return value  # whatever the class that derives from this one makes of it

    def _sides(self, padding):
        return padding


class VirtualDatasetCell(Cell):
    """A network as it is: on one device its inputs need no other layout.

    Source: MindSpore's `mindspore.nn.wrap.cell_wrapper._VirtualDatasetCell`.

    Example:
        >>> from mycel.compat.layers import VirtualDatasetCell
        >>> print(VirtualDatasetCell(nn.ReLU())(Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, backbone):
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs):
        """What the network makes of them."""
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(VirtualDatasetCell):
    """A network of three inputs as it is: on one device they need no other layout.

    Source: MindSpore's `mindspore.nn.VirtualDatasetCellTriple`.

    Example:
        >>> class Sum(nn.Cell):
        ...     def construct(self, a, b, c):
        ...         return a + b + c
        >>> print(nn.VirtualDatasetCellTriple(Sum())(Tensor(1.0), Tensor(2.0), Tensor(3.0)))
        6.0
    """

    def construct(self, a, b, c):
        """What the network makes of them."""
        return self._backbone(a, b, c)


def deconvolution_length(
    is_valid: bool, is_same: bool, is_pad: bool,
    input_length: int, filter_size: int, stride_size: int, dilation_size: int, padding: int,
) -> int:  # fmt: skip
    """How long the output of a transposed convolution is along one dimension.

    Args:
        is_valid, is_same, is_pad: which padding mode there is; 0 if none of them.
        input_length, filter_size, stride_size, dilation_size: along this dimension.
        padding: both sides together; only `is_pad` takes it off.

    Source: MindSpore's `mindspore.nn.layer.conv._deconv_output_length`.

    Example:
        >>> from mycel.compat.layers import deconvolution_length
        >>> deconvolution_length(True, False, False, 5, 3, 2, 1, 0)
        11
    """
    spread = filter_size + (filter_size - 1) * (dilation_size - 1)
    length = input_length * stride_size
    if is_valid:
        return length + max(spread - stride_size, 0)
    if is_same:
        return length
    return length - padding + spread - stride_size if is_pad else 0
