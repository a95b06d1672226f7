# SPDX-License-Identifier: Apache-2.0
"""Similarity of images, their gradients, and crops of their centre."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import number, positive_integer
from mycel.nn.containers import CellList
from mycel.nn.layers.convolution import Conv2d


def _positive(value, what: str):
    return number(value, what, "above 0", lambda n: n > 0)


def _real_images(owner: Cell, first, second):
    """Two Tensors (N, C, H, W) of one shape.

    Raises:
        TypeError: the element types are not real, or differ.
        ValueError: the shapes are not (N, C, H, W), or differ.
    """
    name = type(owner).__name__
    if first.dtype is not second.dtype:
        raise wrong(TypeError, f"{name}: img2", f"{first.dtype} as img1 is", second.dtype)
    if first.ndim != 4 or first.shape != second.shape:
        actual = f"shapes {first.shape} and {second.shape}"
        raise wrong(ValueError, f"The images of {name}", "two Tensors (N, C, H, W), alike", actual)


def _gaussian_window(size: int, sigma: float) -> np.ndarray:
    # A window of even length has no middle; MindSpore takes the pixel in front of it.
    places = np.arange(size) - (size - 1) // 2
    weights = np.exp(-(places**2) / (2 * sigma**2))
    window = np.multiply.outer(weights, weights)
    return (window / window.sum()).astype(np.float32).reshape(1, 1, size, size)


def _window_layer(size, sigma) -> Conv2d:
    window = Tensor(_gaussian_window(size, sigma))
    filters = Conv2d(1, 1, size, 1, "valid", weight_init=window)
    filters.weight.requires_grad = False
    return filters


def _alike(layer, first, second, settings):
    """For each image and channel: the whole measure, and that of contrast and structure.

    Moments are those of every window.
    """
    k1, k2, max_val = settings
    window = layer.weight.astype(first.dtype)
    shape = (-1, 1, *first.shape[2:])
    a, b = first.reshape(shape), second.reshape(shape)
    mean_a, mean_b = ops.conv2d(a, window), ops.conv2d(b, window)
    product, squares = mean_a * mean_b, mean_a * mean_a + mean_b * mean_b
    steady = (k1 * max_val) ** 2
    light = (product * 2 + steady) / (squares + steady)
    steady = (k2 * max_val) ** 2
    together = ops.conv2d(a * b, window) * 2 - product * 2
    apart = ops.conv2d(a * a + b * b, window) - squares
    contrast = (together + steady) / (apart + steady)
    parts = (light * contrast).mean((1, 2, 3)), contrast.mean((1, 2, 3))
    return tuple(part.reshape(first.shape[:2]) for part in parts)


class _Similarity(Cell):
    """What SSIM and MSSSIM share."""

    def __init__(self, max_val, filter_size, filter_sigma, k1, k2):
        super().__init__()
        name = type(self).__name__
        self.max_val = _positive(max_val, f"{name}.max_val")
        self.filter_size = positive_integer(filter_size, f"{name}.filter_size")
        self.filter_sigma = _positive(filter_sigma, f"{name}.filter_sigma")
        self.k1 = _positive(k1, f"{name}.k1")
        self.k2 = _positive(k2, f"{name}.k2")

    def _checked(self, first, second, halvings=0):
        _real_images(self, first, second)
        least = self.filter_size * 2**halvings
        if min(first.shape[2:]) < least:
            name = f"The images of {type(self).__name__}"
            raise wrong(ValueError, name, f"at least {least} high and wide", f"{first.shape}")

    def _settings(self):
        return self.k1, self.k2, self.max_val


class SSIM(_Similarity):
    """The structural similarity of images (N, C, H, W), from windows of both: (N,).

    Args:
        max_val: the span of the values: 1.0 or 255.
        filter_size, filter_sigma: length and spread of the Gaussian window.
        k1, k2: steady what is divided by.

    Raises:
        ValueError: a setting is out of range, or the images are smaller than a window.

    Source: MindSpore's `mindspore.nn.SSIM`.

    Example:
        >>> x = ops.ones((1, 3, 16, 16))
        >>> print(nn.SSIM()(x, x))
        [1.]
    """

    def __init__(self, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv = _window_layer(filter_size, filter_sigma)

    def construct(self, img1, img2) -> Tensor:
        """1 for equal images, less for others."""
        self._checked(img1, img2)
        return _alike(self.conv, img1, img2, self._settings())[0].mean(-1)


class MSSSIM(_Similarity):
    """The structural similarity of images at several sizes, each half the former: (N,).

    Args:
        max_val: the span of the values: 1.0 or 255.
        power_factors: how much each size counts, from the largest on.
        filter_size, filter_sigma: length and spread of the Gaussian window.
        k1, k2: steady what is divided by.

    Raises:
        ValueError: a setting is out of range, or the smallest size of the images has no window.

    Source: MindSpore's `mindspore.nn.MSSSIM`.

    Example:
        >>> x = ops.ones((1, 1, 8, 8))
        >>> print(nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=3)(x, x))
        [1.]
    """

    def __init__(
        self,
        max_val=1.0,
        power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size=11,
        filter_sigma=1.5,
        k1=0.01,
        k2=0.03,
    ):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        if not isinstance(power_factors, (tuple, list)) or not power_factors:
            expected = "a tuple of numbers"
            raise wrong(TypeError, "MSSSIM.power_factors", expected, repr(power_factors))
        self.power_factors = tuple(power_factors)
        windows = [_window_layer(filter_size, filter_sigma) for _ in self.power_factors]
        self.multi_convs_list = CellList(windows)

    def construct(self, img1, img2) -> Tensor:
        """1 for equal images, less for others."""
        self._checked(img1, img2, len(self.power_factors) - 1)
        shares = []
        last = len(self.power_factors) - 1
        for place, (layer, power) in enumerate(
            zip(self.multi_convs_list, self.power_factors, strict=True)
        ):
            if place:
                img1, img2 = (ops.avg_pool2d(x, 2, 2) for x in (img1, img2))
            whole, contrast = _alike(layer, img1, img2, self._settings())
            # Only the smallest size counts its brightness.
            shares.append(ops.relu(whole if place == last else contrast) ** power)
        return functools.reduce(operator.mul, shares).mean(-1)


class PSNR(Cell):
    """The ratio of the greatest signal to the noise between images, in decibels: (N,).

    Args:
        max_val: the span of the values: 1.0 or 255.

    Raises:
        ValueError: max_val is not positive, or the shapes of the images do not fit.

    Source: MindSpore's `mindspore.nn.PSNR`.

    Example:
        >>> x = ops.ones((1, 1, 2, 2))
        >>> print(nn.PSNR()(x, x * 2))
        [0.]
    """

    def __init__(self, max_val=1.0):
        super().__init__()
        self.max_val = _positive(max_val, "PSNR.max_val")

    def construct(self, img1, img2) -> Tensor:
        """10 · log10(max_val² / the mean of the squared differences)."""
        _real_images(self, img1, img2)
        away = img1 - img2
        error = (away * away).mean((1, 2, 3))
        return ops.log(self.max_val**2 / error) * (10 / math.log(10))


class ImageGradients(Cell):
    """The differences of neighbours in images (N, C, H, W): along the height, along the width.

    Raises:
        ValueError: the number of dimensions differs.

    Source: MindSpore's `mindspore.nn.ImageGradients`.

    Example:
        >>> print(nn.ImageGradients()(ops.arange(4).reshape(1, 1, 2, 2))[0])
        [[[[2 2]
           [0 0]]]]
    """

    def construct(self, images) -> tuple[Tensor, Tensor]:
        """Both differences; the last row and the last column have zeros."""
        if images.ndim != 4:
            actual = f"shape {images.shape}"
            raise wrong(ValueError, "The images of ImageGradients", "(N, C, H, W)", actual)
        rows = images[:, :, 1:] - images[:, :, :-1]
        columns = images[:, :, :, 1:] - images[:, :, :, :-1]
        return ops.pad(rows, (0, 0, 0, 1)), ops.pad(columns, (0, 1, 0, 0))


class CentralCrop(Cell):
    """The middle of images (C, H, W) or (N, C, H, W).

    Args:
        central_fraction: how much of height and width stays, above 0 and up to 1, a float.

    Raises:
        TypeError: an argument is not a float.
        ValueError: the fraction is out of range, or the number of dimensions differs.

    Source: MindSpore's `mindspore.nn.CentralCrop`.

    Example:
        >>> print(nn.CentralCrop(0.5)(ops.arange(16).reshape(1, 4, 4)))
        [[[ 5  6]
          [ 9 10]]]
    """

    def __init__(self, central_fraction):
        super().__init__()
        what = "CentralCrop.central_fraction"
        if not isinstance(central_fraction, float):
            actual = f"{type(central_fraction).__name__} {central_fraction!r}"
            raise wrong(TypeError, what, "a float", actual)
        in_range = "above 0 and up to 1"
        self.central_fraction = number(central_fraction, what, in_range, lambda n: 0 < n <= 1)

    def construct(self, image) -> Tensor:
        """The middle."""
        if image.ndim not in (3, 4):
            actual = f"shape {image.shape}"
            raise wrong(ValueError, "The image of CentralCrop", "(C, H, W) or (N, C, H, W)", actual)
        if self.central_fraction == 1:
            return image
        starts = [int((n - n * self.central_fraction) / 2) for n in image.shape[-2:]]
        top, left = starts
        height, width = image.shape[-2:]
        return image[..., top : height - top, left : width - left]

    def extend_repr(self) -> str:
        """The fraction."""
        return f"central_fraction={self.central_fraction}"
