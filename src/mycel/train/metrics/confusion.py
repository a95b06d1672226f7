# SPDX-License-Identifier: Apache-2.0
"""Confusion matrices, and the figures that are taken from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.nn.checks import boolean, is_integer, one_of
from mycel.train.metrics.base import Metric, rearrange_inputs

NORMALIZED = ("target", "prediction", "all", "no_norm")
DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrix(Metric):
    """How often a sample of one class (row) was predicted to be of another (column).

    Args:
        num_classes: how many classes there are.
        normalize: 'target' (rows sum to 1), 'prediction' (columns do), 'all' or 'no_norm'.
        threshold: from where on a score alone means class 1.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.

    Source: MindSpore's `mindspore.train.ConfusionMatrix`.

    Example:
        >>> matrix = ms.train.ConfusionMatrix(num_classes=2)
        >>> print(matrix(Tensor([1, 0, 1, 0]), Tensor([1, 0, 0, 1])))
        [[1. 1.]
         [1. 1.]]
    """

    def __init__(self, num_classes, normalize="no_norm", threshold=0.5):
        super().__init__()
        if not is_integer(num_classes):
            what = "ConfusionMatrix: num_classes"
            raise wrong(TypeError, what, "an integer", repr(num_classes))
        if not isinstance(threshold, float):
            raise wrong(TypeError, "ConfusionMatrix: threshold", "a float", repr(threshold))
        self.num_classes = num_classes
        self.normalize = one_of(normalize, "ConfusionMatrix: normalize", NORMALIZED)
        self.threshold = threshold
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs):
        """Collect classes, or scores of shape (N, C, ...), or one score each; and the truth.

        Raises:
            ValueError: there are not two inputs, or their shapes do not fit together.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            expected = f"of {y.ndim} or {y.ndim + 1} dimensions, as the truth has {y.ndim}"
            raise wrong(ValueError, "The prediction of a ConfusionMatrix", expected, y_pred.ndim)
        if y_pred.ndim == y.ndim + 1:
            y_pred = np.argmax(y_pred, axis=1)
        elif y_pred.dtype.kind == "f":
            y_pred = y_pred >= self.threshold
        places = (y.reshape(-1) * self.num_classes + y_pred.reshape(-1)).astype(int)
        counts = np.bincount(places, minlength=self.num_classes**2)
        self.confusion_matrix += counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self):
        """The matrix.

        Raises:
            RuntimeError: nothing was collected.
        """
        self._check_begun(self._is_update)
        matrix = self.confusion_matrix.astype(float)
        if self.normalize == "no_norm":
            return matrix
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(matrix / matrix.sum(axis=axis, keepdims=True), nan=0.0)


