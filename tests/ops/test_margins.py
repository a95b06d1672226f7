# SPDX-License-Identifier: Apache-2.0
"""Losses by margins and of sequences, distances, and what is drawn by logits or masks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special
from scipy.spatial import distance

import mycel as ms
from harness import assert_close, execution, matches, run_everywhere
from mycel import Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences


def numbers(*shape, seed=0, dtype=np.float64):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("margins")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10. Decoding reads its values.
    agrees(case, recorded, replayed="greedy" not in case.name)


# -- losses without a kernel in MindSpore for CPU ----------------------------------------------

X, TARGET = numbers(3, 4), np.where(numbers(3, 4, seed=1) > 0, 1.0, -1.0)
NEAR, FAR = numbers(3, 4, seed=2), numbers(3, 4, seed=3)
LABELS = np.array([[1, 3, -1, 0], [-1, 2, 2, 0], [0, 1, 2, 3]])


def labelled_margins(x, labels):
    """Every pair of a labelled class and another one, for each row."""
    losses = []
    for row, given in zip(x, labels, strict=True):
        named = list(itertools.takewhile(lambda n: n != -1, given))
        others = [i for i in range(len(row)) if i not in named]
        losses.append(sum(max(0, 1 - row[n] + row[i]) for n in named for i in others) / len(row))
    return np.array(losses)


def triplet(x, near, far, margin=1.0, p=2, epsilon=1e-6, swap=False):
    def length(a, b):
        return (abs(a - b + epsilon) ** p).sum(1) ** (1 / p)

    away = np.minimum(length(x, far), length(near, far)) if swap else length(x, far)
    return np.maximum(length(x, near) - away + margin, 0)


ORACLES = {
    "soft_margin_loss": (
        lambda x, t: ops.soft_margin_loss(x, t, "none"),
        lambda x, t: np.log1p(np.exp(-t * x)),
        (X, TARGET),
    ),
    "SoftMarginLoss": (
        ops.SoftMarginLoss(), lambda x, t: np.log1p(np.exp(-t * x)).mean(), (X, TARGET),
    ),
    "hinge_embedding_loss": (
        lambda x, t: ops.hinge_embedding_loss(x, t, 0.5, "sum"),
        lambda x, t: np.where(t == 1, x, np.maximum(0, 0.5 - x)).sum(),
        (X, TARGET),
    ),
    "multilabel_margin_loss": (
        lambda x: ops.multilabel_margin_loss(x, Tensor(LABELS), "none"),
        lambda x: labelled_margins(x, LABELS),
        (X,),
    ),
    "multilabel_margin_loss of one": (
        lambda x: ops.multilabel_margin_loss(x, Tensor(LABELS[0])),
        lambda x: labelled_margins(x[None], LABELS[:1])[0],
        (X[0],),
    ),
    "MultilabelMarginLoss": (
        lambda x: ops.MultilabelMarginLoss("sum")(x, Tensor(LABELS))[0],
        lambda x: labelled_margins(x, LABELS).sum(),
        (X,),
    ),
    "triplet_margin_loss": (
        lambda *xs: ops.triplet_margin_loss(*xs, reduction="sum"),
        lambda *xs: triplet(*xs).sum(),
        (X, NEAR, FAR),
    ),
    "TripletMarginLoss": (
        lambda *xs: ops.TripletMarginLoss(3, True, 0.01, "none")(*xs, Tensor(2.0)),
        lambda *xs: triplet(*xs, 2.0, 3, 0.01, True),
        (X, NEAR, FAR),
    ),
    "multi_margin_loss by weight": (
        lambda x, w: ops.multi_margin_loss(x, Tensor([1, 0, 3]), 2, 0.5, w, "sum"),
        lambda x, w: sum(
            w[t] * max(0, 0.5 - x[n, t] + x[n, i]) ** 2 / 4
            for n, t in enumerate((1, 0, 3))
            for i in range(4)
            if i != t
        ),
        (X, np.array([1.0, 2.0, 3.0, 4.0])),
    ),
    "pdist of batches": (
        lambda x: ops.pdist(x, 3.0),
        lambda x: np.stack([distance.pdist(part, "minkowski", p=3) for part in x]),
        (numbers(2, 3, 4),),
    ),
    "pdist largest": (
        lambda x: ops.pdist(x, float("inf")), lambda x: distance.pdist(x, "chebyshev"), (X,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ORACLES)
def test_by_definition(name):
    # Oracle: the definition in NumPy; gradients by finite differences.
    function, oracle, inputs = ORACLES[name]
    matches(function, oracle, *inputs)
    expected = gradients_by_differences(function, inputs)
    found = ms.grad(function, tuple(range(len(inputs))))(*map(Tensor, inputs))
    found = found if isinstance(found, tuple) else (found,)
    assert_close([f.asnumpy() for f in found], expected, name, "float32")


def test_distances_have_no_slope_at_zero():
    # Oracle: none of the norms may give NaN where vectors meet; by definition 0.
    x = np.ones((2, 3))
    for p in (1, 2, 3):
        made = ms.grad(lambda x, p=p: ops.dist(x, Tensor(np.ones((2, 3))), p))(Tensor(x))
        np.testing.assert_array_equal(made.asnumpy(), 0)
    made = ms.grad(lambda x: ops.renorm(x, 2, 0, 1.0).sum())(Tensor(x * 0))
    np.testing.assert_array_equal(made.asnumpy(), 1)


# -- sequences ---------------------------------------------------------------------------------


def likelihood(logs, labels, blank, merge=True):
    """The sum over all paths that read as the labels, path by path."""
    total = 0
    for path in itertools.product(range(logs.shape[1]), repeat=len(logs)):
        kept = [c for i, c in enumerate(path) if not (merge and i and path[i - 1] == c)]
        if [c for c in kept if c != blank] == list(labels):
            total += np.exp(logs[np.arange(len(path)), list(path)].sum())
    return -np.log(total) if total else np.inf


def test_sequences_path_by_path():
    # Oracle: every path, one by one; the gradient by finite differences through log_softmax.
    logits = numbers(4, 3, 3)
    labels, steps, lengths = np.array([[1, 1], [2, 0], [1, 2]]), [4, 3, 2], [2, 1, 2]
    logs = special.log_softmax(logits, 2)
    sizes = zip(range(3), steps, lengths, strict=True)
    expected = np.array([likelihood(logs[:t, i], labels[i, :n], 0) for i, t, n in sizes])

    def loss(x, targets=labels):
        given = Tensor(targets), Tensor(steps), Tensor(lengths)
        return ops.ctc_loss(ops.log_softmax(x, 2), *given, 0, "none")[0]

    matches(loss, lambda x: expected, logits)
    # All labels in one vector.
    flat = np.array([1, 1, 2, 1, 2])
    matches(lambda x: loss(x, flat), lambda x: expected, logits)
    slopes = gradients_by_differences(loss, (logits,))[0]
    for name, actual in run_everywhere(ms.grad(loss), logits).items():
        assert_close(actual, slopes, name, "float32")


def test_labels_longer_than_the_sequence():
    # Oracle: there is no path, so the loss is infinite, with a gradient of NaN (MindSpore 2.10);
    # or 0, with a gradient of 0.
    logs = special.log_softmax(numbers(2, 1, 3), 2)
    given = Tensor([[1, 1]]), Tensor([2]), Tensor([2])
    for zero, expected in ((False, np.inf), (True, 0.0)):

        def loss(x, zero=zero):
            return ops.ctc_loss(x, *given, 0, "sum", zero)[0]

        for name, actual in run_everywhere(ms.value_and_grad(loss), logs).items():
            assert actual[0] == expected, name
            assert (actual[1] == 0 if zero else np.isnan(actual[1])).all(), name


@pytest.mark.parametrize("merge", [True, False])
def test_sparse_labels_path_by_path(merge):
    # Oracle: every path, one by one; the last class is the blank.
    logits = numbers(4, 2, 3)
    logs = special.log_softmax(logits, 2)
    places, values = np.array([[0, 0], [1, 0], [1, 1]]), np.array([1, 0, 0])
    expected = np.array([likelihood(logs[:, i], n, 2, merge) for i, n in enumerate(([1], [0, 0]))])
    loss = ops.CTCLoss(ctc_merge_repeated=merge)
    matches(
        lambda x: loss(x, Tensor(places), Tensor(values), Tensor([4, 4]))[0],
        lambda x: expected,
        logits,
    )


# -- tables and chance -------------------------------------------------------------------------


def test_embedding():
    # Oracle: NumPy; rows that count nothing, and gradients shared by how often a row is met.
    table, index = numbers(5, 3), np.array([[0, 3], [4, 3]])
    matches(lambda t, i: ops.embedding(i, t), lambda t, i: t[i], table, index)
    counts = np.array([1.0, 0, 0, 2, 1])[:, None]
    for settings, rows in (({"padding_idx": -2}, [1, 0, 0, 0, 1]),
                           ({"scale_grad_by_freq": True}, [1, 0, 0, 1, 1])):  # fmt: skip
        slope = ms.grad(lambda t, s=settings: ops.embedding(Tensor(index), t, **s))(Tensor(table))
        expected = np.array(rows)[:, None] * np.ones((5, 3)) if rows else counts
        np.testing.assert_array_equal(slope.asnumpy(), expected)


def test_embedding_shortens_its_rows():
    # Oracle: NumPy; rows that are not looked up keep their length.
    index = np.array([0, 3])
    for name in ("direct", "fused", "graph"):
        with execution(name):
            table = ms.Parameter(Tensor(numbers(5, 3)), name="table")
            found = ops.embedding(Tensor(index), table, None, 0.5, 1.0).asnumpy()
        expected = numbers(5, 3)
        expected[index] *= 0.5 / abs(expected[index]).sum(1, keepdims=True)
        np.testing.assert_allclose(found, expected[index], 1e-6)
        np.testing.assert_allclose(table.asnumpy(), expected, 1e-6)


def test_gumbel_softmax():
    # Oracle: how often a category is drawn is its share; the hard choice has the soft derivative.
    ms.set_seed(3)
    logits = np.log(np.array([[0.5, 0.2, 0.3]])).repeat(3000, 0)
    drawn = ops.gumbel_softmax(Tensor(logits), hard=True).asnumpy()
    assert set(np.unique(drawn)) == {0, 1}
    np.testing.assert_allclose(drawn.mean(0), [0.5, 0.2, 0.3], atol=0.04)
    soft = ops.gumbel_softmax(Tensor(logits), tau=0.5).asnumpy()
    np.testing.assert_allclose(soft.sum(1), 1, 1e-12)
    assert 0.1 < soft[:, 0].std() < 0.5
    slope = ms.grad(lambda x: ops.gumbel_softmax(x, 1.0, True)[:, 0].sum())(Tensor(logits[:9]))
    assert (slope.asnumpy()[:, 0] > 0).all()
    assert (slope.asnumpy()[:, 1:] < 0).all()


def test_dropout_by_bits():
    # Oracle: counting, and NumPy's reading of the bits.
    ms.set_seed(3)
    mask = ops.DropoutGenMask(10, 28)((30, 100), 0.75)
    assert mask.dtype is ms.uint8
    assert mask.shape == (384,)
    bits = np.unpackbits(mask.asnumpy(), bitorder="little")[:3000].reshape(30, 100)
    assert abs(bits.mean() - 0.75) < 0.05
    x = numbers(30, 100)
    matches(
        lambda x, m: ops.DropoutDoMask()(x, m, Tensor(0.75)),
        lambda x, m: np.where(bits, x / np.float32(0.75), 0),
        x,
        mask.asnumpy(),
    )
    slope = ms.grad(lambda x: ops.DropoutDoMask()(x, mask, 0.5))(Tensor(x))
    np.testing.assert_array_equal(slope.asnumpy(), bits * 2)
    again = ops.DropoutGenMask(10, 28)((30, 100), 0.75)
    assert (again.asnumpy() != mask.asnumpy()).any()


def test_errors():
    x = Tensor(X)
    with pytest.raises(ValueError, match="The p of multi_margin_loss must be 1 or 2, not 3"):
        ops.multi_margin_loss(x, Tensor([0, 1, 2]), 3)
    with pytest.raises(ValueError, match="must be one of 'mean', 'sum', 'none', but 'all' was"):
        ops.soft_margin_loss(x, x, "all")
    with pytest.raises(ValueError, match="cosine_embedding_loss must be from -1 to 1, not 2"):
        ops.cosine_embedding_loss(x, x, Tensor([1, 1, 1]), 2)
    with pytest.raises(ValueError, match="tau of gumbel_softmax must be positive"):
        ops.gumbel_softmax(x, 0)
    with pytest.raises(ValueError, match="The blank must be one of 4 classes, not 4"):
        ops.ctc_loss(Tensor(numbers(2, 1, 4)), Tensor([[1]]), Tensor([2]), Tensor([1]), 4)
    with pytest.raises(ValueError, match="padding_idx must be from -3 to 2, not 3"):
        ops.embedding(Tensor([0]), x, 3)
