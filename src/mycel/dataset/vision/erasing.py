# SPDX-License-Identifier: Apache-2.0
"""Rectangles of an image blotted out."""

from __future__ import annotations

import math
import numbers

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import Implementation, PyTensorOperation
from mycel.dataset.vision.operation import ImageTensorOperation, check_image, saturate
from mycel.kernel.base.errors import wrong


class CutOut(ImageTensorOperation):
    """Squares at random places become black; they may lie partly outside.

    Args:
        length: the side of a square.
        num_patches: how many there are.
        is_hwc: whether channels are the last dimension; else they are the first.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or smaller than a square.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.CutOut(2)(np.ones((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    random = True

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True):
        self.length = checks.integer(length, "length", 1, checks.NUMBER_MOST)
        self.num_patches = checks.integer(num_patches, "num_patches", 1, checks.NUMBER_MOST)
        self.is_hwc = checks.boolean(is_hwc, "is_hwc")

    def _draw(self, image, generator):
        return (generator.random((self.num_patches, 2)),)

    def _array(self, image, places):
        check_image(image, "CutOut", 3)
        image = image.copy()
        shown = image if self.is_hwc else image.transpose(1, 2, 0)
        height, width = shown.shape[:2]
        if self.length > min(height, width):
            expected = f"at most the size {(height, width)} of the image"
            raise wrong(RuntimeError, "CutOut: length", expected, f"{self.length}")
        for place in places:
            # From just outside at the upper left to just outside at the lower right.
            top, left = np.floor(place * (np.array([height, width]) + self.length + 1)).astype(int)
            shown[max(0, top - self.length) : top, max(0, left - self.length) : left] = 0
        return image


class Erase(ImageTensorOperation):
    """A rectangle at a fixed place becomes one colour.

    Args:
        top, left, height, width: the rectangle; what lies outside does not count.
        value: its colour, one number or three.
        inplace: whether the array itself is changed.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not (H, W, C), or smaller than the rectangle.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Erase(0, 1, 1, 1, 9)(np.zeros((1, 3, 1), np.uint8)).ravel()
        array([0, 9, 0], dtype=uint8)
    """

    def __init__(self, top, left, height, width, value=0.0, inplace: bool = False):
        self.top, self.left = checks.integer(top, "top", 0), checks.integer(left, "left", 0)
        self.height = checks.integer(height, "height", 1)
        self.width = checks.integer(width, "width", 1)
        self.inplace = checks.boolean(inplace, "inplace")
        parts = value if isinstance(value, tuple) else (value,)
        checks.sequence(parts, "value", 1, 3)
        self.value = tuple(checks.number(one, "value", 0, 255) for one in parts)

    def _array(self, image):
        check_image(image, "Erase", 3)
        if self.height > image.shape[0] or self.width > image.shape[1]:
            expected = f"at most the size {image.shape[:2]} of the image"
            shown = f"{(self.height, self.width)}"
            raise wrong(RuntimeError, "Erase: height, width", expected, shown)
        image = image if self.inplace else image.copy()
        rows = slice(self.top, self.top + self.height)
        image[rows, self.left : self.left + self.width] = saturate(
            np.array(self.value), image.dtype
        )
        return image


class RandomErasing(ImageTensorOperation, PyTensorOperation):
    """A random rectangle of an array (C, H, W) becomes one colour or noise, by chance.

    Args:
        prob: how probable that is.
        scale: limits of its area, as a part of the image's.
        ratio: limits of width / height.
        value: a number, one per channel, or "random" for normally distributed noise.
        inplace: whether the array itself is changed.
        max_attempts: how often a rectangle is drawn that does not fit, before nothing is done.

    Raises:
        TypeError, ValueError: an argument is wrong, or the input is not an array (C, H, W).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> erase = vision.RandomErasing(prob=1.0, scale=(0.3, 0.3), ratio=(1.0, 1.0))
        >>> int(erase(np.ones((1, 10, 10))).sum())
        75
    """

    random = True
    implementation = Implementation.PY

    def __init__(
        self,
        prob: float = 0.5,
        scale=(0.02, 0.33),
        ratio=(0.3, 3.3),
        value=0,
        inplace: bool = False,
        max_attempts: int = 10,
    ):
        self.prob = checks.probability(prob)
        checks.within(checks.ordered(scale, "scale", 0)[1], "scale[1]", 0, above=True)
        checks.within(checks.ordered(ratio, "ratio", 0)[0], "ratio[0]", 0, above=True)
        self.scale, self.ratio, self.value = scale, ratio, _check_value(value)
        self.inplace = checks.boolean(inplace, "inplace")
        self.max_attempts = checks.integer(max_attempts, "max_attempts", 1)

    def _draw(self, image, generator):
        if not isinstance(image, np.ndarray) or image.ndim != 3:
            expected = "an array (C, H, W); write ToTensor() before it"
            shown = f"{getattr(image, 'shape', type(image).__name__)}"
            raise wrong(TypeError, "The input of RandomErasing", expected, shown)
        if not generator.random() < self.prob:
            return (None, None)
        channels, height, width = image.shape
        for _ in range(self.max_attempts):
            area = generator.uniform(*self.scale) * height * width
            proportion = generator.uniform(*self.ratio)
            wide = round(math.sqrt(area * proportion))
            high = round(wide / proportion)
            if high < height and wide < width:
                top = int(generator.integers(height - high, endpoint=True))
                left = int(generator.integers(width - wide, endpoint=True))
                value = self.value
                if isinstance(value, str):
                    value = generator.normal(size=(channels, high, wide))
                elif not isinstance(value, numbers.Number):
                    value = np.reshape(value, (-1, 1, 1))
                return (slice(None), slice(top, top + high), slice(left, left + wide)), value
        return (None, None)

    def _array(self, image, place, value):
        if place is None:
            return image
        image = image if self.inplace else image.copy()
        # Noise in an image of bytes wraps around as a conversion in C does.
        image[place] = np.asarray(value).astype(np.int64 if image.dtype.kind in "iu" else float)
        return image


def _check_value(value):
    if isinstance(value, str):
        if value != "random":
            raise wrong(ValueError, "value", "a number, three of them or 'random'", repr(value))
        return value
    if isinstance(value, (list, tuple)):
        for one in checks.sequence(value, "value", 3, error=ValueError):
            checks.integer(one, "value", 0, 255)
        return tuple(value)
    return checks.number(value, "value", 0, 255)
