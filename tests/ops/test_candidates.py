# SPDX-License-Identifier: Apache-2.0
"""Drawn classes, and distributions as Primitives: counts and moments by their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, run_everywhere
from mycel import Tensor, ops

CLASSES = np.array([[1], [3], [0]])
DRAWN = 4000


def shares(limit, logarithmic):
    k = np.arange(limit)
    return (
        np.log((k + 2) / (k + 1)) / np.log(limit + 1) if logarithmic else np.full(limit, 1 / limit)
    )


@pytest.mark.parametrize("logarithmic", [False, True])
def test_candidates_with_repeats(logarithmic):
    # Oracle: the formulas; MindSpore 2.10 gives these counts for three of six classes as well.
    kind = ops.LogUniformCandidateSampler if logarithmic else ops.UniformCandidateSampler
    share = shares(6, logarithmic)
    ms.set_seed(1)
    drawn, of_true, of_drawn = kind(1, DRAWN, False, 6)(Tensor(CLASSES))
    drawn = drawn.asnumpy()
    assert_close(of_true.asnumpy(), np.float32(DRAWN * share[CLASSES]))
    assert_close(of_drawn.asnumpy(), np.float32(DRAWN * share[drawn]))
    often = np.bincount(drawn, minlength=6) / DRAWN
    assert np.abs(often - share).max() < 4 * np.sqrt(0.25 / DRAWN)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_candidates_that_differ(logarithmic):
    # Oracle: 1 - (1 - share) ** tries for some number of tries, as in MindSpore 2.10.
    kind = ops.LogUniformCandidateSampler if logarithmic else ops.UniformCandidateSampler
    share = shares(6, logarithmic)
    for seed in range(1, 6):
        drawn, of_true, of_drawn = kind(1, 5, True, 6, seed)(Tensor(CLASSES))
        drawn = drawn.asnumpy()
        assert len(set(drawn)) == 5 and set(drawn) <= set(range(6))
        known = [5 * share, *(1 - (1 - share) ** tries for tries in range(6, 90))]
        found = [n for n in known if np.allclose(n[CLASSES], of_true.asnumpy(), 1e-4)]
        assert len(found) == 1 and np.allclose(found[0][drawn], of_drawn.asnumpy(), 1e-4)


def test_candidates_as_functions_and_what_they_refuse():
    # Oracle: the same seed draws the same, the text.
    classes = Tensor(CLASSES.astype(np.int32))
    assert ops.LogUniformCandidateSampler(1, 3)(classes)[0].shape == (3,)
    first = ops.uniform_candidate_sampler(classes, 1, 3, True, 4, 7)
    assert first[0].dtype == ms.int32 and set(first[0].tolist()) <= {0, 1, 2, 3}
    more = ops.log_uniform_candidate_sampler(classes, 1, 3, True, 4, 7)
    assert [part.shape for part in more] == [(3,), (3, 1), (3,)]
    with pytest.raises(ValueError, match="num_sampled must be at most range_max=4"):
        ops.uniform_candidate_sampler(classes, 1, 5, True, 4)
    with pytest.raises(ValueError, match=r"true_classes must be \[batch, num_true=2\]"):
        ops.uniform_candidate_sampler(classes, 2, 3, True, 4)


def test_distributions_as_primitives():
    # Oracle: means and variances by their formulas.
    ms.set_seed(5)
    shape, alpha = Tensor([100, 100], ms.int32), Tensor([0.5, 3.0])
    for made in (ops.RandomGamma()(shape, alpha), ops.random_gamma(shape, alpha)):
        assert made.shape == (100, 100, 2)
        values = made.asnumpy().reshape(-1, 2).astype(np.float64)
        assert np.allclose(values.mean(0), [0.5, 3], rtol=0.06)
        assert np.allclose(values.var(0), [0.5, 3], rtol=0.12)
    counts = ops.RandomPoisson()(shape, Tensor([0.5, 4.0]))
    assert counts.dtype == ms.int64 and counts.shape == (100, 100, 2)
    values = counts.asnumpy().reshape(-1, 2)
    assert np.allclose(values.mean(0), [0.5, 4], rtol=0.06)
    assert np.allclose(values.var(0), [0.5, 4], rtol=0.12)
    weights = Tensor([[0.0, 9.0, 3.0, 0.0]])
    drawn = ops.MultinomialWithReplacement(4000, True)(weights, Tensor(2), Tensor(5)).asnumpy()
    assert drawn.dtype == np.int64 and abs((drawn == 1).mean() - 0.75) < 0.03
    assert set(drawn.ravel()) == {1, 2}
    some = ops.multinomial_with_replacement(weights, 2, 5, 2)
    assert sorted(some.asnumpy().ravel()) == [1, 2]
    order = ops.RandomShuffle(1, 1)(Tensor(np.arange(50)))
    assert sorted(order.tolist()) == list(range(50)) != order.tolist()


def test_candidates_in_every_execution():
    # Oracle: the shapes, and that all classes of four are drawn.
    def draw(classes):
        drawn, of_true, _ = ops.UniformCandidateSampler(1, 4, True, 4)(classes)
        return ops.sort(drawn)[0], of_true.shape

    for found, shape in run_everywhere(draw, CLASSES).values():
        assert found.tolist() == [0, 1, 2, 3] and shape == (3, 1)
