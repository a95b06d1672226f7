# SPDX-License-Identifier: Apache-2.0
"""Shapes that change from call to call. The oracle of numbers is the same program with each
operator compiled; that of compilations is XLA's own count."""

from __future__ import annotations

import gc
import itertools

import jax
import numpy as np
import pytest

import mycel as ms
from harness import assert_close, execution
from mycel import Tensor, nn, ops
from mycel.kernel.define.op import signatures
from mycel.kernel.execute import changing, fused, graph
from mycel.kernel.execute.compile import executables


@pytest.fixture(autouse=True)
def afresh():
    executables.clear()
    ms.debug.ledger().reset()
    yield
    executables.clear()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(6, 16), nn.Dense(16, 3)
        self.norm, self.drop = nn.LayerNorm((16,)), nn.Dropout(p=0.25)
        self.seen: list = []

    def construct(self, x):
        hidden = self.drop(self.norm(ops.gelu(self.first(x))))
        return self.second(hidden)


def training(jit=False, hooked=False):
    """A step, and what it leaves: its Parameters, and what hooks saw."""
    ms.set_seed(11)
    net = Net()
    net.set_train()
    if hooked:
        net.norm.register_forward_hook(lambda cell, inputs, output: net.seen.append(output.shape))
        net.second.register_backward_hook(
            lambda cell, into, out: net.seen.append(float(out[0].sum()))
        )
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    criterion = nn.CrossEntropyLoss()
    derivative = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    return ms.jit(step) if jit else step, net


def batch(length):
    chance = np.random.default_rng(length)
    rows = chance.standard_normal((length, 6)).astype(np.float32)
    return Tensor(rows), Tensor(chance.integers(0, 3, length).astype(np.int32))


def losses(step, lengths):
    return np.array([float(step(*batch(length))) for length in lengths], np.float32)


LENGTHS = [*range(20, 34), 7, 5, 2, 1, 3, 6, 16, 50, 21]


@pytest.mark.filterwarnings("ignore:.* is compiled but keeps running")
@pytest.mark.parametrize("mode", ["fused", "graph", "jit"])
def test_a_training_with_new_lengths_is_that_of_compiled_operators(mode):
    with execution("direct"):
        step, net = training(hooked=True)
        expected = losses(step, LENGTHS)
    with execution("graph" if mode == "graph" else "fused"):
        again, other = training(jit=mode == "jit", hooked=True)
        assert_close(losses(again, LENGTHS), expected, "losses")
    for mine, theirs in zip(other.get_parameters(), net.get_parameters(), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), 2e-4, 2e-5)
    # Hooks saw the same, in the same order.
    np.testing.assert_allclose(
        np.hstack(list(map(np.ravel, other.seen))),
        np.hstack(list(map(np.ravel, net.seen))),
        1e-3,
        1e-4,
    )
    lines = [line for line in ms.debug.ledger().lines if line.kind == "shapes"]
    assert lines
    assert all("run operator by operator" in line.what for line in lines)


def test_new_lengths_are_compiled_no_more(xla):
    step, _ = training()
    # `erf` and random bits are compiled for powers of two.
    losses(step, [*range(20, 25), 63])
    before = len(xla)
    losses(step, range(30, 60))
    assert len(xla) == before
    (line,) = [line for line in ms.debug.ledger().lines if line.kind == "shapes"]
    assert line.count == 34  # all but the first two
    assert line.what == "shape changes from call to call: run operator by operator"
    assert "test_changing.py" in line.place


def count_as_seconds(monkeypatch):
    """Each run takes a second, and so does each compilation."""
    monkeypatch.setattr(changing, "COMPILING", 1)
    monkeypatch.setattr(changing, "COMPILING_OPERATOR", 0)
    monkeypatch.setattr(fused, "perf_counter", itertools.count().__next__)


