# SPDX-License-Identifier: Apache-2.0
"""A training in which one process is killed at some step of each attempt, as arguments say.

They are: the folder of what is saved, and for each attempt `rank:step`.
"""

from __future__ import annotations

import os
import signal
import sys

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.train import BackupAndRestore, Callback

EPOCHS, STEPS, BATCH = 6, 4, 8


class Killed(Callback):
    """Kills this process behind a step, before its epoch is saved if it is the last of one."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def main(folder, *kills):
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(5, 8), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(8, 3))
    numbers = np.random.default_rng(2)
    x = numbers.normal(size=(STEPS * BATCH, 5)).astype(np.float32)
    y = numbers.integers(0, 3, STEPS * BATCH).astype(np.int32)
    data = ms.dataset.NumpySlicesDataset(
        (x, y), ["x", "y"], shuffle=False, num_shards=size, shard_id=rank
    ).batch(BATCH // size)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    callbacks = [BackupAndRestore(folder, delete_checkpoint=False)]
    attempt = int(os.environ["MYCEL_RESTART"])
    if attempt < len(kills):
        victim, step = map(int, kills[attempt].split(":"))
        if rank == victim:
            callbacks.append(Killed(step))
    model.train(EPOCHS, data, callbacks=callbacks, dataset_sink_mode=False)
    np.savez(f"{folder}/end_{rank}.npz", **{p.name: p.asnumpy() for p in net.trainable_params()})


main(*sys.argv[1:])
