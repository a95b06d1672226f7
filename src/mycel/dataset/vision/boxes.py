# SPDX-License-Identifier: Apache-2.0
"""Operations on an image together with bounding boxes in it.

Boxes are rows (x, y, width, height, ...) of an array of floats; what follows the first four stays.
"""

from __future__ import annotations

import numpy as np

from mycel.dataset.transforms import checks, randomness
from mycel.dataset.transforms.operations import TensorOperation, as_array
from mycel.dataset.vision.cropping import RandomCrop, cut, padded, random_rectangle
from mycel.dataset.vision.names import Inter
from mycel.dataset.vision.operation import check_image, extent
from mycel.dataset.vision.resizing import RandomResizedCrop, Resize, resized, shorter_side
from mycel.kernel.base.errors import wrong


def _checked(columns, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The image and a copy of the boxes."""
    if len(columns) != 2:
        raise wrong(RuntimeError, name, "given two columns, image and boxes", f"{len(columns)}")
    image, boxes = check_image(as_array(columns[0]), name), as_array(columns[1])
    if boxes.ndim != 2 or boxes.shape[1] < 4:
        raise wrong(RuntimeError, f"{name}: boxes", "of shape (N, 4 or more)", f"{boxes.shape}")
    boxes = boxes.astype(np.float32)
    ends = boxes[:, :2] + boxes[:, 2:4]
    size = image.shape[1::-1]
    if (boxes[:, :4] < 0).any() or (ends > size).any():
        expected = f"within the image, (width, height) {tuple(size)}"
        raise wrong(RuntimeError, f"{name}: boxes", expected, f"{boxes[:, :4].tolist()}")
    return image, boxes


def _cropped(boxes: np.ndarray, top, left, height, width) -> np.ndarray:
    """The boxes in a rectangle: what lies outside is cut off, and boxes all outside are dropped."""
    first = np.clip(boxes[:, :2] - (left, top), 0, (width, height))
    last = np.clip(boxes[:, :2] + boxes[:, 2:4] - (left, top), 0, (width, height))
    boxes = np.concatenate([first, last - first, boxes[:, 4:]], 1)
    inside = (boxes[:, 2] > 0) & (boxes[:, 3] > 0)
    # At least one row, so that a batch can be made; it is empty.
    kept = boxes[inside] if inside.any() else np.zeros_like(boxes[:1])
    return kept.astype(np.float32)


def _scaled(boxes: np.ndarray, before, after) -> np.ndarray:
    factors = np.array([after[1] / before[1], after[0] / before[0]] * 2, np.float32)
    boxes[:, :4] *= factors
    return boxes


class RandomHorizontalFlipWithBBox(TensorOperation):
    """Left and right exchanged, of the image and of its boxes, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> flip = vision.RandomHorizontalFlipWithBBox(1.0)
        >>> flip(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[2., 1., 2., 3.]], dtype=float32)
    """

    random = True
    axis = 1

    def __init__(self, prob: float = 0.5):
        self.prob = checks.probability(prob)

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, type(self).__name__)
        if not randomness.current().random() < self.prob:
            return image, boxes
        place = 1 - self.axis
        boxes[:, place] = image.shape[self.axis] - boxes[:, place] - boxes[:, place + 2]
        return np.ascontiguousarray(np.flip(image, self.axis)), boxes


class RandomVerticalFlipWithBBox(RandomHorizontalFlipWithBBox):
    """The image and its boxes upside down, by chance.

    Args:
        prob: how probable that is.

    Raises:
        TypeError, ValueError: the probability is not a number from 0 to 1.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> flip = vision.RandomVerticalFlipWithBBox(1.0)
        >>> flip(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[1., 2., 2., 3.]], dtype=float32)
    """

    axis = 0


class ResizeWithBBox(TensorOperation):
    """The image and its boxes in another size.

    Args:
        size: (height, width), or an int for the shorter side; then the proportions stay.
        interpolation: how values between pixels are found, an `Inter`.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> double = vision.ResizeWithBBox((12, 10))
        >>> double(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[2., 2., 4., 6.]], dtype=float32)
    """

    def __init__(self, size, interpolation: Inter = Inter.LINEAR):
        self._resize = Resize(size, interpolation)

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, "ResizeWithBBox")
        made = self._resize(image)
        return made, _scaled(boxes, image.shape, made.shape)


class RandomResizeWithBBox(TensorOperation):
    """The image and its boxes in another size, with an interpolation chosen by chance.

    Args:
        size: (height, width), or an int for the shorter side; then the proportions stay.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> double = vision.RandomResizeWithBBox((12, 10))
        >>> double(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[2., 2., 4., 6.]], dtype=float32)
    """

    random = True

    def __init__(self, size):
        checks.size(size)
        self.size = size

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, "RandomResizeWithBBox")
        among = (Inter.BILINEAR, Inter.NEAREST, Inter.BICUBIC, Inter.AREA)
        interpolation = among[randomness.current().integers(len(among))]
        size = (
            shorter_side(image, self.size, type(self).__name__)
            if isinstance(self.size, int)
            else tuple(self.size)
        )
        made = resized(image, size, interpolation, "RandomResizeWithBBox")
        return made, _scaled(boxes, image.shape, made.shape)


class RandomCropWithBBox(RandomCrop):
    """A rectangle at a random place, and what of the boxes lies in it.

    Args:
        size: (height, width), or an int for a square.
        padding: a border added first, as `Pad` takes it; None adds none.
        pad_if_needed: whether an image that is too small is padded on both sides.
        fill_value: the colour of a constant border, one number or three.
        padding_mode: what stands there, a `Border`.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image or is smaller, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> crop = vision.RandomCropWithBBox((8, 7), padding=1)
        >>> crop(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[2., 2., 2., 3.]], dtype=float32)
    """

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, "RandomCropWithBBox")
        top, left = self._draw(image, randomness.current())
        padding, _, _ = self._borders(image)
        image = padded(image, padding, self.fill_value, self.padding_mode)
        boxes[:, :2] += padding[:2]
        return cut(image, top, left, *self.size), _cropped(boxes, top, left, *self.size)


class RandomResizedCropWithBBox(RandomResizedCrop):
    """A rectangle of random area and proportions in one size, and what of the boxes lies in it.

    Args:
        size: (height, width) of the result, or an int for a square.
        scale: limits of its area, as a part of the image's.
        ratio: limits of width / height.
        interpolation: how values between pixels are found, an `Inter`.
        max_attempts: how often one is drawn that does not fit, before the middle is taken.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> crop = vision.RandomResizedCropWithBBox((12, 10), (1.0, 1.0), (5 / 6, 5 / 6))
        >>> crop(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))[1]
        array([[2., 2., 4., 6.]], dtype=float32)
    """

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, "RandomResizedCropWithBBox")
        limits = self.scale, self.ratio, self.max_attempts
        place = random_rectangle(extent(image, type(self).__name__), *limits, randomness.current())
        boxes = _scaled(_cropped(boxes, *place), place[2:], self.size)
        part = cut(image, *place)
        return resized(part, self.size, self.interpolation, "RandomResizedCropWithBBox"), boxes


class BoundingBoxAugment(TensorOperation):
    """An operation on the parts of the image that are in some of the boxes, chosen by chance.

    Args:
        transform: the operation; it must keep the size of what it is given.
        ratio: the part of the boxes that are chosen.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the array is not an image, or a box lies outside of it.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> augment = vision.BoundingBoxAugment(vision.Invert(), ratio=1.0)
        >>> image, _ = augment(np.zeros((6, 5, 3), np.uint8), np.array([[1.0, 1, 2, 3]]))
        >>> int((image == 255).all(2).sum())
        6
    """

    random = True

    def __init__(self, transform, ratio: float = 0.3):
        self.transform = checks.one_operation(transform, "transform")
        self.ratio = checks.number(ratio, "ratio", 0, 1)

    def __call__(self, *columns):
        """The image and its boxes."""
        image, boxes = _checked(columns, "BoundingBoxAugment")
        image = image.copy()
        number = max(1, int(len(boxes) * self.ratio)) if self.ratio else 0
        for index in randomness.current().permutation(len(boxes))[:number]:
            x, y, width, height = boxes[index, :4].astype(int)
            rows, columns_ = slice(y, y + height), slice(x, x + width)
            image[rows, columns_] = self.transform(image[rows, columns_].copy())
        return image, boxes
