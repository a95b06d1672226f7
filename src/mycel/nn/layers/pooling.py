# SPDX-License-Identifier: Apache-2.0
"""Pooling layers: the maximum or mean of windows."""

from __future__ import annotations

from typing import Any

from mycel import ops
from mycel.kernel.base.cell import of_base
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of
from mycel.nn.layers.declare import layer
from mycel.nn.layers.inside import Inside
from mycel.ops.nn.pooling import avg_pool, max_pool, max_pool2d, mean_of_windows, mean_pool

PAD_MODES = ("VALID", "SAME", "PAD")


def _size(value, what: str, space: int):
    """A positive integer, or a tuple of `space` of them.

    Raises:
        TypeError: neither.
        ValueError: not positive, or not as many.
    """
    numbers = (value,) if is_integer(value) else value
    if not isinstance(numbers, tuple) or not all(map(is_integer, numbers)):
        expected = f"a positive integer or {space} of them"
        raise wrong(TypeError, what, expected, f"{type(value).__name__} {value!r}")
    if min(numbers, default=0) < 1 or len(numbers) not in (1, space):
        raise wrong(ValueError, what, f"a positive integer or {space} of them", value)
    return value


class Pooling(Cell):
    """What the pooling layers share."""

    space = 2

    def __init__(self, kernel_size, stride, pad_mode, data_format="NCHW"):
        super().__init__()
        owner = type(self).__name__
        mode = pad_mode.upper() if isinstance(pad_mode, str) else pad_mode
        self.pad_mode = one_of(mode, f"{owner}.pad_mode", PAD_MODES)
        self.format = one_of(data_format, f"{owner}.data_format", ("NCHW", "NHWC"))
        self.kernel_size = _size(kernel_size, f"{owner}.kernel_size", self.space)
        self.stride = _size(stride, f"{owner}.stride", self.space)

    def _only_with_pad(self, **options) -> None:
        """Raise if an argument that needs pad_mode='pad' was given without it.

        Raises:
            ValueError: names the argument.
        """
        if self.pad_mode == "PAD":
            return
        for name, (value, default) in options.items():
            if value != default:
                expected = f"{default} with pad_mode={self.pad_mode.lower()!r}"
                raise wrong(ValueError, f"{type(self).__name__}.{name}", expected, value)

    def construct(self, x) -> Any:
        """The pooled x; of maxima also their positions, if they are asked for."""
        if x.ndim == self.space + 2:
            return self._arranged(x)
        if x.ndim != self.space + 1:
            expected = f"of {self.space + 1} or {self.space + 2} dimensions"
            what = f"The input of {type(self).__name__}"
            raise wrong(ValueError, what, expected, f"shape {x.shape}")
        pooled = self._arranged(x.expand_dims(0))
        if isinstance(pooled, tuple):
            return tuple(part.squeeze(0) for part in pooled)
        return pooled.squeeze(0)

    def _arranged(self, x):
        if self.format == "NCHW":
            return self._pooled(x)
        pooled = self._pooled(x.transpose(0, 3, 1, 2))
        if isinstance(pooled, tuple):
            return tuple(part.transpose(0, 2, 3, 1) for part in pooled)
        return pooled.transpose(0, 2, 3, 1)

    def _pooled(self, x):
        raise of_base(self)

    def extend_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


def _mode(cell: Pooling) -> str:
    """The word for an operator inside; padding of the layer's own is none of its."""
    return "valid" if cell.pad_mode == "PAD" else cell.pad_mode


class MaximumPooling(Pooling):
    """What the pooling layers of maxima share."""

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1,
        return_indices=False, ceil_mode=False, data_format="NCHW",
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, data_format)
        owner = type(self).__name__
        self.padding = padding
        self.dilation = dilation
        self.return_indices = boolean(return_indices, f"{owner}.return_indices")
        self.ceil_mode = boolean(ceil_mode, f"{owner}.ceil_mode")
        self._only_with_pad(
            padding=(padding, 0),
            dilation=(dilation, 1),
            return_indices=(return_indices, False),
            ceil_mode=(ceil_mode, False),
        )