def test_what_comes_back_is_compiled(xla, monkeypatch):
    count_as_seconds(monkeypatch)
    step, _ = training()
    losses(step, range(20, 40))
    before = len(xla)
    first = losses(step, [30])
    assert len(xla) == before + 1
    losses(step, [30, 30])
    assert len(xla) == before + 1
    assert np.isfinite(first).all()


@pytest.mark.filterwarnings("ignore:.* keeps running in PyNative")
def test_shapes_of_a_compiled_function_that_come_back(xla, monkeypatch):
    """Four are compiled at once, further ones when their calls have taken as long as that takes;
    what is computed is the same. Oracle: NumPy."""
    seconds = 1e9
    monkeypatch.setattr(graph, "seconds_to_compile", lambda size: seconds)
    grow = ms.jit(lambda cache, x: ops.tanh(ops.concat((cache, x * 2))) + 1)
    x = Tensor(np.ones((1, 4), np.float32))

    def grown(count):
        cache, expected = Tensor(x.asnumpy()), x.asnumpy()
        for _ in range(count):
            cache = grow(cache, x)
            expected = np.tanh(np.concatenate((expected, 2 * x.asnumpy()))) + 1
        np.testing.assert_allclose(cache.asnumpy(), expected, rtol=1e-5)

    for _ in range(8):
        grown(12)
    counts = ms.debug.ledger().counts
    (compiled,) = grow.compiled.values()
    assert len(compiled) == graph.SHAPES_AT_ONCE and "once calls have taken" in repr(grow)
    replays, seconds = counts.replays, 0.0
    for _ in range(300):  # calls rest between recordings
        grown(12)
    assert len(compiled) == 12 and counts.replays > replays + 12 * 4


def test_a_family_keeps_few_programs_and_is_patient(xla, monkeypatch):
    """Lengths that all come back: what is compiled grows slowly, and what is kept is bounded."""
    count_as_seconds(monkeypatch)
    monkeypatch.setattr(changing, "MOST_OPERATORS", 0)

    def run(length):
        return float((Tensor(np.ones(length, np.float32)) * 3 + 1).sum())

    for _ in range(12):
        for length in range(2, 22):
            assert run(length) == 4 * length
    family = max(changing.families._known.values(), key=lambda family: family.count)
    # One for coming twice, then three, five, nine times; the next would have to come 17 times.
    assert family.compilations == 4
    assert len(family.compiled) == 4


def test_what_was_not_asked_for_longest_is_dropped(monkeypatch):
    count_as_seconds(monkeypatch)
    monkeypatch.setattr(changing, "MOST_OPERATORS", 0)

    def run(length):
        return float((Tensor(np.ones(length, np.float32)) * 5 + 1).sum())

    for length in (2, 3):
        run(length)
    for length in (4, 5, 6, 7, 8, 9):
        for _ in range(40):
            assert run(length) == 6 * length
    family = max(changing.families._known.values(), key=lambda family: family.count)
    lengths = {
        next(s.inputs[0].shape[0] for s in map(signatures.__getitem__, key[:1]))
        for key, *_ in family.compiled
    }
    assert lengths == {6, 7, 8, 9}
    assert all(structure in executables._kept for structure in family.compiled)


def test_operators_without_rule_are_compiled_and_told(xla):
    def run(length):
        x = Tensor(np.arange(length, 0, -1, dtype=np.float32))
        return ops.sort(x * 2)[0].asnumpy()

    for length in range(3, 9):
        np.testing.assert_array_equal(run(length), np.arange(2, 2 * length + 1, 2))
    told = [line for line in ms.debug.ledger().lines if line.kind == "shapes"]
    assert len(told) == 1
    assert "compiled each time, for the sake of sort" in told[0].what
    assert told[0].count == 4


