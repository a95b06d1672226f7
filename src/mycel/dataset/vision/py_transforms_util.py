# SPDX-License-Identifier: Apache-2.0
"""Helpers that programs import from MindSpore's `vision.py_transforms_util`, on PIL images."""

from __future__ import annotations

import math

import numpy as np

from mycel.dataset.vision import adjusting, cropping, layout
from mycel.dataset.vision.pillow import is_pil
from mycel.kernel.base.dtypes import numpy_dtype

augment_error_message = (
    "img should be PIL image. Got {}. Use Decode() for encoded data or ToPIL() for decoded data."
)

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "augment_error_message",
    "hwc_to_chw",
    "is_numpy",
    "is_pil",
    "random_crop",
    "rotate",
    "to_tensor",
    "to_type",
]


def is_numpy(img) -> bool:
    """Whether this is an array.

    Example:
        >>> from mycel.dataset.vision.py_transforms_util import is_numpy
        >>> is_numpy(np.zeros(2))
        True
    """
    return isinstance(img, np.ndarray)


def hwc_to_chw(img: np.ndarray) -> np.ndarray:
    """From (H, W, C) to (C, H, W); (H, W) stays.

    Raises:
        TypeError: the input is not an array.

    Example:
        >>> from mycel.dataset.vision.py_transforms_util import hwc_to_chw
        >>> hwc_to_chw(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """
    return layout.HWC2CHW()(img)


def to_tensor(img, output_type=np.float32) -> np.ndarray:
    """From a PIL image or (H, W, C) of 0 to 255 to (C, H, W) of 0 to 1.

    Raises:
        TypeError: the input is neither an array nor a PIL image.

    Example:
        >>> from mycel.dataset.vision.py_transforms_util import to_tensor
        >>> to_tensor(np.zeros((4, 5, 3), np.uint8), np.float32).shape
        (3, 4, 5)
    """
    return layout.ToTensor(output_type)(img)


def to_type(img: np.ndarray, output_type) -> np.ndarray:
    """The array with another element type.

    Example:
        >>> from mycel.dataset.vision.py_transforms_util import to_type
        >>> to_type(np.array([1]), np.float32)
        array([1.], dtype=float32)
    """
    return np.asarray(img).astype(numpy_dtype(output_type))


def _check(img):
    if not is_pil(img):
        raise TypeError(augment_error_message.format(type(img)))
    return img


def adjust_brightness(img, brightness_factor: float):
    """A PIL image, brighter by a factor.

    Raises:
        TypeError: the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import adjust_brightness
        >>> adjust_brightness(vision.ToPIL()(np.full((1, 1), 8, np.uint8)), 2.0).getpixel((0, 0))
        16
    """
    return adjusting.enhanced(_check(img), "Brightness", brightness_factor)


def adjust_contrast(img, contrast_factor: float):
    """A PIL image with more contrast by a factor.

    Raises:
        TypeError: the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import adjust_contrast
        >>> adjust_contrast(vision.ToPIL()(np.full((1, 1), 8, np.uint8)), 2.0).getpixel((0, 0))
        8
    """
    return adjusting.enhanced(_check(img), "Contrast", contrast_factor)


def adjust_saturation(img, saturation_factor: float):
    """A PIL image with stronger colours by a factor.

    Raises:
        TypeError: the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import adjust_saturation
        >>> grey = vision.ToPIL()(np.full((1, 1, 3), 8, np.uint8))
        >>> adjust_saturation(grey, 2.0).getpixel((0, 0))
        (8, 8, 8)
    """
    return adjusting.enhanced(_check(img), "Color", saturation_factor)


def adjust_hue(img, hue_factor: float):
    """A PIL image with its hues turned by a part of the circle, from -0.5 to 0.5.

    Raises:
        TypeError: the input is not a PIL image.
        ValueError: the number is not from -0.5 to 0.5.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import adjust_hue
        >>> red = vision.ToPIL()(np.array([[[200, 0, 0]]], np.uint8))
        >>> adjust_hue(red, 0.0).getpixel((0, 0))
        (200, 0, 0)
    """
    return adjusting.AdjustHue(hue_factor)(_check(img))


def rotate(img, angle, resample, expand, center, fill_value):
    """A PIL image turned against the clock.

    Args:
        img: the image.
        angle: in degrees.
        resample: Pillow's number of an interpolation.
        expand: whether the result is large enough for the whole image.
        center: the (x, y) it is turned around; None is the middle.
        fill_value: the colour of what lies outside, one number or one per channel.

    Raises:
        TypeError: the input is not a PIL image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import rotate
        >>> rotate(vision.ToPIL()(np.zeros((4, 5, 3), np.uint8)), 90, 0, True, None, 0).size
        (4, 5)
    """
    bands = len(_check(img).getbands())
    fill = (fill_value,) * bands if isinstance(fill_value, int) else tuple(fill_value)
    fill = fill[0] if bands == 1 else fill
    return img.rotate(math.fmod(angle, 360), resample, expand, center, fillcolor=fill)


def random_crop(img, size, padding, pad_if_needed, fill_value, padding_mode):
    """A rectangle of a PIL image at a random place; arguments as `RandomCrop` takes them.

    Args:
        img: the image.
        size: (height, width), or an int for a square.
        padding: a border added first; None adds none.
        pad_if_needed: whether an image that is too small is padded.
        fill_value: the colour of a constant border.
        padding_mode: what stands there, a `Border` or its text.

    Raises:
        TypeError: the input is not a PIL image.
        ValueError: the image is too small.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision.py_transforms_util import random_crop
        >>> image = vision.ToPIL()(np.zeros((4, 5, 3), np.uint8))
        >>> random_crop(image, (2, 3), None, False, 0, "constant").size
        (3, 2)
    """
    mode = cropping.Border(padding_mode)
    fill = tuple(fill_value) if isinstance(fill_value, list) else fill_value
    return cropping.RandomCrop(size, padding, pad_if_needed, fill, mode)(_check(img))
