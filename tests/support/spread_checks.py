# SPDX-License-Identifier: Apache-2.0
"""Whole arrays divided among two processes. Oracle: the same program on one device, which each
process runs for itself, or NumPy."""

from __future__ import annotations

import gc
import os
import sys
import tempfile

import numpy as np

import mycel as ms
from harness import execution
from mycel import communication, nn, ops
from mycel.kernel.execute import spread
from support.devices_checks import (
    BATCH,
    KINDS,
    SEMI_AUTO,
    ZERO,
    Layers,
    Megatron,
    batches,
    begin,
    init,
    make_step,
    parts_of,
    raises,
)

communication.init()
RANK, SIZE = communication.get_rank(), communication.get_group_size()
DEVICES = SIZE * int(os.environ["JAX_NUM_CPU_DEVICES"])
# The name of a network, and how its step runs: what is cheap to compile.
CHEAP = (("LeNet-5", "graph"), ("BERT block by Megatron", "graph"), ("LSTM", "fused"))
# Of 2 processes with one device each there are too few for it.
WIDE = "BERT block by Megatron"


def own(array):
    """The part of a batch that is this process's."""
    return ms.Tensor(np.split(array, SIZE)[RANK])


def whole(array):
    return ms.Tensor(array)


def losses(name, mode, part=own, **settings):
    kind, shape, rate = KINDS[name]
    begin(**settings)
    with execution(mode):
        net, step = make_step(kind, rate)
        return net, [float(step(part(x), part(y)).asnumpy()) for x, y in batches(shape)]


class Staged(nn.Cell):
    """Two stages; the weights of the second are divided among the devices of one stage."""

    def __init__(self, parts=1):
        super().__init__()
        self.first = nn.Dense(16, 16, weight_init="he_normal", activation="tanh")
        self.second = Megatron(1, parts)
        self.first.pipeline_stage, self.second.pipeline_stage = 0, 1

    def construct(self, x):
        return self.second(self.first(x))


