# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline on eight devices of one process. Oracle: the same program on one device, and
the formula of parts of a batch by NumPy."""

from __future__ import annotations

import copy
import itertools
import re
import tempfile
from functools import partial

import jax
import numpy as np

import mycel as ms
from harness import execution
from mycel import nn, ops
from mycel.parallel import AutoParallel
from support.devices_checks import raises

ROWS, WIDTH, PARTS, STEPS = 24, 12, 4, 4
EXECUTIONS = ("direct", "fused", "graph")
SEMI_AUTO = {"parallel_mode": "semi_auto_parallel"}


class Layer(nn.Cell):
    """A stage: a layer and its activation, around which the input goes."""

    def __init__(self, norm=False, drop=False):
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH, weight_init="he_normal", activation="tanh")
        self.norm = nn.BatchNorm1d(WIDTH) if norm else None
        self.drop = nn.Dropout(p=0.5) if drop else None

    def construct(self, x):
        y = self.dense(x)
        y = y if self.norm is None else self.norm(y)
        return x + (y if self.drop is None else self.drop(y))


class Stack(nn.Cell):
    """As many layers as stages, or more; the last stage has the head."""

    def __init__(self, stages, each=1, **parts):
        super().__init__()
        self.layers = nn.SequentialCell(*[Layer(**parts) for _ in range(stages * each)])
        self.head = nn.Dense(WIDTH, 3, weight_init="he_normal")
        for number in range(stages * each):
            self.layers[number].pipeline_stage = number // each
        self.head.pipeline_stage = stages - 1

    def construct(self, x):
        return self.head(self.layers(x))


class Tied(nn.Cell):
    """The last layer has the weight of the first, which lies in the first stage."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(WIDTH, WIDTH, has_bias=False, weight_init="he_normal")
        self.last = nn.Dense(WIDTH, WIDTH, has_bias=False)
        self.last.weight = self.first.weight
        self.first.pipeline_stage, self.last.pipeline_stage = 0, 1

    def construct(self, x):
        return self.last(ops.tanh(self.first(x)))


class Strategies(nn.Cell):
    """Two products in each of two stages, their weights divided among the devices of a stage."""

    def __init__(self, parts):
        super().__init__()
        self.halves = nn.CellList([Half(parts), Half(parts)])
        for stage, half in enumerate(self.halves):
            half.pipeline_stage = stage

    def construct(self, x):
        return self.halves[1](self.halves[0](x))


class Half(nn.Cell):
    def __init__(self, parts):
        super().__init__()
        numbers = np.random.default_rng(0).normal(size=(2, WIDTH, 4 * WIDTH)).astype(np.float32) / 4
        self.up = ms.Parameter(ms.Tensor(numbers[0]), name="up")
        self.down = ms.Parameter(ms.Tensor(numbers[1].T), name="down")
        self.first = ops.MatMul().shard(((1, 1), (1, parts)))
        self.second = ops.MatMul().shard(((1, parts), (parts, 1)))

    def construct(self, x):
        return x + self.second(ops.relu(self.first(x, self.up)), self.down)


def begin(stages=1, each=1, **settings):
    """Set the mode, with so many devices for each stage; one device for one stage."""
    ms.flush()
    ms.reset_auto_parallel_context()
    ms.debug.ledger().reset()
    if stages > 1:
        ms.set_auto_parallel_context(
            **SEMI_AUTO, pipeline_stages=stages, device_num=stages * each, **settings
        )


def data(count=STEPS, columns=3):
    drawn = np.random.default_rng(5)
    return [
        tuple([ms.Tensor(drawn.normal(size=(ROWS, n)).astype(np.float32))
               for n in (WIDTH, columns)])
        for _ in range(count)
    ]  # fmt: skip


def make_step(make, optimizer=nn.Adam, parts=PARTS, **more):
    ms.set_seed(3)
    net = make()
    net.set_train()
    loss = nn.PipelineCell(nn.WithLossCell(net, nn.MSELoss()), parts, **more)
    rest = (0.9,) if optimizer is nn.Momentum else ()
    return net, nn.TrainOneStepCell(loss, optimizer(net.trainable_params(), 0.01, *rest))


