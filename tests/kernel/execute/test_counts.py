# SPDX-License-Identifier: Apache-2.0
"""Compilations, segments and replays, counted. XLA's own count of compilations is the oracle."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from mycel import Tensor, nn
from mycel.kernel.define.aval import aval_of
from mycel.kernel.define.op import Op
from mycel.kernel.execute import changing, fused
from mycel.kernel.execute.compile import Executable, executables

COMPILED = "/jax/core/compile/backend_compile_duration"


class Counter:
    """Counts what XLA compiles."""

    def __init__(self):
        self.count = 0

    def __call__(self, event, duration, **_):
        self.count += event == COMPILED


@pytest.fixture
def xla():
    executables.clear()
    counter = Counter()
    jax.monitoring.register_event_duration_secs_listener(counter)
    yield counter
    jax.monitoring.unregister_event_duration_listener(counter)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool = nn.ReLU(), nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def make_training(rate=0.05):
    ms.set_seed(3)
    net = LeNet()
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    derivative = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    return step, optimizer


def batch(index, size=8):
    draw = np.random.RandomState(index)
    x = draw.rand(size, 1, 32, 32).astype(np.float32)
    return Tensor(x), Tensor(draw.randint(0, 10, size).astype(np.int32))


@pytest.mark.parametrize("read_every", [1, 10, None])
def test_pynative_loop_settles_by_step_three(read_every, xla):
    step, _ = make_training()
    segments, compiled = [], []
    ledger = ms.debug.ledger()
    loss = None
    for index in range(24):
        before = ledger.counts.segments, xla.count
        loss = step(*batch(index))
        if read_every and index % read_every == 0:
            assert np.isfinite(float(loss))
        segments.append(ledger.counts.segments - before[0])
        compiled.append(xla.count - before[1])
    # A step that is not read runs when the next one begins: one segment for each step in all.
    assert sum(segments[4:]) == 20, segments
    assert sum(compiled[3:]) == 0, compiled


def test_a_changing_learning_rate_recompiles_nothing(xla):
    step, optimizer = make_training()
    for index in range(4):
        float(step(*batch(index)))
    before = xla.count
    for index in range(10):
        optimizer.learning_rate.set_data(Tensor(0.05 / (index + 1), ms.float32))
        float(step(*batch(index)))
    assert xla.count == before


@pytest.mark.filterwarnings("ignore:.*keeps running in PyNative")
@pytest.mark.parametrize("mode", ["fused", "jit"])
def test_a_learning_rate_of_python_recompiles_nothing(mode, xla):
    w = ms.Parameter(np.ones(4, np.float32), name="w")
    derivative = ms.value_and_grad(lambda x: (x * w * w).sum(), None, w)

    def step(x, rate):
        loss, gradient = derivative(x)
        w.set_data(w - gradient * rate)
        return loss

    run = ms.jit(step) if mode == "jit" else step
    x = Tensor(np.ones(4, np.float32))
    for index in range(12):
        if index == 4:
            before = xla.count
        float(run(x, 0.1 / (index + 1)))
    assert xla.count == before


def test_a_loop_over_elements_compiles_its_operators_and_not_itself(xla):
    """Oracle: NumPy, and XLA's count. It took 5 ms for each element."""
    table, expected = Tensor(np.zeros((30, 30), np.float32)), np.zeros((30, 30), np.float32)
    for row in range(30):
        for column in range(30):
            table[row, column] = table[row - 1, column] + row * column
            expected[row, column] = expected[row - 1, column] + row * column
    np.testing.assert_array_equal(table.asnumpy(), expected)
    assert xla.count <= 3


def test_a_loop_that_keeps_coming_is_compiled(monkeypatch, xla):
    """Oracle: NumPy, and XLA's count."""
    monkeypatch.setattr(changing, "COMPILING", 2)  # runs, by this clock
    monkeypatch.setattr(changing, "COMPILING_OPERATOR", 0)
    monkeypatch.setattr(fused, "perf_counter", itertools.count().__next__)
    expected = np.linspace(0, 1, 5, dtype=np.float32)
    for _ in range(300):
        expected = np.sin(expected)
    compilations = []
    for _ in range(6):
        before = xla.count
        x = Tensor(np.linspace(0, 1, 5, dtype=np.float32))
        for _ in range(300):
            x = x.sin()
        np.testing.assert_allclose(x.asnumpy(), expected, rtol=1e-5)
        compilations.append(xla.count - before)
    assert compilations[0] <= 1 and compilations[1:] == [0, 0, 1, 0, 0]


