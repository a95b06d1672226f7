# SPDX-License-Identifier: Apache-2.0
"""Metrics: figures about the outputs of a network."""

from mycel.train.metrics.base import EvaluationBase, Metric, rearrange_inputs
from mycel.train.metrics.classes import (
    F1,
    Accuracy,
    Fbeta,
    Precision,
    Recall,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mycel.train.metrics.confusion import ConfusionMatrix, ConfusionMatrixMetric
from mycel.train.metrics.curves import ROC, auc
from mycel.train.metrics.losses import MAE, MSE, Loss, Perplexity
from mycel.train.metrics.names import get_metric_fn, get_metrics, names
from mycel.train.metrics.occlusion import OcclusionSensitivity
from mycel.train.metrics.similarity import BleuScore, CosineSimilarity, Dice
from mycel.train.metrics.surfaces import (
    HausdorffDistance,
    MeanSurfaceDistance,
    RootMeanSquareDistance,
)

__all__ = [
    "F1", "MAE", "MSE", "ROC", "Accuracy", "BleuScore", "ConfusionMatrix",
    "ConfusionMatrixMetric", "CosineSimilarity", "Dice", "Fbeta", "HausdorffDistance", "Loss",
    "MeanSurfaceDistance", "Metric", "OcclusionSensitivity", "Perplexity", "Precision", "Recall",
    "RootMeanSquareDistance", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy", "auc", "get_metric_fn", "names", "rearrange_inputs",
]  # fmt: skip
