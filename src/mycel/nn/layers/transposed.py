# SPDX-License-Identifier: Apache-2.0
"""Layers of transposed convolutions."""

from __future__ import annotations

import math

from mycel.init import Uniform, initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import is_integer
from mycel.nn.layers.convolution import SlidingKernel
from mycel.nn.layers.linear import weight_and_bias
from mycel.ops.array.axes import several
from mycel.ops.nn.padding import pad_constant
from mycel.ops.nn.transposed import conv_transpose


class _ConvTranspose(SlidingKernel):
    """What the transposed convolutions share: their Parameters and their call."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, pad_mode, padding, output_padding,
        dilation, group, has_bias, weight_init, bias_init, data_format, dtype,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, dilation, group
        starts = has_bias, weight_init, bias_init
        super().__init__(in_channels, out_channels, *window, *starts, data_format)
        self.output_padding = self._longer(output_padding)
        shape = (in_channels, out_channels // group, *self.kernel_size)
        # As in MindSpore the spread follows the second length of the weight.
        fan = math.prod(shape[1:])
        self.weight, _ = weight_and_bias(shape, fan, weight_init, None, False, dtype)
        self.bias = None
        if has_bias:
            chosen = Uniform(1 / math.sqrt(fan)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(chosen, (out_channels,), dtype), name="bias")

    def _longer(self, value):
        what = f"{type(self).__name__}.output_padding"
        count = len(self.kernel_size)
        numbers = (value,) * count if is_integer(value) else value
        if not isinstance(numbers, tuple) or not all(map(is_integer, numbers)):
            raise wrong(TypeError, what, f"an integer or {count} of them", repr(value))
        limits = [max(s, d) for s, d in zip(self.stride, self.dilation, strict=True)]
        fits = len(numbers) == count
        if not fits or any(not 0 <= n < m for n, m in zip(numbers, limits, strict=True)):
            expected = f"{count} numbers from 0, below the stride or the dilation"
            raise wrong(ValueError, what, expected, value)
        if self.pad_mode != "pad" and any(numbers):
            raise wrong(ValueError, what, f"0 with pad_mode={self.pad_mode!r}", value)
        return value

    def construct(self, x) -> Tensor:
        """The outputs for x."""
        space = len(self.kernel_size)
        if x.ndim != space + 2:
            what = f"The input of {type(self).__name__}"
            raise wrong(ValueError, what, f"of {space + 2} dimensions", f"shape {x.shape}")
        return self._convolved(x, self.output_padding)

    def _convolved(self, x, output_padding):
        return conv_transpose(
            x,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.group,
            self.dilation,
            self.pad_mode,
        )


class Conv2dTranspose(_ConvTranspose):
    """Each pixel lays a multiple of the kernels: (N, in_channels, H, W) to (N, out_channels, …).

    Weight (in_channels, out_channels / group, *kernel) and bias start evenly spread within ±1/√n,
    n the elements of one input channel's kernels, unless given.

    Args:
        in_channels, out_channels: the channels of input and output.
        kernel_size, stride, dilation: an integer, or two for H and W.
        pad_mode: 'same' (lengths are multiplied by the stride), 'valid' (nothing is cut off), or
            'pad'.
        padding: what is cut off with 'pad': an integer, or four: top, bottom, left, right.
        output_padding: rows and columns of zeros behind the result, with 'pad'; an integer or two.
        group: channels fall into as many groups that do not mix.
        has_bias: whether a bias is added.
        weight_init, bias_init: initialisers, their names, numbers or Tensors.
        dtype: the element type of the Parameters.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a size that is not positive, an unknown mode, padding without 'pad', or channels
            that the groups do not divide.

    Source: MindSpore's `mindspore.nn.Conv2dTranspose`.

    Example:
        >>> layer = nn.Conv2dTranspose(1, 1, 2, stride=2, weight_init="ones")
        >>> print(layer(Tensor([[[[1.0, 2.0]]]])))
        [[[[1. 1. 2. 2.]
           [1. 1. 2. 2.]]]]
    """

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        output_padding=0, dilation=1, group=1, has_bias=False,
        weight_init=None, bias_init=None, dtype=float32,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, output_padding, dilation, group
        starts = has_bias, weight_init, bias_init, "NCHW", dtype
        super().__init__(in_channels, out_channels, *window, *starts)

    def _convolved(self, x, output_padding):
        # MindSpore adds zeros, without the bias, where Conv3dTranspose adds what the kernels lay.
        output = super()._convolved(x, 0)
        rows, columns = several(output_padding, 2, "output_padding")
        if rows or columns:
            output = pad_constant(output, 0, ((0, 0), (0, 0), (0, rows), (0, columns)))
        return output


class Conv1dTranspose(_ConvTranspose):
    """Each element lays a multiple of the kernels: (N, in_channels, L) to (N, out_channels, L').

    The weight has shape (in_channels, out_channels / group, 1, kernel_size), as in MindSpore; a
    Tensor given for it has three dimensions or these.

    Args:
        kernel_size, stride, dilation: an integer.
        padding: what is cut off on both sides with 'pad'.
        others: as for Conv2dTranspose.

    Raises:
        TypeError: an argument is of another type.
        ValueError: as for Conv2dTranspose, or the input does not have three dimensions.

    Source: MindSpore's `mindspore.nn.Conv1dTranspose`.

    Example:
        >>> layer = nn.Conv1dTranspose(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(layer(Tensor([[[1.0, 2.0, 3.0]]])))
        [[[1. 3. 5. 3.]]]
    """

    space = 1

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, has_bias=False,
        weight_init=None, bias_init=None, dtype=float32,
    ):  # fmt: skip
        if isinstance(weight_init, Tensor) and weight_init.ndim == 3:
            weight_init = weight_init.expand_dims(2)
        window = kernel_size, stride, pad_mode, padding, 0, dilation, group
        starts = has_bias, weight_init, bias_init, "NCHW", dtype
        super().__init__(in_channels, out_channels, *window, *starts)

    def construct(self, x) -> Tensor:
        """The outputs for sequences x."""
        if x.ndim != 3:
            raise wrong(ValueError, "The input of Conv1dTranspose", "(N, C, L)", f"shape {x.shape}")
        return super().construct(x.expand_dims(2)).squeeze(2)


class Conv3dTranspose(_ConvTranspose):
    """Each voxel lays a multiple of the kernels: (N, in_channels, D, H, W) to (N, out_channels, …).

    Args:
        kernel_size, stride, dilation, output_padding: an integer, or three for D, H and W.
        padding: what is cut off with 'pad': an integer, three, or six: head, tail, top, bottom,
            left, right.
        data_format: 'NCDHW'.
        others: as for Conv2dTranspose.

    Raises:
        TypeError: an argument is of another type.
        ValueError: as for Conv2dTranspose.

    Source: MindSpore's `mindspore.nn.Conv3dTranspose`.

    Example:
        >>> layer = nn.Conv3dTranspose(1, 1, 2, stride=2, weight_init="ones")
        >>> layer(ops.ones((1, 1, 2, 3, 4))).shape
        (1, 1, 4, 6, 8)
    """

    space = 3
    _formats = ("NCDHW",)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, pad_mode="same", padding=0,
        dilation=1, group=1, output_padding=0, has_bias=False,
        weight_init=None, bias_init=None, data_format="NCDHW", dtype=float32,
    ):  # fmt: skip
        window = kernel_size, stride, pad_mode, padding, output_padding, dilation, group
        starts = has_bias, weight_init, bias_init, data_format, dtype
        super().__init__(in_channels, out_channels, *window, *starts)
