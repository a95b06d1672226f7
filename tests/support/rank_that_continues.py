# SPDX-License-Identifier: Apache-2.0
"""A training that is killed, or goes on, in as many processes as there are.

Arguments: the last epoch; the step behind which process 1 is killed, when it has written its part
of the next checkpoint (0: none); and folders of what is saved. The losses of the steps are left
there, as `losses_COUNT.json`.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys

import numpy as np

import mycel as ms
from mycel import nn, ops
from mycel.checkpoint.sharded import slices
from mycel.communication import get_group_size, get_rank, init
from mycel.train import BackupAndRestore, Callback, CheckpointConfig, ModelCheckpoint

EPOCHS, STEPS, BATCH = 4, 5, 12


class Losses(Callback):
    """The loss of the whole batch at each step, and the kill."""

    def __init__(self, end):
        super().__init__()
        self.last, self.found = end, {}

    def on_train_step_end(self, run_context):
        told = run_context.original_args()
        mean = ops.AllReduce()(told.net_outputs) / get_group_size()
        self.found[told.cur_step_num] = float(mean)
        if told.cur_step_num == self.last and get_rank() == 1:
            slices._attempt = killed_behind(slices._attempt)


def killed_behind(function):
    """The function, behind which this process is killed."""

    def call(*arguments):
        function(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return call


def train(folder, epochs, end=0):
    """The losses of the steps, and the weights at the end."""
    ms.set_seed(4)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    net = nn.SequentialCell(nn.Dense(5, 8), nn.Tanh(), nn.Dense(8, 1))
    drawn = np.random.default_rng(2)
    x = drawn.normal(size=(STEPS * BATCH, 5)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    data = ms.dataset.NumpySlicesDataset(
        (x, y), ["x", "y"], shuffle=True, num_shards=get_group_size(), shard_id=get_rank()
    ).batch(BATCH // get_group_size())
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.02, 0.9))
    losses = Losses(end)
    kept = CheckpointConfig(STEPS, keep_checkpoint_max=2, format="index.json")
    callbacks = [
        BackupAndRestore(str(folder), delete_checkpoint=False),
        ModelCheckpoint("net", str(folder), kept),
        losses,
    ]
    model.train(epochs, data, callbacks=callbacks, dataset_sink_mode=False)
    return losses.found, {p.name: p.asnumpy() for p in net.trainable_params()}


def main(epochs, end, *folders):
    init()
    for folder in map(pathlib.Path, folders):
        losses, weights = train(folder, int(epochs), int(end))
        if get_rank() == 0:
            name = f"losses_{get_group_size()}"
            (folder / f"{name}.json").write_text(json.dumps(losses))
            np.savez(folder / f"{name}.npz", **weights)


if __name__ == "__main__":
    main(*sys.argv[1:])
