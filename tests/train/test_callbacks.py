# SPDX-License-Identifier: Apache-2.0
"""Callbacks beyond what is recorded: files, signals, event files, gradients over several steps."""

from __future__ import annotations

import contextlib
import os
import re
import signal

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import nn, ops
from mycel.train.accumulation import GradientAccumulation
from support import event_reader

DATA = [(np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32))] * 3


def model_of(net, rate=0.25, metrics=None):
    return ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), rate), metrics)


def dense():
    return nn.Dense(1, 1, "ones", "zeros")


def test_times_are_printed(capsys):
    model_of(dense()).train(1, DATA, callbacks=ms.train.TimeMonitor(data_time=True))
    line = capsys.readouterr().out
    number = r"\d+\.\d{3} ms"
    pattern = rf"Train epoch time: {number}, per step time: {number} \(data time: {number}\)\n"
    assert re.fullmatch(pattern, line)


def test_a_smaller_rate_is_printed_as_it_is_written(capsys):
    """Oracle: MindSpore 2.10 prints 0.0025, not the digits of the nearest Float32."""
    net = nn.Dense(1, 1, "zeros", "zeros")
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.005))
    plateau = ms.train.ReduceLROnPlateau("loss", factor=0.5, patience=1, verbose=True)
    model.train(2, [(ops.zeros((1, 1)), ops.zeros((1, 1)))], callbacks=plateau)
    line = "Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.0025.\n"
    assert capsys.readouterr().out == line


def test_safetensors_and_a_thread(tmp_path):
    config = ms.train.CheckpointConfig(1, keep_checkpoint_max=2, async_save=True,
                                       format="safetensors")  # fmt: skip
    net = dense()
    saved = ms.train.ModelCheckpoint("net", str(tmp_path), config)
    model_of(net).train(1, DATA, callbacks=[saved])
    assert sorted(os.listdir(tmp_path)) == ["net-1_2.safetensors", "net-1_3.safetensors"]
    loaded = ms.load_checkpoint(saved.latest_ckpt_file_name)
    assert_close(loaded["weight"].asnumpy(), net.weight.asnumpy(), "weight")


def test_minutes_keep_one_file(tmp_path):
    config = ms.train.CheckpointConfig(1, 0, 0, 10)
    saved = ms.train.ModelCheckpoint("net", str(tmp_path), config)
    model_of(dense()).train(2, DATA, callbacks=[saved])
    # Of the last ten minutes the oldest, and the one saved behind it.
    assert sorted(os.listdir(tmp_path)) == ["net-1_1.ckpt", "net-2_3.ckpt"]


def test_a_backup_is_where_a_training_begins(tmp_path):
    class Fail(ms.train.Callback):
        def on_train_epoch_end(self, run_context):
            if run_context.original_args().cur_epoch_num == 2:
                raise KeyError("power cut")

    net = dense()
    backup = ms.train.BackupAndRestore(str(tmp_path))
    with pytest.raises(KeyError, match="power cut"):
        model_of(net, 0.1).train(3, DATA, callbacks=[backup, Fail()])
    after = net.weight.asnumpy()
    net = dense()
    begun = []
    look = ms.train.LambdaCallback(on_train_begin=lambda _: begun.append(net.weight.asnumpy()))
    model_of(net, 0.1).train(1, DATA, callbacks=[backup, look])
    assert_close(begun, [after], "restored")
    assert os.listdir(tmp_path) == []


