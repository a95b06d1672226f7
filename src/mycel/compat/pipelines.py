# SPDX-License-Identifier: Apache-2.0
"""Names beside MindSpore's data sets that programs ask for and that decide nothing here."""

from __future__ import annotations

import enum

__all__ = ["Implementation"]


class Implementation(enum.Enum):
    """Whether a transform of MindSpore runs in C++ or in Python; all here run in Python.

    Source: MindSpore's `mindspore.dataset.Implementation`.

    Example:
        >>> from mycel.compat.pipelines import Implementation
        >>> Implementation.PY.value
        1
    """

    C = 0
    PY = 1
