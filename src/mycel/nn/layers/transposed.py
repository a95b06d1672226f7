# SPDX-License-Identifier: Apache-2.0
"""Layers of transposed convolutions."""

from __future__ import annotations

import math

from mycel.init import Uniform, initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of, pair, positive_integer
from mycel.nn.layers.convolution import PAD_MODES, padding_of
from mycel.nn.layers.linear import weight_and_bias
from mycel.ops.array.axes import several
from mycel.ops.nn.padding import pad_constant
from mycel.ops.nn.transposed import conv_transpose


def triple(value, what: str) -> tuple[int, int, int]:
    """Three positive integers: as given, or one for all.

    Raises:
        TypeError: neither an integer nor three of them.
        ValueError: not above 0.
    """
    numbers = (value,) * 3 if is_integer(value) else value
    if not isinstance(numbers, (tuple, list)) or len(numbers) != 3:
        raise wrong(TypeError, what, "a positive integer or three of them", repr(value))
    first, second, third = [positive_integer(n, what) for n in numbers]
    return first, second, third


def is_triple(padding) -> bool:
    """Whether padding is given once for each of D, H and W."""
    return isinstance(padding, tuple) and len(padding) == 3


class _ConvTranspose(Cell):
    """What the transposed convolutions share: checks, Parameters and their description."""

    data_format = "NCHW"

    def __init__(
        self, in_channels, out_channels, kernel, stride, pad_mode, padding, output_padding,
        dilation, group, has_bias, weight_init, bias_init, dtype,
    ):  # fmt: skip
        super().__init__()
        owner = type(self).__name__
        self.in_channels = positive_integer(in_channels, f"{owner}.in_channels")
        self.out_channels = positive_integer(out_channels, f"{owner}.out_channels")
        self.kernel_size = kernel
        self.stride = stride
        self.pad_mode = one_of(pad_mode, f"{owner}.pad_mode", PAD_MODES)
        self.padding = padding
        self.dilation = dilation
        self.output_padding = self._longer(output_padding)
        self.group = positive_integer(group, f"{owner}.group")
        if in_channels % group or out_channels % group:
            expected = f"a divisor of in_channels={in_channels} and out_channels={out_channels}"
            raise wrong(ValueError, f"{owner}.group", expected, group)
        self.has_bias = boolean(has_bias, f"{owner}.has_bias")
        self.weight_init = weight_init
        self.bias_init = bias_init
        shape = (in_channels, out_channels // group, *kernel)
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

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
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
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, padding without 'pad', or
            channels that the groups do not divide.

    Source: MindSpore's `mindspore.nn.Conv2dTranspose`.

    Example:
        >>> layer = nn.Conv2dTranspose(1, 1, 2, stride=2, weight_init="ones")
        >>> print(layer(Tensor([[[[1.0, 2.0]]]])))
        [[[[1. 1. 2. 2.]
           [1. 1. 2. 2.]]]]
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        pad_mode="same",
        padding=0,
        output_padding=0,
        dilation=1,
        group=1,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        dtype=float32,
    ):
        super().__init__(
            in_channels,
            out_channels,
            pair(kernel_size, "Conv2dTranspose.kernel_size"),
            pair(stride, "Conv2dTranspose.stride"),
            pad_mode,
            padding_of(padding, pad_mode, "Conv2dTranspose", 4),
            output_padding,
            pair(dilation, "Conv2dTranspose.dilation"),
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )

    def _convolved(self, x, output_padding):
        # MindSpore adds zeros, without the bias, where Conv3dTranspose adds what the kernels lay.
        made = super()._convolved(x, 0)
        rows, columns = several(output_padding, 2, "output_padding")
        if rows or columns:
            made = pad_constant(made, 0, ((0, 0), (0, 0), (0, rows), (0, columns)))
        return made


class Conv1dTranspose(_ConvTranspose):
    """Each element lays a multiple of the kernels: (N, in_channels, L) to (N, out_channels, L').

    The weight has shape (in_channels, out_channels / group, 1, kernel_size), as in MindSpore; a
    Tensor given for it has three dimensions or these.

    Args:
        kernel_size, stride, dilation: an integer.
        padding: what is cut off on both sides with 'pad'.
        others: as for Conv2dTranspose.

    Raises:
        TypeError: an argument of another type.
        ValueError: as for Conv2dTranspose, or an input that has not three dimensions.

    Source: MindSpore's `mindspore.nn.Conv1dTranspose`.

    Example:
        >>> layer = nn.Conv1dTranspose(1, 1, 2, pad_mode="valid", weight_init="ones")
        >>> print(layer(Tensor([[[1.0, 2.0, 3.0]]])))
        [[[1. 3. 5. 3.]]]
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
        weight_init=None,
        bias_init=None,
        dtype=float32,
    ):
        padding = padding_of(padding, pad_mode, "Conv1dTranspose", 2)
        sides = padding if isinstance(padding, tuple) else (padding,)
        if getattr(weight_init, "ndim", 0) == 3:
            weight_init = weight_init.expand_dims(2)
        super().__init__(
            in_channels,
            out_channels,
            (1, positive_integer(kernel_size, "Conv1dTranspose.kernel_size")),
            (1, positive_integer(stride, "Conv1dTranspose.stride")),
            pad_mode,
            (0, 0, sides[0], sides[-1]),
            0,
            (1, positive_integer(dilation, "Conv1dTranspose.dilation")),
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )

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
        TypeError: an argument of another type.
        ValueError: as for Conv2dTranspose.

    Source: MindSpore's `mindspore.nn.Conv3dTranspose`.

    Example:
        >>> layer = nn.Conv3dTranspose(1, 1, 2, stride=2, weight_init="ones")
        >>> layer(ops.ones((1, 1, 2, 3, 4))).shape
        (1, 1, 4, 6, 8)
    """

    data_format = "NCDHW"

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
        output_padding=0,
        has_bias=False,
        weight_init=None,
        bias_init=None,
        data_format="NCDHW",
        dtype=float32,
    ):
        one_of(data_format, "Conv3dTranspose.data_format", ("NCDHW",))
        super().__init__(
            in_channels,
            out_channels,
            triple(kernel_size, "Conv3dTranspose.kernel_size"),
            triple(stride, "Conv3dTranspose.stride"),
            pad_mode,
            padding_of(padding, pad_mode, "Conv3dTranspose", 3 if is_triple(padding) else 6),
            output_padding,
            triple(dilation, "Conv3dTranspose.dilation"),
            group,
            has_bias,
            weight_init,
            bias_init,
            dtype,
        )
