# SPDX-License-Identifier: Apache-2.0
"""Two processes of which one does something else; what each is told, and that it can save then.

The case is the first argument, the folder where each leaves what it found the second.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
import time

import numpy as np

import mycel as ms
from mycel import communication, nn, ops
from mycel.mint import distributed

CASE, FOLDER = sys.argv[1:]
communication.init()
RANK = communication.get_rank()
ONES = ms.Tensor(np.ones(4, np.float32))


class Head(nn.Cell):
    def construct(self, x):
        if RANK == 0:
            return ops.AllReduce()(x)  # order: process 0
        return ops.AllGather()(x)  # order: process 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.head = Head()

    def construct(self, x):
        return self.head(x * 2)


def order():
    return Net()(ONES)


def compiled():
    return ms.jit(Net())(ONES)


def shape():
    return ops.AllReduce()(ops.ones(4 + RANK))


def shape_of_rows():
    return ops.ReduceScatter()(ops.ones(4 + 2 * RANK))


def dtype():
    return ops.AllReduce()(ops.ones(4, [ms.float32, ms.int32][RANK]))


def reduction():
    return ops.AllReduce(["sum", "max"][RANK])(ONES)


def root():
    return ops.Broadcast(RANK)((ONES,))


def lengths():
    """Process 0 sends 3 elements, of which process 1 expects 2."""
    sends, receives = [([1, 3], [1, 2]), ([2, 2], [2, 2])][RANK]
    return ops.AlltoAllV()(ONES, sends, receives)  # lengths


def lengths_of_lists():
    """Compiled; process 0 sends 2 elements to each, and process 1 expects 3 of itself."""

    @ms.jit
    def exchange(x, y):
        into = [ops.zeros(2), ops.zeros(2 + RANK)]
        distributed.all_to_all(into, [x, y])
        return into

    return exchange(ONES[:2], ONES[2:])


def lengths_dtype():
    x = ops.ones(4, [ms.float32, ms.int32][RANK])
    return ops.AlltoAllV()(x, [2, 2], [2, 2])


def sizes():
    return ops.AllGatherV()(ONES, [[4, 4], [5, 4]][RANK])


def gradient():
    """Only one of them differentiates."""
    x = ops.AllReduce()(ONES)
    return ms.grad(lambda x: ops.AllReduce()(x).sum())(x) if RANK == 0 else order()


def batches():
    """One has fewer batches: its second epoch must not meet the first of the other."""
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    optimizer = nn.SGD(net.trainable_params(), 0.0)
    data = [(ops.ones((1, 2)), ops.ones((1, 1)))] * (2 + RANK)
    ms.Model(net, nn.MSELoss(), optimizer).train(2, data)


class SignalOne(ms.train.Callback):
    """Process 1 gets a signal after its third step."""

    def __init__(self, number):
        self.number = number

    def on_train_step_end(self, run_context):
        if RANK == 1 and run_context.original_args().cur_step_num == 3:
            os.kill(os.getpid(), self.number)


def training():
    """The one that is left saves by itself what it had."""
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    config = ms.train.CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
    kept = ms.train.ModelCheckpoint("kept", f"{FOLDER}/kept_{RANK}", config)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    data = [(ops.ones((1, 2)), ops.ones((1, 1)))] * 6
    ms.Model(net, nn.MSELoss(), optimizer).train(1, data, [kept, SignalOne(signal.SIGKILL)])


def asked_to_end():
    ms.set_auto_parallel_context(parallel_mode="data_parallel", parameter_broadcast=True)
    stop = ms.train.OnRequestExit(directory=f"{FOLDER}/asked")
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    data = [(ops.ones((1, 2)) * (RANK + n), ops.ones((1, 1))) for n in range(4)]
    model = ms.Model(net, nn.MSELoss(), optimizer)
    model.train(3, data, [SignalOne(signal.SIGTERM), stop], dataset_sink_mode=False)
    saved = ms.load_checkpoint(f"{FOLDER}/asked/rank_{RANK}/Net_train.ckpt")
    return int(saved["global_step"]), saved["weight"].asnumpy().tolist()


def group():
    communication.create_group("turned", [1, 0])
    return ops.AllReduce(group=["hccl_world_group", "turned"][RANK])(ONES)


def stall():
    if RANK == 1:
        time.sleep(12)  # stall: process 1
    return ops.AllReduce()(ONES)


def end():
    if RANK == 1:
        raise SystemExit(0)
    return ops.AllReduce()(ONES)


def error():
    return ops.AllReduce()(ONES) if RANK == 0 else 1 / 0


def kill():
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return ops.AllReduce()(ONES)


def divided():
    """An activation that is divided among the processes."""
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    return nn.ReLU()(ops.ones((4, 2)))


def program():
    y = divided()
    y = y * 2 if RANK == 0 else y + 2
    return y.asnumpy()  # program


def numbers():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    ms.flush()  # what was drawn before differs as well
    drawn = ms.Tensor(np.full((1, 2), RANK, np.float32))
    layer = nn.Dense(2, 1, weight_init=drawn, bias_init="zeros")
    return layer(ops.ones((4, 2))).asnumpy()  # numbers


def seeds():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    ms.set_seed(RANK)
    return nn.Dropout(p=0.5).set_train()(ops.ones((4, 2))).asnumpy()  # seeds


def stages():
    """A pipeline whose stages are given other batches."""
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", pipeline_stages=2)
    return nn.ReLU()(ops.ones((4, 2)) * RANK).asnumpy()  # stages


def look():
    y = divided()
    if RANK == 0:
        return y.asnumpy()  # look
    ms.flush()
    return None


def kill_whole():
    y = divided()
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return y.asnumpy()  # kill_whole


def batches_whole():
    """One has fewer batches, of whole Tensors."""
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    same = nn.Dense(2, 1, "ones", "zeros")
    optimizer = nn.SGD(same.trainable_params(), 0.0)
    data = [(ops.ones((4, 2)), ops.ones((4, 1)))] * (2 + RANK)
    ms.Model(same, nn.MSELoss(), optimizer).train(2, data)  # batches_whole


ops.AllReduce()(ops.ones(2))  # what all called before
net = nn.Dense(2, 1)
found = {"told": "", "result": "", "again": ""}
begun = time.monotonic()
try:
    found["result"] = str(globals()[CASE]())
except RuntimeError as failure:
    found["told"] = str(failure)
    try:
        ops.AllReduce()(ONES)
    except RuntimeError as failure:
        found["again"] = str(failure)
    raise
finally:
    found["seconds"] = time.monotonic() - begun
    ms.save_checkpoint(net, f"{FOLDER}/saved_{RANK}.ckpt")
    found["sum"] = float(ms.load_checkpoint(f"{FOLDER}/saved_{RANK}.ckpt")["weight"].sum())
    found["wanted"] = float(net.weight.sum())
    pathlib.Path(f"{FOLDER}/found_{RANK}.json").write_text(json.dumps(found))
