# SPDX-License-Identifier: Apache-2.0
"""Layers that put maxima back, pool by norms, or pool over windows at random places."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.layers.declare import layer


class _Unpooling(Cell):
    """What the unpooling layers share."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def _back(self, unpool, x, indices, output_size):
        size = () if output_size is None else tuple(output_size)
        return unpool(x, indices, self.kernel_size, self.stride, self.padding, size)

    def extend_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_Unpooling):
    """Maxima of (N, C, L) put back where `MaxPool1d` found them, zeros elsewhere.

    Args:
        kernel_size, stride, padding: of the pooling; a stride of None is the kernel size.

    Source: MindSpore's `mindspore.nn.MaxUnpool1d`.

    Example:
        >>> print(nn.MaxUnpool1d(2)(Tensor([[5.0, 6.0]]), Tensor([[1, 2]])))
        [[0. 5. 6. 0.]]
    """

    def construct(self, x, indices, output_size=None) -> Tensor:
        """x with each element at its place; output_size is a length where several are possible."""
        return self._back(ops.max_unpool1d, x, indices, output_size)


class MaxUnpool2d(_Unpooling):
    """Maxima of (N, C, H, W) put back where `MaxPool2d` found them, zeros elsewhere.

    Args:
        kernel_size, stride, padding: of the pooling; a stride of None is the kernel size.

    Source: MindSpore's `mindspore.nn.MaxUnpool2d`.

    Example:
        >>> print(nn.MaxUnpool2d(2)(Tensor([[[5.0]]]), Tensor([[[2]]])))
        [[[0. 0.]
          [5. 0.]]]
    """

    def construct(self, x, indices, output_size=None) -> Tensor:
        """x with each element at its place; output_size is a shape where several are possible."""
        return self._back(ops.max_unpool2d, x, indices, output_size)


class MaxUnpool3d(_Unpooling):
    """Maxima of (N, C, D, H, W) put back where `MaxPool3d` found them, zeros elsewhere.

    Args:
        kernel_size, stride, padding: of the pooling; a stride of None is the kernel size.

    Source: MindSpore's `mindspore.nn.MaxUnpool3d`.

    Example:
        >>> zero = ops.zeros((1, 1, 1, 1), mycel.int64)
        >>> nn.MaxUnpool3d(2)(ops.ones((1, 1, 1, 1)), zero).shape
        (1, 2, 2, 2)
    """

    def construct(self, x, indices, output_size=None) -> Tensor:
        """x with each element at its place; output_size is a shape where several are possible."""
        return self._back(ops.max_unpool3d, x, indices, output_size)


@layer(ops, "lp_pool1d",
    "nn.LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False)(x)", shows=True)  # fmt: skip
class LPPool1d(Cell):
    """The root of the sum of powers in every window of (N, C, L) or (C, L).

    Args:
        norm_type: the power p: (Σ x^p)^(1/p).
        stride: from window to window; None is the kernel size.
        ceil_mode: a last window may reach over the edge.

    Example:
        >>> print(nn.LPPool1d(2, 2)(Tensor([[3.0, 4.0]])))
        [[5.]]
    """


@layer(ops, "lp_pool2d",
    "nn.LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False)(x)", shows=True)  # fmt: skip
class LPPool2d(Cell):
    """The root of the sum of powers in every window of (N, C, H, W) or (C, H, W).

    Args:
        norm_type: the power p: (Σ x^p)^(1/p).
        stride: from window to window; None is the kernel size.
        ceil_mode: last windows may reach over the edge.

    Example:
        >>> print(nn.LPPool2d(2, (1, 2))(Tensor([[[3.0, 4.0]]])))
        [[[5.]]]
    """


class _FractionalPooling(Cell):
    """What the pooling layers over random places share."""

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self._random_samples = _random_samples

    def _settings(self):
        sizes = self.kernel_size, self.output_size, self.output_ratio
        return (*sizes, self.return_indices, self._random_samples)

    def extend_repr(self) -> str:
        """The windows."""
        return (
            f"kernel_size={self.kernel_size}, output_size={self.output_size}, "
            f"output_ratio={self.output_ratio}"
        )


class FractionalMaxPool2d(_FractionalPooling):
    """The maxima of windows of (N, C, H, W) that stand about evenly, at places by chance.

    Args:
        output_size: how many windows; or output_ratio: of the lengths, between 0 and 1.
        return_indices: give the positions of the maxima too, counted through H and W.
        _random_samples: numbers from 0 and below 1 in place of chance, (N, C, 2).

    Source: MindSpore's `mindspore.nn.FractionalMaxPool2d`.

    Example:
        >>> nn.FractionalMaxPool2d(2, (3, 4))(ops.ones((1, 1, 5, 6))).shape
        (1, 1, 3, 4)
    """

    def construct(self, input) -> Tensor:
        """The maxima, drawn anew at every call."""
        return ops.fractional_max_pool2d(input, *self._settings())


class FractionalMaxPool3d(_FractionalPooling):
    """The maxima of windows of (N, C, D, H, W) that stand about evenly, at places by chance.

    Args:
        output_size: how many windows; or output_ratio: of the lengths, between 0 and 1.
        return_indices: give the positions of the maxima too, counted through D, H and W.
        _random_samples: numbers from 0 and below 1 in place of chance, (N, C, 3).

    Source: MindSpore's `mindspore.nn.FractionalMaxPool3d`.

    Example:
        >>> nn.FractionalMaxPool3d(2, (2, 3, 4))(ops.ones((1, 1, 4, 5, 6))).shape
        (1, 1, 2, 3, 4)
    """

    def construct(self, input) -> Tensor:
        """The maxima, drawn anew at every call."""
        return ops.fractional_max_pool3d(input, *self._settings())
