# SPDX-License-Identifier: Apache-2.0
"""Losses against MindSpore 2.10, NumPy and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, mint, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

WITHOUT = {
    "uint8_labels": "labels of any integer type are taken",
}


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("losses", without=WITHOUT)))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def test_what_mindspore_refuses():
    # Oracle: the same class numbers as Int64.
    x = Tensor(numbers(2, 3))
    expected = ops.cross_entropy(x, Tensor([1, 2])).asnumpy()
    assert ops.cross_entropy(x, Tensor(np.array([1, 2], np.uint8))).asnumpy() == expected


def test_cross_entropy_ignores_and_weighs():
    # Oracle: NumPy.
    x, target = numbers(6, 4), np.array([1, 0, 3, 2, 2, 0])
    weight = np.array([1, 2, 3, 4], np.float32)

    def oracle(x):
        logs = scipy.special.log_softmax(x.astype(np.float64), 1)
        share = np.where(target == 2, 0, weight[target])
        picked = 0.9 * logs[np.arange(6), target] * share
        smooth = np.where(target == 2, 0, (logs * weight).sum(1) * 0.1 / 4)
        return np.float32(-(picked + smooth).sum() / share.sum())

    def function(x):
        return ops.cross_entropy(
            x, Tensor(target), Tensor(weight), ignore_index=2, label_smoothing=0.1
        )

    matches(function, oracle, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, t: ops.cross_entropy(x, Tensor([2, 0, 1]), label_smoothing=0.2),
        lambda x, t: ops.cross_entropy(x, ops.softmax(t)),
        lambda x, t: ops.cross_entropy(x.reshape(1, 4, 3), Tensor([[2, 3, 1]])),
        lambda x, t: ops.nll_loss(x, Tensor([2, 0, 1])),
        lambda x, t: ops.SoftmaxCrossEntropyWithLogits()(x, t)[0],
        lambda x, t: ops.SparseSoftmaxCrossEntropyWithLogits()(x, Tensor([2, 0, 1])),
        lambda x, t: ops.mse_loss(x, t),
        lambda x, t: ops.huber_loss(x, t, delta=0.7),
        lambda x, t: ops.smooth_l1_loss(x, t, 0.7, "sum"),
        lambda x, t: ops.binary_cross_entropy(ops.sigmoid(x), ops.sigmoid(t)),
        lambda x, t: ops.binary_cross_entropy_with_logits(x, t, ops.exp(t), ops.exp(x * 0 + 1)),
        lambda x, t: ops.kl_div(x, ops.exp(t), "batchmean"),
    ],
)
def test_derivatives_of_losses(function):
    # Oracle: finite differences in Float64, to second order.
    x, t = numbers(3, 4, dtype=np.float64), numbers(3, 4, seed=1, dtype=np.float64)
    target = Tensor(t)
    weights = Tensor(numbers(3, 4, seed=2, dtype=np.float64))
    gradient = ms.grad(lambda x: function(x, target))
    expected = gradients_by_differences(lambda x: function(x, target), (x,))[0]
    for name, actual in run_everywhere(gradient, x).items():
        assert_close(actual, expected, name, "float32")

    def slope(x):
        return (gradient(x) * weights).sum()

    expected = gradients_by_differences(slope, (x,))[0]
    for name, actual in run_everywhere(ms.grad(slope), x).items():
        assert_close(actual, expected, name, "float32")


def test_labels_may_be_differentiated_beside_predictions():
    # An integer input of a derivative leaves the gradient of the others alone.
    x, labels = numbers(3, 4), np.array([1, 0, 3], np.int32)
    probability = scipy.special.softmax(x, 1)
    expected = ((probability - np.eye(4)[labels]) / 3).astype(np.float32)
    everything = ops.GradOperation(get_all=True)
    for loss in (ops.cross_entropy, ops.SparseSoftmaxCrossEntropyWithLogits()):
        found = everything(lambda x, labels, loss=loss: loss(x, labels))(Tensor(x), Tensor(labels))
        assert_close(found[0].asnumpy(), expected)
        assert found[1].asnumpy().tolist() == [0, 0, 0]


LOSS_ERRORS = {
    "reduction must be one of 'mean', 'sum', 'none', but 'x' was given": lambda x: ops.mse_loss(
        x, x, "x"
    ),
    "Class numbers for predictions of shape (3, 4) have the shape (3,)": lambda x: (
        ops.cross_entropy(x, Tensor([1, 2]))
    ),
    "one weight for each of the 4 classes": lambda x: ops.cross_entropy(
        x, Tensor([1, 2, 3]), Tensor([1.0])
    ),
    "mse_loss: the shapes (3, 4) and (3,) do not fit": lambda x: ops.mse_loss(x, x[:, 0]),
    "must be [N, C], not (3, 4) and (4,)": lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, x[0]),
}


@pytest.mark.parametrize("text", LOSS_ERRORS)
def test_wrong_losses(text):
    with pytest.raises(ValueError) as caught:
        LOSS_ERRORS[text](Tensor(numbers(3, 4)))
    assert text in str(caught.value)


def test_shapes_of_classes_are_told_before_their_type():
    # Oracle: the shapes that MindSpore 2.10 wants; the text is ours. "x.astype(mycel.int32)", as
    # for real numbers in the right shape, would lead away from the fault.
    x, wide = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((2, 4), np.float32))
    expected = (
        r"predictions of shape \(2, 3\) have the shape \(2,\), probabilities the shape \(2, 3\), "
        r"but \(2, 4\) was given\.$"
    )
    for function in (ops.cross_entropy, mint.nn.functional.cross_entropy):
        with pytest.raises(ValueError, match=expected):
            function(x, wide)
        with pytest.raises(ValueError, match=r"but \(2, 3\) was given; predictions come first\.$"):
            function(Tensor([1, 2]), x)
        with pytest.raises(TypeError, match=r"each class number must be an integer, but Float32"):
            function(x, wide[:, 0])
    for function in (ops.nll_loss, mint.nn.functional.nll_loss):
        with pytest.raises(ValueError, match=r"have the shape \(2,\), but \(2, 3\) was given\.$"):
            function(x, x)
    for sparse in (ops.SparseSoftmaxCrossEntropyWithLogits(),):
        with pytest.raises(ValueError, match=r"have the shape \(2,\), but \(2, 3\) was given\.$"):
            sparse(x, x)