@pytest.mark.filterwarnings("ignore:.* is compiled but keeps running")
@pytest.mark.parametrize("jit", [False, True])
def test_what_was_forgotten_is_made_again(monkeypatch, xla, jit):
    """Steps are those of PyNative operator by operator, and a program that was compiled is found
    after signatures of all its operators were forgotten."""
    count_as_seconds(monkeypatch)
    monkeypatch.setattr("mycel.kernel.define.op.MOST_OPENED", 8)

    def run():
        step, net = training(jit)
        losses = []
        for length in (5, 6, 7, 8, 8, *range(9, 17), 8, *range(17, 23), 8):
            count = len(xla)
            losses.append(float(step(*batch(length))))
            if length == 8:
                back.append(len(xla) - count)
        return losses, [p.asnumpy() for p in net.trainable_params()]

    back: list[int] = []
    with execution("direct"):
        losses, parameters = run()
    back.clear()
    found, mine = run()
    assert_close(np.array(found, np.float32), np.array(losses, np.float32), "losses")
    for one, other in zip(mine, parameters, strict=True):
        np.testing.assert_allclose(one, other, 2e-4, 2e-5)
    if not jit:  # the second call compiles it; a compiled function asks for more
        assert back[1] > 0
        assert back[2:] == [0, 0]


def test_operators_that_run_at_once_are_compiled_for_few_lengths(xla):
    """Oracle: NumPy, and XLA's count. Each length was compiled, 30 ms for each operator."""

    def run(length):
        x = Tensor(np.arange(length, dtype=np.float32))
        return float((ops.softmax(x, -1)[x > 2] * 3).sum() + (x @ x))

    ms.set_context(pynative_synchronize=True)
    try:
        for length in range(4, 60):
            x = np.arange(length, dtype=np.float32)
            e = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
            np.testing.assert_allclose(run(length), (e[x > 2] * 3).sum() + x @ x, 1e-4)
            if length == 20:
                before = len(xla)
    finally:
        ms.set_context(pynative_synchronize=False)
    assert len(xla) == before


DYNAMIC = {"jit": "fused", "later": "fused"}


@pytest.mark.filterwarnings("ignore:.* is compiled but keeps running")
@pytest.mark.parametrize("way", DYNAMIC)
def test_lengths_that_are_said_to_change_are_compiled_once(xla, way):
    """Steps with their gradients are those of operators compiled one by one; of ten lengths only
    the first compiles a program, where without a word two do."""

    def run(way=""):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
        call = {"jit": ms.jit, "later": ms.jit}.get(way, lambda cell, **_: cell)
        call = call(step, dynamic=1) if way == "jit" else call(step)
        if way == "later":
            assert ms.jit(call, dynamic=1) is call
        ledger = ms.debug.ledger()
        counts, found = [], []
        for length in range(20, 30):
            before = ledger.counts.compilations
            found.append(float(call(*batch(length))))
            counts.append(ledger.counts.compilations - before)
        return found, counts, [p.asnumpy() for p in net.trainable_params()]

    with execution("direct"):
        losses, _, parameters = run()
    with execution(DYNAMIC[way]):
        found, counts, mine = run(way)
        executables.clear()
        _, undeclared, _ = run("plain")
    np.testing.assert_allclose(found, losses, 1e-5)
    for one, other in zip(mine, parameters, strict=True):
        np.testing.assert_allclose(one, other, 2e-4, 2e-5)
    assert counts[0] > 0
    assert counts[1:] == [0] * 9
    assert undeclared[1] > 0
    assert undeclared[2:] == [0] * 8


def test_what_dynamic_may_be():
    for wrong, kind in (
        (2, ValueError),
        (-1, ValueError),
        (True, TypeError),
        (1.0, TypeError),
        ("1", ValueError),
    ):
        with pytest.raises(kind, match=r"jit: dynamic must be .*test_changing\.py"):
            ms.jit(lambda x: x, dynamic=wrong)

    @ms.jit(dynamic=1, jit_level="O1")
    def double(x):
        return x * 2

    assert float(double(Tensor(2.0))) == 4


