# SPDX-License-Identifier: Apache-2.0
"""What files hold: arrays and texts by name; the error for files that are not whole."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np

# Arrays of NumPy and texts.
Contents = dict[str, Any]

DAMAGED = (
    "The file {path} is damaged: {reason}. Nothing was loaded from it. If it was copied or "
    "downloaded, do that again; else go back to an older checkpoint."
)


def damaged(path: str | os.PathLike | None, reason: str) -> ValueError:
    """The error for a file that cannot be what was written."""
    return ValueError(DAMAGED.format(path=path or "given", reason=reason))


def array_from(path, name: str, data, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array that these bytes are, without a copy.

    Raises:
        ValueError: there are too many or too few bytes.
    """
    if min(shape, default=0) < 0:
        raise damaged(path, f"{name!r} has the shape {shape}")
    size = math.prod(shape) * dtype.itemsize
    if size > sys.maxsize:
        raise damaged(path, f"{name!r} has a shape of {len(shape)} dimensions that no array has")
    if len(data) != size:
        reason = f"{name!r} has {len(data)} bytes, but {dtype} of shape {shape} has {size}"
        raise damaged(path, reason)
    try:
        return np.frombuffer(data, dtype).reshape(shape)
    except (ValueError, OverflowError):  # too many dimensions, or lengths that no array has
        raise damaged(path, f"{name!r} has the shape {shape}") from None


def bytes_of(array: np.ndarray) -> memoryview:
    """The bytes of an array, without a copy if they lie side by side."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
