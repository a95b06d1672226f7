# SPDX-License-Identifier: Apache-2.0
"""Operations on images, for `dataset.map(operations=...)` or to call directly."""

from mycel.dataset.vision import c_transforms, operations, py_transforms, py_transforms_util
from mycel.dataset.vision.operations import *

__all__ = []
__all__ += operations.__all__
