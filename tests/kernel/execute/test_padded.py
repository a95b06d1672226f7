# SPDX-License-Identifier: Apache-2.0
"""Programs whose lengths change, padded to buckets. The oracle of numbers is the same program, each
operator run by itself for the lengths as they are; that of compilations is XLA's own count."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, execution
from mycel import Tensor, nn, ops
from mycel.kernel.execute.compile import executables
from mycel.kernel.execute.lengths import bucket

pytestmark = pytest.mark.filterwarnings("ignore:.* is compiled but keeps running")


@pytest.fixture(autouse=True)
def afresh():
    executables.clear()
    ms.debug.ledger().reset()
    yield
    executables.clear()


def told() -> list[str]:
    """What the ledger says of shapes that change."""
    return [line.what for line in ms.debug.ledger().lines if line.kind == "shapes"]


WORDS, WIDTH = 71, 12


class Decoder(nn.Cell):
    """Words and their places, attention to what was before, dropout, a hook that looks."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(200, WIDTH)
        # No bias: the gradient of that of the keys is nothing but rounding, of which Adam makes
        # steps of full length.
        self.inner = nn.Dense(WIDTH, 3 * WIDTH, has_bias=False)
        self.norm, self.drop = nn.LayerNorm((WIDTH,)), nn.Dropout(p=0.25)
        self.outer = nn.Dense(WIDTH, WORDS)

    def construct(self, numbers):
        rows, length = numbers.shape
        hidden = self.words(numbers) + self.places(ops.arange(length))
        parts = self.inner(hidden).reshape(rows, length, 3, 2, -1).transpose(2, 0, 3, 1, 4)
        query, keys, values = parts
        scores = ops.matmul(query, keys.swapaxes(-1, -2)) / (WIDTH / 2) ** 0.5
        later = ops.triu(ops.ones((length, length), ms.bool_), 1)
        weights = self.drop(ops.softmax(ops.masked_fill(scores, later, -1e9), -1))
        mixed = ops.matmul(weights, values).transpose(0, 2, 1, 3).reshape(rows, length, WIDTH)
        return self.outer(self.norm(hidden + mixed))


def training(dynamic=None, hooked=False):
    """A step that gives its loss and the words that were predicted; its Cell; what hooks saw."""
    ms.set_seed(11)
    net, seen = Decoder(), []
    net.set_train()
    if hooked:
        net.inner.register_forward_hook(
            lambda cell, inputs, output: seen.append((output.shape, float(output.abs().max())))
        )
        net.norm.register_backward_hook(
            lambda cell, into, out: seen.append((out[0].shape, float(out[0].abs().sum())))
        )
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    criterion = nn.CrossEntropyLoss()

    def forward(numbers, labels):
        logits = net(numbers)
        return criterion(logits.reshape(-1, WORDS), labels.reshape(-1)), logits.argmax(-1)

    derivative = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    def step(numbers, labels):
        (loss, predicted), gradients = derivative(numbers, labels)
        optimizer(gradients)
        return loss, predicted

    return (step if dynamic is None else ms.jit(step, dynamic=dynamic)), net, seen


def batch(rows, length):
    chance = np.random.default_rng(100 * rows + length)
    numbers = chance.integers(0, WORDS, (2, rows, length)).astype(np.int32)
    return Tensor(numbers[0]), Tensor(numbers[1])


# Both lengths change; some come back, and some are other lengths of the program.
SHAPES = [(5, 20), (5, 21), (5, 33), (7, 33), (7, 19), (4, 37), (5, 21), (5, 21), (5, 21), (6, 12)]


