# SPDX-License-Identifier: Apache-2.0
"""Callbacks beyond what is recorded: files, signals, event files, gradients over several steps."""

from __future__ import annotations

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