def test_lengths_among_attributes():
    """`reshape` has the lengths as attributes, so it is another operator at each call."""
    for length in range(2, 30):
        x = np.random.default_rng(length).standard_normal((length, 2, 3)).astype(np.float32)
        found = ops.reshape(Tensor(x) * 2, (x.shape[0], 6)).sum(1)
        assert_close(found.asnumpy(), (x * 2).reshape(length, 6).sum(1), f"{length} rows")


def test_two_lengths_that_change_and_meet():
    """Also where they are equal, or one is a length that does not change."""
    w = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    weight = Tensor(w)
    for rows, columns in [(2, 3), (3, 7), (6, 9), (8, 8), (4, 5), (5, 4), (1, 6), (9, 1), (11, 13)]:
        x = np.random.default_rng(rows).standard_normal((rows, columns, 4)).astype(np.float32)
        found = ops.softmax(ops.matmul(Tensor(x), weight), -1).mean(0)
        raised = np.exp((x @ w) - (x @ w).max(-1, keepdims=True))
        assert_close(found.asnumpy(), (raised / raised.sum(-1, keepdims=True)).mean(0), "softmax")


def test_wrong_indices_are_told_at_the_line():
    table = Tensor(np.arange(10, dtype=np.float32))
    for length in range(2, 9):
        index = np.full(length, 3, np.int32)
        assert float((ops.gather(table, Tensor(index), 0) * 2).sum()) == 6 * length
    with pytest.raises(IndexError, match=r"test_changing\.py"):
        index = np.full(20, 30, np.int32)
        (ops.gather(table, Tensor(index), 0) * 2).sum().asnumpy()


def test_interventions_of_hooks_and_random_numbers_are_the_same():
    """Dropout draws the numbers that it draws when it is compiled."""
    drop = nn.Dropout(p=0.5)
    drop.set_train()

    def drawn():
        ms.set_seed(4)
        return [drop(Tensor(np.ones((n, 3), np.float32))).asnumpy() for n in range(5, 15)]

    with execution("direct"):
        expected = drawn()
    for mine, theirs in zip(drawn(), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_is_compiled(kind):
    for length in range(3, 8):
        x = Tensor(np.ones(length), getattr(ms, kind))
        assert float((x * 2 + 1).sum()) == 3 * length
    (line,) = [line for line in ms.debug.ledger().lines if line.kind == "shapes"]
    assert "compiled each time" in line.what


@pytest.mark.filterwarnings("ignore:total is compiled but keeps running")
def test_data_that_is_another_at_each_call_is_not_kept():
    """Oracle: the arrays that JAX holds. Each batch of a MiB comes as NumPy, and is made a Tensor
    inside."""

    @ms.jit
    def total(x):
        return (Tensor(x) * 2).sum()

    def held():
        return sum(array.nbytes for array in jax.live_arrays())

    gc.collect()
    gc.disable()
    try:
        before = held()
        for number in range(60):
            batch = np.full(1 << 18, number, np.float32)
            assert float(total(batch)) == number * (1 << 19)
        assert held() - before <= 12 << 20
        # What is passed again is remembered nevertheless.
        batch = np.full(1 << 18, 2, np.float32)
        replays = total.replays
        for _ in range(300):
            total(batch)
        assert total.replays > replays
    finally:
        gc.enable()


@pytest.mark.parametrize("dynamic", [None, 0, 1, "padded"])
def test_an_operator_of_the_program_may_compare_lengths(dynamic):
    """Oracle: NumPy. What the user wrote is never traced for open lengths."""

    @ops.custom_op
    def scaled(x):
        return x * (2 if x.shape[0] == 12 else 3)

    def total(x):
        return ops.square(scaled(x)).sum(0)

    call = total if dynamic is None else ms.jit(total, dynamic=dynamic)
    for length in (9, 10, 11, 12, 13, 12, 12, 12, 20):
        rows = np.full((length, 3), 0.5, np.float32)
        expected = length * (1.0 if length == 12 else 2.25)
        np.testing.assert_allclose(call(Tensor(rows)).asnumpy(), expected)
