# SPDX-License-Identifier: Apache-2.0
"""Losses of ten steps in every arrangement of devices. Oracle: the same steps on one device.

BatchNorm of data_parallel sees the rows of one process alone, as in MindSpore: there the oracle
takes the mean of the gradients of each part, on one device.
"""

from __future__ import annotations

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, nn, ops
from mycel.kernel.base.processes import started_as_many
from mycel.parallel.context import get_device_num
from support.devices_checks import KINDS, MODES, SEMI_AUTO, batches, begin, make_step

if started_as_many():
    communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
DATA_PARALLEL = {"parallel_mode": "data_parallel", "gradients_mean": True}
# A net with a strategy for 2 x 4 devices needs them.
WIDE = "BERT block by Megatron"


def own(array):
    """The part of a batch that is this process's."""
    return ms.Tensor(np.split(array, SIZE)[RANK])


def on_one_device(name):
    """The losses of steps with the mean of the gradients that each part of a batch gives."""
    kind, shape, rate = KINDS[name]
    begin()
    ms.set_seed(3)
    net = kind()
    net.set_train()
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    derivative = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)
    losses = []
    for batch in batches(shape):
        parts = zip(*[np.split(part, SIZE) for part in batch], strict=True)
        found = [derivative(ms.Tensor(x), ms.Tensor(y)) for x, y in parts]
        optimizer(tuple([sum(g) / SIZE for g in zip(*[g for _, g in found], strict=True)]))
        losses.append(sum(float(value) for value, _ in found) / SIZE)
    return losses


def whole_on_one_device(name):
    kind, shape, rate = KINDS[name]
    begin()
    with execution("graph"):
        _, step = make_step(kind, rate)
        return [float(step(ms.Tensor(x), ms.Tensor(y))) for x, y in batches(shape)]


def compare(name):
    kind, shape, rate = KINDS[name]
    for settings in (SEMI_AUTO, DATA_PARALLEL):
        divides = settings is SEMI_AUTO
        begin(**settings)
        if divides and name == WIDE and get_device_num() < 8:
            continue
        expected = whole_on_one_device(name) if divides else on_one_device(name)
        assert abs(expected[0] - expected[-1]) > 1e-3, expected
        for mode in MODES:
            begin(**settings)
            with execution(mode):
                _, step = make_step(kind, rate)
                found = []
                for x, y in batches(shape):
                    loss = step(own(x), own(y))
                    alone = divides or SIZE == 1
                    found.append(float(loss if alone else ops.AllReduce()(loss) / SIZE))
            worst = np.abs(np.array(found) / expected - 1).max()
            print(f"{name}, {settings['parallel_mode']}, {mode}: {worst:.1e}", flush=True)
            assert worst < 2e-5, (name, settings, mode, found, expected)


def check_lenet():
    compare("LeNet-5")


def check_bert_block():
    compare("BERT block")


def check_bert_block_by_megatron():
    compare(WIDE)


def check_lstm():
    compare("LSTM")


def check_resnet_with_batch_norm():
    compare("ResNet-18")
