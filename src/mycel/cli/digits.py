# SPDX-License-Identifier: Apache-2.0
"""The handwritten digits that the demo learns from: 1,797 images of 8x8 pixels, shipped with us.

The data are the test part of "Optical Recognition of Handwritten Digits" by E. Alpaydin and
C. Kaynak (1998), UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under
CC BY 4.0. See DATA.md beside this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

SIZE = 32
CLASSES = 10
TRAIN_SHARE = 0.8
# Fixed, so that every run and every mode is measured on the same test digits.
SPLIT_SEED = 20


class Digits(NamedTuple):
    """Images (n, 1, 32, 32) float32 in [0, 1] and labels (n,) int32, for training and testing."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load_digits(size: int = SIZE) -> Digits:
    """The digits scaled up to `size`, shuffled by a fixed seed and split 80 to 20.

    Example:
        >>> from mycel.cli.digits import load_digits
        >>> digits = load_digits()
        >>> digits.train_images.shape, digits.test_images.shape
        ((1437, 1, 32, 32), (360, 1, 32, 32))
    """
    with np.load(Path(__file__).with_name("digits.npz")) as stored:
        images, labels = stored["images"], stored["labels"].astype(np.int32)
    scaled = enlarge(images.astype(np.float32) / 16, size)[:, None]
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels))
    count = int(TRAIN_SHARE * len(labels))
    train, test = order[:count], order[count:]
    return Digits(scaled[train], labels[train], scaled[test], labels[test])


def enlarge(images: np.ndarray, size: int) -> np.ndarray:
    """Bilinear scaling of square images (n, s, s) to (n, size, size), pixel centres aligned.

    Example:
        >>> from mycel.cli.digits import enlarge
        >>> enlarge(np.array([[[0.0, 1.0], [0.0, 1.0]]]), 4)[0, 0]
        array([0.  , 0.25, 0.75, 1.  ])
    """
    weights = _bilinear(images.shape[-1], size).astype(images.dtype)
    return weights @ images @ weights.T


def _bilinear(old: int, new: int) -> np.ndarray:
    """The matrix (new, old) that interpolates a line of `old` pixels at `new` places."""
    places = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    below = np.minimum(places.astype(int), old - 2)
    share = places - below
    matrix = np.zeros((new, old))
    matrix[np.arange(new), below] = 1 - share
    matrix[np.arange(new), below + 1] = share
    return matrix
