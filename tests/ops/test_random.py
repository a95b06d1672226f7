# SPDX-License-Identifier: Apache-2.0
"""Random operators: the right distribution, the same numbers from the same seed everywhere.

Oracles: SciPy's distributions (Kolmogorov-Smirnov and chi-square tests of drawn numbers).
"""

from __future__ import annotations

import types

import numpy as np
import pytest
import scipy.stats

import mycel as ms
from harness import execution
from mycel import Tensor, ops
from mycel.kernel.spell import namespaces

mint = types.SimpleNamespace(**namespaces["mint"])

COUNT = 20_000
# A right generator fails one of these tests in ten thousand runs, and the seed is fixed.
LEAST = 1e-4


def drawn(draw) -> np.ndarray:
    ms.set_seed(11)
    return draw().asnumpy()


CONTINUOUS = {
    "rand": (lambda: ops.rand(COUNT), scipy.stats.uniform()),
    "rand_half": (lambda: ops.rand(COUNT, dtype=ms.float64), scipy.stats.uniform()),
    "rand_like": (lambda: ops.rand_like(ops.zeros(COUNT)), scipy.stats.uniform()),
    "uniform": (
        lambda: ops.uniform((COUNT,), Tensor(-1.0), Tensor(3.0)),
        scipy.stats.uniform(-1, 4),
    ),
    "UniformReal": (lambda: ops.UniformReal()((COUNT,)), scipy.stats.uniform()),
    "randn": (lambda: ops.randn(COUNT), scipy.stats.norm()),
    "randn_like": (lambda: ops.randn_like(ops.zeros(COUNT)), scipy.stats.norm()),
    "standard_normal": (lambda: ops.standard_normal((COUNT,)), scipy.stats.norm()),
    "normal": (lambda: ops.normal((COUNT,), 2.0, 0.5), scipy.stats.norm(2, 0.5)),
    "mint.normal": (lambda: mint.normal(2.0, 0.5, (COUNT,)), scipy.stats.norm(2, 0.5)),
    "TruncatedNormal": (lambda: ops.TruncatedNormal()((COUNT,)), scipy.stats.truncnorm(-2, 2)),
    "laplace": (lambda: ops.laplace((COUNT,), 1.0, 2.0), scipy.stats.laplace(1, 2)),
    "gamma": (
        lambda: ops.gamma((COUNT,), Tensor(2.0), Tensor(4.0)),
        scipy.stats.gamma(2, scale=1 / 4),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, distribution = CONTINUOUS[name]
    assert scipy.stats.kstest(drawn(draw).astype(np.float64), distribution.cdf).pvalue > LEAST


DISCRETE = {
    "randint": (lambda: ops.randint(-3, 7, (COUNT,)), dict.fromkeys(range(-3, 7), 0.1)),
    "mint.randint": (lambda: mint.randint(4, (COUNT,)), dict.fromkeys(range(4), 0.25)),
    "randint_like": (
        lambda: ops.randint_like(ops.zeros(COUNT, ms.int32), 0, 3),
        dict.fromkeys(range(3), 1 / 3),
    ),
    "UniformInt": (lambda: ops.UniformInt()((COUNT,), 0, 5), dict.fromkeys(range(5), 0.2)),
    "bernoulli": (lambda: ops.bernoulli(ops.ones(COUNT), 0.3), {0: 0.7, 1: 0.3}),
    "mint.bernoulli": (
        lambda: mint.bernoulli(ops.full_like(ops.ones(COUNT), 0.3)),
        {0: 0.7, 1: 0.3},
    ),
    "multinomial": (
        lambda: ops.multinomial(Tensor([1.0, 3.0, 6.0]), COUNT),
        {0: 0.1, 1: 0.3, 2: 0.6},
    ),
    "random_categorical": (
        lambda: ops.random_categorical(ops.log(Tensor([[1.0, 3.0, 6.0]])), COUNT),
        {0: 0.1, 1: 0.3, 2: 0.6},
    ),
    "poisson": (
        lambda: ops.random_poisson((COUNT,), Tensor(1.0)),
        {k: scipy.stats.poisson(1).pmf(k) for k in range(9)},
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, shares = DISCRETE[name]
    values, counts = np.unique(drawn(draw), return_counts=True)
    found = dict(zip(values.tolist(), counts.tolist(), strict=True))
    assert set(found) <= set(shares)
    expected = np.array(list(shares.values()))
    observed = [found.get(k, 0) for k in shares]
    expected = expected / expected.sum() * sum(observed)
    assert scipy.stats.chisquare(observed, expected).pvalue > LEAST


def test_order():
    """Oracle: sorting gives the numbers back, and every place is reached equally often."""
    order = drawn(lambda: ops.randperm(1000))
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    ms.set_seed(2)
    # Each is read by itself: one program of hundreds of sorts would take minutes to compile.
    firsts = [int(ops.randperm(4)[0]) for _ in range(200)]
    assert scipy.stats.chisquare(np.bincount(firsts, minlength=4)).pvalue > LEAST
    np.testing.assert_array_equal(np.sort(drawn(lambda: ops.shuffle(Tensor([5, 7, 9])))), [5, 7, 9])


def test_without_replacement_each_is_drawn_once():
    weights = Tensor(np.tile([0.5, 0.2, 0.2, 0.1], (500, 1)).astype(np.float32))
    chosen = drawn(lambda: ops.multinomial(weights, 4, replacement=False))
    assert chosen.dtype == np.int32
    np.testing.assert_array_equal(np.sort(chosen), np.tile(np.arange(4), (500, 1)))
    # Oracle: the first of such a draw follows the weights.
    counts = np.bincount(chosen[:, 0], minlength=4)
    assert scipy.stats.chisquare(counts, [250, 100, 100, 50]).pvalue > LEAST


DRAWS = {
    "rand": lambda: ops.rand(5),
    "randn": lambda: ops.randn(5) * 2,
    "randint": lambda: ops.randint(0, 100, (5,)),
    "normal": lambda: ops.normal((5,), 0.0, 1.0),
    "uniform": lambda: ops.uniform((5,), Tensor(0.0), Tensor(1.0)),
    "bernoulli": lambda: ops.bernoulli(ops.ones(50)),
    "multinomial": lambda: ops.multinomial(Tensor([1.0, 2.0, 3.0]), 20),
    "randperm": lambda: ops.randperm(20),
    "seeded": lambda: ops.rand(5, seed=7),
}


@pytest.mark.parametrize("name", DRAWS)
def test_one_seed_gives_the_same_numbers_everywhere(name):
    """Oracle: the other executions."""
    draw, results = DRAWS[name], {}
    for how in ("direct", "fused"):
        with execution(how):
            ms.set_seed(5)
            results[how] = [draw().asnumpy() for _ in range(5)]
    remembered = ms.jit(draw)
    ms.set_seed(5)
    before = ms.debug.ledger().counts.replays
    results["graph"] = [remembered().asnumpy() for _ in range(5)]
    assert ms.debug.ledger().counts.replays > before
    for how in ("fused", "graph"):
        np.testing.assert_array_equal(results[how], results["direct"], how)
    # Numbers differ from call to call.
    assert not np.array_equal(results["graph"][-1], results["graph"][-2])


def test_a_seed_of_the_call():
    """With one and without `set_seed`: numbers that change from call to call."""
    ms.set_seed(3)
    first, second = ops.rand(4, seed=1).asnumpy(), ops.rand(4, seed=1).asnumpy()
    ms.set_seed(3)
    np.testing.assert_array_equal(ops.rand(4, seed=1).asnumpy(), first)
    assert not np.array_equal(first, second)
    ms.set_seed(3)
    assert not np.array_equal(ops.rand(4, seed=2).asnumpy(), first)


def test_a_generator_of_the_call():
    made = [mint.rand(4, generator=ms.Generator(seed=9)).asnumpy() for _ in range(2)]
    np.testing.assert_array_equal(*made)


def test_parameters_of_a_distribution_get_gradients():
    """Oracle: z = (x - mean) / deviation, so the gradients of x are 1 and z."""

    def draw(mean, deviation):
        ms.set_seed(4)
        return ops.normal((6,), mean, deviation)

    mean, deviation = Tensor(1.0), Tensor(2.0)
    x = draw(mean, deviation).asnumpy()
    by_mean, by_deviation = ms.grad(draw, (0, 1))(mean, deviation)
    np.testing.assert_allclose(by_mean.asnumpy(), 6)
    np.testing.assert_allclose(by_deviation.asnumpy(), ((x - 1) / 2).sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: ops.rand(2, dtype=ms.int32), "rand draws real numbers"),
        (lambda: ops.randint(5, 0, (2,)), "No integer lies from 5 to before 0"),
        (lambda: ops.randint(0, 5, 3), "The size must be a tuple"),
        (lambda: ops.randint_like(Tensor([1.0]), 0, 5), "randint draws integers"),
        (lambda: ops.multinomial(Tensor([1.0]), 2, False), "2 cannot be drawn"),
    ],
)
def test_mistakes(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