def losses_in_parts(mode, parts, **settings):
    """Of steps of four parts of a batch; the first half of the processes has the first stage."""
    begin(**settings)
    ms.set_seed(3)
    with execution(mode):
        net = Staged(parts)
        loss = nn.PipelineCell(nn.WithLossCell(net, nn.MSELoss()), 4)
        step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.01))
        rows = np.random.default_rng(5).normal(size=(2, 4, 32, 16)).astype(np.float32)
        each = SIZE // 2
        if settings and each > 1:
            rows = rows.reshape(2, 4, 4, each, 8 // each, 16)[:, :, :, RANK % each]
            rows = rows.reshape(2, 4, 32 // each, 16)
        found = [float(step(ms.Tensor(x), ms.Tensor(y))) for x, y in zip(*rows, strict=True)]
    return net, found


def check_stages_of_a_pipeline():
    """Each process computes all stages; strategies divide among the devices of one, and a stage
    that there is not is an error. The ledger says that weights lie in all of them."""
    _, alone = losses_in_parts("graph", 1)
    assert abs(alone[0] - alone[-1]) > 1e-3, alone
    for mode in ("fused", "graph"):
        for more in ({}, ZERO, {"pipeline_config": {"pipeline_scheduler": "gpipe"}}):
            ms.debug.ledger().reset()
            settings = SEMI_AUTO | more | {"pipeline_stages": 2}
            net, found = losses_in_parts(mode, DEVICES // 2, **settings)
            np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{mode} {more}")
            parts = parts_of(ms.debug.layouts(net))["second.up"]
            assert parts == ((1, DEVICES // 2) if DEVICES > 2 else (1, 1)), parts
            told = str(ms.debug.ledger())
            assert "pipeline_stages=2" in told and "every process computes all" in told, told
    path = os.path.join(sys.argv[2], f"staged_{RANK}.ckpt")
    ms.save_checkpoint(net, path)
    fresh = Staged(DEVICES // 2)
    ms.load_checkpoint(path, fresh)
    np.testing.assert_array_equal(fresh.second.up.asnumpy(), net.second.up.asnumpy())
    fresh.second.pipeline_stage = 2
    raises(ValueError, lambda: fresh(ms.Tensor(init(8, 16))), "'second'", "pipeline_stage=2")
    few = nn.PipelineCell
    raises(ValueError, lambda: few(nn.ReLU(), 1)(ms.Tensor(init(8, 16))), "at least 2")
    raises(ValueError, lambda: begin(**SEMI_AUTO, pipeline_stages=3), "a multiple of 3")
    begin()


def check_losses_are_those_of_one_device():
    for name, mode in CHEAP:
        if name == WIDE and DEVICES < 8:
            continue
        _, alone = losses(name, "graph", whole)
        assert abs(alone[0] - alone[-1]) > 1e-3, alone  # it learns: an oracle that moves
        net, found = losses(name, mode, **SEMI_AUTO)
        np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{name}, {mode}")
        if name == WIDE:
            parts = parts_of(ms.debug.layouts(net))
            assert parts["middle.up"] == (1, 4) and parts["middle.down"] == (4, 1), parts


def check_whole_batches_and_strategies():
    shape = KINDS["LSTM"][1]
    _, alone = losses("LSTM", "graph", whole)
    for part, settings in (
        (whole, {"full_batch": True}),
        (own, {"dataset_strategy": ((SIZE, 1, 1), (SIZE,))}),
        (own, ZERO),
    ):
        _, found = losses("LSTM", "graph", part, **SEMI_AUTO, **settings)
        np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{settings} {shape}")


def check_an_input_becomes_the_whole():
    begin(**SEMI_AUTO)
    x = init(16, 4)
    seen = []

    class Doubled(nn.Cell):
        def construct(self, x, bias):
            seen.append((x.shape, bias.shape))
            return x * 2 + bias

    for mode in ("direct", "fused", "graph"):
        with execution(mode):
            net = Doubled()
            ms.set_auto_parallel_context(dataset_strategy=((SIZE, 1), (1, 1)))
            found = net(own(x), ms.Tensor(x[:1]))
            np.testing.assert_array_equal(found.asnumpy(), x * 2 + x[:1])
            assert not found._value.array.is_fully_addressable
            gradient = ms.grad(lambda x, b, net=net: (net(x, b) ** 2).sum(), 1)
            np.testing.assert_allclose(
                gradient(own(x), ms.Tensor(x[:1])).asnumpy(),
                2 * (x * 2 + x[:1]).sum(0, keepdims=True),
                rtol=1e-5,
            )
    assert set(seen) == {((16, 4), (1, 4))}, seen


def check_one_process_may_look_at_what_is_whole():
    kind, shape, rate = KINDS["LSTM"]
    for mode in ("fused", "graph"):
        _, alone = losses("LSTM", mode, whole)
        begin(**SEMI_AUTO)
        with execution(mode):
            net, step = make_step(kind, rate)
            found = [step(own(x), own(y)) for x, y in batches(shape)[:4]]
            if RANK == 0:  # the other reads later, behind steps that it runs before
                np.testing.assert_allclose(float(found[-1]), alone[3], rtol=2e-5)
            weight = [net.head.weight.asnumpy() if RANK else None]
            found += [step(own(x), own(y)) for x, y in batches(shape)[4:]]
            np.testing.assert_allclose([float(x) for x in found], alone, rtol=2e-5)
            assert (weight[0] is None) == (RANK == 0)


def check_processes_may_keep_other_results():
    """When Python frees a value may differ: then all of them run one program that gives all."""
    begin(**SEMI_AUTO, full_batch=True)
    x, calls = init(16, 8), []
    before = spread.run_in_all

    def noting(function, arrays, told, structure=""):
        try:
            return before(function, arrays, told, structure)
        except spread.OtherResults:
            calls.append(told)
            raise

    spread.run_in_all = noting
    try:
        with execution("fused"):
            layers, kept = Layers(), []
            for _ in range(3):
                y = layers(ms.Tensor(x)) * 2
                if RANK:
                    kept.append(y + 1)
                else:
                    _ = y + 1
                    del _
                    gc.collect()
                total = y.sum()
                del y
                found = float(total)
    finally:
        spread.run_in_all = before
    begin()
    alone = Layers()
    ms.load_param_into_net(
        alone, {p.name: ms.Parameter(p.asnumpy()) for p in layers.get_parameters()}
    )
    expected = alone(ms.Tensor(x)).asnumpy() * 2
    np.testing.assert_allclose(found, expected.sum(), rtol=1e-4)
    for one in kept:
        np.testing.assert_allclose(one.asnumpy(), expected + 1, rtol=1e-4, atol=1e-5)
    assert calls, "all kept the same: this tests nothing"


def check_model_and_functional_style():
    kind, shape, rate = KINDS["LSTM"]
    data = [np.concatenate(parts) for parts in zip(*batches(shape), strict=True)]
    weights = []
    for settings in ({}, SEMI_AUTO):
        begin(**settings)
        ms.set_seed(3)
        net = kind()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9))
        rows = data
        if settings:  # batches of the same rows
            rows = [
                np.concatenate(np.split(part, SIZE * len(data[0]) // BATCH)[RANK::SIZE])
                for part in data
            ]
        source = ms.dataset.NumpySlicesDataset(tuple(rows), ["x", "y"], shuffle=False)
        model.train(1, source.batch(BATCH // SIZE if settings else BATCH), dataset_sink_mode=False)
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        derivative = ms.value_and_grad(
            lambda x, y, net=net, loss=loss: loss(net(x), y), None, optimizer.parameters
        )
        for x, y in batches(shape)[:3]:
            part = own if settings else whole
            value, gradients = derivative(part(x), part(y))
            optimizer(gradients)
        weights.append([float(value), *[p.asnumpy() for p in net.get_parameters()]])
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)


def check_hooks_and_saving():
    begin(**SEMI_AUTO)
    x = init(16, 16)
    seen = []
    net = Megatron(1, DEVICES)
    net.register_forward_hook(lambda cell, inputs, output: seen.append(output.asnumpy()))
    expected = np.maximum(x @ init(16, 64), 0) @ init(64, 16)
    for mode in ("fused", "graph"):
        with execution(mode):
            for _ in range(4):
                net(own(x))
    assert len(seen) == 8
    for one in seen:
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
    layouts = ms.debug.layouts(net)
    assert parts_of(layouts)["up"] == (1, DEVICES), layouts
    assert sorted(layouts.bytes_by_device) == list(range(DEVICES)), layouts
    assert ms.debug.collectives(net)(own(x)).counts["all-reduce"] == 1
    path = tempfile.mkdtemp() + "/net.ckpt"
    ms.save_checkpoint(net, path)
    net.up.set_data(ms.Tensor(init(16, 64) * 2))
    assert parts_of(ms.debug.layouts(net))["up"] == (1, DEVICES)
    ms.load_checkpoint(path, net)
    np.testing.assert_array_equal(net.up.asnumpy(), init(16, 64))


def check_operators_among_processes():
    begin(**SEMI_AUTO)
    total = ops.ReduceSum()(nn.ReLU()(own(np.ones((16, 4), np.float32))))
    assert float(ops.AllReduce()(total)) == 64 * SIZE  # what is whole has a copy in each
    divided = nn.ReLU()(own(init(16, 4)))
    raises(RuntimeError, lambda: ops.AllReduce()(divided).asnumpy(), "leave the operator out")


def check_errors_teach():
    here = r"spread_checks\.py:\d+"
    setting = ms.set_auto_parallel_context

    def hooked():
        x = own(init(16, 4))
        x.register_hook(lambda gradient: gradient)
        return ms.grad(lambda x: nn.ReLU()(x).sum(), 0)(x)

    odd = ms.Tensor(init(3, 4))
    table = [
        (
            ValueError,
            lambda: setting(**SEMI_AUTO, device_num=3),
            "multiple of 2|processes together",
        ),
        (
            ValueError,
            lambda: setting(**SEMI_AUTO, device_num=64),
            "64 devices",
            "-n 2 --devices-per-",
        ),
        (NotImplementedError, hooked, "input 0 has a hook", here),
    ]
    if DEVICES > SIZE:
        table += [
            (ValueError, lambda: nn.ReLU()(odd), r"in this process \(3, 4\)", "6 elements", "8"),
            (ValueError, lambda: setting(**SEMI_AUTO, device_num=SIZE), "6 of 8 devices", here),
        ]
    for kind, call, *texts in table:
        begin(**SEMI_AUTO)
        raises(kind, call, *texts)


def check_checkpoints_in_slices():
    """Oracle: the whole values, gathered; the file is read by one device, and by these again."""
    begin(**SEMI_AUTO)
    kind, shape, rate = KINDS["LSTM" if DEVICES < 8 else WIDE]
    with execution("graph"):
        net, step = make_step(kind, rate)
        for x, y in batches(shape, 2):
            step(own(x), own(y)).asnumpy()
    expected = {p.name: p.asnumpy() for p in net.get_parameters()}
    folder = os.path.join(sys.argv[2], "slices")  # what `together` gives to all processes
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "net.index.json")
    ms.save_checkpoint(net, path)
    written = os.listdir(next(e.path for e in os.scandir(folder) if e.is_dir()))
    assert len(written) == DEVICES, written
    for like in (None, net):
        loaded = ms.load_checkpoint(path, like)
        assert loaded.keys() == expected.keys()
        for name, value in loaded.items():
            np.testing.assert_array_equal(value.asnumpy(), expected[name], err_msg=name)
    for parameter in net.get_parameters():
        np.testing.assert_array_equal(parameter.asnumpy(), expected[parameter.name])
