# SPDX-License-Identifier: Apache-2.0
"""Whole arrays divided among eight devices of one process. Oracle: the same program on one device.

The number of collectives is that of XLA's compiled program.
"""

from __future__ import annotations

import copy
import os
import pickle
import re
import tempfile

import numpy as np

import mycel as ms
from harness import execution
from mycel import nn, ops
from mycel.communication import get_group_size
from mycel.parallel import AutoParallel
from support import hook_matrix
from support.ranks_models import Block, LeNet5

STEPS, BATCH = 10, 16
MODES = ("fused", "graph")
SEMI_AUTO = {"parallel_mode": "semi_auto_parallel"}
# Every Parameter is divided among optimisers, however small.
ZERO = {
    "enable_parallel_optimizer": True,
    "parallel_optimizer_config": {"parallel_optimizer_threshold": 0},
}


class Residual(nn.Cell):
    """The basic block of ResNet-18."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, weight_init="he_normal")
        self.conv2 = nn.Conv2d(after, after, 3, weight_init="he_normal")
        self.norm1, self.norm2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)
        self.shortcut = None
        if stride > 1 or before != after:
            self.shortcut = nn.SequentialCell(
                nn.Conv2d(before, after, 1, stride, weight_init="he_normal"), nn.BatchNorm2d(after)
            )

    def construct(self, x):
        y = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet18(nn.Cell):
    """Its four stages of two blocks each, with few channels."""

    def __init__(self):
        super().__init__()
        self.begin = nn.SequentialCell(
            nn.Conv2d(3, 4, 3, weight_init="he_normal"), nn.BatchNorm2d(4), nn.ReLU()
        )
        blocks, before = [], 4
        for stage, after in enumerate((4, 8, 8, 16)):
            blocks += [Residual(before, after, 2 if stage else 1), Residual(after, after, 1)]
            before = after
        self.blocks, self.head = nn.SequentialCell(*blocks), nn.Dense(16, 10)

    def construct(self, x):
        return self.head(self.blocks(self.begin(x)).mean((2, 3)))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 8, batch_first=True), nn.Dense(8, 10)

    def construct(self, x):
        return self.head(self.lstm(x)[0].mean(1))


class Megatron(nn.Cell):
    """The middle of a transformer block, its weights divided among the devices of `mp`."""

    def __init__(self, dp=2, mp=4, width=16):
        super().__init__()
        self.up = ms.Parameter(ms.Tensor(init(width, 4 * width)), name="up")
        self.down = ms.Parameter(ms.Tensor(init(4 * width, width)), name="down")
        self.first = ops.MatMul().shard(((dp, 1), (1, mp)))
        self.second = ops.MatMul().shard(((dp, mp), (mp, 1)), ((dp, 1),))

    def construct(self, x):
        return self.second(ops.relu(self.first(x, self.up)), self.down)


class MegatronBlock(Block):
    """A block of BERT whose wide layers are divided so."""

    def __init__(self, dp=2, mp=4):
        super().__init__()
        self.middle = Megatron(dp, mp)

    def construct(self, x):
        x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
        flat = x.reshape((-1, x.shape[-1]))
        x = self.norm2(x + self.middle(flat).reshape(x.shape))
        return self.head(x.mean(1))


def init(*shape):
    return (np.random.default_rng(sum(shape)).normal(size=shape) / 4).astype(np.float32)


KINDS = {
    "LeNet-5": (LeNet5, (1, 28, 28), 0.05),
    "ResNet-18": (ResNet18, (3, 8, 8), 0.01),
    "BERT block": (Block, (5, 16), 0.05),
    "BERT block by Megatron": (MegatronBlock, (5, 16), 0.05),
    "LSTM": (Recurrent, (5, 6), 0.05),
}


def batches(shape, count=STEPS):
    drawn = np.random.default_rng(7)
    return [
        (drawn.normal(size=(BATCH, *shape)).astype(np.float32),
         drawn.integers(0, 10, BATCH).astype(np.int32))
        for _ in range(count)
    ]  # fmt: skip


def begin(**settings):
    """Set the mode; without settings, one device."""
    ms.flush()
    ms.reset_auto_parallel_context()
    if settings:
        ms.set_auto_parallel_context(**settings)


def make_step(kind, rate, optimizer=nn.Momentum, loss_of=None):
    ms.set_seed(3)
    net = kind()
    net.set_train()
    loss_of = loss_of or nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    loss = nn.WithLossCell(net, loss_of)
    rest = (0.9,) if optimizer is nn.Momentum else ()
    return net, nn.TrainOneStepCell(loss, optimizer(net.trainable_params(), rate, *rest))


def losses(name, mode, optimizer=nn.Momentum, **settings):
    kind, shape, rate = KINDS[name]
    begin(**settings)
    with execution(mode):
        _, step = make_step(kind, rate, optimizer)
        return [float(step(ms.Tensor(x), ms.Tensor(y)).asnumpy()) for x, y in batches(shape)]


def parts_of(layouts):
    return {line.name: line.parts for line in layouts.lines}


def raises(kind, call, *texts):
    try:
        call()
    except kind as error:
        for text in texts:
            assert re.search(text, str(error)), f"{text!r} is not in {error}"
    else:
        raise AssertionError(f"no {kind.__name__}: {texts}")


def check_losses_are_those_of_one_device():
    for name in KINDS:
        alone = losses(name, "graph")
        assert abs(alone[0] - alone[-1]) > 1e-3, alone  # it learns: an oracle that moves
        for mode in MODES:
            found = losses(name, mode, **SEMI_AUTO)
            np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=f"{name}, {mode}")


def check_direct_execution():
    for name in ("LeNet-5", "BERT block by Megatron"):
        alone, found = losses(name, "direct"), losses(name, "direct", **SEMI_AUTO)
        np.testing.assert_allclose(found, alone, rtol=2e-5, err_msg=name)


def check_optimisers_are_divided():
    for optimizer in (nn.Momentum, nn.Adam):
        alone = losses("BERT block", "graph", optimizer)
        for mode in MODES:
            found = losses("BERT block", mode, optimizer, **SEMI_AUTO, **ZERO)
            np.testing.assert_allclose(found, alone, rtol=2e-5)


def check_where_everything_lies():
    begin(**SEMI_AUTO, **ZERO)
    with execution("graph"):
        _, step = make_step(MegatronBlock, 0.05)
        for x, y in batches((5, 16), 4):
            step(ms.Tensor(x), ms.Tensor(y)).asnumpy()
    parts = parts_of(ms.debug.layouts(step))
    assert parts["middle.up"] == (1, 4) and parts["middle.down"] == (4, 1), parts
    # What is left of the devices divides the moments further.
    assert parts["moments.middle.up"] == (2, 4) and parts["moments.middle.down"] == (8, 1), parts
    assert parts["head.weight"] == (1, 1) and parts["head.bias"] == (1,), parts
    text = str(ms.debug.layouts([p for p in step.get_parameters() if p.name == "middle.up"]))
    assert "in 1 x 4 parts" in text and text.count("|") == 5, text
    line = next(one for one in ms.debug.layouts(step).lines if one.name == "middle.up")
    assert sorted(n for part in line.devices for n in part) == list(range(8)), line
    held = ms.debug.layouts(step).bytes_by_device
    assert len(held) == 8 and len(set(held.values())) == 1, held
    assert "<td>middle.up</td>" in ms.debug.layouts(step)._repr_html_()


class MeanOfSquares(nn.Cell):
    """A loss whose gradient needs nothing of other rows."""

    def construct(self, outputs, labels):
        return ((outputs - labels.reshape((-1, 1))) ** 2).mean()


def counted(kind, shape, loss_of=None, **settings):
    """The collectives of a compiled step."""
    begin(**SEMI_AUTO, **settings)
    with execution("graph"):
        _, step = make_step(kind, 0.05, loss_of=loss_of)
        data = [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches(shape, 4)]
        for x, y in data:
            step(x, y).asnumpy()
        replays = ms.debug.ledger().counts.replays
        found = ms.debug.collectives(step)(*data[0])
        assert ms.debug.ledger().counts.replays > replays
    return found


class Layers(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(8, 32, weight_init="he_normal"), nn.ReLU(),
            nn.Dense(32, 16, weight_init="he_normal"), nn.ReLU(), nn.Dense(16, 10),
        )  # fmt: skip

    def construct(self, x):
        return self.layers(x)


def check_data_parallel_is_one_reduction():
    for kind, shape in ((Layers, (8,)), (LeNet5, (1, 28, 28))):
        trained = sum(p.size * 4 for p in kind().trainable_params())
        found = counted(kind, shape, MeanOfSquares())
        assert found.counts == {"all-reduce": 1}, found
        assert trained < found.lines[0].bytes <= trained + 16, (trained, found)
        # This loss counts its rows, which the reverse needs: a reduction of numbers before it.
        found = counted(kind, shape)
        assert found.counts == {"all-reduce": 2}, found
        assert [line.bytes <= 16 for line in found.lines] == [True, False], found


def check_divided_optimisers_are_one_reduction_and_a_gather_each():
    found = counted(Layers, (8,), MeanOfSquares(), **ZERO)
    # Two weights and two biases have lengths that 8 divides; XLA joins no gathers on the CPU.
    assert found.counts == {"all-reduce": 1, "all-gather": 4}, found
    gathers = [line for line in found.lines if line.kind == "all-gather"]
    assert {line.phase for line in gathers} == {"update"}, found
    assert all("optimizer" in line.cell for line in gathers), found


def check_megatron_is_one_reduction_each_way():
    begin(**SEMI_AUTO, full_batch=True)
    net, x = Megatron(1, 8), ms.Tensor(init(16, 16))
    forward = ms.debug.collectives(net)(x)
    assert forward.counts == {"all-reduce": 1}, forward
    assert forward.lines[0].operator == "matmul" or forward.lines[0].place, forward

    def both(x):
        return ms.grad(lambda x: (net(x) ** 2).sum(), 0)(x)

    found = ms.debug.collectives(both)(x)
    assert found.counts == {"all-reduce": 2}, found
    assert f"{len(found)} collectives" in str(found) and "<td>" in found._repr_html_()


def gradients_of_squares(product, a, b):
    return ms.grad(lambda a, b: (product(a, b) ** 2).sum(), (0, 1))(a, b)


def check_strategies_by_layout():
    x, w = init(16, 24), init(24, 32)
    layout = ms.Layout((2, 4), ("dp", "mp"))
    for mode in ("direct", "fused", "graph"):
        begin(**SEMI_AUTO, full_batch=True)
        with execution(mode):
            product = ops.MatMul().shard(
                (layout("dp", "None"), layout("None", "mp")), (layout("dp", "mp"),)
            )
            run = ms.jit(product.__call__) if mode == "graph" else product
            for _ in range(4):
                found = run(ms.Tensor(x), ms.Tensor(w))
            np.testing.assert_allclose(found.asnumpy(), x @ w, rtol=1e-5, atol=1e-5)
            assert found._value.array.sharding.shard_shape((16, 32)) == (8, 8)
            by_a, by_b = gradients_of_squares(product, ms.Tensor(x), ms.Tensor(w))
            np.testing.assert_allclose(by_a.asnumpy(), 2 * (x @ w) @ w.T, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(by_b.asnumpy(), 2 * x.T @ (x @ w), rtol=1e-4, atol=1e-4)


def check_cells_and_functions_with_strategies():
    x = init(16, 8)
    begin()
    expected = Layers()
    begin(**SEMI_AUTO)
    net = Layers()
    ms.load_param_into_net(net, expected.parameters_dict())
    net.layers[0].shard(((8, 1),), parameter_plan={"weight": (8, 1)})
    for mode in MODES:
        with execution(mode):
            for _ in range(4):
                found = net(ms.Tensor(x)).asnumpy()
    begin()
    np.testing.assert_allclose(found, expected(ms.Tensor(x)).asnumpy(), rtol=1e-5, atol=1e-6)
    assert parts_of(ms.debug.layouts(net))["layers.0.weight"] == (8, 1)
    double = ms.shard(lambda x: x * 2, (ms.Layout((8,), ("x",))("x", "None"),))
    found = double(ms.Tensor(x))
    np.testing.assert_array_equal(found.asnumpy(), x * 2)
    assert found._value.array.sharding.shard_shape((16, 8)) == (2, 8)


def check_arrays_of_a_function_are_divided_otherwise():
    """Each of them may be divided among all devices, along any dimension."""
    begin(**SEMI_AUTO, full_batch=True)
    x, w = init(16, 16), init(16, 16)
    for given, out, shapes in (
        (((2, 4),), ((8, 1),), ((8, 4), (2, 16))),
        (((1, 8),), ((8, 1),), ((16, 2), (2, 16))),
        (((1, 8), (8, 1)), ((2, 4),), ((16, 2), (8, 4))),
        (((2, 1), (1, 4)), ((2, 4),), ((8, 16), (8, 4))),
    ):
        seen = []

        def product(a, b, seen=seen):
            seen.append(a._value.array.sharding.shard_shape(a.shape))
            return a @ b

        with execution("direct"):
            found = ms.shard(product, given, out)(ms.Tensor(x), ms.Tensor(w))
        np.testing.assert_allclose(found.asnumpy(), x @ w, rtol=1e-5, atol=1e-5)
        assert (seen[0], found._value.array.sharding.shard_shape((16, 16))) == shapes, given
    two = ms.shard(lambda x: (x, x), ((2, 1),), ((1, 1),))
    raises(ValueError, lambda: two(ms.Tensor(x)), "a strategy for each of its 2 results")
    double = ms.shard(lambda x: x * 2, ((4, 4),))
    raises(ValueError, lambda: double(ms.Tensor(x)), "asks for 4 parts", "2 are left")


def check_data_enters_divided():
    rows = [(np.full(4, n, np.float32), np.int32(n)) for n in range(32)]
    for settings, shapes in (
        ({}, ((2, 4), (2,))),
        ({"full_batch": True}, ((16, 4), (16,))),
        ({"dataset_strategy": ((4, 2), (4,))}, ((4, 2), (4,))),
    ):
        begin(**SEMI_AUTO, **settings)
        source = ms.dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(16)
        first = next(source.create_tuple_iterator())
        found = tuple(t._value.array.sharding.shard_shape(t.shape) for t in first)
        assert found == shapes, (settings, found)
        np.testing.assert_array_equal(first[1].asnumpy(), np.arange(16))


def check_model_trains():
    kind, shape, rate = KINDS["LeNet-5"]
    data = [np.concatenate(parts) for parts in zip(*batches(shape), strict=True)]
    weights = []
    for settings in ({}, SEMI_AUTO):
        begin(**settings)
        ms.set_seed(3)
        net = kind()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9))
        source = ms.dataset.NumpySlicesDataset(tuple(data), ["x", "y"], shuffle=False)
        model.train(1, source.batch(BATCH), dataset_sink_mode=False)
        weights.append([p.asnumpy() for p in net.get_parameters()])
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)


def functional_losses(mode):
    kind, shape, rate = KINDS["LeNet-5"]
    ms.set_seed(3)
    net = kind()
    optimizer = nn.Adam(net.trainable_params(), rate / 10)
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    derivative = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    step = ms.jit(step) if mode == "jit" else step
    if ms.get_auto_parallel_context("parallel_mode") != "stand_alone":
        x, y = batches(shape, 1)[0]
        sent = ms.debug.collectives(step)(ms.Tensor(x), ms.Tensor(y))
        assert "all-reduce" in sent.counts, sent
        return [float(sent.result), *[float(step(*map(ms.Tensor, b))) for b in batches(shape)[1:]]]
    return [float(step(ms.Tensor(x), ms.Tensor(y))) for x, y in batches(shape)]


def check_functional_steps():
    for mode in ("PyNative", "jit"):
        begin()
        alone = functional_losses(mode)
        begin(**SEMI_AUTO)
        np.testing.assert_allclose(functional_losses(mode), alone, rtol=2e-5)


def narrow_weight():
    weight = ms.Parameter(ms.Tensor(init(8, 12)), name="narrow")
    return ops.MatMul().shard(((1, 1), (1, 8)))(ms.Tensor(init(4, 8)), weight)


def divided_dense(strategy, plan=None):
    layer = nn.Dense(12, 10)
    layer.shard((strategy,), parameter_plan=plan)
    return layer(ms.Tensor(init(16, 12)))


def mapped():
    return ms.vmap(ops.ReLU().shard(((8,),)))(ms.Tensor(init(8, 8)))


def uneven_data():
    source = ms.dataset.NumpySlicesDataset(init(12, 4), ["x"]).batch(12)
    return next(source.create_tuple_iterator())


def uneven_input(strategy):
    ms.set_auto_parallel_context(dataset_strategy=strategy)
    return nn.Dense(4, 2)(ms.Tensor(init(12, 4)))


def check_what_stays_whole_is_told():
    """Oracle: NumPy, and the words of the ledger."""
    begin(**SEMI_AUTO, device_num=4)
    layer = nn.Dense(4, 2)
    x = ms.Tensor(init(7, 4))
    found = layer(x).asnumpy()
    np.testing.assert_allclose(
        found, init(7, 4) @ layer.weight.asnumpy().T + layer.bias.asnumpy(), rtol=1e-5, atol=1e-6
    )
    ms.set_auto_parallel_context(dataset_strategy=((4, 1),))
    ops.ReLU()(x)
    nn.ReLU()(ms.Tensor(init(8)))
    told = [f"{line.name}: {line.what}" for line in ms.debug.ledger().lines]
    for text in (
        r"device_num=4: 4 of 8 devices compute",
        r"input 0 of shape \(7, 4\): whole on each of 4 devices.* 7 rows; .* are 4 and 8",
        r"input 0 of shape \(8,\): whole .* dataset_strategy=\(\(4, 1\),\) has none for it",
    ):
        assert any(re.search(text, line) for line in told), (text, told)


def check_errors_teach():
    here = r"devices_checks\.py:\d+"
    setting = ms.set_auto_parallel_context
    layout = ms.Layout((8,), ("mp",))
    six, eight = ms.Tensor(init(6)), ms.Tensor(init(8))
    table = (
        (ValueError, narrow_weight, r"Parameter 'narrow' \(input 1 of MatMul\)", "8 parts", here),
        (ValueError, narrow_weight, "dimension 1 has 12 elements", "8 and 16"),
        (
            ValueError,
            lambda: divided_dense(None, {"weight": (8, 1)}),
            r"Parameter 'weight' of shape \(10, 12\)",
            "dimension 0 has 10",
            "8 and 16",
            here,
        ),
        (
            ValueError,
            lambda: divided_dense(layout("None", "mp")),
            "mesh axis 'mp'",
            "8 and 16",
        ),
        (ValueError, lambda: ops.Add().shard(((3,), (3,)))(six, six), "3 parts", "8 devices"),
        (TypeError, lambda: ops.ReLU().shard((8,))(eight), "tuple of positive"),
        (
            ValueError,
            lambda: setting(**SEMI_AUTO, device_num=16),
            "16 devices",
            "this process has 8",
            "mycel launch -n 1 --devices-per-process 16",
        ),
        (
            ValueError,
            lambda: setting(**SEMI_AUTO, device_num=get_group_size()),
            "device_num=1",
            here,
            "7 of 8 devices without work",
            "counts processes",
        ),
        (
            ValueError,
            lambda: uneven_input("data_parallel"),
            "input 0 of shape",
            "dimension 0 has 12 elements",
            "8 and 16",
            here,
        ),
        (ValueError, lambda: uneven_input(((1, 8),)), "dimension 1 has 4", "parts", "lengths.* 8"),
        (NotImplementedError, mapped, "vmap", here),
        (ValueError, uneven_data, "column 0 of the data", "12 elements", "8 and 16"),
        (ValueError, lambda: setting(parallel_mode="data_parallel", device_num=8), "device_num"),
    )
    for kind, call, *texts in table:
        begin(**SEMI_AUTO)
        raises(kind, call, *texts)


def check_the_ledger_tells():
    begin(**SEMI_AUTO, search_mode="sharding_propagation", enable_alltoall=True)
    lines = [line for line in ms.debug.ledger().lines if line.kind == "accepted"]
    assert any("search_mode" in line.name and "XLA decides" in line.what for line in lines), lines
    double, x = ops.ReLU(), init(16, 4)
    divided = ops.ReLU().shard(((8, 1),))
    product = ms.jit(lambda x: double(x) * 3)
    for _ in range(4):
        product(ms.Tensor(x)).asnumpy()
    begin(**SEMI_AUTO, full_batch=True)
    before = ms.debug.ledger().counts.layouts
    given = divided(ms.Tensor(x))
    given.asnumpy()
    for _ in range(4):
        np.testing.assert_array_equal(product(given).asnumpy(), np.maximum(x, 0) * 3)
    whole = ops.ReLU().shard(((1, 1),))(ms.Tensor(x))
    whole.asnumpy()
    for _ in range(4):
        product(whole).asnumpy()
    assert ms.debug.ledger().counts.layouts == before + 1, ms.debug.ledger()
    last = [line for line in ms.debug.ledger().lines if "for another layout" in line.what]
    assert "in 8 x 1 parts -> whole" in last[-1].what, last


def check_a_step_compiles_once():
    begin(**SEMI_AUTO)
    kind, shape, rate = KINDS["LeNet-5"]
    with execution("graph"):
        _, step = make_step(kind, rate)
        data = [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches(shape)]
        for x, y in data[:4]:
            step(x, y).asnumpy()
        before = ms.debug.ledger().counts.compilations
        for x, y in data[4:]:
            step(x, y).asnumpy()
        assert ms.debug.ledger().counts.compilations == before


def hooked_programs():
    """Every kind of hook and everything that hooks do; MYCEL_HOOKS=1 takes all programs of the
    matrix, MYCEL_HOOKS=12 every twelfth."""
    cases = hook_matrix.cases()
    step = os.environ.get("MYCEL_HOOKS")
    if step is not None:
        return cases[:: int(step)]
    plain = [case for case in cases if case.structure == "plain"]
    wanted = [case for case in plain if case.life in ("before", "readded")][::2]
    assert len({case.kind for case in wanted}) == len(hook_matrix.KINDS)
    assert len({case.action for case in wanted}) == len(hook_matrix.ACTIONS)
    return wanted


def check_hooks_see_the_same():
    """Oracle: the same play on one device: what is seen, in its order. Rows are in eight parts."""
    alone, rows = hook_matrix.INPUT, np.array([1, 2, -1, 0.5, -2, 1, 4, -0.5], np.float32)
    hook_matrix.INPUT = np.outer(rows, alone)
    try:
        for compiled in (False, True):
            for case in hooked_programs():
                found = []
                for settings in ({}, SEMI_AUTO):
                    begin(**settings)
                    found.append(hook_matrix.Play(case, ms, compiled).run())
                for row, other in zip(*found, strict=True):
                    row["notes"] = other["notes"] = None
                    assert repr(row) == repr(other), (str(case), compiled, row, other)
    finally:
        hook_matrix.INPUT = alone


def check_an_observed_activation_costs_no_collective():
    without = counted(Layers, (8,))
    begin(**SEMI_AUTO)
    with execution("graph"):
        net, step = make_step(Layers, 0.05)
        seen = []
        net.layers[1].register_forward_hook(lambda cell, inputs, output: seen.append(output.shape))
        kept = []
        net.layers[3].register_forward_hook(lambda cell, inputs, output: kept.append(output))
        data = [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches((8,), 5)]
        for x, y in data:
            step(x, y).asnumpy()
        found = ms.debug.collectives(step)(*data[0])
        assert found.counts == without.counts, found
        assert len(seen) == len(kept) == 6
        assert kept[-1]._value.array.sharding.shard_shape((16, 16)) == (2, 16)


def check_tools_work():
    begin()
    with execution("graph"):
        net, step = make_step(Layers, 0.05)
        x, y = (ms.Tensor(part) for part in batches((8,), 1)[0])
        with ms.debug.capture(net, "layers.0") as seen:
            net(x)
        expected = seen["layers.0"].asnumpy()
    begin(**SEMI_AUTO)
    with execution("graph"):
        net, step = make_step(Layers, 0.05)
        with ms.debug.capture(net, "layers.0") as seen:
            net(x)
        np.testing.assert_allclose(seen["layers.0"].asnumpy(), expected, rtol=1e-5, atol=1e-6)
        for _ in range(3):
            step(x, y).asnumpy()
        with ms.debug.patch(net, {"layers.4": lambda output: output * 0}):
            assert not net(x).asnumpy().any()
        assert "layers" in str(ms.debug.summary(net, x))
        bad = ms.Tensor(np.full((16, 8), np.nan, np.float32))
        with ms.debug.find_nan():
            step(x, y).asnumpy()
            raises(ms.debug.NonFiniteError, lambda: step(bad, y).asnumpy(), "from outside has NaN")


def check_modes_can_be_left():
    begin(**SEMI_AUTO)
    _, step = make_step(Layers, 0.05)
    data = [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches((8,), 4)]
    found = [float(step(x, y)) for x, y in data[:2]]
    begin()
    found += [float(step(x, y)) for x, y in data[2:]]
    begin(**SEMI_AUTO, device_num=4)
    again = [float(step(x, y)) for x, y in data]
    begin()
    _, step = make_step(Layers, 0.05)
    expected = [float(step(ms.Tensor(x), ms.Tensor(y))) for x, y in batches((8,), 4) * 2]
    np.testing.assert_allclose(found + again, expected, rtol=2e-5)


def check_auto_parallel():
    alone = losses("LeNet-5", "graph")
    begin()
    kind, shape, rate = KINDS["LeNet-5"]
    with execution("graph"):
        net, step = make_step(kind, rate)
        whole = AutoParallel(step, parallel_mode="semi_auto")
        whole.dataset_strategy(((4, 1, 1, 1), (4,)))
        whole.hsdp(threshold=1)
        found = [float(whole(ms.Tensor(x), ms.Tensor(y))) for x, y in batches(shape)]
    np.testing.assert_allclose(found, alone, rtol=2e-5)
    parts = parts_of(ms.debug.layouts(step))
    assert parts["moments.dense1.weight"] == (8, 1) and parts["dense1.weight"] == (1, 1), parts
    x = ms.Tensor(batches(shape, 1)[0][0])
    net(x)
    assert x._value.array.sharding.shard_shape(x.shape) == (4, *shape)


def check_copies():
    begin(**SEMI_AUTO, full_batch=True)
    net, x = Megatron(2, 4), ms.Tensor(init(16, 16))
    expected = net(x).asnumpy()
    for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net.up))):
        if isinstance(copied, nn.Cell):
            np.testing.assert_array_equal(copied(x).asnumpy(), expected)
        else:
            np.testing.assert_array_equal(copied.asnumpy(), net.up.asnumpy())


def check_saved_weights_are_whole():
    begin(**SEMI_AUTO, full_batch=True)
    net = Megatron(2, 4)
    net(ms.Tensor(init(16, 16))).asnumpy()
    assert parts_of(ms.debug.layouts(net))["up"] == (1, 4)
    kept = {p.name: p.asnumpy() for p in net.get_parameters()}
    path = tempfile.mkdtemp() + "/net.ckpt"
    ms.save_checkpoint(net, path)
    net.up.set_data(ms.Tensor(kept["up"] * 2))
    assert parts_of(ms.debug.layouts(net))["up"] == (1, 4)
    ms.load_checkpoint(path, net)
    assert parts_of(ms.debug.layouts(net))["up"] == (1, 4)
    for parameter in net.get_parameters():
        np.testing.assert_array_equal(parameter.asnumpy(), kept[parameter.name])
