# SPDX-License-Identifier: Apache-2.0
"""Training in two processes. Oracle: the same training in one process on the whole batch.

Each process computes the oracle itself, in a step that reduces nothing.
"""

from __future__ import annotations

import functools

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, mint, nn, ops
from mycel.kernel.define.collective import Collective
from support.ranks_models import Block, LeNet5

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
STEPS, BATCH = 10, 8
MODES = ("fused", "graph")


def batches(shape):
    numbers = np.random.default_rng(7)
    return [
        (numbers.normal(size=(BATCH, *shape)).astype(np.float32),
         numbers.integers(0, 10, BATCH).astype(np.int32))
        for _ in range(STEPS)
    ]  # fmt: skip


KINDS = {"LeNet-5": (LeNet5, (1, 28, 28)), "BERT block": (Block, (5, 16))}


def own(array):
    """The part of a batch that is this process's."""
    return ms.Tensor(np.split(array, SIZE)[RANK])


def make_step(kind, parallel, optimizer=nn.Momentum, **settings):
    ms.reset_auto_parallel_context()
    if parallel:
        ms.set_auto_parallel_context(
            parallel_mode="data_parallel", gradients_mean=True, device_num=SIZE, **settings
        )
    ms.set_seed(3)
    net = kind()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    arguments = (0.05, 0.9) if optimizer is nn.Momentum else (0.01,)
    return net, nn.TrainOneStepCell(loss, optimizer(net.trainable_params(), *arguments))


def mean_of(loss) -> float:
    """The mean over processes of a number."""
    return float(ops.AllReduce()(loss)) / SIZE


def assert_same_parameters(net, other, tolerance=2e-5):
    for one, two in zip(net.trainable_params(), other.trainable_params(), strict=True):
        np.testing.assert_allclose(
            one.asnumpy(), two.asnumpy(), rtol=tolerance, atol=tolerance, err_msg=one.name
        )


def check_losses_are_those_of_the_whole_batch():
    for name, (kind, shape) in KINDS.items():
        data = batches(shape)
        for how in MODES:
            with execution(how):
                whole_net, whole = make_step(kind, parallel=False)
                wanted = [float(whole(ms.Tensor(x), ms.Tensor(y))) for x, y in data]
                net, step = make_step(kind, parallel=True)
                assert step.reducer_flag and step.degree == SIZE and step.mean
                found = [mean_of(step(own(x), own(y))) for x, y in data]
            np.testing.assert_allclose(found, wanted, rtol=2e-5, err_msg=f"{name} {how}")
            assert_same_parameters(net, whole_net)


def check_adam_and_functional_style():
    kind, shape = KINDS["LeNet-5"]
    data = batches(shape)
    _, whole = make_step(kind, parallel=False, optimizer=nn.Adam)
    wanted = [float(whole(ms.Tensor(x), ms.Tensor(y))) for x, y in data]
    ms.reset_auto_parallel_context()
    ms.set_seed(3)
    net = kind()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    reducer = nn.DistributedGradReducer(net.trainable_params(), mean=True)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    forward = ms.value_and_grad(lambda x, y: loss(net(x), y), None, net.trainable_params())

    @ms.jit
    def step(x, y):
        value, gradients = forward(x, y)
        optimizer(reducer(gradients))
        return value

    found = [mean_of(step(own(x), own(y))) for x, y in data]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def check_parameters_of_the_first_in_all():
    kind, shape = KINDS["LeNet-5"]
    (x, y), *_ = batches(shape)
    for broadcast in (True, False):
        ms.reset_auto_parallel_context()
        ms.set_auto_parallel_context(
            parallel_mode="data_parallel", gradients_mean=True, parameter_broadcast=broadcast
        )
        ms.set_seed(10 + RANK)
        net = kind()
        step = nn.TrainOneStepCell(
            nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True)),
            nn.SGD(net.trainable_params(), 0.1),
        )
        step(own(x).mean(0, keep_dims=True), own(y)[:1])
        weight = net.dense3.weight.asnumpy()
        first = ops.Broadcast(0)((net.dense3.weight,))[0].asnumpy()
        assert np.array_equal(weight, first) == (broadcast or RANK == 0)


