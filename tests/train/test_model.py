# SPDX-License-Identifier: Apache-2.0
"""Model beyond what is recorded: what is compiled, sink mode, overflow, the progress bar."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import nn, ops
from mycel.train.progress import progress

RNG = np.random.default_rng(0)
DATA = [tuple(RNG.normal(size=(2, 4, 3)).astype(np.float32)) for _ in range(4)]


def network():
    weight = ms.Tensor(np.random.default_rng(1).normal(size=(3, 3)).astype(np.float32))
    return nn.Dense(3, 3, weight, "zeros")


def trained(data, epochs=2, **options):
    net = network()
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), {"mse"})
    model.train(epochs, data, **options)
    return net, model


def by_hand(rows):
    """The weights after steps of momentum, in NumPy."""
    net = network()
    weight, bias = net.weight.asnumpy().astype(np.float64), np.zeros(3)
    speed = [0.0, 0.0]
    for x, y in rows:
        error = 2 * (x @ weight.T + bias - y) / y.size
        gradients = error.T @ x, error.sum(0)
        speed = [0.9 * v + g for v, g in zip(speed, gradients, strict=True)]
        weight, bias = weight - 0.1 * speed[0], bias - 0.1 * speed[1]
    return weight.astype(np.float32), bias.astype(np.float32)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_training_is_gradient_descent(name):
    with execution(name):
        net, _ = trained(DATA)
        found = net.weight.asnumpy(), net.bias.asnumpy()
        sunk, _ = trained(DATA, 4, dataset_sink_mode=True, sink_size=2)
    expected = by_hand(DATA * 2)
    assert_close(found, expected, name)
    # Four epochs of two steps are two epochs of four.
    assert_close((sunk.weight.asnumpy(), sunk.bias.asnumpy()), expected, name)


@pytest.mark.parametrize("level", ["O2", "O3"])
def test_class_numbers_are_evaluated_in_mixed_precision(level):
    """The oracle is NumPy; MindSpore 2.10 casts only real labels (and has these levels on GPU)."""
    x = np.float32([[2, 0, 0], [0, 4, 1]])
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    net = nn.Dense(3, 3, ms.Tensor(np.eye(3, dtype=np.float32)), "zeros")
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    model = ms.Model(net, loss, optimizer, {"acc", "loss"}, amp_level=level)
    found = model.eval([(x, np.int32([0, 2]))])
    expected = np.mean(np.log(np.exp(x).sum(1)) - x[[0, 1], [0, 2]])
    assert found["acc"] == 0.5
    np.testing.assert_allclose(found["loss"], expected, 1e-3)


def test_evaluations_between_epochs_compile_nothing_new():
    counts = []

    class Count(ms.train.Callback):
        def on_train_epoch_end(self, run_context):
            counts.append(ms.debug.ledger().counts.compilations)

    with execution("graph"):
        net = network()
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        model = ms.Model(net, nn.MSELoss(), optimizer, {"mse"}, amp_level="O2")
        model.fit(3, DATA, DATA, callbacks=[Count()])
        assert counts[0] == counts[-1]
        assert ms.debug.ledger().counts.misses == 0
        assert ms.debug.ledger().counts.replays > 12


def test_overflow_keeps_the_step_compiled():
    """A step that overflows is left out without a miss; the oracle is the scale of the manager."""
    bad = (np.full((4, 3), np.inf, np.float32), DATA[0][1])
    rows = [*DATA, bad, *DATA[:2], bad]
    with execution("graph"):
        net = network()
        manager = ms.DynamicLossScaleManager(64.0, 2, 3)
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        model = ms.Model(net, nn.MSELoss(), optimizer, loss_scale_manager=manager)
        model.train(1, rows)
        assert ms.debug.ledger().counts.misses == 0
        found = net.weight.asnumpy(), net.bias.asnumpy()
    assert_close(found, by_hand(DATA + DATA[:2]), "overflow")
    assert float(model.train_network.scale_sense) == manager.get_loss_scale() == 32.0
    assert int(optimizer.global_step.asnumpy()[0]) == 6


def test_a_manager_gives_up():
    manager = ms.DynamicLossScaleManager(64.0)
    manager.bad_step_max = 2
    for _ in range(2):
        manager.update_loss_scale(True)
    with pytest.raises(RuntimeError, match="overflowed 3 times in a row"):
        manager.update_loss_scale(True)


def test_eval_loss_is_the_mean_over_batches():
    """MindSpore's is that of the last batch; see mindspore_faults.md."""
    seen = []

    class Look(ms.train.Callback):
        def on_train_epoch_end(self, run_context):
            seen.append(run_context.original_args().eval_results["eval_loss"])

    net = network()
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.0), {"mse"})
    model.fit(1, DATA, DATA, callbacks=[Look()])
    weight = net.weight.asnumpy()
    expected = np.mean([((x @ weight.T - y) ** 2).mean() for x, y in DATA])
    np.testing.assert_allclose(seen, [expected], 1e-5)


def test_evaluation_and_prediction_put_the_network_back():
    net = nn.SequentialCell(network(), nn.Dropout(p=0.5))
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), {"mse"})
    modes = []

    class Look(ms.train.Callback):
        def on_train_step_end(self, run_context):
            modes.append(net.training)

        def on_eval_step_end(self, run_context):
            modes.append(net.training)

    model.fit(2, DATA[:1], DATA[:1], callbacks=Look())
    assert modes == [True, False, True, False]
    x = ms.Tensor(DATA[0][0])
    assert_close(model.predict(x).asnumpy(), model.predict(x).asnumpy(), "without dropout")


def test_wrong_arguments_are_named():
    net = network()
    with pytest.raises(TypeError, match=r"Model: network must be a Cell.*test_model\.py"):
        ms.Model(abs)
    with pytest.raises(ValueError, match="auto"):
        ms.Model(net, amp_level="auto")
    with pytest.raises(TypeError, match="fit: valid_frequency"):
        ms.Model(net).fit(1, DATA, valid_frequency="often")
    with pytest.raises(ValueError, match="train: sink_size"):
        ms.Model(net).train(1, DATA, sink_size=-2)
    with pytest.raises(TypeError, match="An input of predict"):
        ms.Model(net).predict(np.ones(3))
    with pytest.raises(ValueError, match=r"with elements.*\(0, 3\)"):
        ms.Model(net).predict(ops.ones((0, 3)))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_bar_is_for_terminals(monkeypatch, capsys):
    trained(DATA)
    assert capsys.readouterr().err == ""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress("training", 4) as move:
        move(advance=3, what="nearly")
        print("a line")
    assert "3/4" in screen.getvalue()
    assert "nearly" in screen.getvalue()
    # Standard output is no terminal here: what is printed stays there.
    assert capsys.readouterr().out == "a line\n"
    monkeypatch.setenv("MYCEL_PROGRESS", "0")
    monkeypatch.setattr(sys, "stderr", Terminal())
    trained(DATA)
    assert sys.stderr.getvalue() == ""