class Noisy(nn.Cell):
    """A network that draws numbers, of operators and of NumPy."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 1, "ones", "zeros")
        self.dropout = nn.Dropout(p=0.5)

    def construct(self, x):
        return self.dense(self.dropout(x))


def noisy_run(folder, epochs, *more):
    """A training from a fixed seed; the network, the optimiser, and the epochs that ran."""
    ms.set_seed(7)
    net, ran = Noisy(), []
    optimizer = nn.Adam(net.trainable_params(), nn.cosine_decay_lr(0.0, 0.2, 100, 1, 20))
    count = ms.train.LambdaCallback(on_train_epoch_end=lambda context: ran.append(
        (context.original_args().cur_epoch_num, context.original_args().cur_step_num)
    ))  # fmt: skip
    data = [(np.full((2, 2), n, np.float32), np.ones((2, 1), np.float32)) for n in range(3)]
    backup = ms.train.BackupAndRestore(str(folder))
    model = ms.Model(net, nn.MSELoss(), optimizer)
    with contextlib.suppress(KeyError):
        model.train(epochs, data, callbacks=[backup, count, *more])
    return net, optimizer, ran


class PowerCut(ms.train.Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 8:  # in the third epoch
            raise KeyError("power cut")


def test_a_backup_goes_on_where_it_stopped(tmp_path):
    """Oracle: the training that nobody interrupted, bit for bit."""
    expected = noisy_run(tmp_path / "a", 5)
    assert noisy_run(tmp_path / "b", 5, PowerCut())[2] == [(1, 3), (2, 6)]
    np.random.seed(0)
    net, optimizer, ran = noisy_run(tmp_path / "b", 5)
    assert ran == [(3, 9), (4, 12), (5, 15)]
    assert expected[2] == [(1, 3), (2, 6), *ran]
    for ours, theirs in zip(
        (*net.get_parameters(), *optimizer.get_parameters()),
        (*expected[0].get_parameters(), *expected[1].get_parameters()),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.asnumpy(), theirs.asnumpy(), ours.name)
    assert os.listdir(tmp_path / "b") == []


def test_a_backup_of_mindspore_restores_the_parameters_alone(tmp_path):
    net = dense()
    model = model_of(net)
    ms.save_checkpoint({**model.train_network.parameters_dict(), "weight": ms.Tensor([[5.0]])},
                       str(tmp_path / "backup.ckpt"))  # fmt: skip
    begun, ran = [], []
    look = ms.train.LambdaCallback(
        on_train_begin=lambda _: begun.append(net.weight.asnumpy().item()),
        on_train_epoch_end=lambda _: ran.append(1),
    )
    model.train(2, DATA, callbacks=[ms.train.BackupAndRestore(str(tmp_path)), look])
    assert (begun, len(ran)) == ([5.0], 2)


def test_a_finished_backup_leaves_nothing_to_do(tmp_path, caplog):
    backup = ms.train.BackupAndRestore(str(tmp_path), delete_checkpoint=False)
    net = dense()
    model_of(net).train(2, DATA, callbacks=backup)
    weight = net.weight.asnumpy()
    net = dense()
    model_of(net).train(2, DATA, callbacks=backup)
    assert "has 2 epochs of this training, which was asked for 2: nothing is left" in caplog.text
    np.testing.assert_array_equal(net.weight.asnumpy(), weight)
    model_of(net).train(3, DATA, callbacks=backup)
    assert int(ms.load_checkpoint(backup.backup_file)["epoch_num"]) == 3


class Scripted(ms.train.Metric):
    """A metric whose values are given, one for each evaluation."""

    def __init__(self, *values):
        super().__init__()
        self.values = list(values)

    def clear(self):
        pass

    def update(self, *inputs):
        pass

    def eval(self):
        return self.values.pop(0)


@pytest.mark.parametrize(("mode", "best"), [("max", 2), ("min", 3), ("auto", 2)])
def test_the_best_epoch_alone_is_saved(mode, best, tmp_path):
    """Oracle: the weights after the epoch whose value was best."""
    net, weights = dense(), []
    saved = ms.train.ModelCheckpoint(
        "net", str(tmp_path), ms.train.CheckpointConfig(append_info=["epoch_num"]),
        save_best_only=True, monitor="score", mode=mode,
    )  # fmt: skip
    keep = ms.train.LambdaCallback(
        on_train_epoch_end=lambda _: weights.append(net.weight.asnumpy())
    )
    model = model_of(net, 0.1, {"score": Scripted(0.5, 0.9, 0.1, 0.9)})
    model.fit(4, DATA, DATA, callbacks=[saved, keep])
    assert os.listdir(tmp_path) == ["net-best.ckpt"]
    assert saved.latest_ckpt_file_name == str(tmp_path / "net-best.ckpt")
    assert saved.best == (0.1 if mode == "min" else 0.9)
    loaded = ms.load_checkpoint(saved.latest_ckpt_file_name)
    np.testing.assert_array_equal(loaded["weight"].asnumpy(), weights[best - 1])
    assert int(loaded["epoch_num"]) == best


def test_the_best_loss_of_a_training_without_evaluation(tmp_path):
    saved = ms.train.ModelCheckpoint(
        lambda told: f"at{told.cur_epoch_num}", str(tmp_path), save_best_only=True, monitor="loss"
    )
    model_of(dense(), 0.1).train(2, DATA, callbacks=saved)
    assert sorted(os.listdir(tmp_path)) == ["at1.ckpt", "at2.ckpt"]
    for wrong in ({"save_best_only": 1}, {"monitor": 3}, {"mode": "least"}):
        with pytest.raises((TypeError, ValueError), match="ModelCheckpoint"):
            ms.train.ModelCheckpoint("net", str(tmp_path), **wrong)
    saved = ms.train.ModelCheckpoint("no", str(tmp_path), save_best_only=True, monitor="f1")
    with pytest.warns(UserWarning, match=r"ModelCheckpoint follows 'f1', .*there is 'loss'"):
        model_of(dense(), 0.1).train(1, DATA, callbacks=saved)


def test_a_signal_stops_behind_the_step(tmp_path):
    class Raise(ms.train.Callback):
        def on_train_step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    steps = []
    count = ms.train.LambdaCallback(on_train_step_end=lambda context: steps.append(1))
    net = dense()
    stop = ms.train.OnRequestExit(directory=str(tmp_path), file_name="run")
    model_of(net).train(2, DATA, callbacks=[Raise(), stop, count])
    assert len(steps) == 2
    assert signal.getsignal(signal.SIGTERM) is before
    loaded = ms.load_checkpoint(str(tmp_path / "rank_0" / "run_train.ckpt"))
    assert_close(loaded["weight"].asnumpy(), net.weight.asnumpy(), "saved")


def test_the_handler_of_a_signal_comes_back(tmp_path):
    """Behind evaluations within a training, which callbacks of a program's own see, and what breaks
    either off. Oracle: the handler that was there before."""

    class Own(ms.train.OnRequestExit):
        breaks = ""

        def _at(self, point):
            assert signal.getsignal(signal.SIGTERM) == self._take
            if self.breaks == point:
                raise KeyboardInterrupt

        def on_train_step_end(self, run_context):
            self._at("train")
            super().on_train_step_end(run_context)

        def on_eval_step_end(self, run_context):
            self._at("eval")
            super().on_eval_step_end(run_context)

    before, stop = signal.getsignal(signal.SIGTERM), Own(directory=str(tmp_path))
    model = model_of(dense(), metrics={"mae"})
    model.fit(2, DATA, DATA, callbacks=[stop])
    assert signal.getsignal(signal.SIGTERM) is before
    for stop.breaks in ("train", "eval"):
        with pytest.raises(KeyboardInterrupt):
            model.fit(2, DATA, DATA, callbacks=[stop])
        assert signal.getsignal(signal.SIGTERM) is before


def test_summaries_of_a_training(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = dense()
            self.note = ops.TensorSummary()

        def construct(self, x):
            self.note("seen", x)
            return self.dense(x)

    collector = ms.train.SummaryCollector(
        str(tmp_path), collect_freq=2, collect_specified_data={"collect_input_data": False}
    )
    model_of(Net(), 0.0).train(2, DATA, callbacks=[collector])
    (path,) = tmp_path.iterdir()
    found = {}
    for event in event_reader.read_events(path):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value))
    assert sorted(found) == ["dense.bias/auto", "dense.weight/auto", "loss/auto", "seen"]
    losses = [(step, value.simple_value) for step, value in found["loss/auto"]]
    assert losses == [(1, 1.0), (2, 1.0), (4, 1.0), (6, 1.0)]
    assert [step for step, _ in found["seen"]] == [1, 2, 4, 6]


def test_input_that_is_no_image_is_told_once(tmp_path):
    collector = ms.train.SummaryCollector(str(tmp_path), collect_freq=1)
    with pytest.warns(UserWarning, match="not an image") as caught:
        model_of(dense()).train(1, DATA, callbacks=[collector])
    assert len(caught) == 1


def test_nothing_to_follow_is_told():
    net = dense()
    with pytest.warns(UserWarning, match=r"EarlyStopping follows 'mse', .*there is 'loss'"):
        model_of(net).train(1, DATA, callbacks=[ms.train.EarlyStopping("mse")])


@pytest.mark.parametrize("name", EXECUTIONS)
def test_gradients_of_several_steps(name):
    """Two steps of two batches are those of their mean; the step is compiled once."""
    gradients = [np.array([g], np.float32) for g in (1.0, 3.0, -2.0, 4.0, 8.0)]
    with execution(name):
        w = ms.Parameter(ms.Tensor([1.0]), name="w")
        optimizer = nn.Momentum([w], 0.5, 0.9)
        gather = GradientAccumulation(2, optimizer)
        path = []
        for gradient in gradients:
            loss = gather(ms.Tensor(0.0), (ms.Tensor(gradient),))
            path.append(float(w.asnumpy()[0]))
        assert float(loss) == 0.0
        assert ms.debug.ledger().counts.misses == 0
    assert_close(path, [1.0, 0.0, 0.0, -1.4, -1.4], name, "float32")
    assert [int(n) for n in (gather._accumulation_step, optimizer.global_step[0])] == [1, 2]