class MaxPool2d(MaximumPooling):
    """The maximum of every window: (N, C, H, W) to (N, C, H', W'), or without N.

    Args:
        kernel_size, stride: an integer, or two for H and W.
        pad_mode: 'valid' (none), 'same' (as many outputs as inputs / stride), or 'pad'.
        padding, dilation, return_indices, ceil_mode: only with 'pad'; indices are Int64,
            counted through H and W.
        data_format: 'NCHW' or 'NHWC'.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, or what needs 'pad' without it.

    Source: MindSpore's `mindspore.nn.MaxPool2d`.

    Example:
        >>> print(nn.MaxPool2d(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    max_pool = Inside(lambda cell: ops.MaxPool(cell.kernel_size, cell.stride, _mode(cell)))

    def _pooled(self, x):
        if self.pad_mode != "PAD":
            return max_pool(x, self.kernel_size, self.stride, self.pad_mode)
        return max_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.return_indices,
            self.ceil_mode,
        )


class MaxPool1d(MaximumPooling):
    """The maximum of every window: (N, C, L) to (N, C, L'), or without N; see MaxPool2d.

    Source: MindSpore's `mindspore.nn.MaxPool1d`.

    Example:
        >>> print(nn.MaxPool1d(2)(Tensor([[[1.0, 3.0, 2.0]]])))
        [[[3. 3.]]]
    """

    space = 1

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, dilation=1,
        return_indices=False, ceil_mode=False,
    ):  # fmt: skip
        settings = padding, dilation, return_indices, ceil_mode
        super().__init__(kernel_size, stride, pad_mode, *settings)
        self.kernel_size = (1, _one(self.kernel_size))
        self.stride = (1, _one(self.stride))

    def _pooled(self, x):
        x = x.expand_dims(2)
        if self.pad_mode != "PAD":
            return max_pool(x, self.kernel_size, self.stride, self.pad_mode).squeeze(2)
        padding, dilation = (0, _one(self.padding)), (1, _one(self.dilation))
        pooled = max_pool2d(
            x, self.kernel_size, self.stride, padding, dilation, self.return_indices, self.ceil_mode
        )
        if self.return_indices:
            return tuple(part.squeeze(2) for part in pooled)
        return pooled.squeeze(2)


def _one(value) -> int:
    return value if is_integer(value) else value[0]


class AveragePooling(Pooling):
    """What the pooling layers of means share."""

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False,
        count_include_pad=True, divisor_override=None, data_format="NCHW",
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, data_format)
        owner = type(self).__name__
        self.padding = padding
        self.ceil_mode = boolean(ceil_mode, f"{owner}.ceil_mode")
        self.count_include_pad = boolean(count_include_pad, f"{owner}.count_include_pad")
        self.divisor_override = divisor_override
        self._only_with_pad(padding=(padding, 0))

    def construct(self, x) -> Tensor:
        """The pooled x."""
        return super().construct(x)

    def _mean(self, x):
        """The mean of windows over two dimensions."""
        # Padding of 'same' counts only where MindSpore takes another operator than AvgPool for it.
        if self.pad_mode != "PAD" and not self.ceil_mode and not self.divisor_override:
            return mean_pool(x, self.kernel_size, self.stride, self.pad_mode)
        return mean_of_windows(
            x,
            self.kernel_size,
            self.stride,
            self.pad_mode.lower(),
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override or 0,
            space=2,
        )


class AvgPool2d(AveragePooling):
    """The mean of every window: (N, C, H, W) to (N, C, H', W'), or without N.

    Args:
        kernel_size, stride: an integer, or two for H and W.
        pad_mode: 'valid' (none), 'same' (as many outputs as inputs / stride), or 'pad'.
        padding: only with 'pad'.
        ceil_mode: whether a last window may reach over the end, as with 'same' it does.
        count_include_pad: whether padding counts in the mean; that of 'same' counts only with
            `ceil_mode`.
        divisor_override: a number to divide by instead of the count.
        data_format: 'NCHW' or 'NHWC'.

    Raises:
        TypeError: an argument of another type.
        ValueError: a size that is not positive, an unknown mode, or what needs 'pad' without it.

    Source: MindSpore's `mindspore.nn.AvgPool2d`.

    Example:
        >>> print(nn.AvgPool2d(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """

    avg_pool = Inside(lambda cell: ops.AvgPool(cell.kernel_size, cell.stride, _mode(cell)))

    def _pooled(self, x):
        return self._mean(x)


class AvgPool1d(AveragePooling):
    """The mean of every window: (N, C, L) to (N, C, L'), or without N; see AvgPool2d.

    Source: MindSpore's `mindspore.nn.AvgPool1d`.

    Example:
        >>> print(nn.AvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0]]])))
        [[[2. 4.]]]
    """

    space = 1

    def __init__(
        self, kernel_size=1, stride=1, pad_mode="valid", padding=0, ceil_mode=False,
        count_include_pad=True,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)
        self.kernel_size = (1, _one(self.kernel_size))
        self.stride = (1, _one(self.stride))

    def _pooled(self, x):
        if self.pad_mode != "PAD":
            return self._mean(x.expand_dims(2)).squeeze(2)
        settings = self.padding, self.ceil_mode, self.count_include_pad
        return avg_pool(x, self.kernel_size[1], self.stride[1], *settings, space=1)


def _regions(value, what: str):
    return _size(value, what, 1)


def _no_text(value, what: str):
    if isinstance(value, str):
        raise wrong(TypeError, what, "an integer, or two", repr(value))
    return value


@layer(ops, "adaptive_avg_pool1d", "nn.AdaptiveAvgPool1d(output_size)(input)",
    "mint.nn.AdaptiveAvgPool1d(output_size)(input)", output_size=_regions)  # fmt: skip
class AdaptiveAvgPool1d(Cell):
    """The mean of `output_size` regions of L: (N, C, L) to (N, C, output_size).

    Args:
        output_size: how many regions; an integer, or a tuple of one.

    Example:
        >>> print(nn.AdaptiveAvgPool1d(1)(Tensor([[[1.0, 3.0]]])))
        [[[2.]]]
        >>> print(mint.nn.AdaptiveAvgPool1d(1)(Tensor([[[1.0, 3.0]]])))
        [[[2.]]]
    """


@layer(ops, "adaptive_avg_pool2d", "nn.AdaptiveAvgPool2d(output_size)(input)",
    "mint.nn.AdaptiveAvgPool2d(output_size)(input)", output_size=_no_text)  # fmt: skip
class AdaptiveAvgPool2d(Cell):
    """The mean of regions that cover H and W: (N, C, H, W) to (N, C, *output_size).

    Args:
        output_size: an integer, or two; None keeps a length.

    Example:
        >>> print(nn.AdaptiveAvgPool2d(1)(Tensor([[[[1.0, 3.0]]]])))
        [[[[2.]]]]
        >>> print(mint.nn.AdaptiveAvgPool2d(1)(Tensor([[[[1.0, 3.0]]]])))
        [[[[2.]]]]
    """


class AdaptiveMaxPool2d(Cell):
    """The maximum of regions that cover H and W: (N, C, H, W) to (N, C, *output_size).

    Args:
        output_size: an integer, or two; None keeps a length.
        return_indices: whether the positions of the maxima in their images come too, Int64.

    Source: MindSpore's `mindspore.nn.AdaptiveMaxPool2d`.

    Example:
        >>> print(nn.AdaptiveMaxPool2d(1)(Tensor([[[[1.0, 3.0]]]])))
        [[[[3.]]]]
    """

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def construct(self, input) -> Tensor | tuple[Tensor, Tensor]:
        """The pooled input."""
        return ops.adaptive_max_pool2d(input, self.output_size, self.return_indices)
