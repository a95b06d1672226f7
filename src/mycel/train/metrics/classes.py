# SPDX-License-Identifier: Apache-2.0
"""Metrics of classes: accuracy, precision, recall, their mean, and the best few."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import boolean, is_integer, is_number
from mycel.train.metrics.base import EvaluationBase, Metric, as_onehot, is_onehot, rearrange_inputs

# Added to what is divided by: nothing found is 0, not an error.
_LEAST = sys.float_info.min


class Accuracy(EvaluationBase):
    """The part of the samples whose class was predicted.

    Args:
        eval_type: 'classification', or 'multilabel', where all labels of a sample must be right.

    Raises:
        TypeError: `eval_type` is unknown.

    Source: MindSpore's `mindspore.train.Accuracy`.

    Example:
        >>> scores = Tensor([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(ms.train.Accuracy()(scores, Tensor([1, 0, 1])))
        0.6666666666666666
    """

    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect scores of shape (N, C, ...), and classes of shape (N, ...) or one-hot.

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit together.
        """
        y_pred, y = self._classes(inputs)
        if self._type == "classification":
            right = (y_pred.argmax(axis=1) == y).reshape(-1)
        else:
            rows = [np.swapaxes(a, 1, -1).reshape(-1, self._class_num) for a in (y_pred, y)]
            right = (rows[0] == rows[1]).all(axis=1)
        self._correct_num += right.sum()
        self._total_num += right.shape[0]

    def eval(self):
        """The accuracy.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._total_num)
        return float(self._correct_num / self._total_num)


class _PerClass(EvaluationBase):
    """True positives of each class, divided by some other count of it."""

    _counted: Callable
    _true_positives: Any
    _counts: Any

    def __init__(self, eval_type="classification"):
        super().__init__(eval_type)
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._class_num = 0
        many = self._type == "multilabel"
        self._true_positives = np.empty(0) if many else 0
        self._counts = np.empty(0) if many else 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect scores of shape (N, C, ...), and classes of shape (N, ...) or one-hot.

        Raises:
            ValueError: there are not two inputs, their shapes do not fit together, or a class has
                no score.
        """
        y_pred, y = self._classes(inputs)
        classes = self._class_num
        if self._type == "classification":
            y_pred, y = _as_rows(y_pred, y, classes, type(self).__name__)
        else:
            y_pred, y = (np.swapaxes(a, 0, 1).reshape(classes, -1) for a in (y_pred, y))
        hits, counts = (y * y_pred).sum(axis=0), self._counted(y_pred, y).sum(axis=0)
        if self._type == "multilabel":
            self._true_positives = np.concatenate((self._true_positives, hits))
            self._counts = np.concatenate((self._counts, counts))
        else:
            self._true_positives += hits
            self._counts += counts

    def eval(self, average=False):
        """The value of each class ('multilabel': of each sample), or their mean.

        Raises:
            RuntimeError: nothing was collected.
            TypeError: `average` is not a bool.
        """
        self._check_begun(self._class_num)
        boolean(average, f"{type(self).__name__}.eval: average")
        result = self._true_positives / (self._counts + _LEAST)
        return result.mean() if average else result


class Precision(_PerClass):
    """Of the samples predicted to be of a class, the part that are.

    Args:
        eval_type: 'classification' or 'multilabel'.

    Source: MindSpore's `mindspore.train.Precision`.

    Example:
        >>> scores = Tensor([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(ms.train.Precision()(scores, Tensor([1, 0, 1])))
        [0.5 1. ]
    """

    @staticmethod
    def _counted(y_pred, y):
        return y_pred


class Recall(_PerClass):
    """Of the samples of a class, the part predicted to be of it.

    Args:
        eval_type: 'classification' or 'multilabel'.

    Source: MindSpore's `mindspore.train.Recall`.

    Example:
        >>> scores = Tensor([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(ms.train.Recall()(scores, Tensor([1, 0, 1])))
        [1.  0.5]
    """

    @staticmethod
    def _counted(y_pred, y):
        return y


def _as_rows(y_pred, y, classes: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Prediction and truth as rows with one 1."""
    if y.max() >= classes:
        raise wrong(ValueError, f"A class given to {name}", f"below {classes}", int(y.max()))
    return as_onehot(y_pred.argmax(axis=1), classes), as_onehot(y.astype(int), classes)


class Fbeta(Metric):
    """A mean of precision and recall in which recall counts `beta` times.

    Args:
        beta: a number above 0.

    Raises:
        ValueError: not above 0.

    Source: MindSpore's `mindspore.train.Fbeta`.

    Example:
        >>> scores = Tensor([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(ms.train.Fbeta(1)(scores, Tensor([1, 0, 1])))
        [0.66666667 0.66666667]
    """

    def __init__(self, beta):
        super().__init__()
        if not is_number(beta) or beta <= 0:
            raise wrong(ValueError, f"{type(self).__name__}: beta", "a number above 0", repr(beta))
        self.beta = beta
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._true_positives = self._actual_positives = self._positives = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect scores of shape (N, C, ...), and classes of shape (N, ...) or one-hot.

        Raises:
            ValueError: there are not two inputs, the number of classes has changed, or a class has
                no score.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        if self._class_num not in (0, y_pred.shape[1]):
            expected = f"of {self._class_num} classes, as before"
            raise wrong(ValueError, "The prediction", expected, f"one of {y_pred.shape[1]}")
        self._class_num = y_pred.shape[1]
        predicted, true = _as_rows(y_pred, y, self._class_num, type(self).__name__)
        self._true_positives += (true * predicted).sum(axis=0)
        self._positives += predicted.sum(axis=0)
        self._actual_positives += true.sum(axis=0)

    def eval(self, average=False):
        """The value of each class, or their mean.

        Raises:
            RuntimeError: nothing was collected.
            TypeError: `average` is not a bool.
        """
        boolean(average, f"{type(self).__name__}.eval: average")
        self._check_begun(self._class_num)
        square = self.beta**2
        counts = square * self._actual_positives + self._positives + _LEAST
        result = (1.0 + square) * self._true_positives / counts
        return result.mean() if average else result


class F1(Fbeta):
    """The harmonic mean of precision and recall of each class.

    Source: MindSpore's `mindspore.train.F1`.

    Example:
        >>> scores = Tensor([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]])
        >>> print(ms.train.F1()(scores, Tensor([1, 0, 1])))
        [0.66666667 0.66666667]
    """

    def __init__(self):
        super().__init__(1.0)


class TopKCategoricalAccuracy(Metric):
    """The part of the samples whose class has one of the `k` highest scores.

    Args:
        k: a positive integer.

    Raises:
        TypeError, ValueError: the number is not an integer, or is below 1.

    Source: MindSpore's `mindspore.train.TopKCategoricalAccuracy`.

    Example:
        >>> scores = Tensor([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
        >>> print(ms.train.TopKCategoricalAccuracy(2)(scores, Tensor([2, 1])))
        0.5
    """

    def __init__(self, k):
        super().__init__()
        if not is_integer(k):
            raise wrong(TypeError, f"{type(self).__name__}: k", "a positive integer", repr(k))
        if k < 1:
            raise wrong(ValueError, f"{type(self).__name__}: k", "a positive integer", k)
        self.k = k
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._correct_num = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect scores of shape (N, C), and classes of shape (N,) or one-hot.

        Raises:
            ValueError: there are not two inputs.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim == y.ndim and is_onehot(y):
            y = y.argmax(axis=1)
        best = np.argsort(-y_pred, axis=1)[:, : self.k]
        y = y.reshape(-1, 1)
        self._correct_num += (best == y).sum()
        self._samples_num += y.shape[0]

    def eval(self):
        """The accuracy.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._samples_num)
        return float(self._correct_num / self._samples_num)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The part of the samples whose class has the highest score.

    Source: MindSpore's `mindspore.train.Top1CategoricalAccuracy`.

    Example:
        >>> print(ms.train.Top1CategoricalAccuracy()(Tensor([[0.2, 0.5]]), Tensor([1])))
        1.0
    """

    def __init__(self):
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The part of the samples whose class has one of the five highest scores.

    Source: MindSpore's `mindspore.train.Top5CategoricalAccuracy`.

    Example:
        >>> print(ms.train.Top5CategoricalAccuracy()(Tensor([[6.0, 5, 4, 3, 2, 1]]), Tensor([5])))
        0.0
    """

    def __init__(self):
        super().__init__(5)
