# SPDX-License-Identifier: Apache-2.0
"""Operations on sound, for `dataset.map(operations=...)` or to call directly."""

from mycel.dataset.audio import operations
from mycel.dataset.audio.operations import *

__all__ = []
__all__ += operations.__all__
