# SPDX-License-Identifier: Apache-2.0
"""Losses by margins, of sequences and of overlaps, as Cells."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Tensor, nn, ops
from mycel.compat.alias import find
from support import recorded_cells as recorded

# The others are tested with the operators, as wrong labels of sequences are.
WITH_LAYERS = [
    (case, answer)
    for case, answer in recorded.named("margins")
    if "nn." in case.expression and not answer.error
]


@pytest.mark.parametrize(("case", "answer"), WITH_LAYERS, ids=recorded.case_name)
def test_as_recorded(case, answer):
    """The oracle is MindSpore 2.10."""
    recorded.check(case, answer)


RANDOM = np.random.RandomState(0)
X = RANDOM.randn(3, 4)
OTHERS = RANDOM.randn(2, 3, 4)


def test_margin_of_a_call():
    """The oracle is the layer with that margin."""
    given = [Tensor(a) for a in (X, *OTHERS)]
    expected = nn.TripletMarginLoss(margin=0.25)(*given).asnumpy()
    np.testing.assert_array_equal(nn.TripletMarginLoss()(*given, Tensor(0.25)).asnumpy(), expected)
    np.testing.assert_array_equal(nn.TripletMarginLoss()(*given, 0.25).asnumpy(), expected)


def test_ctc_of_one_sequence():
    """The oracle is the same sequence as a batch; lengths may be numbers."""
    logs = Tensor(X - np.log(np.exp(X).sum(1, keepdims=True)))
    loss = nn.CTCLoss(blank=3, reduction="sum", zero_infinity=True)
    batch = loss(logs.expand_dims(1), Tensor([[0, 1]]), Tensor([3]), Tensor([2]))
    np.testing.assert_array_equal(loss(logs, Tensor([0, 1]), 3, (2,)).asnumpy(), batch.asnumpy())
    assert np.isfinite(batch.asnumpy())


def test_sampled_softmax():
    """The oracle is the whole cross entropy, which drawing every class gives."""
    weights, biases = RANDOM.randn(5, 4), RANDOM.randn(5)
    labels, inputs = np.array([[0], [4], [1]]), RANDOM.randn(3, 4)
    logits = Tensor(inputs @ weights.T + biases)
    expected = ops.cross_entropy(logits, Tensor(labels[:, 0]), reduction="none").asnumpy()
    whole = nn.SampledSoftmaxLoss(5, 5)
    for name, actual in run_everywhere(
        lambda *xs: whole(*xs), weights, biases, labels, inputs
    ).items():
        assert_close(actual, expected, name)
    given = [Tensor(a) for a in (weights, biases, labels, inputs)]
    few = nn.SampledSoftmaxLoss(2, 5, reduction="sum")
    drawn = {few(*given).item() for _ in range(8)}
    assert len(drawn) > 1
    assert max(drawn) < 4 * expected.sum()


def test_older_name_of_the_base():
    """The oracle is the class itself."""
    assert find("mindspore.nn.loss.loss", "_Loss") is nn.LossBase
    assert find("mindspore.nn.loss", "_Loss") is nn.LossBase
    module = importlib.import_module("mycel.nn.loss")
    assert module.LossBase is nn.LossBase


def test_errors():
    x = ms.ops.ones((2, 3))
    with pytest.raises(ValueError, match=r"MultiMarginLoss.p must be 1 or 2, but 3 was given"):
        nn.MultiMarginLoss(3)
    with pytest.raises(TypeError, match=r"FocalLoss.gamma must be a float, but int 2"):
        nn.FocalLoss(gamma=2)
    with pytest.raises(ValueError, match=r"FocalLoss: labels must be of 1 or 3 channels"):
        nn.FocalLoss()(x, ms.ops.ones((2, 2)))
    with pytest.raises(ValueError, match=r"DiceLoss: label must be of shape \(2, 3\)"):
        nn.DiceLoss()(x, ms.ops.ones((3, 2)))
    with pytest.raises(ValueError, match=r"MultiClassDiceLoss.weights must be of 3 rows"):
        nn.MultiClassDiceLoss(ms.ops.ones((2, 1)))(x, x)
    with pytest.raises(TypeError, match=r"TripletMarginLoss.swap must be True or False"):
        nn.TripletMarginLoss(swap=1)
    with pytest.raises(ValueError, match=r"GaussianNLLLoss.eps must be a number above 0"):
        nn.GaussianNLLLoss(eps=0.0)
