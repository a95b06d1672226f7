# SPDX-License-Identifier: Apache-2.0
"""The older module of operations on PIL images: `mindspore.dataset.vision.py_transforms`.

Its classes are those of `vision`, but for those that worked on other images or arguments.
"""

from __future__ import annotations

import numpy as np

from mycel.dataset.transforms import checks
from mycel.dataset.transforms.chains import Compose, RandomApply, RandomChoice, RandomOrder
from mycel.dataset.transforms.operations import Implementation, PyTensorOperation
from mycel.dataset.vision import codecs, erasing, layout, operations
from mycel.dataset.vision.operations import *  # noqa: F403  # pyright: ignore[reportAssignmentType]
from mycel.kernel.base.errors import wrong

__all__ = ["Compose", "PyTensorOperation", "RandomApply", "RandomChoice", "RandomOrder"]
__all__ += operations.__all__


class Decode(codecs.Decode):
    """`Decode` of the older module: always to a PIL image in red, green and blue.

    Raises:
        TypeError, ValueError: the bytes are not an image.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> from mycel.dataset.vision import py_transforms
        >>> file = vision.encode_png(np.zeros((4, 5, 3), np.uint8))
        >>> py_transforms.Decode()(file).size
        (5, 4)
    """

    def __init__(self):
        super().__init__(to_pil=True)


class Normalize(layout.Normalize):
    """`Normalize` of the older module: on arrays (C, H, W) of floats, as `ToTensor` makes them.

    Args:
        mean, std: one number per channel, or one for all of them, from 0 to 1.

    Raises:
        TypeError, ValueError: an argument is wrong; another number of channels; no array of three
            dimensions. NotImplementedError: an array of integers.

    Example:
        >>> from mycel.dataset.vision import py_transforms
        >>> py_transforms.Normalize([0.5], [0.25])(np.ones((1, 1, 2), np.float32))
        array([[[2., 2.]]], dtype=float32)
    """

    implementation = Implementation.PY

    def __init__(self, mean, std):
        layout.check_statistics(mean, std, 1)
        super().__init__(mean, std, is_hwc=False)

    def __call__(self, img):
        """The image, normalized."""
        return _normalized(img, self.mean, self.std, type(self).__name__)


def _normalized(img, mean, std, name: str) -> np.ndarray:
    what = f"The input of {name}"
    if not isinstance(img, np.ndarray) or img.ndim != 3:
        shown = str(getattr(img, "shape", type(img).__name__))
        raise wrong(TypeError, what, "an array (C, H, W)", shown)
    if img.dtype.kind in "iu":
        expected = "of floats; write ToTensor() before it"
        raise wrong(NotImplementedError, what, expected, str(img.dtype))
    if len(mean) not in (1, len(img)):
        raise wrong(ValueError, what, f"of {len(mean)} channels, as mean has", f"{len(img)}")
    mean, std = (np.array(one, img.dtype).reshape(-1, 1, 1) for one in (mean, std))
    return (img - mean) / std


class NormalizePad(Normalize):
    """`NormalizePad` of the older module: on arrays (C, H, W) of floats.

    Args:
        mean, std: one number per channel, or one for all of them, from 0 to 1.
        dtype: "float32" or "float16", the type of the result.

    Raises:
        TypeError, ValueError: an argument is wrong; another number of channels; no array of three
            dimensions. NotImplementedError: an array of integers.

    Example:
        >>> from mycel.dataset.vision import py_transforms
        >>> py_transforms.NormalizePad([0.5], [0.25])(np.ones((1, 1, 2), np.float32)).shape
        (2, 1, 2)
    """

    def __init__(self, mean, std, dtype: str = "float32"):
        super().__init__(mean, std)
        if checks.text(dtype, "dtype") not in ("float32", "float16"):
            raise wrong(ValueError, "dtype", "'float32' or 'float16'", repr(dtype))
        self.dtype = dtype

    def __call__(self, img):
        """The image, normalized, and a channel of zeros."""
        values = super().__call__(img)
        return np.concatenate([values, np.zeros_like(values[:1])]).astype(self.dtype)


class CutOut(erasing.CutOut):
    """`CutOut` of the older module: on arrays (C, H, W).

    Args:
        length: the side of a square.
        num_patches: how many there are.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or smaller.

    Example:
        >>> from mycel.dataset.vision import py_transforms
        >>> py_transforms.CutOut(2)(np.ones((3, 4, 5), np.float32)).shape
        (3, 4, 5)
    """

    implementation = Implementation.PY

    def __init__(self, length: int, num_patches: int = 1):
        super().__init__(length, num_patches, is_hwc=False)
