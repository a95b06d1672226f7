# SPDX-License-Identifier: Apache-2.0
"""Enumerations that operations on images take; numbers and texts are MindSpore's."""

from __future__ import annotations

import enum


class Inter(enum.IntEnum):
    """How values between pixels are found.

    NEAREST, LINEAR and CUBIC work on arrays and PIL images, AREA and PILCUBIC on arrays only,
    ANTIALIAS on PIL images only.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Inter.BILINEAR is vision.Inter.LINEAR
        True
    """

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = 2
    LINEAR = 2
    BICUBIC = 3
    CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(enum.StrEnum):
    """What stands beyond the border of a padded image.

    A constant, the last pixel (EDGE), or the image mirrored without (REFLECT) or with (SYMMETRIC)
    its last pixel.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.Border.EDGE.value
        'edge'
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(enum.IntEnum):
    """Where the channels of a batch of images are.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ImageBatchFormat.NCHW.value
        1
    """

    NHWC = 0
    NCHW = 1


class ImageReadMode(enum.IntEnum):
    """As what `read_image` reads: as stored, in one grey channel, or in red, green and blue.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ImageReadMode.COLOR.value
        2
    """

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(enum.IntEnum):
    """Whether `SlicePatches` pads an image that it cannot divide evenly, or drops the rest.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.SliceMode.DROP.value
        1
    """

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(enum.StrEnum):
    """For which data the augmentations of `AutoAugment` were searched.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.AutoAugmentPolicy.SVHN.value
        'svhn'
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class ConvertMode(enum.IntEnum):
    """From which order of channels to which `ConvertColor` converts.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.ConvertMode.COLOR_RGB2BGR is vision.ConvertMode.COLOR_BGR2RGB
        True
    """

    COLOR_BGR2BGRA = 0
    COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = 1
    COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = 2
    COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = 3
    COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = 5
    COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = 9
    COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11
