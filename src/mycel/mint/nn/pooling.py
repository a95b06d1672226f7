# SPDX-License-Identifier: Apache-2.0
"""Pooling layers, as PyTorch calls them."""

from __future__ import annotations

from typing import Any

from mycel.kernel.record.tensor import Tensor
from mycel.mint.nn import functional
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean
from mycel.nn.layers import pooling, volumes
from mycel.nn.layers.declare import layer, twin


@layer(functional, "avg_pool1d", "mint.nn.AvgPool1d(kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True)(input)",
    ceil_mode=boolean, count_include_pad=boolean)  # fmt: skip
class AvgPool1d(Cell):
    """The mean of every window: (N, C, L) to (N, C, L'), or without N.

    Args:
        kernel_size: the length of the windows.
        stride: from window to window; None is the kernel size.
        padding: zeros on both sides.
        ceil_mode: a last window may reach over the edge.
        count_include_pad: whether padding counts in the mean.

    Raises:
        ValueError: a window that does not fit, when called.

    Example:
        >>> print(mint.nn.AvgPool1d(2)(Tensor([[[1.0, 3.0, 5.0]]])))
        [[[2.]]]
    """


@layer(functional, "avg_pool2d", "mint.nn.AvgPool2d(kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True, divisor_override=None)(input)",
    ceil_mode=boolean, count_include_pad=boolean)  # fmt: skip
class AvgPool2d(Cell):
    """The mean of every window: (N, C, H, W) to (N, C, H', W'), or without N.

    Args:
        kernel_size: the lengths of the windows, an integer or one for each dimension.
        stride: from window to window; None is the kernel size.
        padding: zeros on both sides.
        ceil_mode: a last window may reach over the edge.
        count_include_pad: whether padding counts in the mean.
        divisor_override: a number to divide by instead of the count.

    Raises:
        ValueError: a window that does not fit, when called.

    Example:
        >>> print(mint.nn.AvgPool2d(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """


@layer(functional, "avg_pool3d", "mint.nn.AvgPool3d(kernel_size, stride=None, padding=0,"
    " ceil_mode=False, count_include_pad=True, divisor_override=None)(input)",
    ceil_mode=boolean, count_include_pad=boolean)  # fmt: skip
class AvgPool3d(Cell):
    """The mean of every window: (N, C, D, H, W) to (N, C, D', H', W'); see AvgPool2d.

    Example:
        >>> print(mint.nn.AvgPool3d((1, 2, 2))(Tensor([[[[[1.0, 2.0], [3.0, 4.0]]]]])))
        [[[[[2.5]]]]]
    """


class MaxPool2d(Cell):
    """The maximum of every window: (N, C, H, W) to (N, C, H', W'), or without N.

    Args:
        kernel_size: the lengths of the windows, an integer or two.
        stride: from window to window; None is the kernel size.
        padding: what is put around, less than every element.
        dilation: from element to element of a window.
        return_indices: give the positions of the maxima too, Int64, counted through H and W.
        ceil_mode: a last window may reach over the edge.

    Raises:
        ValueError: a window that does not fit, when called.

    Source: MindSpore's `mint.nn.MaxPool2d`.

    Example:
        >>> print(mint.nn.MaxPool2d(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """

    def __init__(
        self,
        kernel_size=1,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = boolean(return_indices, "MaxPool2d.return_indices")
        self.ceil_mode = boolean(ceil_mode, "MaxPool2d.ceil_mode")

    def construct(self, input) -> Any:
        """The maxima."""
        window = self.kernel_size, self.stride, self.padding, self.dilation
        return functional.max_pool2d(
            input, *window, ceil_mode=self.ceil_mode, return_indices=self.return_indices
        )


class MaxUnpool2d(Cell):
    """Maxima back to the positions they were found at, zeros elsewhere: the reverse of MaxPool2d.

    Args:
        kernel_size, stride, padding: those of the pooling.

    Raises:
        ValueError: an `output_size` too far from the usual one, or other shapes, when called.

    Source: MindSpore's `mint.nn.MaxUnpool2d`.

    Example:
        >>> pool = mint.nn.MaxPool2d(2, return_indices=True)
        >>> print(mint.nn.MaxUnpool2d(2)(*pool(Tensor([[[1.0, 2.0], [3.0, 4.0]]]))))
        [[[0. 0.]
          [0. 4.]]]
    """

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def construct(self, input, indices, output_size=None) -> Tensor:
        """The maxima, spread."""
        window = self.kernel_size, self.stride, self.padding
        return functional.max_unpool2d(input, indices, *window, output_size)


@twin(pooling.AdaptiveAvgPool1d, functional, shows=True)
class AdaptiveAvgPool1d(Cell): ...


@twin(pooling.AdaptiveAvgPool2d, functional, shows=True)
class AdaptiveAvgPool2d(Cell): ...


@twin(volumes.AdaptiveAvgPool3d, functional, shows=True)
class AdaptiveAvgPool3d(Cell): ...


@twin(volumes.AdaptiveMaxPool1d, functional, shows=True, return_indices=boolean)
class AdaptiveMaxPool1d(Cell): ...


@layer(functional, "adaptive_max_pool2d",
    "mint.nn.AdaptiveMaxPool2d(output_size, return_indices=False)(input)",
    shows=True, return_indices=boolean)  # fmt: skip
class AdaptiveMaxPool2d(Cell):
    """The maximum of regions that cover H and W: (N, C, H, W) to (N, C, *output_size).

    Args:
        output_size: an integer, or two; None keeps a length.
        return_indices: give the positions of the maxima too, Int64, counted through H and W.

    Example:
        >>> print(mint.nn.AdaptiveMaxPool2d(1)(Tensor([[[[1.0, 3.0]]]])))
        [[[[3.]]]]
    """