def test_graph_compiles_once_for_a_hundred_calls(xla):
    step, _ = make_training()
    compiled = ms.jit(step)
    ledger = ms.debug.ledger()
    ledger.reset()
    compiled(*batch(0))
    before = xla.count
    assert ledger.counts.compilations == 1
    for index in range(1, 100):
        compiled(*batch(index))
    assert xla.count == before
    assert ledger.counts.compilations == 1
    assert ledger.counts.replays == 98


def test_a_new_batch_size_compiles_exactly_one_more(xla):
    step, _ = make_training()
    compiled = ms.jit(step)
    for index in range(4):
        compiled(*batch(index))
    ledger = ms.debug.ledger()
    before = ledger.counts.compilations
    for index in range(4):
        compiled(*batch(index, size=5))
    assert ledger.counts.compilations == before + 1
    before = xla.count
    for index in range(4):
        compiled(*batch(index))
        compiled(*batch(index, size=5))
    assert xla.count == before


def test_graph_mode_compiles_the_outermost_call_once(xla):
    ms.set_seed(3)
    net = LeNet()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    train = nn.TrainOneStepCell(nn.WithLossCell(net, criterion), optimizer)
    train.set_train()
    ms.set_context(mode=ms.GRAPH_MODE)
    ledger = ms.debug.ledger()
    ledger.reset()
    train(*batch(0))
    before = xla.count
    for index in range(1, 20):
        train(*batch(index))
    assert ledger.counts.compilations == 1
    assert ledger.counts.replays == 18
    assert xla.count == before


def test_shapes_that_keep_changing_do_not_compile_whole_segments_for_ever():
    ledger = ms.debug.ledger()
    w = Tensor(np.float32(2.0))
    for size in range(2, 30):
        x = Tensor(np.ones(size, np.float32))
        for _ in range(size):  # another structure each time, of the same operators
            w = w * 0.5 + 1
        (x * w).asnumpy()
    whole = ledger.counts.compilations
    assert whole <= 2 * 28  # every new shape is a family of its own
    before = whole
    for count in range(2, 30):
        value = Tensor(np.float32(1.0))
        for _ in range(count):
            value = value * 0.5 + 1
        value.asnumpy()
    assert ledger.counts.compilations <= before + 2


# -- what is not done twice ----------------------------------------------------------------------


@pytest.mark.parametrize(("names", "expected"), [(["doubled"], 1), (None, 4)])
def test_an_operator_is_traced_once_for_its_shapes_and_for_programs(names, expected):
    """What the user wrote is traced wherever it stands. Oracle of numbers: NumPy."""
    traced = []

    def doubled(x):
        traced.append(x.shape)
        return jnp.where(x > 0, x * 2, x)

    op = Op("doubled", doubled)
    op.names = names
    x = np.arange(-3, 3, dtype=np.float32)
    number = op.signature((aval_of(x.shape, x.dtype),)).id
    executable = Executable((number, -1, number, 0, number, 1), (2, 0))
    last, first = executable([x])
    np.testing.assert_array_equal(last, np.where(x > 0, x * 8, x))
    np.testing.assert_array_equal(first, np.where(x > 0, x * 2, x))
    assert len(traced) == expected


IN_A_PROCESS = """
import sys, jax, numpy as np, mycel as ms
from mycel import Tensor, nn
seen = []
jax.monitoring.register_event_listener(lambda event, **_: seen.append(event.rpartition("/")[2]))
ms.set_context(mode=getattr(ms, sys.argv[1]))
ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
loss = [float(step(Tensor(x), Tensor(np.arange(4, dtype=np.int32) % 3))) for _ in range(3)]
print(seen.count("cache_hits"), seen.count("cache_misses"), *map(float.hex, loss))
"""


def test_compiled_programs_are_found_on_disk_by_other_processes_in_both_modes(tmp_path):
    """What one mode compiled the other finds, in a process of its own; the losses have the same
    bits. JAX's own count of its cache is the oracle."""

    def run(mode):
        environment = os.environ | {"MYCEL_CACHE": str(tmp_path)}
        command = [sys.executable, "-c", IN_A_PROCESS, mode]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        hits, misses, *losses = told.stdout.split()
        return int(hits), int(misses), losses

    _, cold, losses = run("PYNATIVE_MODE")
    assert cold > 0
    for mode in ("GRAPH_MODE", "PYNATIVE_MODE"):
        hits, misses, again = run(mode)
        assert (misses, again) == (0, losses)
        assert hits > 0
