# SPDX-License-Identifier: Apache-2.0
"""Operations on brightness, contrast, colours and sharpness, by a given amount."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.vision import tones
from mycel.dataset.vision.operation import ImageTensorOperation, check_image, saturate
from mycel.dataset.vision.pillow import from_array, pillow
from mycel.kernel.base.errors import wrong


def enhanced(image, what: str, factor: float):
    """A PIL image after one of Pillow's enhancers."""
    return getattr(pillow("ImageEnhance", what), what)(image).enhance(factor)


def hue_of_pillow(image, factor: float):
    """A PIL image with its hues turned by a part of the circle."""
    if image.mode in ("L", "1", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    # The shift wraps around, as hues do.
    turned = np.asarray(hue) + np.array(int(factor * 255) % 256, np.uint8)
    parts = (from_array(turned), saturation, value)
    return pillow("Image", "AdjustHue").merge("HSV", parts).convert(image.mode)


class _Adjust(ImageTensorOperation):
    """An operation with one factor: `_formula` for arrays, `_enhancer` of Pillow for PIL images."""

    _check = staticmethod(tones.colour_image)
    _formula: Callable[..., np.ndarray]
    _enhancer: str
    factor: float

    def _array(self, image, factor=None):
        self._check(image, type(self).__name__)
        return self._formula(image, self.factor if factor is None else factor)

    def _pillow(self, image, factor=None):
        return enhanced(image, self._enhancer, self.factor if factor is None else factor)


class AdjustBrightness(_Adjust):
    """Every value times a factor.

    Args:
        brightness_factor: 0 makes the image black, 1 leaves it.

    Raises:
        TypeError, ValueError: the factor is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustBrightness(2)(np.array([[[1, 2, 200]]], np.uint8))
        array([[[  2,   4, 255]]], dtype=uint8)
    """

    _check = staticmethod(check_image)
    _enhancer = "Brightness"
    _formula = staticmethod(tones.brightened)

    def __init__(self, brightness_factor: float):
        self.factor = checks.number(brightness_factor, "brightness_factor", 0)


class AdjustContrast(_Adjust):
    """Values further from the mean grey level, or nearer to it.

    Args:
        contrast_factor: 0 makes the image grey, 1 leaves it.

    Raises:
        TypeError, ValueError: the factor is wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustContrast(0)(np.array([[[9, 9, 9], [99, 99, 99]]], np.uint8))[0, 0]
        array([54, 54, 54], dtype=uint8)
    """

    _enhancer = "Contrast"
    _formula = staticmethod(tones.contrasted)

    def __init__(self, contrast_factor: float):
        self.factor = checks.number(contrast_factor, "contrast_factor", 0)


class AdjustSaturation(_Adjust):
    """Stronger or weaker colours.

    Args:
        saturation_factor: 0 leaves grey, 1 leaves the image.

    Raises:
        TypeError, ValueError: the factor is wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustSaturation(0)(np.array([[[200, 100, 0]]], np.uint8))
        array([[[119, 119, 119]]], dtype=uint8)
    """

    _enhancer = "Color"
    _formula = staticmethod(tones.saturated)

    def __init__(self, saturation_factor: float):
        self.factor = checks.number(saturation_factor, "saturation_factor", 0)


class AdjustHue(_Adjust):
    """Hues turned by a part of the circle.

    Args:
        hue_factor: from -0.5 to 0.5.

    Raises:
        TypeError, ValueError: the factor is wrong.
        RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustHue(0.5)(np.array([[[200, 0, 0]]], np.uint8))
        array([[[  0, 200, 198]]], dtype=uint8)
    """

    _formula = staticmethod(tones.hue_shifted)

    def __init__(self, hue_factor: float):
        self.factor = checks.number(hue_factor, "hue_factor", -0.5, 0.5)

    def _pillow(self, image):
        return hue_of_pillow(image, self.factor)


class AdjustSharpness(_Adjust):
    """A sharper or smoother image.

    Args:
        sharpness_factor: 0 smooths the image, 1 leaves it.

    Raises:
        TypeError, ValueError: the factor is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustSharpness(1)(np.full((3, 3, 3), 7, np.uint8))[1, 1]
        array([7, 7, 7], dtype=uint8)
    """

    _pillow: Callable[..., Any] | None = None

    def __init__(self, sharpness_factor: float):
        self.factor = checks.number(sharpness_factor, "sharpness_factor", 0)

    def _array(self, image):
        return tones.sharpened(check_image(image, "AdjustSharpness"), self.factor)


class AdjustGamma(ImageTensorOperation):
    """Values bent: `255 * gain * (value / 255) ** gamma`.

    Args:
        gamma: below 1 dark parts become brighter, above 1 darker.
        gain: a factor.

    Input: an array (..., C) of bytes, or of floats from 0 to 1, or a PIL image.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AdjustGamma(2.0)(np.array([[[0, 128, 255]]], np.uint8))
        array([[[  0,  64, 255]]], dtype=uint8)
    """

    def __init__(self, gamma: float, gain: float = 1):
        self.gamma = checks.number(gamma, "gamma", 0)
        self.gain = checks.number(gain, "gain")

    def _array(self, image):
        check_image(image, "AdjustGamma", 2, 3)
        values = image.astype(np.float32)
        if image.dtype.kind == "f":
            return np.clip(values**self.gamma * self.gain, 0, 1).astype(image.dtype)
        bent = (values / 255) ** self.gamma * self.gain
        return np.clip(bent * 255.999, 0, 255).astype(image.dtype)

    def _pillow(self, image):
        table = [int((255 + 1 - 1e-3) * self.gain * (x / 255) ** self.gamma) for x in range(256)]
        return image.point(table * len(image.getbands()))


def check_cutoff(cutoff, ignore) -> tuple[float, list[int]]:
    """The arguments of `AutoContrast`.

    Raises:
        TypeError, ValueError: the cutoff is wrong.
    """
    checks.number(cutoff, "cutoff", 0, 50)
    if cutoff == 50:
        raise wrong(ValueError, "cutoff", "in [0, 50)", repr(cutoff))
    ignore = [] if ignore is None else [ignore] if isinstance(ignore, numbers.Number) else ignore
    levels = checks.sequence(ignore, "ignore")
    for one in levels:
        checks.integer(one, "ignore", 0, 255)
    return cutoff, list(levels)


class AutoContrast(ImageTensorOperation):
    """Each channel stretched so that it reaches from 0 to 255.

    Args:
        cutoff: how many per cent of the darkest and of the brightest pixels do not count.
        ignore: a value that does not count, or several.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AutoContrast()(np.array([[10, 20, 30]], np.uint8))
        array([[  0, 127, 255]], dtype=uint8)
    """

    def __init__(self, cutoff: float = 0.0, ignore=None):
        self.cutoff, self.ignore = check_cutoff(cutoff, ignore)

    def _array(self, image, apply: bool = True):
        tones.bytes_image(image, type(self).__name__)
        return tones.auto_contrasted(image, self.cutoff, self.ignore) if apply else image

    def _pillow(self, image):
        ignore = self.ignore or None
        return pillow("ImageOps", "AutoContrast").autocontrast(image, self.cutoff, ignore)


class Equalize(ImageTensorOperation):
    """Each channel changed so that all its values are about equally frequent.

    Raises:
        TypeError, RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Equalize()(np.zeros((2, 2, 3), np.uint8)).max()
        np.uint8(0)
    """

    def _array(self, image, apply: bool = True):
        tones.bytes_image(image, type(self).__name__)
        return tones.equalized(image) if apply else image

    def _pillow(self, image):
        return pillow("ImageOps", "Equalize").equalize(image)


class Invert(ImageTensorOperation):
    """The negative of a colour image.

    Raises:
        TypeError, RuntimeError: the array is not (H, W, 3).

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Invert()(np.array([[[0, 100, 255]]], np.uint8))
        array([[[255, 155,   0]]], dtype=uint8)
    """

    def _array(self, image, apply: bool = True):
        tones.colour_image(image, type(self).__name__)
        return saturate(255 - image.astype(np.float64), image.dtype) if apply else image

    def _pillow(self, image):
        return pillow("ImageOps", "Invert").invert(image)


class Posterize(ImageTensorOperation):
    """Fewer different values in each channel.

    Args:
        bits: how many bits of each value are kept, from 0 to 8.

    Raises:
        TypeError, ValueError: the number is wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Posterize(1)(np.array([[1, 127, 128, 255]], np.uint8))
        array([[  0,   0, 128, 128]], dtype=uint8)
    """

    def __init__(self, bits: int):
        self.bits = checks.integer(bits, "bits", 0, 8)

    def _array(self, image):
        return tones.posterized(tones.bytes_image(image, "Posterize"), self.bits)


class Solarize(ImageTensorOperation):
    """Values within limits are inverted.

    Args:
        threshold: the limits (min, max), or one number: all values from it on.

    Raises:
        TypeError, ValueError: the limits are wrong.
        RuntimeError: the array is not an image of bytes.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Solarize((0, 100))(np.array([[1, 100, 200]], np.uint8))
        array([[254, 155, 200]], dtype=uint8)
    """

    def __init__(self, threshold):
        pair = (threshold, threshold) if isinstance(threshold, numbers.Number) else threshold
        self.threshold = checks.ordered(pair, "threshold", 0, 255)

    def _array(self, image):
        return tones.solarized(tones.bytes_image(image, "Solarize"), *self.threshold)


class GaussianBlur(ImageTensorOperation):
    """The image smoothed.

    Args:
        kernel_size: odd width and height of the window in pixels, or one number for both.
        sigma: standard deviations, or one for both; None or 0 follows from the window.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.GaussianBlur(3)(np.array([[0, 0, 90, 0, 0]] * 3, np.uint8))[1]
        array([ 0, 21, 47, 21,  0], dtype=uint8)
    """

    def __init__(self, kernel_size, sigma=None):
        pair = (kernel_size,) * 2 if isinstance(kernel_size, numbers.Number) else kernel_size
        for one in checks.sequence(pair, "kernel_size", 2):
            checks.integer(one, "kernel_size", 1, checks.NUMBER_MOST)
            if one % 2 == 0:
                raise wrong(ValueError, "kernel_size", "odd", repr(one))
        sigma = 0 if sigma is None else sigma
        spread = (sigma,) * 2 if isinstance(sigma, numbers.Number) else sigma
        spread = checks.sequence(spread, "sigma", 2)
        for one in spread:
            checks.number(one, "sigma", 0)
        self.kernel_size, self.sigma = tuple(pair), tuple(spread)

    def _array(self, image):
        check_image(image, "GaussianBlur")
        sigma = (self.sigma[0], self.sigma[1] or self.sigma[0])
        return tones.blurred(image, self.kernel_size, sigma)
