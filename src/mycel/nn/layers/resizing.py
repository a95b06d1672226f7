# SPDX-License-Identifier: Apache-2.0
"""Layers that resize pictures or rearrange their pixels."""

from __future__ import annotations

from mycel import ops
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell
from mycel.nn.checks import boolean, is_integer, one_of, positive_integer
from mycel.nn.layers.declare import layer
from mycel.ops.nn.convolution import same_or_given
from mycel.ops.nn.patches import patches
from mycel.ops.nn.resizing import resize_images


@layer(ops, "interpolate", "nn.Upsample(size=None, scale_factor=None, mode='nearest',"
    " align_corners=None, recompute_scale_factor=None)(x)",
    "mint.nn.Upsample(size=None, scale_factor=None, mode='nearest',"
    " align_corners=None, recompute_scale_factor=None)(input)")  # fmt: skip
class Upsample(Cell):
    """(N, C, *space) with other lengths of space; see `ops.interpolate`.

    Args:
        size: the new lengths, one number or one for each dimension.
        scale_factor: instead of `size`, by how much to multiply them.
        mode: 'nearest', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area'.
        align_corners: first and last elements keep their place.
        recompute_scale_factor: go by the ratio of the lengths, not by `scale_factor` itself.

    Example:
        >>> print(nn.Upsample(size=4)(Tensor([[[1.0, 3.0]]])))
        [[[1. 1. 3. 3.]]]
        >>> print(mint.nn.Upsample(scale_factor=2)(Tensor([[[1.0, 3.0]]])))
        [[[1. 1. 3. 3.]]]
    """


class ResizeBilinear(Cell):
    """Images of another size, each pixel between the four old ones around it.

    The size is given at the call: `layer(x, size=None, scale_factor=None, align_corners=False)`.

    Args:
        half_pixel_centers: the middles of pixels count, not their upper left corners.

    Raises:
        ValueError: not exactly one of `size` and `scale_factor`.

    Source: MindSpore 1's `mindspore.nn.ResizeBilinear`.

    Example:
        >>> print(nn.ResizeBilinear()(Tensor([[[[1.0, 2.0]]]]), (1, 3), align_corners=True))
        [[[[1.  1.5 2. ]]]]
    """

    def __init__(self, half_pixel_centers=False):
        super().__init__()
        self.half_pixel_centers = boolean(half_pixel_centers, "ResizeBilinear.half_pixel_centers")

    def construct(self, x, size=None, scale_factor=None, align_corners=False) -> Tensor:
        """x [N, C, H, W] with the new height and width."""
        if (size is None) == (scale_factor is None):
            actual = f"{size} and {scale_factor}"
            raise wrong(ValueError, "ResizeBilinear", "called with size or scale_factor", actual)
        if size is None:
            factor = positive_integer(scale_factor, "ResizeBilinear.scale_factor")
            size = (x.shape[2] * factor, x.shape[3] * factor)
        return resize_images(x, size, align_corners, self.half_pixel_centers, "linear")


@layer(
    ops, "pixel_shuffle", "nn.PixelShuffle(upscale_factor)(input)", upscale_factor=positive_integer
)
class PixelShuffle(Cell):
    """(…, C · factor², H, W) to (…, C, H · factor, W · factor): channels become pixels.

    Args:
        upscale_factor: the factor, a positive integer.

    Raises:
        TypeError: not an integer.
        ValueError: not positive, or channels that factor² does not divide.

    Example:
        >>> print(nn.PixelShuffle(2)(ops.arange(4).reshape(1, 4, 1, 1)))
        [[[[0 1]
           [2 3]]]]
    """


@layer(ops, "pixel_unshuffle", "nn.PixelUnshuffle(downscale_factor)(input)",
    downscale_factor=positive_integer)  # fmt: skip
class PixelUnshuffle(Cell):
    """(…, C, H · factor, W · factor) to (…, C · factor², H, W): pixels become channels.

    Args:
        downscale_factor: the factor, a positive integer.

    Raises:
        TypeError: not an integer.
        ValueError: not positive, or lengths that it does not divide.

    Example:
        >>> print(nn.PixelUnshuffle(2)(ops.arange(4).reshape(1, 1, 2, 2)).reshape(-1))
        [0 1 2 3]
    """


class Unfold(Cell):
    """Every window of images as a pixel: (N, C, H, W) to (N, kernel · C, H', W').

    The channels of the result are the elements of the window, row by row, each with C channels.

    Args:
        ksizes: the window: [1, rows, columns, 1].
        strides: from window to window: [1, rows, columns, 1].
        rates: from element to element of a window: [1, rows, columns, 1].
        padding: 'valid' (none) or 'same' (as many windows as pixels / strides).

    Raises:
        TypeError: not integers.
        ValueError: lists of another form, or another padding.

    Source: MindSpore's `mindspore.nn.Unfold`.

    Example:
        >>> ones = [1, 1, 1, 1]
        >>> layer = nn.Unfold([1, 2, 2, 1], ones, ones)
        >>> print(layer(ops.arange(4).reshape(1, 1, 2, 2)).reshape(-1))
        [0 1 2 3]
    """

    def __init__(self, ksizes, strides, rates, padding="valid"):
        super().__init__()
        self.kernel = _inner(ksizes, "Unfold.ksizes")
        self.stride = _inner(strides, "Unfold.strides")
        self.dilation = _inner(rates, "Unfold.rates")
        mode = padding.lower() if isinstance(padding, str) else padding
        self.pad_mode = one_of(mode, "Unfold.padding", ("valid", "same"))

    def construct(self, input_x) -> Tensor:
        """The windows."""
        window = self.kernel, self.stride, self.dilation
        if input_x.ndim != 4:
            raise wrong(ValueError, "The input of Unfold", "(N, C, H, W)", f"shape {input_x.shape}")
        pads = same_or_given(self.pad_mode, 0, input_x.shape[2:], *window)
        return patches(input_x, self.kernel, self.stride, pads, self.dilation)


def _inner(numbers, what: str) -> tuple[int, int]:
    """The two in the middle of [1, rows, columns, 1].

    Raises:
        TypeError: not integers.
        ValueError: another form.
    """
    expected = "[1, rows, columns, 1] of positive integers"
    if not isinstance(numbers, (tuple, list)) or not all(map(is_integer, numbers)):
        raise wrong(TypeError, what, expected, repr(numbers))
    if len(numbers) != 4 or numbers[0] != 1 or numbers[3] != 1 or min(numbers) < 1:
        raise wrong(ValueError, what, expected, numbers)
    return numbers[1], numbers[2]