@pytest.mark.parametrize("hooked", [False, True], ids=["plain", "hooked"])
def test_a_training_is_that_of_the_lengths_as_they_are(hooked):
    with execution("direct"):
        step, net, saw = training(hooked=hooked)
        expected = [step(*batch(*shape)) for shape in SHAPES]
    with execution("fused"):
        again, other, seen = training("padded", hooked)
        found = [again(*batch(*shape)) for shape in SHAPES]
    for (loss, predicted), (their_loss, theirs), shape in zip(found, expected, SHAPES, strict=True):
        assert predicted.shape == shape
        np.testing.assert_array_equal(predicted.asnumpy(), theirs.asnumpy())
        assert_close(loss.asnumpy(), their_loss.asnumpy(), f"loss of {shape}")
    for mine, theirs in zip(other.get_parameters(), net.get_parameters(), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), 2e-4, 2e-5)
    assert [shape for shape, _ in seen] == [shape for shape, _ in saw]
    np.testing.assert_allclose([x for _, x in seen], [x for _, x in saw], 1e-3, 1e-4)
    assert any("padded to lengths of" in line for line in told())


def test_each_bucket_is_compiled_once(xla):
    step, *_ = training("padded")
    # Those that equal another length of the program by chance are not padded.
    lengths = list(range(40, 64))
    for length in lengths:
        step(*batch(5, length))[0].asnumpy()
    counts = ms.debug.ledger().counts
    assert counts.compilations <= 1 + len({bucket(length) for length in lengths}) + 1
    before, compilations = len(xla), counts.compilations
    for length in reversed(lengths[1:]):
        step(*batch(5, length))[0].asnumpy()
    assert ms.debug.ledger().counts.compilations == compilations
    assert len(xla) == before


def test_a_length_that_comes_back_is_replayed_by_the_program_of_its_bucket():
    with execution("direct"):
        plain, *_ = training()
        expected = [float(plain(*batch(5, 40 + k % 3))[0]) for k in range(15)]
    step, *_ = training("padded")
    found = [float(step(*batch(5, 40 + k % 3))[0]) for k in range(15)]
    np.testing.assert_allclose(found, expected, 1e-5)
    assert ms.debug.ledger().counts.replays >= 3


def test_set_inputs_with_an_open_length_asks_for_it():
    def run(announced):
        ms.set_seed(3)
        net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
        if announced:
            rows = Tensor(shape=[None, 6], dtype=ms.float32)
            step.set_inputs(rows, Tensor(shape=[None], dtype=ms.int32))
        for parameter in net.get_parameters():
            parameter.asnumpy()
        ms.debug.ledger().reset()
        chance = np.random.default_rng(5)
        found = []
        for length in range(20, 40):
            rows = chance.standard_normal((length, 6)).astype(np.float32)
            labels = chance.integers(0, 3, length).astype(np.int32)
            found.append(float(step(Tensor(rows), Tensor(labels))))
        return found, [p.asnumpy() for p in net.trainable_params()]

    with execution("direct"):
        losses, parameters = run(False)
    with execution("graph"):
        found, mine = run(True)
    np.testing.assert_allclose(found, losses, 1e-5)
    for one, other in zip(mine, parameters, strict=True):
        np.testing.assert_allclose(one, other, 2e-4, 2e-5)
    assert told()
    assert all("padded to lengths of" in line for line in told())
    # The first one as it is, 24, 28, 32, and 40.
    assert ms.debug.ledger().counts.compilations == 5


def run_all(function, lengths, make, dynamic="padded"):
    with execution("direct"):
        expected = [function(*make(length)).asnumpy() for length in lengths]
    with execution("fused"):
        called = ms.jit(function, dynamic=dynamic)
        found = [called(*make(length)).asnumpy() for length in lengths]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, 2e-5, 2e-5)
    return told()


def rows_of(length):
    chance = np.random.default_rng(length)
    return (Tensor(chance.uniform(0.5, 2, (3, length, 4)).astype(np.float32)),)


