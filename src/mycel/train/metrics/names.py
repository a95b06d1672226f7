# SPDX-License-Identifier: Apache-2.0
"""Metrics by name."""

from __future__ import annotations

from typing import Any

from mycel.kernel.base.errors import wrong
from mycel.train.metrics.base import Metric
from mycel.train.metrics.classes import (
    F1,
    Accuracy,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mycel.train.metrics.confusion import ConfusionMatrix, ConfusionMatrixMetric
from mycel.train.metrics.curves import ROC, auc
from mycel.train.metrics.losses import MAE, MSE, Loss, Perplexity
from mycel.train.metrics.occlusion import OcclusionSensitivity
from mycel.train.metrics.similarity import BleuScore, CosineSimilarity, Dice
from mycel.train.metrics.surfaces import (
    HausdorffDistance,
    MeanSurfaceDistance,
    RootMeanSquareDistance,
)

_BY_NAME = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "precision": Precision,
    "recall": Recall,
    "F1": F1,
    "dice": Dice,
    "roc": ROC,
    "auc": auc,
    "bleu_score": BleuScore,
    "cosine_similarity": CosineSimilarity,
    "occlusion_sensitivity": OcclusionSensitivity,
    "topk": TopKCategoricalAccuracy,
    "hausdorff_distance": HausdorffDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "mae": MAE,
    "mse": MSE,
    "loss": Loss,
    "mean_surface_distance": MeanSurfaceDistance,
    "root_mean_square_distance": RootMeanSquareDistance,
    "perplexity": Perplexity,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
}


def names() -> list[str]:
    """The names of the metrics, sorted.

    Source: MindSpore's `mindspore.train.names`.

    Example:
        >>> ms.train.names()[:4]
        ['F1', 'acc', 'accuracy', 'auc']
    """
    return sorted(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """The metric of a name, made with these arguments.

    Raises:
        KeyError: no metric has this name.

    Source: MindSpore's `mindspore.train.get_metric_fn`.

    Example:
        >>> type(ms.train.get_metric_fn("precision", eval_type="multilabel")).__name__
        'Precision'
    """
    if name not in _BY_NAME:
        expected = f"one of {', '.join(names())}"
        raise wrong(KeyError, "The name of a metric", expected, repr(name))
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric] | None:
    """Metrics by name: a set of names becomes a dictionary, a dictionary is checked.

    Raises:
        TypeError: the argument is neither a set nor a dictionary, or a member of the dictionary is
            not a Metric.

    Source: MindSpore's `mindspore.nn.get_metrics`.

    Example:
        >>> {name: type(metric).__name__ for name, metric in nn.get_metrics({"mae"}).items()}
        {'mae': 'MAE'}
    """
    if metrics is None:
        return None
    if isinstance(metrics, (set, frozenset)):
        return {name: get_metric_fn(name) for name in sorted(metrics)}
    if not isinstance(metrics, dict):
        expected = "a set of names, a dictionary of Metrics by name, or None"
        raise wrong(TypeError, "metrics", expected, repr(metrics))
    for name, metric in metrics.items():
        if not isinstance(name, str) or not isinstance(metric, Metric):
            actual = f"{name!r}: {metric!r}"
            raise wrong(TypeError, "A member of metrics", "a name with a Metric", actual)
    return metrics
