# SPDX-License-Identifier: Apache-2.0
"""The older module of operations on arrays: `mindspore.dataset.vision.c_transforms`.

Its classes are those of `vision`, but for arguments that have changed since.
"""

from __future__ import annotations

from mycel.dataset.transforms import checks
from mycel.dataset.vision import codecs, operations
from mycel.dataset.vision.operation import ImageTensorOperation
from mycel.dataset.vision.operations import *  # noqa: F403  # pyright: ignore[reportAssignmentType]
from mycel.kernel.base.errors import wrong

__all__ = ["ImageTensorOperation"]
__all__ += operations.__all__


class Decode(codecs.Decode):
    """`Decode` of the older module: always to an array in red, green and blue.

    Args:
        rgb: only True.

    Raises:
        TypeError: an argument is not a bool.
        ValueError: the argument is False, which MindSpore never supported.

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