def losses(make, how, stages=1, optimizer=nn.Adam, columns=3, parts=PARTS, **settings):
    begin(stages, **settings)
    with execution(how):
        net, step = make_step(make, optimizer, parts)
        found = [float(step(x, y)) for x, y in data(columns=columns)]
        weights = {p.name: p.asnumpy() for p in net.get_parameters()}
    return found, weights, step


def assert_same(found, expected, told=""):
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-5, err_msg=told)
    for name, weight in expected[1].items():
        np.testing.assert_allclose(
            found[1][name], weight, rtol=2e-4, atol=2e-6, err_msg=f"{told} {name}"
        )


def check_numbers_are_those_of_one_device():
    """Stages of one device, which overlap, and of two."""
    for stages, each, optimizer, hows, scheduler in (
        (2, 2, nn.Adam, ("direct", "graph"), "gpipe"),
        (4, 1, nn.Momentum, ("fused", "graph"), "1f1b"),
    ):
        make, parts = partial(Stack, stages), max(stages, PARTS)
        expected = losses(make, "graph", 1, optimizer, parts=parts)
        assert expected[0][0] - expected[0][-1] > 1e-3, expected  # it learns
        for how in hows:
            config = {"pipeline_scheduler": scheduler}
            given = {"each": each, "parts": parts, "pipeline_config": config}
            found = losses(make, how, stages, optimizer, **given)
            assert_same(found, expected, f"{stages} stages, {how}, {scheduler}")


def check_a_step_is_replayed_and_compiles_once():
    begin(4)
    with execution("graph"):
        _, step = make_step(lambda: Stack(4))
        rows = data(8)
        for x, y in rows[:4]:
            step(x, y).asnumpy()
        counts = ms.debug.ledger().counts
        before = counts.compilations, counts.replays
        for x, y in rows[4:]:
            step(x, y).asnumpy()
        assert (counts.compilations, counts.replays - 4) == before


