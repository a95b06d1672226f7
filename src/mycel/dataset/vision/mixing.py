# SPDX-License-Identifier: Apache-2.0
"""Images of a batch mixed with each other, and their labels with them."""

from __future__ import annotations

import numpy as np

from mycel.dataset.transforms import checks, randomness
from mycel.dataset.transforms.operations import (
    Implementation,
    PyTensorOperation,
    TensorOperation,
    as_array,
)
from mycel.dataset.vision.names import ImageBatchFormat
from mycel.kernel.base.errors import wrong


def _check_batch(columns, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (N, ., ., .) and labels (N, C) or (N, L, C)."""
    if len(columns) != 2:
        expected = "given two columns, images and labels"
        raise wrong(RuntimeError, name, expected, f"{len(columns)}")
    images, labels = map(as_array, columns)
    if images.ndim != 4:
        expected = "of shape (N, H, W, C) or (N, C, H, W); batch the dataset first"
        raise wrong(RuntimeError, f"{name}: images", expected, f"{images.shape}")
    if labels.ndim not in (2, 3) or len(labels) != len(images):
        expected = f"of shape ({len(images)}, classes), as OneHot makes them"
        raise wrong(RuntimeError, f"{name}: labels", expected, f"{labels.shape}")
    return images, labels.astype(np.float32)


class MixUpBatch(TensorOperation):
    """Each image of a batch mixed with a random other one, all by the same share.

    Args:
        alpha: the share is drawn from Beta(alpha, alpha).

    Input: images (N, H, W, C) or (N, C, H, W) and labels (N, C) or (N, L, C), as `OneHot` makes
    them. Output: the same; labels are Float32.

    Raises:
        TypeError, ValueError: the number is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> images, labels = np.zeros((2, 4, 5, 3)), np.eye(2)
        >>> _, mixed = vision.MixUpBatch()(images, labels)
        >>> mixed.sum(1)
        array([1., 1.], dtype=float32)
    """

    random = True

    def __init__(self, alpha: float = 1.0):
        self.alpha = checks.number(alpha, "alpha", 0, above=True)

    def __call__(self, *columns):
        """The images and the labels, mixed."""
        images, labels = _check_batch(columns, "MixUpBatch")
        generator = randomness.current()
        share = np.float32(generator.beta(self.alpha, self.alpha))
        other = generator.permutation(len(images))
        mixed = images.astype(np.float32) * share + images[other].astype(np.float32) * (1 - share)
        return mixed.astype(images.dtype), labels * share + labels[other] * (1 - share)


class CutMixBatch(TensorOperation):
    """A rectangle of each image of a batch replaced by that of a random other one, by chance.

    Args:
        image_batch_format: where channels are, an `ImageBatchFormat`.
        alpha: the part that stays is drawn from Beta(alpha, alpha).
        prob: how probable it is for an image.

    Input: images (N, H, W, C) or (N, C, H, W) and labels (N, C) or (N, L, C), as `OneHot` makes
    them. Output: the same; labels are Float32, mixed as the areas are.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the input has another form.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> images, labels = np.zeros((2, 4, 5, 3)), np.eye(2)
        >>> _, mixed = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)(images, labels)
        >>> mixed.sum(1)
        array([1., 1.], dtype=float32)
    """

    random = True

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0):
        self.image_batch_format = checks.enumeration(
            image_batch_format, ImageBatchFormat, "image_batch_format"
        )
        self.alpha = checks.number(alpha, "alpha", 0, above=True)
        self.prob = checks.probability(prob)

    def __call__(self, *columns):
        """The images and the labels, mixed."""
        images, labels = _check_batch(columns, "CutMixBatch")
        last = self.image_batch_format is ImageBatchFormat.NHWC
        channels = images.shape[3 if last else 1]
        if channels not in (1, 3):
            expected = f"1 or 3 channels in {self.image_batch_format.name}"
            raise wrong(RuntimeError, "CutMixBatch: images", expected, f"{channels}")
        height, width = images.shape[1:3] if last else images.shape[2:]
        generator = randomness.current()
        others = generator.permutation(len(images))
        mixed, shared = images.copy(), labels.copy()
        for index, other in enumerate(others):
            if not generator.random() < self.prob:
                continue
            rows, columns_ = self._rectangle(height, width, generator)
            place = (rows, columns_) if last else (slice(None), rows, columns_)
            mixed[index][place] = images[other][place]
            area = (rows.stop - rows.start) * (columns_.stop - columns_.start)
            share = np.float32(1 - area / (height * width))
            shared[index] = labels[index] * share + labels[other] * (1 - share)
        return mixed, shared

    def _rectangle(self, height: int, width: int, generator) -> tuple[slice, slice]:
        """Rows and columns around a random place; cut off at the border."""
        side = np.sqrt(1 - generator.beta(self.alpha, self.alpha))
        ranges = []
        for length in (height, width):
            center, half = int(generator.integers(length)), int(length * side) // 2
            ranges.append(slice(max(0, center - half), min(length, center + half)))
        return ranges[0], ranges[1]


class MixUp(PyTensorOperation):
    """Each image of a batch mixed with the next one, or with the batch before, each by its share.

    Args:
        batch_size: how many images a batch has; 1 takes batches of any size, draws one share for
            each, and mixes with the first image.
        alpha: shares are drawn from Beta(alpha, alpha).
        is_single: whether images of the same batch are mixed, rather than those of the one before;
            a single image (H, W, C) then counts as a batch of equal ones.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: the batch has another size.

    Example:
        >>> import mycel.dataset.vision as vision
        >>> images, labels = np.zeros((2, 4, 5, 3)), np.eye(2)
        >>> _, mixed = vision.MixUp(batch_size=2, alpha=0.2)(images, labels)
        >>> np.allclose(mixed.sum(1), 1)
        True
    """

    random = True
    implementation = Implementation.PY

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True):
        self.is_single = checks.boolean(is_single, "is_single")
        self.batch_size = checks.integer(batch_size, "batch_size", 1, checks.NUMBER_MOST)
        self.alpha = checks.number(alpha, "alpha", 0, above=True)
        self._before: tuple | None = None

    def __call__(self, image, label):
        """The images and the labels, mixed."""
        image, label = as_array(image), as_array(label)
        if image.ndim == 3 and not self.is_single:
            image = np.repeat(image[None], self.batch_size, 0)
        if self.batch_size not in (1, len(image)):
            expected = f"of batch_size={self.batch_size} images"
            raise wrong(RuntimeError, "MixUp: a batch", expected, f"{len(image)}")
        share = randomness.current().beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            # One share, for a batch of any size, mixes all images with the first one.
            others = (image[:1], label[:1])
            if self.batch_size == len(image):
                others = (np.roll(image, -1, 0), np.roll(label, -1, 0))
        elif self._before is None:
            others = (image, label)
        else:
            others = self._before
        mixed = tuple(
            _mixed(own, other, share) for own, other in zip((image, label), others, strict=True)
        )
        self._before = mixed
        return mixed


def _mixed(own: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    share = share.reshape(-1, *(1,) * (own.ndim - 1))
    return share * own + (1 - share) * other
