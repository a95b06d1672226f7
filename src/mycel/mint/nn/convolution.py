# SPDX-License-Identifier: Apache-2.0
"""Convolution layers, as PyTorch calls them."""

from __future__ import annotations

import math

from mycel.init import Uniform, initializer
from mycel.kernel.base.dtypes import float32
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor
from mycel.mint.nn import functional
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of, positive_integer
from mycel.nn.layers.linear import weight_and_bias

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _numbers(value, what: str, count: int, least: int) -> tuple[int, ...]:
    """`count` integers: as given, or one for all."""
    numbers = (value,) * count if is_integer(value) else value
    expected = f"an integer or {count} of them, at least {least}"
    if isinstance(numbers, (tuple, list)) and len(numbers) == 1:
        numbers = tuple(numbers) * count
    if not isinstance(numbers, (tuple, list)) or not all(map(is_integer, numbers)):
        raise wrong(TypeError, what, expected, f"{type(value).__name__} {value!r}")
    if len(numbers) != count or min(numbers) < least:
        raise wrong(ValueError, what, expected, value)
    return tuple(numbers)


class _Convolution(Cell):
    """What the convolutions share: checks, Parameters, padding of other kinds than zeros."""

    space = 2
    transposed = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation,
        groups, bias, padding_mode, dtype,
    ):  # fmt: skip
        super().__init__()
        owner, space = type(self).__name__, self.space
        self.in_channels = positive_integer(in_channels, f"{owner}.in_channels")
        self.out_channels = positive_integer(out_channels, f"{owner}.out_channels")
        self.groups = positive_integer(groups, f"{owner}.groups")
        if in_channels % groups or out_channels % groups:
            expected = f"a divisor of in_channels={in_channels} and out_channels={out_channels}"
            raise wrong(ValueError, f"{owner}.groups", expected, groups)
        self.kernel_size = _numbers(kernel_size, f"{owner}.kernel_size", space, 1)
        self.stride = _numbers(stride, f"{owner}.stride", space, 1)
        self.dilation = _numbers(dilation, f"{owner}.dilation", space, 1)
        self.output_padding = _numbers(output_padding, f"{owner}.output_padding", space, 0)
        self.padding_mode = one_of(padding_mode, f"{owner}.padding_mode", PADDING_MODES)
        self.padding = self._checked_padding(padding)
        boolean(bias, f"{owner}.bias")
        self._make_parameters(bias, dtype or float32)

    def _checked_padding(self, padding):
        what = f"{type(self).__name__}.padding"
        if not isinstance(padding, str):
            return _numbers(padding, what, self.space, 0)
        if self.transposed:
            raise wrong(TypeError, what, "an integer or several", repr(padding))
        one_of(padding, what, ("valid", "same"))
        if padding == "same" and any(step != 1 for step in self.stride):
            raise wrong(ValueError, what, f"no 'same' with stride={self.stride}", repr(padding))
        return padding

    def _make_parameters(self, bias, dtype):
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        shape = (first, second // self.groups, *self.kernel_size)
        fan = math.prod(shape[1:])
        self.weight, _ = weight_and_bias(shape, fan, None, None, False, dtype)
        self.bias = None
        if bias:
            drawn = initializer(Uniform(1 / math.sqrt(fan)), (self.out_channels,), dtype)
            self.bias = Parameter(drawn, name="bias")

    def _pairs(self):
        """(in front, behind) for each dimension of space."""
        if self.padding == "valid":
            return [(0, 0)] * self.space
        if self.padding != "same":
            return [(n, n) for n in self.padding]
        missing = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return [(n // 2, n - n // 2) for n in missing]

    def construct(self, input) -> Tensor:
        """The outputs for the inputs; one without N has outputs without N."""
        if input.ndim == self.space + 1:
            return self._convolved(input.expand_dims(0)).squeeze(0)
        if input.ndim != self.space + 2:
            what = f"The input of {type(self).__name__}"
            expected = f"of {self.space + 1} or {self.space + 2} dimensions"
            raise wrong(ValueError, what, expected, f"shape {input.shape}")
        return self._convolved(input)

    def _convolved(self, x):
        padding = self.padding
        if self.padding_mode != "zeros":
            from_last = tuple(n for pair in reversed(self._pairs()) for n in pair)
            x, padding = functional.pad(x, from_last, self.padding_mode), 0
        convolved = getattr(functional, f"conv{self.space}d")
        window = self.stride, padding, self.dilation, self.groups
        return convolved(x, self.weight, self.bias, *window)

    def extend_repr(self) -> str:
        """What the layer was made with."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


class _Forward(_Convolution):
    """The arguments of the convolutions that are not transposed."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        dtype=None,
    ):
        window = kernel_size, stride, padding, 0, dilation
        super().__init__(in_channels, out_channels, *window, groups, bias, padding_mode, dtype)


class Conv2d(_Forward):
    """Slide kernels over images: (N, in_channels, H, W) to (N, out_channels, H', W').

    Weight and bias start evenly spread within ±1/√(inputs of one output).

    Args:
        in_channels, out_channels: the channels of input and output.
        kernel_size, stride, dilation: an integer, or two for H and W.
        padding: what is put around the images: an integer, or two for H and W, 'valid' (nothing)
            or 'same' (as many outputs as inputs, for a stride of 1).
        groups: channels fall into as many groups that do not mix.
        bias: whether a bias is added.
        padding_mode: what to put around: 'zeros', 'reflect', 'replicate' or 'circular'.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, or channels that the groups do
            not divide.

    Source: MindSpore's `mint.nn.Conv2d`.

    Example:
        >>> mint.nn.Conv2d(1, 2, 3, padding=1)(ops.ones((1, 1, 4, 4), mycel.float32)).shape
        (1, 2, 4, 4)
    """


class Conv1d(_Forward):
    """Slide kernels over sequences: (N, in_channels, L) to (N, out_channels, L'); see Conv2d.

    Source: MindSpore's `mint.nn.Conv1d`.

    Example:
        >>> mint.nn.Conv1d(1, 2, 3)(ops.ones((1, 1, 4), mycel.float32)).shape
        (1, 2, 2)
    """

    space = 1


class Conv3d(_Forward):
    """Slide kernels over volumes: (N, in_channels, D, H, W) to (N, out_channels, …); see Conv2d.

    Source: MindSpore's `mint.nn.Conv3d`.

    Example:
        >>> mint.nn.Conv3d(1, 2, 2)(ops.ones((1, 1, 2, 2, 2), mycel.float32)).shape
        (1, 2, 1, 1, 1)
    """

    space = 3


class ConvTranspose2d(_Convolution):
    """Every pixel lays a multiple of the kernel: (N, in_channels, H, W) to (N, out_channels, …).

    The weight has the shape (in_channels, out_channels / groups, *kernel_size).

    Args:
        padding: what is cut off at the edges, an integer or two.
        output_padding: how much longer the result is behind, below stride or dilation.
        padding_mode: only 'zeros'.
        others: see Conv2d.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size out of range, another mode, or an `output_size` that does not fit.

    Source: MindSpore's `mint.nn.ConvTranspose2d`.

    Example:
        >>> layer = mint.nn.ConvTranspose2d(1, 2, 2, stride=2)
        >>> layer(ops.ones((1, 1, 2, 2), mycel.float32)).shape
        (1, 2, 4, 4)
    """

    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        dtype=None,
    ):
        one_of(padding_mode, "ConvTranspose2d.padding_mode", ("zeros",))
        window = kernel_size, stride, padding, output_padding, dilation
        super().__init__(in_channels, out_channels, *window, groups, bias, padding_mode, dtype)

    def construct(self, input, output_size=None) -> Tensor:
        """The outputs for the inputs; `output_size` chooses among the lengths that are possible."""
        if input.ndim == 3:
            return self._laid(input.expand_dims(0), output_size).squeeze(0)
        return self._laid(input, output_size)

    def _laid(self, x, output_size):
        longer = self.output_padding
        if output_size is not None:
            longer = self._longer(x.shape[-2:], tuple(output_size)[-2:])
        window = self.stride, self.padding, longer, self.groups, self.dilation
        return functional.conv_transpose2d(x, self.weight, self.bias, *window)

    def _longer(self, lengths, wanted):
        settings = self.stride, self.padding, self.dilation, self.kernel_size
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(lengths, *settings, strict=True)
        ]
        more = tuple(w - n for w, n in zip(wanted, least, strict=True))
        if any(not 0 <= m < s for m, s in zip(more, self.stride, strict=True)):
            most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
            raise wrong(ValueError, "output_size", f"from {least} to {most}", wanted)
        return more