def check_each_device_has_its_stage_alone():
    """Oracle: the placement that MindSpore documents: all devices in as many groups as stages."""
    for stages in (4, 8):
        begin(stages, 8 // stages)
        with execution("direct"):
            _, step = make_step(partial(Stack, stages), parts=8)
            float(step(*data(1)[0]))
        lines = ms.debug.layouts(step).lines
        each = 8 // stages
        for line in lines:
            number = re.search(r"layers\.(\d)|(head)", line.name)
            if number is None:
                continue  # the step counter and the like
            stage = stages - 1 if number[2] else int(number[1])
            own = tuple(range(stage * each, (stage + 1) * each))
            assert (line.stage, line.devices) == (stage, (own,)), line
        names = [line.name for line in lines]
        assert {"layers.0.dense.weight", "moment1.layers.0.dense.weight"} <= {*names}, names
        assert f"in stage {stages - 1}, whole" in str(ms.debug.layouts(step))


def check_a_stage_holds_no_array_of_another():
    """Oracle: JAX's own list of arrays that are alive."""
    begin(4, 2)
    ms.flush()
    before = jax.live_arrays()  # held, for their ids
    known = {id(array) for array in before}
    with execution("graph"):
        _, step = make_step(partial(Stack, 4))
        for x, y in data(4):
            step(x, y)
    ms.flush()
    held: dict[int, int] = {}
    for array in jax.live_arrays():
        if id(array) not in known and array.shape == (WIDTH, WIDTH):
            for device in array.devices():
                held[device.id] = held.get(device.id, 0) + 1
    # A weight and two moments of Adam on each of the two devices of a stage.
    assert held == dict.fromkeys(range(8), 3), held
    del step


def order_of(stages, parts, scheduler, stage):
    """The order of a stage, as its papers give it, from its own number of warm-up forwards."""
    numbers = range(parts)
    if scheduler == "gpipe":
        return [f"F{n}" for n in numbers] + [f"B{n}" for n in numbers]
    ahead = min(stages - stage, parts)
    found = [f"F{n}" for n in range(ahead)]
    for n in numbers:
        found.append(f"B{n}")
        if ahead + n < parts:
            found.append(f"F{ahead + n}")
    return found


def renumbered(names):
    """Parts of a batch numbered in the order in which they begin."""
    numbers: dict[str, int] = {}
    return [f"{name[0]}{numbers.setdefault(name[1:], len(numbers))}" for name in names]


def check_the_order_is_that_of_the_schedule():
    for stages, parts, scheduler in ((4, 6, "1f1b"), (2, 3, "gpipe")):
        begin(stages, pipeline_config={"pipeline_scheduler": scheduler})
        with execution("graph"):
            _, step = make_step(lambda stages=stages: Stack(stages), parts=parts)
            x, y = data(1)[0]
            for _ in range(3):
                step(x, y)
            ran = ms.debug.pipeline(step)(x, y)
        told = f"{stages} stages, {parts} parts, {scheduler}:\n{ran}"
        for stage in range(stages):
            expected = order_of(stages, parts, scheduler, stage)
            assert renumbered(ran.of_stage(stage)) == expected, told
        together = [
            len({line.stage for line in lines if len(line.name) > 1})
            for _, lines in itertools.groupby(ran.lines, lambda line: line.turn)
        ]
        # Where a stage waits for none, all stages compute at the same time.
        assert max(together) == stages, told
        under_way = most_under_way(ran, stages)
        limits = [min(stages - n, parts) if scheduler == "1f1b" else parts for n in range(stages)]
        assert under_way == limits, told


def most_under_way(ran, stages):
    most = [0] * stages
    for stage in range(stages):
        begun: set[str] = set()
        for name in ran.of_stage(stage):
            begun ^= {name[1:]}
            most[stage] = max(most[stage], len(begun))
    return most


def check_equal_parts_are_one_program():
    """Oracle: a stage's parts have the same structure, but for the first sum of gradients."""
    from mycel.kernel.execute import staged

    staged._programs.clear()
    begin(4)
    with execution("graph"):
        _, step = make_step(lambda: Stack(4), parts=8)
        x, y = data(1)[0]
        for _ in range(3):
            step(x, y).asnumpy()
        ran = ms.debug.pipeline(step)(x, y)
    assert len(ran.lines) > 64 and len(staged._programs) < 48, (len(staged._programs), ran)


def check_parts_of_a_batch_by_formula():
    """Oracle: NumPy."""
    x, y = (t.asnumpy() for t in data(1)[0])
    for stages in (1, 2):
        for how in EXECUTIONS:
            begin(stages)
            with execution(how):
                ms.set_seed(3)
                net = nn.Dense(WIDTH, 3)
                net.pipeline_stage = stages - 1
                parts = nn.PipelineCell(nn.WithLossCell(net, nn.MSELoss()), PARTS)
                weight, bias = net.weight.asnumpy(), net.bias.asnumpy()
                taken = ms.value_and_grad(parts, None, net.trainable_params())
                reducer = nn.PipelineGradReducer(net.trainable_params(), scale_sense=float(PARTS))
                for _ in range(4):
                    loss, gradients = taken(ms.Tensor(x), ms.Tensor(y))
                mean = reducer(gradients)
            error = x @ weight.T + bias - y
            expected = PARTS * (error**2).mean()
            np.testing.assert_allclose(float(loss), expected, rtol=1e-5)
            by_weight = PARTS * 2 * error.T @ x / error.size
            np.testing.assert_allclose(gradients[0].asnumpy(), by_weight, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(mean[0].asnumpy(), by_weight / PARTS, rtol=1e-4, atol=1e-6)


def check_models_take_the_mean():
    """Oracle: a plain step with the whole batch, whose gradient that mean is."""
    x, y = (t.asnumpy() for t in data(1)[0])
    weights = []
    for stages, around in ((1, None), (1, nn.GradAccumulationCell), (2, nn.PipelineCell)):
        begin(stages)
        ms.set_seed(3)
        net = Stack(2)
        loss = nn.WithLossCell(net, nn.MSELoss())
        loss = loss if around is None else around(loss, PARTS)
        model = ms.Model(loss, optimizer=nn.SGD(net.trainable_params(), 0.1))
        source = ms.dataset.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(ROWS)
        model.train(3, source, dataset_sink_mode=False)
        weights.append([p.asnumpy() for p in net.get_parameters()])
    for other in weights[1:]:
        for one, expected in zip(other, weights[0], strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-6)


def check_state_of_layers():
    """Moving statistics and random numbers, which go from part to part of a batch."""
    make = partial(Stack, 2, norm=True, drop=True)
    expected = losses(make, "graph", parts=2)
    assert_same(losses(make, "graph", 2, parts=2), expected)


def check_a_parameter_of_two_stages():
    expected = losses(Tied, "graph", columns=WIDTH)
    for how in ("direct", "graph"):
        found = losses(Tied, how, 2, columns=WIDTH)
        assert_same(found, expected, how)
    (line, *_) = ms.debug.layouts(found[2]).lines
    assert line.stage == 0, line
    told = [f"{line.name} {line.what}" for line in ms.debug.ledger().lines]
    assert any("of stages [0, 1]" in text and "lies in stage 0" in text for text in told), told
    begin(2)
    alone = ms.Parameter(ms.Tensor(np.ones(4, np.float32)), name="alone")
    alone.add_pipeline_stage(1)
    net = nn.Cell()
    net.alone = alone
    net.construct = lambda: alone * 2
    np.testing.assert_array_equal(net().asnumpy(), np.full(4, 2))
    assert ms.debug.layouts(net).lines[0].stage == 1


def check_strategies_within_stages():
    given = {"columns": WIDTH, "parts": 2}
    expected = losses(partial(Strategies, 1), "graph", **given)
    for how in ("direct", "graph"):
        found = losses(partial(Strategies, 4), how, 2, each=4, full_batch=True, **given)
        assert_same(found, expected, how)
    step = found[2]
    lines = {line.name: line for line in ms.debug.layouts(step).lines}
    up = lines["halves.1.up"]
    assert (up.parts, up.stage, up.devices) == ((1, 4), 1, ((4,), (5,), (6,), (7,))), up
    assert lines["moment1.halves.1.up"].parts == (1, 4), lines
    x, y = data(1, WIDTH)[0]
    with execution("graph"):
        found = ms.debug.collectives(step)(x, y)
    # One each way for each part and stage, and no more for what is added behind them.
    assert found.counts == {"all-reduce": 2 * 2 * 2 - 2}, found
    assert any("halves" in line.cell for line in found.lines), found


def check_names_of_cells_and_auto_parallel():
    """`stage_config`, `AutoParallel.pipeline`: the same as `pipeline_stage`."""

    def plain():
        return nn.SequentialCell(
            nn.Dense(WIDTH, WIDTH, weight_init="he_normal"), nn.Tanh(),
            nn.Dense(WIDTH, 3, weight_init="he_normal"),
        )  # fmt: skip

    def run(stages):
        begin()
        config = {"_backbone.0": 0, "_backbone.1": 0, "_backbone.2": 1} if stages > 1 else None
        with execution("graph"):
            _, step = make_step(plain, stage_config=config)
            if stages > 1:
                step = AutoParallel(step)
                step.dataset_strategy("full_batch")
                step.pipeline(stages=2, output_broadcast=True, scheduler="gpipe")
                assert step.get_pipeline_stages() == 2
            found = [float(step(x, y)) for x, y in data()]
        return found, step

    expected, _ = run(1)
    found, step = run(2)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    stages = {line.name: line.stage for line in ms.debug.layouts(step).lines}
    assert stages["0.weight"] == 0 and stages["2.weight"] == 1, stages
    told = [f"{line.name} {line.what}" for line in ms.debug.ledger().lines]
    assert any("pipeline_result_broadcast" in text for text in told), told


def check_hooks_and_tools():
    """Oracle: what hooks see on one device."""
    seen = {}
    for stages in (1, 4):
        begin(stages)
        for how in ("fused", "graph") if stages > 1 else ("fused",):
            notes: list = []
            with execution(how):
                net, step = make_step(partial(Stack, 4))
                net.layers[2].register_forward_hook(
                    lambda cell, inputs, output, notes=notes: notes.append(output.asnumpy())
                )
                net.layers[1].register_backward_hook(
                    lambda cell, given, gave, notes=notes: notes.append(gave[0].asnumpy())
                )
                net.head.weight.register_hook(lambda grad: grad * 2)
                for x, y in data():
                    notes.append(float(step(x, y)))
            seen[stages, how] = notes
    expected = seen[1, "fused"]
    assert len(expected) == STEPS * (1 + 2 * PARTS), len(expected)
    for key, notes in seen.items():
        for one, other in zip(notes, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6, err_msg=str(key))
    with execution("graph"):
        x, y = data(1)[0]
        with ms.debug.capture(net, "layers.3") as kept:
            net(x)
        assert kept["layers.3"].shape == (ROWS, WIDTH)
        with ms.debug.patch(net, {"head": lambda output: output * 0}):
            assert not net(x).asnumpy().any()
        raises(NotImplementedError, lambda: ms.debug.profile(step)(x, y), "stages of a pipeline")


def float_of(step, x, y):
    return float(step(x, y))


def check_find_nan():
    for how in ("fused", "graph"):
        begin(2)
        with execution(how):
            net, step = make_step(lambda: Stack(2))
            good = data(3)
            with ms.debug.find_nan():
                for x, y in good:
                    step(x, y).asnumpy()
                before = net.head.weight.asnumpy()
                net.layers[1].register_forward_hook(
                    lambda cell, inputs, output: ops.log(-(output**2))
                )
                call = partial(float_of, step, *good[0])
                raises(ms.debug.NonFiniteError, call, "log", "makes NaN")
                np.testing.assert_array_equal(net.head.weight.asnumpy(), before)


def check_checkpoints():
    """Saved by stages, read by one device; and the other way round."""
    _, kept, step = losses(lambda: Stack(4), "graph", 4)
    folder = tempfile.mkdtemp()
    names = f"{folder}/whole.ckpt", f"{folder}/slices.index.json"
    for path in names:
        ms.save_checkpoint(step, path)
    expected = [float(step(x, y)) for x, y in data()]
    for path in names:
        for stages in (1, 2) if path == names[0] else (4,):
            begin(stages)
            with execution("graph"):
                net, other = make_step(partial(Stack, stages, each=4 // stages))
                ms.load_param_into_net(other, ms.load_checkpoint(path))
                for parameter in net.get_parameters():
                    np.testing.assert_array_equal(parameter.asnumpy(), kept[parameter.name])
                found = [float(other(x, y)) for x, y in data()]
            np.testing.assert_allclose(found, expected, rtol=2e-5, err_msg=f"{path}, {stages}")
        if path.endswith("json"):
            begin(4)
            net, other = make_step(lambda: Stack(4))
            ms.load_checkpoint(path, other)
            assert ms.debug.layouts(net).lines[-1].stage == 3
            np.testing.assert_array_equal(net.head.bias.asnumpy(), kept["head.bias"])


def check_prediction_and_copies():
    begin()
    ms.set_seed(3)
    net = Stack(4)
    x = data(1)[0][0]
    expected = net(x).asnumpy()
    begin(4)
    for copied in (net, copy.deepcopy(net)):
        for how in EXECUTIONS:
            with execution(how):
                for _ in range(4):
                    found = copied(ms.Tensor(x.asnumpy()))
                np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)
                # What the last stage gave may be given to the first one again.
                again = copied(found @ ops.ones((3, WIDTH)))
                assert again.shape == (ROWS, 3) and np.isfinite(again.asnumpy()).all()
    begin()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)


def check_operators_of_a_stage():
    """Oracle: NumPy."""
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 2), np.float32)
    begin(2)
    product = ops.MatMul().set_stage(1)
    for how in EXECUTIONS:
        with execution(how):
            found = product(ms.Tensor(a), ms.Tensor(b))
            np.testing.assert_array_equal(found.asnumpy(), a @ b)
        assert sorted(d.id for d in found._value.array.devices()) == [1], how
    raises(
        ValueError, lambda: ops.ReLU().set_stage(2)(ms.Tensor(a)), "pipeline_stage=2", "2 stages"
    )