def _part(numerator, denominator):
    """A quotient; nothing to divide by gives NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator != 0, np.divide(numerator, denominator), np.nan)


# Figures by their short names, as functions of true and false positives, true and false negatives.
_FIGURES: dict[str, Callable] = {
    "tpr": lambda tp, fp, tn, fn: _part(tp, tp + fn),
    "tnr": lambda tp, fp, tn, fn: _part(tn, fp + tn),
    "ppv": lambda tp, fp, tn, fn: _part(tp, tp + fp),
    "npv": lambda tp, fp, tn, fn: _part(tn, tn + fn),
    "fnr": lambda tp, fp, tn, fn: _part(fn, tp + fn),
    "fpr": lambda tp, fp, tn, fn: _part(fp, fp + tn),
    "fdr": lambda tp, fp, tn, fn: _part(fp, fp + tp),
    "for": lambda tp, fp, tn, fn: _part(fn, fn + tn),
    "ts": lambda tp, fp, tn, fn: _part(tp, tp + fn + fp),
    "acc": lambda tp, fp, tn, fn: _part(tp + tn, tp + fn + fp + tn),
    "f1": lambda tp, fp, tn, fn: _part(tp * 2.0, tp * 2.0 + fn + fp),
    "mcc": lambda tp, fp, tn, fn: _part(
        tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    ),
}


def _figure(name: str) -> Callable:
    def of(*counts):
        return _FIGURES[name](*counts)

    return of


_tpr, _tnr, _ppv, _npv = map(_figure, ("tpr", "tnr", "ppv", "npv"))


def _prevalence_threshold(*counts):
    tpr, tnr = _tpr(*counts), _tnr(*counts)
    return _part(np.sqrt(tpr * (1.0 - tnr)) + tnr - 1.0, tpr + tnr - 1.0)


_FIGURES |= {
    "pt": _prevalence_threshold,
    "ba": lambda *counts: (_tpr(*counts) + _tnr(*counts)) / 2.0,
    "fm": lambda *counts: np.sqrt(_ppv(*counts) * _tpr(*counts)),
    "bm": lambda *counts: _tpr(*counts) + _tnr(*counts) - 1.0,
    "mk": lambda *counts: _ppv(*counts) + _npv(*counts) - 1.0,
}

_NAMES = {
    "tpr": ("sensitivity", "recall", "hit_rate", "true_positive_rate"),
    "tnr": ("specificity", "selectivity", "true_negative_rate"),
    "ppv": ("precision", "positive_predictive_value"),
    "npv": ("negative_predictive_value",),
    "fnr": ("miss_rate", "false_negative_rate"),
    "fpr": ("fall_out", "false_positive_rate"),
    "fdr": ("false_discovery_rate",),
    "for": ("false_omission_rate",),
    "pt": ("prevalence_threshold",),
    "ts": ("threat_score", "critical_success_index", "csi"),
    "acc": ("accuracy",),
    "ba": ("balanced_accuracy",),
    "f1": ("f1_score",),
    "mcc": ("matthews_correlation_coefficient",),
    "fm": ("fowlkes_mallows_index",),
    "bm": ("informedness", "bookmaker_informedness"),
    "mk": ("markedness", "deltap"),
}
_SHORT = {name: short for short, names in _NAMES.items() for name in (short, *names)}


class ConfusionMatrixMetric(Metric):
    """A figure of the confusion matrices of channels that are 0 or 1, such as masks of organs.

    Args:
        skip_channel: whether the first channel counts; MindSpore's name for it.
        metric_name: 'sensitivity', 'precision', 'accuracy', 'f1 score' and others, also by short
            names such as 'tpr', 'ppv', 'acc', 'mcc'.
        calculation_method: True takes the figure of each sample and channel first, False counts
            over all of them first.
        decrease: how figures of samples and channels become one: 'mean', 'sum', 'mean_batch',
            'sum_batch', 'mean_channel', 'sum_channel' or 'none'.

    Raises:
        TypeError, ValueError: an argument is wrong; the text names it.
        NotImplementedError: the name of the figure is unknown.

    Source: MindSpore's `mindspore.train.ConfusionMatrixMetric`.

    Example:
        >>> metric = ms.train.ConfusionMatrixMetric(metric_name="tpr", calculation_method=True)
        >>> print(metric(Tensor([[[0], [1]], [[1], [0]]]), Tensor([[[0], [1]], [[0], [1]]])))
        0.5
    """

    def __init__(
        self,
        skip_channel=True,
        metric_name="sensitivity",
        calculation_method=False,
        decrease="mean",
    ):
        super().__init__()
        name = type(self).__name__
        self.skip_channel = boolean(skip_channel, f"{name}: skip_channel")
        self.calculation_method = boolean(calculation_method, f"{name}: calculation_method")
        if not isinstance(metric_name, str):
            raise wrong(TypeError, f"{name}: metric_name", "a string", repr(metric_name))
        self.metric_name = metric_name
        short = _SHORT.get(metric_name.replace(" ", "_").lower())
        if short is None:
            expected = f"one of {', '.join(_SHORT)}"
            raise wrong(NotImplementedError, f"{name}: metric_name", expected, repr(metric_name))
        self._figure = _FIGURES[short]
        self.decrease = one_of(decrease, f"{name}: decrease", DECREASES)
        self.clear()

    def clear(self):
        """Forget what was collected."""
        self._total = np.zeros(4)
        self._sum, self._count = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs):
        """Collect prediction and truth of shape (N, C, ...), made of 0 and 1.

        Raises:
            ValueError: there are not two inputs, they hold other numbers or have one dimension, or
                their shapes differ.
        """
        y_pred, y = self._pair(inputs)
        name = type(self).__name__
        if not np.all(y.astype(np.uint8) == y):
            raise wrong(ValueError, f"The truth given to {name}", "0 or 1", "another number")
        if y_pred.ndim < 2 or y_pred.shape != y.shape:
            expected = f"of the shape {y.shape} of the truth, and two dimensions or more"
            raise wrong(ValueError, f"The prediction given to {name}", expected, y_pred.shape)
        counts = _counts(y_pred, y, self.skip_channel)
        if not self.calculation_method:
            self._total += counts.reshape(-1, 4).sum(axis=0)
            return
        value, known = _decreased(self._figure(*np.moveaxis(counts, -1, 0)), self.decrease)
        self._sum += float((value * known).sum())
        self._count += int(known.sum())

    def eval(self):
        """The figure.

        Raises:
            RuntimeError: nothing was collected.
        """
        if self.calculation_method:
            self._check_begun(self._count)
            return self._sum / self._count
        return self._figure(*self._total[:, np.newaxis])


def _counts(y_pred, y, first: bool) -> np.ndarray:
    """True and false positives, true and false negatives, of each sample and channel."""
    if not first:
        y_pred, y = (a[:, 1:] if a.shape[1] > 1 else a for a in (y_pred, y))
    y_pred, y = (a.astype(float).reshape(*a.shape[:2], -1) for a in (y_pred, y))
    tp = (y_pred + y == 2).sum(axis=2)
    tn = (y_pred + y == 0).sum(axis=2)
    positives = y.sum(axis=2)
    fp = y.shape[-1] - positives - tn
    return np.stack([tp, fp, tn, positives - tp], axis=-1).astype(float)


def _decreased(figures: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Figures brought together, and how many of them there were; NaN does not count."""
    known = (~np.isnan(figures)).astype(float)
    figures = np.nan_to_num(figures, nan=0.0)
    if how == "none":
        return figures, known
    if how == "mean":
        figures, known = _mean(figures, known, 1)
        return _mean(figures, (known > 0).astype(float), 0)
    axis = {"sum": (0, 1), "batch": 0, "channel": 1}[how.rpartition("_")[2]]
    if how.startswith("mean"):
        return _mean(figures, known, axis)
    return figures.sum(axis=axis), known.sum(axis=axis)


def _mean(figures, known, axis) -> tuple[np.ndarray, np.ndarray]:
    count = known.sum(axis=axis)
    return np.nan_to_num(_part(figures.sum(axis=axis), count), nan=0.0), count
