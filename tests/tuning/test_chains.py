# SPDX-License-Identifier: Apache-2.0
"""Long chains of elementwise operators are not computed anew by each sum that reads them.

Oracles: direct execution, which knows nothing of it, and the size of the program that XLA makes.
"""

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.execute.compile import decode
from mycel.kernel.record.stream import machine
from mycel.tuning import chains, materialize


class Normalized(nn.Cell):
    """Residuals, normalised behind each sum."""

    def __init__(self, depth):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8) for _ in range(depth)])
        self.norms = nn.CellList([nn.LayerNorm((8,)) for _ in range(depth)])

    def construct(self, x):
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(x + ops.relu(layer(x)))
        return x


@pytest.fixture
def records(monkeypatch):
    """What runs from now on: nodes, executable and inputs."""
    seen = []

    def note(executable, key, places, arrays, live):
        seen.append((decode(key), executable, arrays))

    monkeypatch.setattr(machine, "on_record", note)
    return seen


def step_of(depth, records):
    """The nodes, executable and inputs of a derivative of a network."""
    net = Normalized(depth)
    x = Tensor(np.random.RandomState(0).randn(4, 8).astype(np.float32))
    records.clear()
    for gradient in ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(x):
        gradient.asnumpy()
    return max(records, key=lambda record: len(record[0]))


def test_programs_grow_with_the_depth_and_not_with_its_square(records):
    """What XLA compiles, in instructions: it was four times as much for twice the depth."""
    sizes = []
    for depth in (6, 12):
        _, executable, arrays = step_of(depth, records)
        sizes.append(executable.lower(arrays).compile().as_text().count(" = "))
    assert sizes[1] < 2.3 * sizes[0], sizes


def test_each_layer_has_its_ends(records):
    numbers = []
    for depth in (6, 12):
        nodes, *_ = step_of(depth, records)
        ends = list(chains.ends_of_chains(nodes, materialize.LARGE))
        assert len(ends) == len(set(ends))
        numbers.append(len(ends))
    assert 0 < numbers[0] < numbers[1] <= 2.5 * numbers[0], numbers


def test_values_and_gradients_are_those_of_direct_execution():
    net = Normalized(6)
    x = np.random.RandomState(1).randn(4, 8).astype(np.float32)
    weights = net.trainable_params()
    found = run_everywhere(ms.value_and_grad(lambda x: net(x).sum(), 0, weights), x)
    for name in ("fused", "graph"):
        assert_close(found[name], found["direct"], name)


@pytest.mark.parametrize(
    "function", [lambda x: x * x, lambda x: x + ops.tanh(x), lambda x: ops.relu(x) - x * 0.5]
)
def test_one_loop_is_left_as_it_is(function, records):
    """However often what is in it is read: it is computed once there."""
    y = Parameter(Tensor([0.5, 0.25])) * 1
    for _ in range(60):
        y = function(y)
    y.sum().asnumpy()
    nodes, *_ = max(records, key=lambda record: len(record[0]))
    assert len(nodes) >= 60
    assert not list(chains.ends_of_chains(nodes, materialize.LARGE))