def check_higher_derivatives():
    x = data(1)[0][0]

    def second(net):
        inner = ms.grad(lambda x: ops.tanh(net(x)).sum())
        return ms.grad(lambda x: (inner(x) ** 2).sum())(x).asnumpy()

    begin()
    ms.set_seed(3)
    net = Stack(2)
    expected = second(net)
    begin(2)
    for how in EXECUTIONS:
        with execution(how):
            np.testing.assert_allclose(second(net), expected, rtol=1e-4, atol=1e-5)


class Backwards(Stack):
    def construct(self, x):
        return self.layers[0](self.layers[1](x))


def config(**settings):
    ms.set_auto_parallel_context(**SEMI_AUTO, **settings)


def predict(net, rows=ROWS):
    return net(ms.Tensor(np.ones((rows, WIDTH), np.float32))).asnumpy()


def check_errors_teach():
    here = r"pipeline_checks\.py:\d+"
    table = (
        (ValueError, lambda: config(pipeline_stages=3), "pipeline_stages=3", here, "of 2 devices"),
        (ValueError, lambda: config(pipeline_stages=0), "pipeline_stages", "at least 1"),
        (
            ValueError,
            lambda: predict(Stack(4)),
            "Dense 'head' has pipeline_stage=3, but there are 2 stages",
            "from 0 to 1",
            here,
        ),
        (
            (ValueError, RuntimeError),
            lambda: predict(Backwards(2)),
            r"stage 0 is given a Tensor of shape \(24, 12\) that stage 1 has computed",
            here,
        ),
        (ValueError, lambda: predict(nn.PipelineCell(Stack(2), 5)), "divisible by 5", "24"),
        (ValueError, lambda: predict(nn.PipelineCell(Stack(2), 1)), "micro_size", "at least 2"),
        (KeyError, lambda: nn.PipelineCell(Stack(2), 2, {"top": 1}), "layers, layers.0", "'top'"),
        (ValueError, lambda: nn.PipelineCell(Stack(2), 2).shard(()), "inside of it"),
        (
            ValueError,
            lambda: config(pipeline_config={"pipeline_scheduler": "other"}),
            "1f1b, gpipe",
            "'other'",
        ),
        (
            ValueError,
            lambda: config(pipeline_config={"other": 1}),
            "pipeline_interleave",
            "'other'",
        ),
        (TypeError, lambda: nn.Dense(2, 2).weight.add_pipeline_stage(-1), "integer from 0"),
        (
            ValueError,
            lambda: AutoParallel(Stack(2)).pipeline(2, scheduler="fast"),
            "AutoParallel.pipeline: pipeline_scheduler",
        ),
        (TypeError, lambda: AutoParallel(Stack(2)).pipeline("2"), "stages", "integer"),
    )
    for kind, call, *texts in table:
        for how in ("fused", "graph"):
            begin(2)
            with execution(how):
                raises(kind, call, *texts)


def check_the_ledger_tells():
    begin(2, pipeline_config={"pipeline_scheduler": "seqpipe", "pipeline_interleave": True})
    net = Stack(2)
    del net.head.__dict__["_pipeline_stage"]
    predict(net)
    told = [f"{line.name}: {line.what}" for line in ms.debug.ledger().lines]
    for text in (
        "pipeline_scheduler='seqpipe': runs as '1f1b'",
        "pipeline_interleave=True: each stage is one part",
        r"pipeline_stages=2: no Cell around head\.weight, head\.bias has a pipeline_stage",
    ):
        assert any(re.search(text, line) for line in told), (text, told)
