# SPDX-License-Identifier: Apache-2.0
"""Pillow, imported when it is needed: most operations on arrays do without it."""

from __future__ import annotations

import functools
import importlib
import sys

import numpy as np

from mycel.dataset.vision.names import Inter
from mycel.kernel.base.errors import wrong

MISSING = "{what} needs Pillow, which is not installed: pip install 'mycel[data]'."


@functools.cache
def _module(name: str):
    return importlib.import_module(f"PIL.{name}")


def pillow(name: str, what: str):
    """A module of Pillow, for what is to be done with it.

    Raises:
        ImportError: Pillow is not installed; the text says how to install it.
    """
    try:
        return _module(name)
    except ImportError:
        raise ImportError(MISSING.format(what=what)) from None


def is_pil(img) -> bool:
    """Whether this is a PIL image.

    Example:
        >>> from mycel.dataset.vision.py_transforms_util import is_pil
        >>> is_pil(np.zeros((2, 2)))
        False
    """
    # Where Pillow was never imported, or is being imported now, nothing can be an image of it.
    kind = getattr(sys.modules.get("PIL.Image"), "Image", None)
    return kind is not None and isinstance(img, kind)


def from_array(array: np.ndarray, what: str = "A PIL image"):
    """The PIL image of an array."""
    return pillow("Image", what).fromarray(array)


def resampling(interpolation: Inter, what: str):
    """Pillow's number for an interpolation.

    Raises:
        TypeError: Pillow does not have this interpolation.
    """
    names = {Inter.NEAREST: "NEAREST", Inter.ANTIALIAS: "LANCZOS"}
    names |= {Inter.BILINEAR: "BILINEAR", Inter.BICUBIC: "BICUBIC"}
    if interpolation not in names:
        expected = f"NEAREST, LINEAR, CUBIC or ANTIALIAS for a PIL image, in {what}"
        raise wrong(TypeError, "The interpolation", expected, interpolation.name)
    return getattr(pillow("Image", what).Resampling, names[interpolation])
