# SPDX-License-Identifier: Apache-2.0
"""The older module of operations in Python: `mindspore.dataset.transforms.py_transforms`."""

from __future__ import annotations

from mycel.dataset.transforms.arrays import OneHot
from mycel.dataset.transforms.chains import (
    Compose,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from mycel.dataset.transforms.operations import PyTensorOperation

__all__ = [
    "Compose",
    "OneHotOp",
    "PyTensorOperation",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
]


class OneHotOp(OneHot):
    """`OneHot` of the older module: the result is float64, with smoothing or without.

    Args:
        num_classes: length of a row.
        smoothing_rate: how much of the one is spread over all classes.

    Example:
        >>> from mycel.dataset.transforms import py_transforms
        >>> py_transforms.OneHotOp(num_classes=3)(np.array(1))
        array([0., 1., 0.])
    """

    def _arrays(self, array):
        # The older one kept every dimension of the labels.
        rows = super()._arrays(array.reshape(-1)).reshape(*array.shape, self.num_classes)
        return rows.astype(float)
