# SPDX-License-Identifier: Apache-2.0
"""Labels and lengths of sequences that are wrong, or at the end of what is right."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from scipy import special

import mycel as ms
from fixtures import load
from harness import EXECUTIONS, as_numpy, assert_close, execution, matches
from mycel import Tensor, nn, ops
from support.recorded_operators import function_of, gradients_by_differences

WRONG = [
    pytest.param(case, found, id=case.name)
    for case, found in load.pairs("margins")
    if case.name.startswith("ctc ") and found.error
]


@pytest.mark.parametrize(("case", "recorded"), WRONG)
def test_what_is_wrong_raises(case, recorded):
    # Oracle: MindSpore 2.10 raises this kind of error; mycel in every execution, at each call.
    function, kind = function_of(case), getattr(builtins, recorded.error)
    for name in EXECUTIONS:
        with execution(name):
            called = ms.jit(function) if name == "graph" else function
            for _ in range(4):
                with pytest.raises(kind):
                    as_numpy(called(*map(Tensor, case.inputs)))


def waves(*shape):
    """Values that look irregular."""
    return np.sin(np.arange(np.prod(shape)) * 1.7 + 0.3).reshape(shape)


LOGS = special.log_softmax(waves(5, 2, 4), 2)
ROWS, PLACES = [[1, 2, 2], [3, 1, 1]], [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]
# By what is given, what the error says behind the operator and the line.
DENSE = {
    "the label 4 is out of range; it must lie between 0 and 3.": ([[1, 4, 2], ROWS[1]],),
    "the label -1 is out of range; it must lie between 0 and 3.": ([[1, -1, 2], ROWS[1]],),
    "the label 7 is out of range; it must lie between 0 and 3.": ([1, 2, 3, 1, 7],),
    "the sum of the target lengths 5 is out of range; it must lie between 6 and 6.": (
        [1, 2, 3, 1, 1, 2],
    ),
    "the input length 6 is out of range; it must lie between 0 and 5.": (ROWS, [6, 5]),
    "the target length 4 is out of range; it must lie between 0 and 3.": (ROWS, [5, 5], [2, 4]),
    "the number of spare steps -1 (input length less target length) is out of range; it must lie "
    "between 0 and 5.": (ROWS, [1, 5]),
}
SPARSE = {
    "the label 1 behind a blank, which ends the labels of its sequence, is out of range; it must "
    "lie between 3 and 3.": ([0, 1, 2, 3, 1],),
    "the sequence length 0 is out of range; it must lie between 1 and 5.": (
        [0, 1, 2, 1, 1],
        [0, 5],
    ),
    "the number of spare steps -1 (sequence length less number of labels) is out of range; it must "
    "lie between 0 and 5.": ([0, 1, 2, 1, 1], [5, 2]),
}


def dense(logs, labels=ROWS, steps=(5, 5), lengths=(2, 3)):
    """The loss of labels in rows, that are given as lists."""
    given = [Tensor(np.array(part, np.int32)) for part in (labels, steps, lengths)]
    return ops.ctc_loss(logs, *given, reduction="sum")[0]


def sparse(logits, values=(0, 1, 2, 1, 1), steps=(5, 5), places=PLACES, **settings):
    """The loss of labels with their places, that are given as lists."""
    given = Tensor(places), Tensor(np.array(values, np.int32)), Tensor(np.array(steps, np.int32))
    return ops.CTCLoss(**settings)(logits, *given)[0]


@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize("derived", [False, True])
def test_errors_teach(mode, derived):
    # Oracle: the text; it names the value, what is allowed, the operator and this file.
    for operator, loss, table in (("ctc_loss", dense, DENSE), ("CTCLoss", sparse, SPARSE)):
        for text, given in table.items():
            called = ms.grad(lambda x, *g, f=loss: f(x, *g).sum()) if derived else loss
            with execution(mode), pytest.raises(ms.OutOfRangeError) as caught:
                called(Tensor(LOGS), *given).asnumpy()
            assert str(caught.value).endswith(text)
            assert str(caught.value).startswith(f"{operator} at {__file__}:")


def test_a_wrong_label_leaves_training_as_it_was():
    # Oracle: the same steps without the wrong one, which raises, also once calls are replayed.
    labels, wrong = np.array(ROWS, np.int32), np.array([[1, 9, 2], ROWS[1]], np.int32)
    steps, lengths = Tensor([5, 5]), Tensor([2, 3])

    def trained(fed, jit):
        net = nn.Dense(3, 4, weight_init="ones", bias_init="zeros")
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)

        def loss_of(x, labels):
            return nn.CTCLoss()(ops.log_softmax(net(x), 2), labels, steps, lengths)

        derivative = ms.value_and_grad(loss_of, None, optimizer.parameters)

        def step(x, labels):
            loss, gradients = derivative(x, labels)
            optimizer(gradients)
            return loss

        step, losses = ms.jit(step) if jit else step, []
        for given in fed:
            try:
                losses.append(float(step(Tensor(waves(5, 2, 3).astype(np.float32)), Tensor(given))))
            except ms.OutOfRangeError:
                losses.append("wrong")
        return losses, net.weight.asnumpy()

    expected, weight = trained([labels] * 5, False)
    for jit in (False, True):
        losses, found = trained([labels, labels, labels, wrong, labels, wrong, labels], jit)
        assert [losses.pop(3), losses.pop(4)] == ["wrong", "wrong"]
        np.testing.assert_allclose(losses, expected, 1e-5)
        np.testing.assert_allclose(found, weight, 1e-5)


def test_labels_longer_than_the_sequence_may_count_nothing():
    # Oracle: the definition; the gradient is that of the others.
    x = waves(5, 2, 4)

    def loss(x, steps=(5, 2)):
        return sparse(x, steps=steps, ignore_longer_outputs_than_inputs=True)

    expected = np.array([float(sparse(Tensor(x))[0]), 0.0])
    matches(loss, lambda x: expected, x)
    slopes = gradients_by_differences(loss, (x,))[0]
    assert not slopes[:, 1].any()
    matches(ms.grad(loss), lambda x: slopes, x)


def test_one_step_is_enough_for_one_label():
    # Oracle: NumPy; MindSpore fails in its own tables.
    x, logs = waves(1, 2, 4), special.log_softmax(waves(1, 2, 4), 2)
    expected = -np.array([logs[0, 0, 2], logs[0, 1, 1]])
    matches(lambda x: sparse(x, (2, 1), (1, 1), [[0, 0], [1, 0]]), lambda x: expected, x)


def test_places_in_any_order_of_sequences():
    # Oracle: the same labels sequence by sequence; MindSpore gives them to sequences as they come.
    x = waves(5, 2, 4)
    expected = sparse(Tensor(x), (1, 2, 0, 1, 1)).asnumpy()
    mixed = [[1, 0], [0, 0], [0, 1], [1, 1], [1, 2]]
    matches(lambda x: sparse(x, (0, 1, 2, 1, 1), places=mixed), lambda x: expected, x)


def test_integers_of_every_width():
    # Oracle: int32.
    expected = dense(Tensor(LOGS)).asnumpy()
    for kind in (np.int8, np.uint8, np.int16, np.uint32, np.int64):
        given = [Tensor(np.array(part, kind)) for part in (ROWS, [5, 5], [2, 3])]
        found = ops.ctc_loss(Tensor(LOGS), *given, reduction="sum")[0].asnumpy()
        assert_close(found, expected, str(kind))
