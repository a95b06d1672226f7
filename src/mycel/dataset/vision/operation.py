# SPDX-License-Identifier: Apache-2.0
"""What an operation on images is: one method for arrays, one for PIL images, one that draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.dataset.transforms import randomness
from mycel.dataset.transforms.operations import Implementation, PyTensorOperation, TensorOperation
from mycel.dataset.vision.pillow import is_pil
from mycel.kernel.base.errors import wrong

ONLY_PILLOW = "a PIL image; write Decode(to_pil=True) or ToPIL() before it"


class ImageTensorOperation(TensorOperation):
    """The base class of operations on images: arrays become arrays and PIL images PIL images.

    A random operation draws once in a call (`_draw`) and does the same to all images it is given.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> vision.HorizontalFlip()(np.arange(3, dtype=np.uint8).reshape(1, 3, 1)).ravel()
        array([2, 1, 0], dtype=uint8)
    """

    # None: a PIL image is treated as the array of its pixels, and an array comes back.
    _pillow: Callable[..., Any] | None = None
    _array: Callable[..., np.ndarray] | None = None
    _new = True
    # Whether an array may have dimensions before those of an image; each image is treated alike.
    batched = False

    def _draw(self, image, generator: np.random.Generator) -> tuple:
        return ()

    def __call__(self, *images) -> Any:
        """The image, or all of them, after the operation."""
        name = type(self).__name__
        if not images:
            raise wrong(TypeError, name, "called with an image", "nothing")
        for image in images:
            if not (isinstance(image, np.ndarray) or is_pil(image)):
                expected = "an array or a PIL image"
                raise wrong(TypeError, f"The input of {name}", expected, type(image).__name__)
        drawn = self._draw(images[0], randomness.current()) if self.random else ()
        done = tuple(self._apply(image, drawn) for image in images)
        return done[0] if len(done) == 1 else done

    def _apply(self, image, drawn: tuple):
        if is_pil(image):
            if self._pillow is not None:
                return self._pillow(image, *drawn)
            image = np.asarray(image)
        if self._array is None:
            name = type(self).__name__
            raise wrong(TypeError, f"The input of {name}", ONLY_PILLOW, type(image).__name__)
        if not self.batched or image.ndim < 4:
            return self._array(image, *drawn)
        images = image.reshape(-1, *image.shape[-3:])
        done = np.stack([self._array(one, *drawn) for one in images])
        return done.reshape(*image.shape[:-3], *done.shape[1:])


class PillowOperation(ImageTensorOperation, PyTensorOperation):
    """The base class of operations on PIL images only."""

    implementation = Implementation.PY


def extent(image, name: str) -> tuple[int, int]:
    """Height and width of an array or a PIL image, as the operation of this name needs them.

    Raises:
        RuntimeError: the array is no image.
    """
    if is_pil(image):
        return image.height, image.width
    if image.ndim < 2:
        check_image(image, name)
    return image.shape[:2] if image.ndim < 4 else image.shape[-3:-1]


def check_image(array: np.ndarray, name: str, *ranks: int) -> np.ndarray:
    """The array, if it has the dimensions of an image: (H, W) or (H, W, C).

    Raises:
        RuntimeError: the array has another number of dimensions.
    """
    ranks = ranks or (2, 3)
    if array.ndim not in ranks:
        shapes = {1: "(C,)", 2: "(H, W)", 3: "(H, W, C)", 4: "(N, H, W, C)"}
        expected = f"of shape {' or '.join(shapes[rank] for rank in ranks)}"
        raise wrong(RuntimeError, f"The input of {name}", expected, f"{array.shape}")
    return array


def saturate(values: np.ndarray, dtype) -> np.ndarray:
    """Numbers as this type: rounded to even and cut off at the limits where it is an integer."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
