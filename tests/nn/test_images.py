# SPDX-License-Identifier: Apache-2.0
"""Measures of pictures, joined layers, tables of fields, and operators as layers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import mycel as ms
from check_cell import check_cell
from mycel import Tensor, nn
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(5)
FIRST, SECOND = RANDOM.uniform(size=(2, 2, 2, 6, 6))
ROWS = RANDOM.normal(size=(3, 4))
PICTURES = RANDOM.normal(size=(2, 4, 4, 6))
DOUBLE = ms.float64

WITH_LAYERS = [
    pair
    for family in ("older_layers", "unpooling", "detection")
    for pair in recorded.named(family)
    if "nn." in pair[0].expression + pair[0].program
]


@pytest.mark.parametrize(("case", "answer"), WITH_LAYERS, ids=recorded.case_name)
def test_as_recorded(case, answer):
    """The oracle is MindSpore 2.10."""
    recorded.check(case, answer)


def test_bilinear_operator():
    """The oracle is MindSpore 2.10."""
    ((case, answer),) = recorded.named("older_layers", "bidense_function")
    recorded.check(case, answer)


# -- by definition -----------------------------------------------------------------------------


def window(size, sigma):
    """A Gaussian window as SSIM has it, in Float32 as its Parameter is."""
    weights = np.exp(-((np.arange(size) - (size - 1) // 2) ** 2) / (2 * sigma**2))
    made = np.outer(weights, weights)
    return (made / made.sum()).astype(np.float32)


def similarity(a, b, kernel):
    """The means of the measure and of its second part, [N, C] each."""

    def smoothed(x):
        seen = np.lib.stride_tricks.sliding_window_view(x, kernel.shape, (2, 3))
        return (seen * kernel).sum((4, 5))

    mean_a, mean_b = smoothed(a), smoothed(b)
    light = (2 * mean_a * mean_b + 1e-4) / (mean_a**2 + mean_b**2 + 1e-4)
    together = 2 * (smoothed(a * b) - mean_a * mean_b) + 9e-4
    contrast = together / (smoothed(a * a + b * b) - mean_a**2 - mean_b**2 + 9e-4)
    return (light * contrast).mean((2, 3)), contrast.mean((2, 3))


def halved(x):
    return x.reshape(2, 2, 3, 2, 3, 2).mean((3, 5))


def several_sizes(a, b):
    kernel = window(3, 1.5)
    large, small = similarity(a, b, kernel)[1], similarity(halved(a), halved(b), kernel)[0]
    return (np.maximum(large, 0) ** 0.4 * np.maximum(small, 0) ** 0.6).mean(1)


def test_ssim():
    check_cell(
        lambda: nn.SSIM(filter_size=3),
        FIRST,
        SECOND,
        names={"conv.weight": (1, 1, 3, 3)},
        oracle=lambda _, a, b: similarity(a, b, window(3, 1.5))[0].mean(1),
    )


def test_msssim():
    close = FIRST + SECOND / 4
    check_cell(
        lambda: nn.MSSSIM(power_factors=(0.4, 0.6), filter_size=3),
        FIRST,
        close,
        names={f"multi_convs_list.{i}.weight": (1, 1, 3, 3) for i in (0, 1)},
        oracle=lambda _, a, b: several_sizes(a, b),
    )


def test_psnr():
    check_cell(
        lambda: nn.PSNR(2.0),
        FIRST,
        SECOND,
        names={},
        oracle=lambda _, a, b: 10 * np.log10(4 / ((a - b) ** 2).mean((1, 2, 3))),
    )


def shortened(x, axis, most):
    length = np.sqrt((x * x).sum(axis, keepdims=True))
    return x * most / np.maximum(length, most)


PLAIN = {
    "CentralCrop": (lambda: nn.CentralCrop(0.5), PICTURES, lambda x: x[:, :, 1:3, 1:5]),
    "Norm": (lambda: nn.Norm(1, True), ROWS, lambda x: np.linalg.norm(x, axis=1, keepdims=True)),
    "ReduceLogSumExp": (
        lambda: nn.ReduceLogSumExp(0), ROWS, lambda x: special.logsumexp(x, 0),
    ),
    "LRN": (
        lambda: nn.LRN(1, 2.0, 0.5, 0.75),
        PICTURES,
        lambda x: x / (2 + 0.5 * sum(
            np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, i : i + 4] for i in range(3)
        )) ** 0.75,
    ),
    "Roll": (lambda: nn.Roll((1, -2), (0, 1)), ROWS, lambda x: np.roll(x, (1, -2), (0, 1))),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), PICTURES, lambda x: x[:, [0, 2, 1, 3]]),
    "LPPool2d": (
        lambda: nn.LPPool2d(2, 2),
        PICTURES,
        lambda x: np.sqrt((x * x).reshape(2, 4, 2, 2, 3, 2).sum((3, 5))),
    ),
    "Tril": (nn.Tril, ROWS, np.tril),
    "L1Regularizer": (lambda: nn.L1Regularizer(0.5), ROWS, lambda x: 0.5 * abs(x).sum()),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_layer_without_parameters(name):
    """The oracles are NumPy and SciPy."""
    make, data, oracle = PLAIN[name]
    check_cell(make, data, names={}, oracle=lambda _, x: oracle(x))


def test_clip_by_norm():
    """The oracle is NumPy; a row longer than the norm and a shorter one."""
    rows = ROWS * [[9], [0.1], [1]]
    check_cell(
        lambda: nn.ClipByNorm(1),
        rows,
        np.array(1.5),
        names={},
        oracle=lambda _, x, most: shortened(x, 1, most),
    )


def test_bidense():
    check_cell(
        lambda: nn.BiDense(4, 3, 2, dtype=DOUBLE),
        ROWS,
        ROWS[:, :3] + 1,
        names={"weight": (2, 4, 3), "bias": (2,)},
        oracle=lambda v, x, y: np.einsum("bn,onm,bm->bo", x, v["weight"], y) + v["bias"],
    )


def test_lookup():
    """The oracle is NumPy; a number without a row gives zeros, a long row is shortened."""

    def oracle(values, numbers):
        table = np.concatenate([values["embedding_table"], np.zeros((1, 2))])
        return shortened(table[np.minimum(numbers, 4)], 2, 0.01)

    check_cell(
        lambda: nn.EmbeddingLookup(4, 2, max_norm=0.01, dtype=DOUBLE),
        np.array([[0, 3, 9], [2, 2, 1]]),
        names={"embedding_table": (4, 2)},
        oracle=oracle,
    )


@pytest.mark.parametrize("operator", ["SUM", "MEAN", "MAX"])
def test_fields(operator):
    """The oracle is NumPy, field by field; the last has no numbers."""
    numbers, fields = np.array([[0, 1, 3], [2, 2, 0]]), np.array([[0, 0, 1], [1, 1, 0]])

    def oracle(values, weights):
        made = np.zeros((2, 3, 2))
        for b, f in np.ndindex(2, 2):
            here = fields[b] == f
            rows = values["embedding_table"][numbers[b, here]] * weights[b, here, None]
            share = {"SUM": 1, "MEAN": abs(weights[b, here]).sum(), "MAX": 1}[operator]
            made[b, f] = rows.max(0) if operator == "MAX" else rows.sum(0) / share
        return made

    class Fixed(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.layer = nn.MultiFieldEmbeddingLookup(4, 2, 3, operator=operator, dtype=DOUBLE)

        def construct(self, weights):
            return self.layer(Tensor(numbers), weights, Tensor(fields))

    made = Fixed()
    weights = np.array([[1.0, -0.5, 0.75], [2.0, 1.5, 0.25]])
    values = {"embedding_table": made.layer.embedding_table.asnumpy()}
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for _ in range(3):
            found = made(Tensor(weights)).asnumpy()
        np.testing.assert_allclose(found, oracle(values, weights), 1e-6)
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("name", ["Dropout1d", "Dropout3d"])
def test_dropout_in_training(name):
    """The oracle is counting: the share of empty channels, and the factor of the others."""
    ms.set_seed(5)
    inner = (5,) if name == "Dropout1d" else (5, 1, 2)
    made = getattr(nn, name)(p=0.25).set_train()(ms.ops.ones((50, 40, *inner))).asnumpy()
    assert set(np.unique(made)) == {0, np.float32(4 / 3)}
    empty = (made.reshape(2000, -1) == 0).mean(1)
    assert set(empty) == {0.0, 1.0}
    assert abs(empty.mean() - 0.25) < 0.05


def test_steps_at_once_are_the_steps_one_by_one():
    """The oracle is the layer that is called for each step."""
    layer = nn.Conv2d(4, 3, 3)
    x = ms.ops.randn(2, 4, 5, 6, 6)
    one = nn.TimeDistributed(layer, 2)(x).asnumpy()
    assert one.shape == (2, 3, 5, 6, 6)
    at_once = nn.TimeDistributed(layer, 2, 0)(x).asnumpy()
    np.testing.assert_allclose(at_once, one, 1e-4, 1e-6)


def test_errors():
    x = ms.ops.ones((1, 1, 4, 4))
    with pytest.raises(ValueError, match="images of SSIM must be at least 11 high and wide"):
        nn.SSIM()(x, x)
    with pytest.raises(ValueError, match=r"PSNR.max_val must be a number above 0, but 0"):
        nn.PSNR(0)
    with pytest.raises(TypeError, match=r"CentralCrop.central_fraction must be a float, but int 1"):
        nn.CentralCrop(1)
    with pytest.raises(TypeError, match=r"Norm.axis must be an integer or several, but 'a'"):
        nn.Norm("a")
    with pytest.raises(TypeError, match=r"Conv2dBnAct.activation must be a name, a Cell or a Prim"):
        nn.Conv2dBnAct(1, 1, 1, activation=3)
    with pytest.raises(ValueError, match=r"EmbeddingLookup.sparse must be True with target='CPU'"):
        nn.EmbeddingLookup(4, 2, sparse=False)
    with pytest.raises(ValueError, match=r"Roll.axis must be 2 dimensions"):
        nn.Roll((1, 2), 0)
