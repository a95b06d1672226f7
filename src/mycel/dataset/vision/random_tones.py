# SPDX-License-Identifier: Apache-2.0
"""Operations on brightness, contrast, colours and sharpness, by a random amount or by chance."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.vision import tones
from mycel.dataset.vision.adjusting import (
    AutoContrast,
    Equalize,
    Invert,
    enhanced,
    hue_of_pillow,
)
from mycel.dataset.vision.operation import (
    ImageTensorOperation,
    PillowOperation,
    check_image,
    saturate,
)
from mycel.dataset.vision.pillow import from_array
from mycel.kernel.base.errors import wrong

# Directions in which natural colours vary most, times how much they do.
_LIGHTING = np.array(
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ]
)


def _factors(
    value, name: str, center=1, low: float = 0, high: float = checks.NUMBER_MOST
) -> tuple[float, float]:
    """Limits of a factor, of a number around the center or of a pair."""
    if isinstance(value, numbers.Number):
        most = checks.number(value, name, 0)
        first, last = center - most, center + most
        value = (max(0, first), last) if low == 0 else (first, last)
    return checks.ordered(value, name, low, high)


class RandomColorAdjust(ImageTensorOperation):
    """Brightness, contrast, saturation and hue changed by random amounts, in random order.

    Args:
        brightness, contrast, saturation: limits of the factor, or a number `a` for
            (max(0, 1 - a), 1 + a).
        hue: limits of the part of the circle, from -0.5 to 0.5, or a number `a` for (-a, a).

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> adjust = vision.RandomColorAdjust(brightness=0.4, contrast=0.4, saturation=0.4)
        >>> adjust(np.zeros((4, 5, 3), np.uint8)).shape
        (4, 5, 3)
    """

    random = True

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        self.brightness = _factors(brightness, "brightness")
        self.contrast = _factors(contrast, "contrast")
        self.saturation = _factors(saturation, "saturation")
        self.hue = _factors(hue, "hue", 0, -0.5, 0.5)

    def _draw(self, image, generator):
        limits = (self.brightness, self.contrast, self.saturation, self.hue)
        return tuple(generator.uniform(*one) for one in limits), generator.permutation(4)

    def _array(self, image, factors, order):
        tones.colour_image(image, "RandomColorAdjust")
        formulas = (tones.brightened, tones.contrasted, tones.saturated, tones.hue_shifted)
        for index in order:
            if factors[index] != (index < 3):
                image = formulas[index](image, factors[index])
        return image

    def _pillow(self, image, factors, order):
        for index in order:
            if index == 3:
                image = hue_of_pillow(image, factors[3])
            else:
                image = enhanced(image, ("Brightness", "Contrast", "Color")[index], factors[index])
        return image


class _Degrees(ImageTensorOperation):
    """A factor drawn between two limits: `_formula` for arrays, `_enhancer` for PIL images."""

    random = True
    _formula: Callable[..., np.ndarray]
    _enhancer: str

    def __init__(self, degrees=(0.1, 1.9)):
        checks.sequence(degrees, "degrees", 2, error=ValueError)
        self.degrees = checks.ordered(degrees, "degrees", 0)

    def _draw(self, image, generator):
        return (generator.uniform(*self.degrees),)

    def _array(self, image, factor):
        return self._formula(tones.bytes_image(image, type(self).__name__), factor)

    def _pillow(self, image, factor):
        return enhanced(image, self._enhancer, factor)


class RandomColor(_Degrees):
    """Stronger or weaker colours, by a random amount.

    Args:
        degrees: limits of the factor; 0 leaves grey, 1 leaves the image.

    Raises:
        TypeError, ValueError: the limits are wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomColor((0, 0))(np.array([[[200, 100, 0]]], np.uint8))
        array([[[119, 119, 119]]], dtype=uint8)
    """

    _enhancer = "Color"

    def _formula(self, image, factor):
        return tones.saturated(tones.colour_image(image, "RandomColor"), factor)


class RandomSharpness(_Degrees):
    """A sharper or smoother image, by a random amount.

    Args:
        degrees: limits of the factor; 0 smooths the image, 1 leaves it.

    Raises:
        TypeError, ValueError: the limits are wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomSharpness((1, 1))(np.full((3, 3, 3), 7, np.uint8))[1, 1]
        array([7, 7, 7], dtype=uint8)
    """

    _enhancer = "Sharpness"
    _formula = staticmethod(tones.sharpened)


class RandomAdjustSharpness(ImageTensorOperation):
    """A sharper or smoother image, by chance.

    Args:
        degree: the factor; 0 smooths the image, 1 leaves it.
        prob: how probable that is.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomAdjustSharpness(2.0, prob=0)(np.full((3, 3, 3), 7, np.uint8))[1, 1]
        array([7, 7, 7], dtype=uint8)
    """

    random = True

    def __init__(self, degree: float, prob: float = 0.5):
        self.degree = checks.number(degree, "degree", 0)
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)

    def _array(self, image, apply):
        check_image(image, "RandomAdjustSharpness")
        return tones.sharpened(image, self.degree) if apply else image


class RandomAutoContrast(AutoContrast):
    """Each channel stretched so that it reaches from 0 to 255, by chance.

    Args:
        cutoff: how many per cent of the darkest and of the brightest pixels do not count.
        ignore: a value that does not count, or several.
        prob: how probable that is.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomAutoContrast(prob=1.0)(np.array([[10, 20, 30]], np.uint8))
        array([[  0, 127, 255]], dtype=uint8)
    """

    random = True
    _pillow: Callable[..., Any] | None = None

    def __init__(self, cutoff: float = 0.0, ignore=None, prob: float = 0.5):
        super().__init__(cutoff, ignore)
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)


class RandomEqualize(Equalize):
    """Each channel changed so that all its values are about equally frequent, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomEqualize(0.5)(np.zeros((2, 2, 3), np.uint8)).max()
        np.uint8(0)
    """

    random = True
    _pillow: Callable[..., Any] | None = None

    def __init__(self, prob: float = 0.5):
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)


class RandomInvert(Invert):
    """The negative of a colour image, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomInvert(1.0)(np.array([[[0, 100, 255]]], np.uint8))
        array([[[255, 155,   0]]], dtype=uint8)
    """

    random = True
    _pillow: Callable[..., Any] | None = None

    def __init__(self, prob: float = 0.5):
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)


class RandomPosterize(ImageTensorOperation):
    """Fewer different values in each channel, by a random amount.

    Args:
        bits: limits of the number of bits kept, from 1 to 8, or the number itself.

    Raises:
        TypeError, ValueError: the limits are wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomPosterize((1, 1))(np.array([[1, 127, 128, 255]], np.uint8))
        array([[  0,   0, 128, 128]], dtype=uint8)
    """

    random = True

    def __init__(self, bits=(8, 8)):
        pair = (bits, bits) if isinstance(bits, numbers.Number) else bits
        for one in checks.sequence(pair, "bits", 2):
            checks.integer(one, "bits", 1, 8)
        self.bits = checks.ordered(pair, "bits")

    def _draw(self, image, generator):
        return (int(generator.integers(*self.bits, endpoint=True)),)

    def _array(self, image, bits):
        return tones.posterized(tones.bytes_image(image, "RandomPosterize"), bits)


class RandomSolarize(ImageTensorOperation):
    """Values within random limits are inverted.

    Args:
        threshold: between which two numbers both limits are drawn.

    Raises:
        TypeError, ValueError: a number is wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomSolarize((100, 100))(np.array([[1, 100, 200]], np.uint8))
        array([[  1, 155,  55]], dtype=uint8)
    """

    random = True

    def __init__(self, threshold=(0, 255)):
        checks.instance(threshold, tuple, "threshold", "a tuple of 2 ints")
        for one in checks.sequence(threshold, "threshold", 2, error=ValueError):
            checks.integer(one, "threshold", 0, 255)
        self.threshold = checks.ordered(threshold, "threshold")

    def _draw(self, image, generator):
        return tuple(sorted(generator.integers(*self.threshold, size=2, endpoint=True).tolist()))

    def _array(self, image, low, high):
        return tones.solarized(tones.bytes_image(image, "RandomSolarize"), low, high)


class RandomLighting(ImageTensorOperation):
    """Colours shifted at random in the directions in which those of photographs vary most.

    Args:
        alpha: the standard deviation of the shift.

    Raises:
        TypeError, ValueError: the number is wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.RandomLighting(0.0)(np.array([[[1, 2, 3]]], np.uint8))
        array([[[1, 2, 3]]], dtype=uint8)
    """

    random = True

    def __init__(self, alpha: float = 0.05):
        self.alpha = checks.number(alpha, "alpha", 0)

    def _draw(self, image, generator):
        return (_LIGHTING @ generator.normal(0, self.alpha, 3),)

    def _array(self, image, shift):
        tones.colour_image(image, "RandomLighting")
        return saturate(image + shift, image.dtype)

    def _pillow(self, image, shift):
        values = np.asarray(image.convert("RGB")) + shift
        return from_array(np.clip(values, 0, 255).astype(np.uint8))


def grey_pillow(image, channels: int):
    """A PIL image in grey, of one channel or of three that are equal."""
    grey = image.convert("L")
    return grey if channels == 1 else from_array(np.dstack([np.asarray(grey)] * 3))


class Grayscale(PillowOperation):
    """A PIL image in grey.

    Args:
        num_output_channels: 1, or 3 that are equal.

    Raises:
        TypeError, ValueError: the number is neither 1 nor 3, or the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> vision.Grayscale(3)(image).mode
        'RGB'
    """

    def __init__(self, num_output_channels: int = 1):
        checks.integer(num_output_channels, "num_output_channels")
        if num_output_channels not in (1, 3):
            raise wrong(ValueError, "num_output_channels", "1 or 3", repr(num_output_channels))
        self.num_output_channels = num_output_channels

    def _pillow(self, image):
        return grey_pillow(image, self.num_output_channels)


class RandomGrayscale(PillowOperation):
    """A PIL image in grey, by chance; it keeps its number of channels.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1; no PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> vision.RandomGrayscale(1.0)(image).mode
        'RGB'
    """

    random = True

    def __init__(self, prob: float = 0.1):
        self.prob = checks.probability(prob)

    def _draw(self, image, generator):
        return (generator.random() < self.prob,)

    def _pillow(self, image, apply):
        return grey_pillow(image, 1 if image.mode == "L" else 3) if apply else image
