# SPDX-License-Identifier: Apache-2.0
"""Receiver operating characteristic, and the area below a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import is_integer
from mycel.train.metrics.base import Metric, rearrange_inputs


class ROC(Metric):
    """How true and false positives change with the threshold of a score.

    Args:
        class_num: how many classes there are, for scores of shape (N, C).
        pos_label: the class that is positive, for one score each; None means 1.

    Raises:
        TypeError: not an integer.

    Source: MindSpore's `mindspore.train.ROC`.

    Example:
        >>> roc = ms.train.ROC(pos_label=1)
        >>> false, true, thresholds = roc(Tensor([3, 1, 4, 2]), Tensor([0, 1, 1, 0]))
        >>> print(false, true, thresholds)
        [0.  0.  0.5 1.  1. ] [0.  0.5 0.5 0.5 1. ] [5 4 3 2 1]
    """

    def __init__(self, class_num=None, pos_label=None):
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and not is_integer(value):
                raise wrong(TypeError, f"ROC: {name}", "an integer or None", repr(value))
        self.class_num: Any = class_num
        self.pos_label = pos_label
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self.y_pred: Any = 0
        self.y: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        """Take scores of shape (N,) or (N, C), and classes of shape (N,); what was there goes.

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit together.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim:
            if self.class_num not in (None, 1):
                expected = "1 or None for one score each"
                raise wrong(ValueError, "ROC: class_num", expected, self.class_num)
            self.class_num = 1
            self.pos_label = 1 if self.pos_label is None else self.pos_label
            y_pred = y_pred.flatten()
        elif y_pred.ndim == y.ndim + 1:
            if self.pos_label is not None:
                expected = "None for a score for each class"
                raise wrong(ValueError, "ROC: pos_label", expected, self.pos_label)
            if self.class_num != y_pred.shape[1]:
                expected = f"{y_pred.shape[1]}, the number of scores"
                raise wrong(ValueError, "ROC: class_num", expected, self.class_num)
        else:
            expected = f"of {y.ndim} or {y.ndim + 1} dimensions, as the truth has {y.ndim}"
            raise wrong(ValueError, "The prediction of an ROC", expected, y_pred.ndim)
        self.y_pred, self.y = y_pred, y.flatten()
        self._is_update = True

    def eval(self):
        """(false positive rates, true positive rates, thresholds); for several classes three
        lists.

        Raises:
            RuntimeError: nothing was collected.
            ValueError: there are no positive samples, or no negative ones.
        """
        self._check_begun(self._is_update)
        if self.class_num == 1:
            return _curve(self.y_pred, self.y, self.pos_label)
        curves = [_curve(self.y_pred[:, c], self.y, c) for c in range(self.class_num)]
        return tuple(list(part) for part in zip(*curves, strict=True))


def _curve(scores, classes, positive) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(-scores)
    scores, is_positive = scores[order], (classes[order] == positive).astype(np.int64)
    # The last sample of each score, and what has been passed there.
    last = np.append(np.nonzero(np.diff(scores))[0], scores.size - 1)
    true = np.cumsum(is_positive)[last]
    false = 1 + last - true
    for count, kind in ((false[-1], "negative"), (true[-1], "positive")):
        if count <= 0:
            raise wrong(ValueError, "The truth given to ROC", f"with {kind} samples", "none")
    true, false = np.append(0, true), np.append(0, false)
    thresholds = np.append(scores[last][0] + 1, scores[last])
    return false / false[-1], true / true[-1], thresholds


def auc(x: Any, y: Any, reorder: bool = False) -> float:
    """The area below a curve, by trapezoids.

    Args:
        x, y: arrays of one dimension; `x` rises or falls all the time.
        reorder: sort by `x` first.

    Raises:
        TypeError: an argument is not a NumPy array.
        ValueError: there are fewer than two points, the lengths differ, or `x` is not monotonic.

    Source: MindSpore's `mindspore.train.auc`.

    Example:
        >>> print(ms.train.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])))
        0.75
    """
    for name, array in (("x", x), ("y", y)):
        if not isinstance(array, np.ndarray):
            raise wrong(TypeError, f"auc: {name}", "a NumPy array", type(array).__name__)
        if array.ndim != 1 and not (array.ndim == 2 and array.shape[1] == 1):
            raise wrong(ValueError, f"auc: {name}", "of one dimension", f"shape {array.shape}")
    x, y = x.ravel(), y.ravel()
    if x.size != y.size or x.size < 2:
        actual = f"{x.size} and {y.size}"
        raise wrong(ValueError, "auc: x and y", "two points or more, as many of each", actual)
    direction = 1
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    elif np.any(np.diff(x) < 0):
        if np.any(np.diff(x) > 0):
            raise wrong(ValueError, "auc: x", "rising or falling all the time", f"{x}")
        direction = -1
    return direction * np.trapezoid(y, x)
