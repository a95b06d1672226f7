# SPDX-License-Identifier: Apache-2.0
"""The older module of operations on arrays: `mindspore.dataset.vision.c_transforms`.

Its classes are those of `vision`, but for arguments that have changed since.
"""

from __future__ import annotations

from mycel.dataset.transforms import checks
from mycel.dataset.vision import codecs
from mycel.dataset.vision.adjusting import (
    AutoContrast,
    Equalize,
    GaussianBlur,
    Invert,
)
from mycel.dataset.vision.automatic import (
    AutoAugment,
    RandomSelectSubpolicy,
    UniformAugment,
)
from mycel.dataset.vision.boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from mycel.dataset.vision.codecs import (
    RandomCropDecodeResize,
)
from mycel.dataset.vision.cropping import (
    CenterCrop,
    Crop,
    Pad,
    RandomCrop,
    SlicePatches,
)
from mycel.dataset.vision.erasing import (
    CutOut,
)
from mycel.dataset.vision.geometry import (
    HorizontalFlip,
    RandomAffine,
    RandomHorizontalFlip,
    RandomRotation,
    RandomVerticalFlip,
    Rotate,
    VerticalFlip,
)
from mycel.dataset.vision.layout import (
    HWC2CHW,
    ConvertColor,
    Normalize,
    NormalizePad,
    Rescale,
)
from mycel.dataset.vision.mixing import (
    CutMixBatch,
    MixUpBatch,
)
from mycel.dataset.vision.names import (
    AutoAugmentPolicy,
    Border,
    ConvertMode,
    ImageBatchFormat,
    Inter,
    SliceMode,
)
from mycel.dataset.vision.operation import (
    ImageTensorOperation,
)
from mycel.dataset.vision.random_tones import (
    RandomAdjustSharpness,
    RandomAutoContrast,
    RandomColor,
    RandomColorAdjust,
    RandomEqualize,
    RandomInvert,
    RandomLighting,
    RandomPosterize,
    RandomSharpness,
    RandomSolarize,
)
from mycel.dataset.vision.resizing import (
    RandomResize,
    RandomResizedCrop,
    Resize,
)
from mycel.kernel.base.errors import wrong

__all__ = [
    "HWC2CHW",
    "AutoAugment",
    "AutoAugmentPolicy",
    "AutoContrast",
    "Border",
    "BoundingBoxAugment",
    "CenterCrop",
    "ConvertColor",
    "ConvertMode",
    "Crop",
    "CutMixBatch",
    "CutOut",
    "Decode",
    "Equalize",
    "GaussianBlur",
    "HorizontalFlip",
    "ImageBatchFormat",
    "ImageTensorOperation",
    "Inter",
    "Invert",
    "MixUpBatch",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutoContrast",
    "RandomColor",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomCropWithBBox",
    "RandomEqualize",
    "RandomHorizontalFlip",
    "RandomHorizontalFlipWithBBox",
    "RandomInvert",
    "RandomLighting",
    "RandomPosterize",
    "RandomResize",
    "RandomResizeWithBBox",
    "RandomResizedCrop",
    "RandomResizedCropWithBBox",
    "RandomRotation",
    "RandomSelectSubpolicy",
    "RandomSharpness",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomVerticalFlipWithBBox",
    "Rescale",
    "Resize",
    "ResizeWithBBox",
    "Rotate",
    "SliceMode",
    "SlicePatches",
    "UniformAugment",
    "VerticalFlip",
]


class Decode(codecs.Decode):
    """`Decode` of the older module: always to an array in red, green and blue.

    Args:
        rgb: only True.

    Raises:
        TypeError: not a bool. ValueError: False, which MindSpore never had.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision import c_transforms
        >>> file = vision.encode_png(np.zeros((4, 5, 3), np.uint8))
        >>> c_transforms.Decode(True)(file).shape
        (4, 5, 3)
    """

    def __init__(self, rgb: bool = True):
        if not checks.boolean(rgb, "rgb"):
            raise wrong(ValueError, "rgb", "True", "False")
        super().__init__()
