# SPDX-License-Identifier: Apache-2.0
"""OpenCV, where it is installed, for what it computes bit for bit as `sampling` does.

Some builds of OpenCV round otherwise (those of other processors have code of their own). So it is
asked once whether it gives the same here, and if not it is left alone: results never depend on
whether it is installed.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.dataset.vision.names import Inter

# Two channels, and more than four, take another way through OpenCV.
_CHANNELS = (1, 3, 4)
# Pairs of sizes: smaller, larger, halved, one of each, a single line.
_ASKED = (((23, 31), (14, 9)), ((7, 5), (40, 33)), ((16, 12), (8, 6)), ((9, 40), (21, 17)))
_ASKED += (((1, 13), (5, 6)), ((64, 48), (63, 49)))

Resize = Callable[[np.ndarray, tuple[int, int], Inter], np.ndarray]


@functools.cache
def _library() -> Any:
    """OpenCV; None where it is not installed."""
    try:
        return importlib.import_module("cv2")
    except ImportError:
        return None


def _resize(array: np.ndarray, size: tuple[int, int], interpolation: Inter) -> np.ndarray:
    library = _library()
    kind = library.INTER_NEAREST if interpolation is Inter.NEAREST else library.INTER_LINEAR
    made = library.resize(array, size[::-1], interpolation=kind)
    return made.reshape(*size, *array.shape[2:])


@functools.cache
def resize_as(ours: Resize) -> Resize | None:
    """OpenCV's resizing of bytes to the nearest pixel or linearly, if it gives what `ours` gives.

    Args:
        ours: the function that it stands for.
    """
    if _library() is None:
        return None
    draw = np.random.default_rng(0)
    for interpolation in (Inter.NEAREST, Inter.LINEAR):
        for channels in _CHANNELS:
            for before, after in _ASKED:
                array = draw.integers(0, 256, (*before, channels), np.uint8)
                expected = ours(array, after, interpolation)
                if not np.array_equal(_resize(array, after, interpolation), expected):
                    return None
    return _resize


def fits(array: np.ndarray, interpolation: Inter) -> bool:
    """Whether an array and an interpolation are among those that were asked about."""
    return (
        array.dtype == np.uint8
        and array.size > 0
        and (interpolation is Inter.NEAREST or interpolation is Inter.LINEAR)
        and (array.ndim == 2 or array.shape[2] in _CHANNELS)
    )
