# SPDX-License-Identifier: Apache-2.0
"""Images in another size."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import Implementation
from mycel.dataset.transforms.together import array_of
from mycel.dataset.vision import sampling
from mycel.dataset.vision.cropping import check_area, check_interpolation, cut, random_rectangle
from mycel.dataset.vision.names import Inter
from mycel.dataset.vision.operation import ImageTensorOperation, check_image, extent
from mycel.dataset.vision.pillow import is_pil, resampling
from mycel.kernel.base.errors import wrong

SMALL = 64 * 64 * 3  # values of an image, of which several are resized as one


def resized(image, size: tuple[int, int], interpolation: Inter, what: str) -> Any:
    """The image in another height and width; an array for an array, a PIL image for a PIL image.

    Raises:
        TypeError: this kind of image does not have the interpolation.
    """
    if is_pil(image):
        return image.resize(size[::-1], resampling(interpolation, what))
    return sampling.resize(check_image(image, what), size, interpolation)


def shorter_side(image, side: int, name: str) -> tuple[int, int]:
    """Height and width with the same proportions, of which the shorter is `side`."""
    height, width = extent(image, name)
    if height < width:
        return side, int(side / height * width) if not is_pil(image) else int(side * width / height)
    if is_pil(image):
        return int(side / (width / height)), side
    return int(side / width * height), side


class Resize(ImageTensorOperation):
    """The image in another size.

    Args:
        size: (height, width), or an int for the shorter side; then the proportions stay.
        interpolation: how values between pixels are found, an `Inter`. Arrays are not smoothed
            before they are made smaller, PIL images are.

    Raises:
        TypeError, ValueError: an argument is wrong, or this kind of image does not have the
            interpolation.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Resize(2)(np.zeros((4, 6, 3), np.uint8)).shape
        (2, 3, 3)
    """

    batched = True

    def __init__(self, size, interpolation: Inter = Inter.LINEAR):
        self.size = size if isinstance(size, int) else checks.size(size)
        checks.size(size)
        self.interpolation = check_interpolation(interpolation)
        if interpolation is Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _array(self, image):
        size = self.size
        if isinstance(size, int):
            size = shorter_side(image, size, type(self).__name__)
        return resized(image, size, self.interpolation, "Resize")

    _pillow = _array

    def _together(self, rows):
        images = check_image(array_of(rows), "Resize", 3, 4)
        # PIL has at most four channels; the order in which AREA adds depends on how many there are.
        alone = self.interpolation is Inter.PILCUBIC or self.interpolation is Inter.AREA
        if alone or images[0].size > SMALL:
            return np.stack([self._array(image) for image in images])
        # Channels do not depend on each other, and no more do those of several images.
        flat = np.moveaxis(images, 0, -1).reshape(*images.shape[1:3], -1)
        done = self._array(flat)
        return np.moveaxis(done.reshape(*done.shape[:2], *images.shape[3:], len(images)), -1, 0)


class ResizedCrop(ImageTensorOperation):
    """A rectangle at a fixed place, in another size.

    Args:
        top, left, height, width: the rectangle.
        size: (height, width) of the result, or an int for a square.
        interpolation: how values between pixels are found, an `Inter`.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: it does not lie within the image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ResizedCrop(0, 0, 2, 2, (3, 4))(np.zeros((4, 6, 3), np.uint8)).shape
        (3, 4, 3)
    """

    def __init__(self, top, left, height, width, size, interpolation: Inter = Inter.BILINEAR):
        self.top, self.left = checks.integer(top, "top", 0), checks.integer(left, "left", 0)
        self.height = checks.integer(height, "height", 1)
        self.width = checks.integer(width, "width", 1)
        self.size = checks.size(size)
        self.interpolation = check_interpolation(interpolation)

    def _array(self, image):
        check_image(image, "ResizedCrop")
        bottom, right = self.top + self.height, self.left + self.width
        if bottom > image.shape[0] or right > image.shape[1]:
            place = f"rows {self.top}:{bottom}, columns {self.left}:{right}"
            raise wrong(RuntimeError, "ResizedCrop", f"within the image {image.shape[:2]}", place)
        part = cut(image, self.top, self.left, self.height, self.width)
        return resized(part, self.size, self.interpolation, "ResizedCrop")


class RandomResizedCrop(ImageTensorOperation):
    """A rectangle of random area and proportions, in one size.

    Args:
        size: (height, width) of the result, or an int for a square.
        scale: limits of its area, as a part of the image's.
        ratio: limits of width / height.
        interpolation: how values between pixels are found, an `Inter`.
        max_attempts: how often one is drawn that does not fit, before the middle is taken.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomResizedCrop((3, 4), scale=(0.5, 1))(np.zeros((8, 8, 3), np.uint8)).shape
        (3, 4, 3)
    """

    batched = random = True

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ):
        self.size = checks.size(size)
        check_area(scale, ratio, max_attempts)
        self.scale, self.ratio, self.max_attempts = scale, ratio, max_attempts
        self.interpolation = check_interpolation(interpolation)
        if interpolation is Inter.ANTIALIAS:
            self.implementation = Implementation.PY

    def _draw(self, image, generator):
        return self._rectangle(extent(image, type(self).__name__), generator, is_pil(image))

    def _rectangle(self, size, generator, to_even: bool = False) -> tuple[int, int, int, int]:
        limits = self.scale, self.ratio, self.max_attempts
        return random_rectangle(size, *limits, generator, to_even)

    def _array(self, image, top, left, height, width):
        part = image[top : top + height, left : left + width]
        return resized(part, self.size, self.interpolation, type(self).__name__)

    def _pillow(self, image, top, left, height, width):
        part = cut(image, top, left, height, width)
        return resized(part, self.size, self.interpolation, type(self).__name__)


class RandomResize(ImageTensorOperation):
    """The image in another size, with an interpolation chosen by chance.

    Args:
        size: (height, width), or an int for the shorter side; then the proportions stay.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomResize((2, 3))(np.zeros((4, 6, 3), np.uint8)).shape
        (2, 3, 3)
    """

    random = True

    def __init__(self, size):
        checks.size(size)
        self.size = size

    def _draw(self, image, generator):
        among = (Inter.BILINEAR, Inter.NEAREST, Inter.BICUBIC, Inter.AREA)
        return (among[generator.integers(len(among))],)

    def _array(self, image, interpolation):
        size = (
            shorter_side(image, self.size, type(self).__name__)
            if isinstance(self.size, int)
            else self.size
        )
        height, width = size
        return resized(np.asarray(image), (height, width), interpolation, "RandomResize")
