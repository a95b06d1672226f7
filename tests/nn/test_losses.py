# SPDX-License-Identifier: Apache-2.0
"""Losses: recorded MindSpore, SciPy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import mycel as ms
from check_cell import check_cell
from mycel import nn
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(4, 3))
UNIT = RANDOM.uniform(0.1, 0.9, size=(4, 3))
SHARES = special.softmax(Y, 1)
CLASSES = np.array([2, 0, 1, 1], np.int32)
WEIGHT = np.array([1.0, 2.0, 0.5])
LABELS = np.eye(3)[CLASSES]


def reduced(losses, reduction):
    return {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](losses)


def huber(d, delta):
    return np.where(d < delta, d * d / 2, delta * (d - delta / 2))


def entropies(x, labels):
    return -(labels * special.log_softmax(x, 1)).sum(1)


# Cell, inputs, losses before the reduction.
LOSSES = {
    "L1Loss": (nn.L1Loss, (X, Y), lambda x, y: abs(x - y)),
    "MAELoss": (nn.MAELoss, (X, Y), lambda x, y: abs(x - y)),
    "MSELoss": (nn.MSELoss, (X, Y), lambda x, y: (x - y) ** 2),
    "MSELoss broadcast": (nn.MSELoss, (X, Y[0]), lambda x, y: (x - y) ** 2),
    "HuberLoss": (
        lambda reduction: nn.HuberLoss(reduction, 0.7),
        (X, Y),
        lambda x, y: huber(abs(x - y), 0.7),
    ),
    "SmoothL1Loss": (
        lambda reduction: nn.SmoothL1Loss(0.7, reduction),
        (X, Y),
        lambda x, y: huber(abs(x - y), 0.7) / 0.7,
    ),
    "BCELoss": (
        lambda reduction: nn.BCELoss(reduction=reduction),
        (UNIT, SHARES),
        lambda x, y: -(y * np.log(x) + (1 - y) * np.log1p(-x)),
    ),
    "BCEWithLogitsLoss": (
        nn.BCEWithLogitsLoss,
        (X, SHARES),
        lambda x, y: -(y * special.log_expit(x) + (1 - y) * special.log_expit(-x)),
    ),
    "KLDivLoss": (nn.KLDivLoss, (X, SHARES), lambda x, y: y * (np.log(y) - x)),
    "NLLLoss": (
        lambda reduction: nn.NLLLoss(reduction=reduction),
        (X, CLASSES),
        lambda x, c: -x[np.arange(4), c],
    ),
    "CrossEntropyLoss": (
        lambda reduction: nn.CrossEntropyLoss(reduction=reduction),
        (X, CLASSES),
        lambda x, c: entropies(x, LABELS),
    ),
    "CrossEntropyLoss smoothed": (
        lambda reduction: nn.CrossEntropyLoss(reduction=reduction, label_smoothing=0.3),
        (X, CLASSES),
        lambda x, c: entropies(x, 0.7 * LABELS + 0.1),
    ),
    "CrossEntropyLoss of shares": (
        lambda reduction: nn.CrossEntropyLoss(reduction="none"),
        (X, SHARES),
        lambda x, y: entropies(x, y),
    ),
    "SoftmaxCrossEntropyWithLogits": (
        lambda reduction: nn.SoftmaxCrossEntropyWithLogits(True, reduction),
        (X, CLASSES),
        lambda x, c: entropies(x, LABELS),
    ),
    "SoftmaxCrossEntropyWithLogits of shares": (
        lambda reduction: nn.SoftmaxCrossEntropyWithLogits(False, reduction),
        (X, SHARES),
        entropies,
    ),
    "MarginRankingLoss": (
        lambda reduction: nn.MarginRankingLoss(0.3, reduction),
        (X, Y, np.sign(X * Y)),
        lambda x, y, t: np.maximum(0, 0.3 - t * (x - y)),
    ),
    "CosineEmbeddingLoss": (
        lambda reduction: nn.CosineEmbeddingLoss(-0.9, reduction),
        (X, Y, np.array([1, -1, -1, 1], np.int32)),
        lambda x, y, t: np.where(t == 1, 1 - cosines(x, y), np.maximum(0, cosines(x, y) + 0.9)),
    ),
}


def cosines(x, y):
    return (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_loss(name, reduction):
    """The oracles are NumPy and SciPy."""
    make, inputs, losses = LOSSES[name]
    kept = "none" if name == "CrossEntropyLoss of shares" else reduction
    check_cell(
        lambda: make(reduction=reduction),
        *inputs,
        names={},
        oracle=lambda _, *xs: reduced(losses(*xs), kept),
    )


def test_root_mean_square():
    check_cell(nn.RMSELoss, X, Y, names={}, oracle=lambda _, x, y: np.sqrt(((x - y) ** 2).mean()))


def test_divergence_by_batch():
    check_cell(
        lambda: nn.KLDivLoss("batchmean"),
        X,
        SHARES,
        names={},
        oracle=lambda _, x, y: (y * (np.log(y) - x)).sum() / 4,
    )


def test_weighted_cross_entropy():
    check_cell(
        lambda: nn.CrossEntropyLoss(weight=ms.Tensor(WEIGHT)),
        X,
        CLASSES,
        names={},
        oracle=lambda _, x, c: np.average(entropies(x, LABELS), weights=WEIGHT[c]),
    )


def test_own_loss():
    class Distance(nn.LossBase):
        def construct(self, logits, labels):
            assert self.get_axis(logits) == (0, 1)
            return self.get_loss(ms.ops.abs(logits - labels), 2.0)

    for reduction in ("mean", "sum", "none"):
        made = Distance(reduction)(ms.Tensor(X), ms.Tensor(Y)).asnumpy()
        np.testing.assert_allclose(made, reduced(2 * abs(X - Y), reduction))


@pytest.mark.parametrize(
    ("case", "answer"),
    recorded.named("losses", r"nn\.", "defaults_", ".*layer"),
    ids=recorded.case_name,
)
def test_recorded_losses(case, answer):
    recorded.check(case, answer)


# Class numbers may be of any integer type here; MindSpore refuses Int8.
ACCEPTED = ("cross_entropy_label_dtype",)


@pytest.mark.parametrize(
    ("case", "answer"),
    recorded.named("errors", "cross_entropy", "softmax_cross", "mse_", without=ACCEPTED),
    ids=recorded.case_name,
)
def test_recorded_errors(case, answer):
    recorded.check(case, answer, ("fused",))


ERRORS = {
    "nn.MSELoss('avg')": (ValueError, "MSELoss.reduction must be one of 'mean', 'sum', 'none'"),
    "nn.MSELoss()(x, 3)": (TypeError, "MSELoss: labels must be a Tensor, but int 3 was given"),
    "nn.SoftmaxCrossEntropyWithLogits(1)": (TypeError, "sparse must be True or False, but int 1"),
    "nn.SoftmaxCrossEntropyWithLogits(True)(x, x)": (
        ValueError,
        "labels must be of shape (4,) beside logits of shape (4, 3), but shape (4, 3)",
    ),
    "nn.SoftmaxCrossEntropyWithLogits(True)(x, x[:, 0])": (
        TypeError,
        "labels must be class numbers of type Int32 or Int64, but Float64",
    ),
    "nn.CrossEntropyLoss(label_smoothing=2.0)": (ValueError, "from 0 to 1, but 2.0 was given"),
    "nn.CrossEntropyLoss(ignore_index=1.0)": (TypeError, "ignore_index must be an integer"),
}


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    with pytest.raises(kind) as caught:
        eval(compile(source, "train.py", "eval"), {"nn": nn, "x": ms.Tensor(X)})
    assert text in str(caught.value)
    assert "train.py:1" in str(caught.value)
