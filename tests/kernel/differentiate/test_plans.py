# SPDX-License-Identifier: Apache-2.0
"""Walks backwards that are copied: the same gradients as the walk itself, and never in its place
where Python takes part. Oracle: the walk of the first call, and direct execution."""

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.differentiate import api, reverse
from mycel.kernel.record.stream import current_stream

X, Y = Tensor([[0.5, -1.0], [2.0, 0.25]]), Tensor([[1.5, 0.75], [-0.5, 1.0]])


@pytest.fixture
def walks(monkeypatch):
    """The walks that were not copied, one entry each."""
    made = []
    walk = api.reverse

    def counted(*arguments, **keywords):
        made.append(1)
        return walk(*arguments, **keywords)

    monkeypatch.setattr(api, "reverse", counted)
    monkeypatch.setattr(reverse, "reverse", counted)
    monkeypatch.setattr(reverse, "_plans", {})
    return made


FUNCTIONS = {
    "one gradient for two inputs": lambda x, y: x + y,
    "a gradient that is the seed": lambda x, y: x + 0.0 * y,
    "sums of gradients": lambda x, y: x * y + ops.tanh(x) * x + y,
    "several results": lambda x, y: (x * y, ops.sin(x)),
    "an input without gradient": lambda x, y: ops.stop_gradient(x) * y,
    "a result that is an input": lambda x, y: (x, x * y),
    "several outputs of an operator": lambda x, y: ops.split(x * y, 1)[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_gradients(name, walks):
    function = FUNCTIONS[name]
    with execution("direct"):
        expected = [g.asnumpy() for g in ms.grad(function, (0, 1))(X, Y)]
    del walks[:]
    with execution("fused"):
        for _ in range(3):
            found = ms.grad(function, (0, 1))(X, Y)
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine.asnumpy(), theirs, 1e-6)
    assert len(walks) == 1


def test_a_training_step_walks_once(walks):
    net = nn.SequentialCell(nn.Dense(2, 3), nn.LayerNorm((3,)), nn.Dense(3, 1))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, optimizer.parameters)
    losses = []
    with execution("fused"):
        for _ in range(4):
            loss, gradients = step(X)
            optimizer(gradients)
            losses.append(float(loss))
    assert len(walks) == 1
    assert losses == sorted(losses, reverse=True)


def test_other_records_are_walked_themselves(walks):
    """Another shape, another operator, other inputs to differentiate by."""
    with execution("fused"):
        for _ in range(2):
            assert ms.grad(lambda x: x * x)(Tensor(3.0)) == 6
            assert ms.grad(lambda x: (x * x).sum())(Tensor([3.0])) == 6
            assert ms.grad(lambda x, y: x * y, 1)(Tensor(3.0), Tensor(4.0)) == 3
            assert ms.grad(lambda x, y: x * y, 0)(Tensor(3.0), Tensor(4.0)) == 4
    assert len(walks) == 4


def test_hooks_are_called(walks):
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    derivative = ms.grad(lambda: ops.square(w).sum(), None, w)
    seen = []
    with execution("fused"):
        derivative(), derivative()
        handle = w.register_hook(lambda gradient: seen.append(gradient.asnumpy()) or gradient * 2)
        assert derivative().asnumpy().tolist() == [4.0, 8.0]
        handle.remove()
        assert derivative().asnumpy().tolist() == [2.0, 4.0]
    assert [array.tolist() for array in seen] == [[2.0, 4.0]]
    assert len(walks) == 2


def test_a_reverse_of_the_user_runs_each_time():
    runs = []

    @ops.custom_op
    def double(x):
        return x * 2

    @double.bprop
    def _(x, out, dout):
        runs.append(1)
        return dout * len(runs)

    with execution("fused"):
        found = [ms.grad(double)(Tensor(1.0)) for _ in range(3)]
    assert [float(g) for g in found] == [1.0, 2.0, 3.0]


def test_a_cell_with_bprop_runs_each_time():
    class Counted(nn.Cell):
        runs = 0

        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            Counted.runs += 1
            return (dout * Counted.runs,)

    net = Counted()
    with execution("fused"):
        assert [float(ms.grad(net)(Tensor(1.0))) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_second_derivatives(walks):
    """The inner walk is recorded, to be differentiated itself; the outer one is copied."""
    second = ms.grad(ms.grad(lambda x: ops.sin(x) * x))
    with execution("fused"):
        found = [float(second(Tensor(0.5))) for _ in range(3)]
    np.testing.assert_allclose(found, 2 * np.cos(0.5) - 0.5 * np.sin(0.5), 1e-6)


def test_places_are_those_of_the_forward_lines(walks):
    """A node that was copied tells the same place as the one that was walked to."""

    def function(x):
        y = x * 2
        return ops.tanh(y)

    told = []
    with execution("fused"):
        for _ in range(2):
            kept = ms.grad(function)(X)
            segment = current_stream().segment
            told.append([str(segment.place(n)) for n in range(segment.nodes)])
            ms.flush()
            del kept
    assert len(walks) == 1
    assert told[0] == told[1]
    assert len(set(told[0])) > 2


def test_plans_are_forgotten(walks, monkeypatch):
    monkeypatch.setattr(reverse, "MOST_PLANS", 2)
    with execution("fused"):
        for length in (1, 2, 3, 1):
            ms.grad(lambda x: ops.square(x).sum())(Tensor(np.ones(length, np.float32)))
        assert len(reverse._plans) == 2
    assert len(walks) == 4
