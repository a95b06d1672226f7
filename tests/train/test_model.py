# SPDX-License-Identifier: Apache-2.0
"""Model beyond what is recorded: what is compiled, sink mode, overflow, the progress bar."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import nn, ops
from mycel.train.progress import Epoch, progress

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


@pytest.mark.parametrize("sink", [False, True])
def test_callbacks_find_the_optimizer(sink):
    """Oracle: MindSpore on devices that have sink mode: there `train_network` holds the step."""
    net = nn.Dense(1, 1)
    optimizer = nn.SGD(net.trainable_params())
    found = []

    class Look(ms.Callback):
        def on_train_epoch_end(self, run_context):
            told = run_context.original_args().train_network
            found.append(told.network.optimizer if sink else told.optimizer)
            found.extend(told.network.trainable_params() if sink else told.trainable_params())

    data = [(ms.ops.ones((1, 1)), ms.ops.zeros((1, 1)))]
    model = ms.Model(net, nn.MSELoss(), optimizer)
    model.train(1, data, Look(), dataset_sink_mode=sink)
    assert found[0] is optimizer
    assert found[1:] == model.train_network.trainable_params()


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
    with pytest.raises(ValueError, match="fit: valid_frequency must be a number of epochs"):
        ms.Model(net).fit(1, DATA, valid_frequency=0)
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
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress("training", 4) as move:
        move(advance=3, what="nearly", outputs=ms.Tensor([1.0, 2.0]))
        print("a line")
    text = screen.getvalue()
    assert [part for part in ("3/4", "nearly", "loss 1.5") if part not in text] == []
    with progress("training", 4) as move:
        move(epoch=Epoch(1, 2, ms.Tensor(0.5), {"accuracy": 0.75}, 1, 4))
    assert "loss 0.5, accuracy 0.75" in screen.getvalue()
    # Standard output is no terminal here: what is printed stays there.
    assert capsys.readouterr().out == "a line\n"


def test_a_bar_shows_losses_and_metrics(monkeypatch):
    """Oracle: what History keeps, and `eval`."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "200")
    losses, model = fitted(2)
    text = sys.stderr.getvalue()
    shown = re.findall(r"loss ([^ ,]+), mse ([^ ,]+), eval_loss", text)
    assert shown[-1] == (f"{losses[-1]:.4g}", f"{model.eval(DATA)['mse']:.4g}")
    assert re.search(r"epoch 2/2 .*8/8", text)


@pytest.mark.parametrize("width", [40, 100])
def test_a_narrow_terminal_shows_all_values(monkeypatch, width):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    values = {"accuracy": 0.75, "mean_error": 1.25}
    with progress("epoch 1/2", 60) as move:
        move(advance=30, epoch=Epoch(1, 2, ms.Tensor(0.5), values, 1, 4))
    last = screen.getvalue().split("epoch 1/2")[-1]
    shown = " ".join(re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", last).split())
    assert "30/60" in shown and "loss 0.5, accuracy 0.75, mean_error 1.25" in shown
    assert ("━" in shown) == (width == 100)


def test_an_interrupted_bar_leaves_the_cursor_on_a_line_of_its_own(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with pytest.raises(KeyboardInterrupt), progress("epoch 1/2", 60) as move:
        move(advance=30, outputs=ms.Tensor(0.5))
        raise KeyboardInterrupt
    assert screen.getvalue().endswith("\n\x1b[?25h") and "30/60" in screen.getvalue()


def test_an_evaluation_within_a_training_has_a_bar_of_its_own(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress("training", 2) as outer:
        outer(advance=1)
        with progress("evaluation", 5) as inner:
            inner(advance=5)
        outer(advance=1)
    text = screen.getvalue()
    assert "5/5" in text and "2/2" in text


def test_a_log_has_a_line_for_each_epoch(capsys):
    """Oracle: what History keeps, and `eval`."""
    losses, model = fitted(2)
    told = capsys.readouterr()
    number = r"-?\d\S*"
    pattern = rf"epoch (\d)/2: loss (\S+), mse (\S+), eval_loss {number} \(4 steps, \d+\.\d s\)"
    found = [re.fullmatch(pattern, line).groups() for line in told.err.splitlines()]
    assert [line[:2] for line in found] == [("1", f"{losses[0]:.4g}"), ("2", f"{losses[1]:.4g}")]
    assert found[1][2] == f"{model.eval(DATA)['mse']:.4g}"
    assert told.out == ""
    trained(DATA)
    first = capsys.readouterr().err.splitlines()[0]
    assert re.fullmatch(r"epoch 1/2: loss \S+ \(4 steps, .*", first)


def test_a_metric_of_many_numbers_has_one_line():
    values = {"matrix": np.arange(4.0).reshape(2, 2), "name": "text", "count": np.int64(3)}
    epoch = Epoch(1, 1, ("no", "loss"), values, 0.04, 1)
    text = "epoch 1/1: matrix [[0. 1.] [2. 3.]], name text, count 3 (1 steps, 0.0 s)"
    assert str(epoch) == text


def test_progress_can_be_turned_off(monkeypatch, capsys):
    monkeypatch.setenv("MYCEL_PROGRESS", "0")
    trained(DATA)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    trained(DATA)
    assert sys.stderr.getvalue() == ""


def fitted(epochs):
    """The loss of the last step of each epoch, and the Model."""
    net, history = network(), ms.train.History()
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01), {"mse"})
    model.fit(epochs, DATA, DATA, callbacks=history)
    return [float(loss) for loss in history.history["net_output"]], model