def check_model():
    kind, shape = KINDS["LeNet-5"]
    data = batches(shape)
    whole_net, whole = make_step(kind, parallel=False)
    for x, y in data:
        whole(ms.Tensor(x), ms.Tensor(y))
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    ms.set_seed(3)
    net = kind()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.05, 0.9))
    mine = [
        np.concatenate([np.split(part, SIZE)[RANK] for part in parts])
        for parts in zip(*data, strict=True)
    ]
    source = ms.dataset.NumpySlicesDataset(tuple(mine), ["x", "y"], shuffle=False)
    model.train(1, source.batch(BATCH // SIZE), dataset_sink_mode=False)
    assert_same_parameters(net, whole_net)


def check_batch_normalisation_over_processes():
    data = batches((3, 4, 4))[:4]
    kinds = {
        "nn": (nn.BatchNorm2d, nn.SyncBatchNorm),
        "mint": (mint.nn.BatchNorm2d, mint.nn.SyncBatchNorm),
        "a group": (nn.BatchNorm2d, functools.partial(nn.SyncBatchNorm, process_groups=[[0, 1]])),
    }
    for name, (one, several) in kinds.items():

        def kind(layer):
            norm = layer(3)
            return nn.SequentialCell(nn.Conv2d(3, 3, 3), norm, nn.Flatten(), nn.Dense(48, 10))

        for how in MODES:
            with execution(how):
                whole_net, whole = make_step(functools.partial(kind, one), parallel=False)
                net, step = make_step(functools.partial(kind, several), parallel=True)
                whole_net.set_train()
                net.set_train()
                for x, y in data:
                    wanted = float(whole(ms.Tensor(x), ms.Tensor(y)))
                    found = mean_of(step(own(x), own(y)))
                    np.testing.assert_allclose(found, wanted, rtol=2e-5, err_msg=f"{name} {how}")
            for mine, theirs in zip(net.get_parameters(), whole_net.get_parameters(), strict=True):
                values = mine.asnumpy(), theirs.asnumpy()
                np.testing.assert_allclose(*values, 1e-4, 2e-5, err_msg=mine.name)


def check_batches_of_one_process_alone():
    x = np.random.default_rng(RANK).normal(size=(4, 3, 2, 2)).astype(np.float32)
    layers = nn.BatchNorm2d(3), nn.SyncBatchNorm(3, process_groups=[[0], [1]])
    outputs = [layer.set_train()(ms.Tensor(x)).asnumpy() for layer in layers]
    np.testing.assert_array_equal(*outputs)


def check_second_order_training_is_that_of_the_whole_batch():
    ms.reset_auto_parallel_context()
    data = np.random.default_rng(0).normal(size=(4, BATCH, 4)).astype(np.float32)
    rates, damping = (ms.Tensor(np.full(9, n, np.float32)) for n in (0.02, 0.1))
    results = []
    for size in (1, SIZE):
        if size > 1:
            ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 3))
        optimizer = nn.thor(net, rates, damping, 0.9, 1e-4, 1.0, BATCH // size)
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
        for batch in data:
            x, y = batch, (batch.argmax(1) % 3).astype(np.int32)
            step(*((own(x), own(y)) if size > 1 else (ms.Tensor(x), ms.Tensor(y))))
        results.append([parameter.asnumpy() for parameter in net.trainable_params()])
    for whole, mine in zip(*results, strict=True):
        np.testing.assert_allclose(mine, whole, 1e-4, 1e-5)


def check_callbacks_that_decide_follow_the_mean():
    """Each process would decide for itself, and their rates would part."""
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1)
    net = nn.Dense(2, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    rise = np.float32(RANK)  # the loss falls in the first process, and rises in the second
    rows = [(np.ones((4, 2), np.float32), np.full((4, 1), rise * n, np.float32)) for n in range(4)]
    plateau = ms.train.ReduceLROnPlateau("loss", factor=0.5, patience=1)
    stop = ms.train.EarlyStopping("loss", patience=2)
    batches = [(ms.Tensor(x), ms.Tensor(y)) for x, y in rows]
    model.train(6, batches, callbacks=[plateau, stop], dataset_sink_mode=False)
    found = [float(plateau.best), float(stop.best), float(net.weight.asnumpy().sum())]
    both = ops.AllGather()(ms.Tensor([found])).asnumpy()
    np.testing.assert_array_equal(both[0], both[1])


def check_one_reduction_for_all_gradients():
    calls = []
    before = Collective.communicate
    Collective.communicate = lambda self, arrays: calls.append(self.name) or before(self, arrays)
    try:
        kind, shape = KINDS["LeNet-5"]
        with execution("graph"):
            _, step = make_step(kind, parallel=True)
            for x, y in batches(shape)[:5]:
                calls.clear()
                step(own(x), own(y)).asnumpy()
                assert calls == ["AllReduce(sum)"], calls
    finally:
        Collective.communicate = before


def check_another_number_of_devices_is_refused():
    try:
        ms.set_auto_parallel_context(device_num=8)
    except ValueError as error:
        assert "device_num must be 2 devices" in str(error), error
    else:
        raise AssertionError("it was accepted")
