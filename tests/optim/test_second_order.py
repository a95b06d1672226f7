# SPDX-License-Identifier: Apache-2.0
"""THOR and its layers. MindSpore has none for CPU: the oracle is NumPy, by the formulas.

Each loss is the sum of outputs times given weights: these are the gradient of the outputs.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Tensor, nn, ops

RANDOM = np.random.default_rng(5)
RATES, DAMPING, BATCH, STEPS = (0.1, 0.05), (0.3, 0.2), 4, 3


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def thor(net, **settings):
    rates, damping = (Tensor(list(numbers), ms.float32) for numbers in (RATES, DAMPING))
    return nn.thor(net, rates, damping, 0.9, batch_size=BATCH, **settings)


def stepped(name, net, x, weights, **settings):
    """The trained Parameters after some steps, and what they were."""
    optimizer = thor(net, **settings)
    before = [p.asnumpy() for p in optimizer.parameters]
    weights = Tensor(weights * settings.get("loss_scale", 1.0))
    with execution(name):
        step = ms.value_and_grad(
            lambda x: (net(x) * weights).sum(), None, list(optimizer.parameters)
        )
        for _ in range(STEPS):
            optimizer(step(Tensor(x))[1])
        return before, [p.asnumpy() for p in optimizer.parameters]


def expected(before, natural, nesterov=False):
    """Momentum by the natural gradients that belong to a damping and a Parameter."""
    moment, value = 0, before.astype(np.float64)
    for n in range(STEPS):
        rate, damping = RATES[min(n, 1)], DAMPING[min(n, 1)]
        gradient = natural(damping, value)
        moment = 0.9 * moment + gradient
        value = value - rate * (gradient + 0.9 * moment if nesterov else moment)
    return value.astype(np.float32)


def inverse(matrix, damping):
    """(matrix + √damping)⁻¹ by blocks of 128."""
    found = np.zeros_like(matrix, np.float64)
    for begin in range(0, len(matrix), 128):
        part = slice(begin, begin + 128)
        block = matrix[part, part].astype(np.float64)
        found[part, part] = np.linalg.inv(block + np.sqrt(damping) * np.eye(len(block)))
    return found


def moments(rows):
    return rows.T.astype(np.float64) @ rows / len(rows)


@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("inputs", [3, 130])
def test_dense(name, inputs):
    x, weights = normal(4, inputs), normal(4, 2)
    layer = nn.Dense(inputs, 2)
    net = nn.SequentialCell(layer)
    before, after = stepped(name, net, x, weights, loss_scale=8.0)
    assert net[0].weight is layer.weight and type(net[0]) is nn.DenseThor
    a, g, gradient = moments(x), moments(weights) * BATCH**2, weights.T @ x
    natural = lambda damping, _: inverse(g, damping) @ gradient @ inverse(a, damping)  # noqa: E731
    assert_close(after[0], expected(before[0], natural), name)
    assert_close(after[1], expected(before[1], lambda *_: weights.sum(0)), name)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_convolution(name):
    x, weights = normal(2, 2, 3, 4), normal(2, 3, 2, 2)
    net = nn.SequentialCell(nn.Conv2d(2, 3, 2, stride=2, has_bias=True))
    before, after = stepped(name, net, x, weights)
    filled = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 0)))
    places = [(i, j) for i in (0, 2) for j in (0, 2)]
    rows = np.stack([filled[:, :, i : i + 2, j : j + 2].reshape(2, 8) for i, j in places], 1)
    rows, changes = rows.reshape(8, 8), weights.transpose(0, 2, 3, 1).reshape(8, 3)
    a, g, gradient = moments(rows), moments(changes) * BATCH**2, changes.T @ rows

    def natural(damping, _):
        each = damping / len(places)
        found = inverse(g, each) @ gradient @ inverse(a, each) / len(places)
        return found.reshape(3, 2, 2, 2)

    assert_close(after[0], expected(before[0], natural), name)
    assert_close(after[1], expected(before[1], lambda *_: weights.sum((0, 2, 3))), name)


@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("make", [nn.Embedding, nn.EmbeddingLookup])
def test_tables(name, make):
    ids, weights = np.array([[2, 0], [2, 3]], np.int32), normal(2, 2, 3)
    before, after = stepped(name, nn.SequentialCell(make(5, 3)), ids, weights)
    counts, rows = np.bincount(ids.ravel(), minlength=5), weights.reshape(4, 3)
    gradient = np.zeros((5, 3))
    np.add.at(gradient, ids.ravel(), rows)
    g = moments(rows) * BATCH**2

    def natural(damping, _):
        return gradient / (counts / BATCH + np.sqrt(damping))[:, None] @ inverse(g, damping)

    assert_close(after[0], expected(before[0], natural), name)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_what_is_no_such_layer(name):
    x, weights = normal(4, 3), normal(4, 3)
    before, after = stepped(name, nn.SequentialCell(nn.LayerNorm((3,))), x, weights)
    spread = x - x.mean(1, keepdims=True)
    gradient = (weights * spread / np.sqrt((spread**2).mean(1, keepdims=True) + 1e-7)).sum(0)
    natural = lambda damping, _: gradient / (gradient**2 / BATCH + np.sqrt(damping))  # noqa: E731
    assert_close(after[0], expected(before[0], natural), name)
    grouped = nn.SequentialCell(nn.Conv2d(2, 2, 1, group=2))
    thor(grouped)
    assert type(grouped[0]) is nn.Conv2d


@pytest.mark.parametrize("name", EXECUTIONS)
@pytest.mark.parametrize("clip", [False, True])
def test_decay_clipping_and_nesterov(name, clip):
    x, weights = normal(4, 3), normal(4, 2)
    settings = {"weight_decay": 0.1, "decay_filter": lambda p: "bias" not in p.name}
    settings |= {"use_nesterov": True, "enable_clip_grad": clip}
    before, after = stepped(name, nn.SequentialCell(nn.Dense(3, 2)), x, weights, **settings)
    a, g, gradient = moments(x), moments(weights) * BATCH**2, weights.T @ x

    def clipped(change):
        return change / max(np.linalg.norm(change), 1) if clip else change

    def natural(damping, value):
        return clipped(inverse(g, damping) @ gradient @ inverse(a, damping) + 0.1 * value)

    assert_close(after[0], expected(before[0], natural, True), name)
    bias = expected(before[1], lambda *_: clipped(weights.sum(0)), True)
    assert_close(after[1], bias, name)


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_model_computes_matrices_now_and_then(name):
    """Oracle: the schedule; and that a linear network finds what made its labels."""
    random = np.random.default_rng(0)
    made = random.normal(size=(3, 2)).astype(np.float32)
    given = random.normal(size=(24, 8, 3)).astype(np.float32)
    batches = [(Tensor(x), Tensor(x @ made)) for x in given]
    with execution(name):
        net = nn.SequentialCell(nn.Dense(3, 2, "zeros", has_bias=False))
        rate, damping = Tensor([1.0], ms.float32), Tensor([0.25], ms.float32)
        optimizer = nn.thor(net, rate, damping, 0.0, batch_size=8, frequency=4)
        model = ms.Model(net, nn.MSELoss(), optimizer)
        model = ms.train.ConvertModelUtils.convert_to_thor_model(
            model, net, nn.MSELoss(), optimizer, {"mse"}
        )
        seen = []

        class Look(ms.Callback):
            def on_train_step_end(self, run_context):
                seen.append(net[0].matrix_a.asnumpy())

        model.train(1, batches, Look())
    anew = [n for n in range(1, 24) if not np.array_equal(seen[n], seen[n - 1])]
    assert anew == [4, 8, 12, 16, 20]
    assert_close(seen[4], moments(batches[4][0].asnumpy()).astype(np.float32), name)
    assert np.abs(net[0].weight.asnumpy() - made.T).max() < np.abs(made).max() / 4


def test_wrong_arguments_are_named():
    net, rate = nn.SequentialCell(nn.Dense(2, 1)), Tensor([0.1], ms.float32)
    for kind, text, change in (
        (TypeError, "learning_rate must be a Tensor", {"learning_rate": 0.1}),
        (TypeError, "damping must be a Tensor", {"damping": 0.1}),
        (TypeError, "momentum must be", {"momentum": 1}),
        (ValueError, "momentum must be", {"momentum": -0.5}),
        (TypeError, "frequency must be", {"frequency": 2.5}),
        (ValueError, "frequency must be", {"frequency": 1}),
        (ValueError, "weight_decay must be", {"weight_decay": -1.0}),
        (TypeError, "use_nesterov", {"use_nesterov": 1}),
    ):
        given = {"learning_rate": rate, "damping": rate, "momentum": 0.9, **change}
        with pytest.raises(kind, match=text):
            nn.thor(net, **given)
    with pytest.raises(ValueError, match="group must be 1"):
        nn.Conv2dThor(2, 2, 1, group=2)


def test_low_precision_stays():
    """Oracle: `to_float` of the layer that was there."""
    net = nn.SequentialCell(nn.Dense(2, 3).to_float(ms.float16))
    thor(net)
    assert net(ops.ones((4, 2))).dtype == ms.float16