PADDED = {
    "logarithms": lambda x: ops.log(x).sum(1) / x.shape[1],
    "means and spreads": lambda x: (x - x.mean(1, True)) / (x.std(1, keepdims=True) + 1e-5),
    "a tail": lambda x: x[:, -2:].sum(1) + x[:, 1:].mean(1),
    "cumulated": lambda x: ops.cumsum(x, 1)[:, -1],
    "together": lambda x: ops.cat((x, x * 2), 1).max(1),
    "tiled": lambda x: ops.tile(x.sum(1), (2, 1)),
    "broadcast": lambda x: ops.broadcast_to(x.mean(2, keep_dims=True), x.shape) * x,
    "numbered": lambda x: x * ops.arange(x.shape[1]).reshape(1, -1, 1),
    "convolved": lambda x: ops.conv1d(x.swapaxes(1, 2), ops.ones((2, 4, 3))).sum(2),
    "sorted": lambda x: ops.sort(x, 1)[0][:, 0],
    "every other one": lambda x: x[:, ::2].sum(1),
    "a half": lambda x: x[:, : x.shape[1] // 2].sum(1),
    "losses": lambda x: ops.mse_loss(x, x * 0.5) + ops.l1_loss(x, x * 2) + ops.huber_loss(x, x + 3),
    "Python's arithmetic of a length": lambda x: x.sum() / float(3 * x.shape[1] - 2),
}  # fmt: skip


@pytest.mark.parametrize("name", PADDED)
def test_operators_with_lengths_among_their_attributes(name):
    lines = run_all(PADDED[name], [9, 11, 14, 23, 18, 31], rows_of)
    assert lines
    assert all("padded to lengths of" in line for line in lines), lines


REFUSED = {
    "by another rule": (lambda x: x[:, : 1 + x.shape[1] ** 3 % 5].sum(1), "do not follow"),
    "windows": (lambda x: ops.avg_pool1d(x.swapaxes(1, 2), 2, 2).sum(2), ""),
    "another operator": (lambda x: x.sum(1) if x.shape[1] < 12 else x.max(1), ""),
    "repeated": (lambda x: ops.tile(x, (1, x.shape[1], 1)).sum(1), ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_padded_is_right_and_said(name):
    function, reason = REFUSED[name]
    lines = run_all(function, [9, 11, 14, 23, 18, 31], rows_of)
    if reason:
        assert any("not padded" in line and reason in line for line in lines), lines


def test_a_length_without_room_in_longer_arrays_is_not_padded():
    """Oracle: NumPy. 17 leaves 4 of 21, but 20, its bucket, leaves only 1."""
    rolled = ms.jit(lambda x: ops.roll(x, -21, 1), dynamic="padded")
    for length in (9, 11, 14, 17, 18, 19, 22, 23, 25):
        x = np.random.default_rng(length).standard_normal((3, length)).astype(np.float32)
        np.testing.assert_array_equal(rolled(Tensor(x)).asnumpy(), np.roll(x, -21, 1))
    assert any("has no room" in line for line in told()), told()


def test_a_length_that_is_another_one_by_chance_is_not_padded():
    lines = run_all(lambda x: ops.matmul(x, x.swapaxes(1, 2)), [9, 11, 4, 1, 3, 12], rows_of)
    assert any("equals another one by chance" in line for line in lines), lines


class Convolved(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)
        self.pool, self.last = nn.MaxPool2d(2, 2), nn.Dense(3 * 3 * 3, 5)

    def construct(self, x):
        return self.last(self.pool(ops.relu(self.norm(self.conv(x)))).reshape(x.shape[0], -1))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.LSTM(3, 4, bidirectional=True, batch_first=True)
        self.last = nn.Dense(8, 5)

    def construct(self, x):
        return self.last(self.inner(x)[0]).mean(1)


SHAPED = {Convolved: lambda n: (n, 2, 6, 6), Recurrent: lambda n: (n // 2, n, 3)}


@pytest.mark.parametrize("kind", SHAPED)
def test_networks_of_open_batches_and_times(kind):
    """Parameters, moving statistics and losses, of a compiled step that is called once a length."""

    def run(compiled):
        ms.set_seed(4)
        net = kind()
        net.set_train()
        optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
        derivative = ms.value_and_grad(
            lambda x: ops.square(net(x)).mean(), None, optimizer.parameters
        )

        def step(x):
            loss, gradients = derivative(x)
            optimizer(gradients)
            return loss

        called = ms.jit(step, dynamic="padded") if compiled else step
        chance = np.random.default_rng(9)
        found = []
        for length in (18, 22, 26, 34, 28, 20):
            x = Tensor(chance.standard_normal(SHAPED[kind](length)).astype(np.float32))
            found.append(float(called(x)))
        return found, [p.asnumpy() for p in net.get_parameters()]

    with execution("direct"):
        losses, parameters = run(False)
    with execution("fused"):
        found, mine = run(True)
    np.testing.assert_allclose(found, losses, 2e-5)
    for one, other in zip(mine, parameters, strict=True):
        np.testing.assert_allclose(one, other, 2e-4, 2e-5)
    assert all("padded to lengths of" in line for line in told()), told()


def test_types_and_numbers_of_axes_have_programs_of_their_own():
    """Oracle: NumPy, for the same operators of other types, inside and outside of the function."""
    means = ms.jit(lambda x: x.mean(1), dynamic="padded")
    kinds = [(9, "float16"), (11, "float16"), (13, "float16"), (10, "float32"), (12, "float32")]
    for length, kind in [*kinds, (11, "float64"), (12, "float64"), (14, "float16")]:
        value = 1 if kind == "float16" else 1e6
        for mean in (means, lambda x: x.mean(1)):
            found = mean(Tensor(np.full((3, length), value, kind)))
            assert found.asnumpy().dtype == kind
            np.testing.assert_array_equal(found.asnumpy(), np.full(3, value, kind))
    tripled = ms.jit(lambda x: x * 3, dynamic="padded")
    for shape in [(9, 4), (11, 4), (13, 4), (3, 10, 4), (3, 12, 4), (14,), (15,), (5, 6)]:
        np.testing.assert_array_equal(tripled(Tensor(np.ones(shape, np.float32))).asnumpy(), 3)


def test_nothing_is_padded_that_did_not_ask_for_it():
    asked = ms.jit(lambda x: ops.tanh(x).sum(0), dynamic="padded")
    for length in (9, 11, 13):
        asked(Tensor(np.ones((length, 3), np.float32))).asnumpy()
    ms.debug.ledger().reset()
    plain = ms.jit(lambda x: ops.tanh(x).sum(0))
    for length in (30, 31, 32, 33):
        for _ in range(4):
            plain(Tensor(np.ones((length, 3), np.float32))).asnumpy()
    assert not any("padded" in line for line in told())


def test_lengths_that_no_input_has_are_said():
    lines = run_all(lambda x, n: x + ops.arange(n).sum(), range(9, 14), lambda n: (Tensor(1), n))
    assert any("no length of an input changes" in line for line in lines), lines


def test_a_wrong_index_is_found_as_ever():
    table = Tensor(np.arange(20, dtype=np.float32).reshape(10, 2))

    @ms.jit(dynamic="padded")
    def looked_up(numbers, more):
        return ops.gather(table, numbers, 0).sum(0) + ops.gather(table, numbers + more, 0).sum(0)

    def numbers(length):
        return Tensor(np.arange(length) % 5, ms.int32)

    for length in (12, 13, 15, 17):
        assert looked_up(numbers(length), Tensor(1, ms.int32)).shape == (2,)
    wrong = numbers(18)
    wrong[17] = 10
    for given, more in ((wrong, 0), (numbers(19), 8)):
        with pytest.raises(IndexError, match=r"10|11|12"):
            looked_up(given, Tensor(more, ms.int32)).asnumpy()


def test_buckets_are_at_most_a_quarter_longer():
    known = [bucket(length) for length in range(1, 2000)]
    assert known == sorted(known)
    assert sorted(set(known))[:10] == [8, 10, 12, 14, 16, 20, 24, 28, 32, 40]
    for length, room in enumerate(known, 1):
        assert length <= room <= max(8, 1.25 * length)
