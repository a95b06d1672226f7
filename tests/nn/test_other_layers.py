# SPDX-License-Identifier: Apache-2.0
"""Layers around layers, losses of overlaps, pooling by chance: each by one `check_cell`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import mycel as ms
from check_cell import check_cell
from mycel import COOTensor, Tensor, mint, nn, ops

RANDOM = np.random.default_rng(5)
ROWS, OTHERS = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(4, 3))
SHARES, HITS = RANDOM.uniform(0.1, 1, (4, 3)), (OTHERS > 0).astype(float)
IMAGES = RANDOM.normal(size=(2, 3, 4, 4))
CLASSES = np.array([0, 2, 1, 2])
DOUBLE = ms.float64


def wide(net):
    """The layer with Parameters of Float64, for which it has no argument."""
    for parameter in net.get_parameters():
        parameter.set_dtype(DOUBLE)
    return net


def dice(x, y, smooth=1e-5):
    return 1 - 2 * (x * y).sum() / ((x * x).sum() + (y * y).sum() + smooth)


def focal(x, labels):
    logs = np.take_along_axis(special.log_softmax(x, 1), labels, 1)
    return (-((1 - np.exp(logs)) ** 2) * logs).mean()


def distances(x, y):
    return np.sqrt(((x - y) ** 2).sum(1))


def places(x):
    """ImageGradients: the differences of rows and of columns, the last ones zero."""
    down = np.pad(np.diff(x, axis=2), ((0, 0), (0, 0), (0, 1), (0, 0)))
    return down, np.pad(np.diff(x, axis=3), ((0, 0), (0, 0), (0, 0), (0, 1)))


def summed(ids, values, fields, table):
    """MultiFieldEmbeddingLookup: the weighted rows of each field."""
    made = np.zeros((ids.shape[0], 3, 2))
    for n, column in np.ndindex(*ids.shape):
        made[n, fields[n, column]] += values[n, column] * table[ids[n, column]]
    return made


# A layer without Parameters, its inputs, and the same in NumPy.
LAYERS = {
    "DiceLoss": (nn.DiceLoss, (SHARES, HITS), dice),
    "MultiClassDiceLoss": (
        nn.MultiClassDiceLoss,
        (ROWS, HITS),
        lambda x, y: np.mean([dice(special.softmax(x, 1)[:, n], y[:, n]) for n in range(3)]),
    ),
    "FocalLoss": (nn.FocalLoss, (ROWS, CLASSES[:, None]), focal),
    "TripletMarginWithDistanceLoss": (
        lambda: nn.TripletMarginWithDistanceLoss(margin=0.5),
        (ROWS, OTHERS, SHARES),
        lambda x, y, z: np.maximum(0, distances(x, y) - distances(x, z) + 0.5).mean(),
    ),
    "MatMul": (lambda: nn.MatMul(False, True), (ROWS, OTHERS), lambda x, y: x @ y.T),
    "Moments": (
        lambda: nn.Moments(0, True),
        (ROWS,),
        lambda x: (x.mean(0, keepdims=True), x.var(0, keepdims=True)),
    ),
    "Range": (lambda: nn.Range(1, 8, 2), (), lambda: np.arange(1, 8, 2, np.int32)),
    "Triu": (nn.Triu, (ROWS,), np.triu),
    "ImageGradients": (nn.ImageGradients, (IMAGES,), places),
    "FractionalMaxPool2d": (
        lambda: nn.FractionalMaxPool2d(2, 2, _random_samples=Tensor(np.full((2, 3, 2), 0.9))),
        (IMAGES,),
        lambda x: x.reshape(2, 3, 2, 2, 2, 2).max((3, 5)),
    ),
    "FractionalMaxPool3d": (
        lambda: nn.FractionalMaxPool3d(
            (1, 2, 2), (1, 2, 2), _random_samples=Tensor(np.full((1, 2, 3), 0.9))
        ),
        (IMAGES.reshape(1, 2, 3, 4, 4)[:, :, :1].copy(),),
        lambda x: x.reshape(1, 2, 1, 2, 2, 2, 2).max((4, 6)),
    ),
    "FlashAttention": (
        lambda: nn.FlashAttention(4, 3),
        (IMAGES, 2 * IMAGES, IMAGES**2),
        lambda q, k, v: special.softmax(q @ k.swapaxes(2, 3) / 2, 3) @ v,
    ),
    "SampledSoftmaxLoss": (
        lambda: nn.SampledSoftmaxLoss(3, 3),
        (RANDOM.normal(size=(3, 2)), RANDOM.normal(size=3), CLASSES[:, None], ROWS[:, :2].copy()),
        lambda w, b, labels, x: -special.log_softmax(x @ w.T + b, 1)[np.arange(4), labels[:, 0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    """The oracles are NumPy and SciPy."""
    make, inputs, oracle = LAYERS[name]
    check_cell(make, *inputs, names={}, oracle=lambda _, *xs: oracle(*xs))


class Sequences(nn.Cell):
    """The loss of sequences with what its gradient supposes: logarithms by log_softmax."""

    def __init__(self):
        super().__init__()
        self.loss = nn.CTCLoss(reduction="none")

    def construct(self, x, targets, steps, lengths):
        return self.loss(ops.log_softmax(x, 2), targets, steps, lengths)


def test_ctc():
    """The oracle is the sum over all paths of two steps that spell a label of one letter."""

    def oracle(_, x, targets, *lengths):
        first, second = special.softmax(x, 2)
        rows, label = np.arange(2), targets[:, 0]
        both = first[rows, label] * second[rows, label]
        one = first[rows, 0] * second[rows, label] + first[rows, label] * second[rows, 0]
        return -np.log(both + one)

    two = np.array([2, 2])
    targets = np.array([[1], [2]])
    check_cell(Sequences, RANDOM.normal(size=(2, 2, 3)), targets, two, two // 2,
               names={}, oracle=oracle)  # fmt: skip


class Dense(nn.Cell):
    """The layer on a sparse matrix."""

    def __init__(self):
        super().__init__()
        self.layer = nn.SparseToDense()

    def construct(self, values):
        return self.layer(COOTensor(Tensor([[0, 1], [1, 2]]), values, (2, 3)))


def test_sparse_to_dense():
    """The oracle is by hand."""
    check_cell(
        Dense,
        np.array([2.0, 3.0]),
        names={},
        oracle=lambda _, v: np.array([[0, v[0], 0], [0, 0, v[1]]]),
    )


class Resized(nn.Cell):
    """The layer with its size, which is an argument of the call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.ResizeBilinear()

    def construct(self, x):
        return self.layer(x, (1, 7), align_corners=True)


def test_resize_bilinear():
    """The oracle is numpy.interp."""
    x = IMAGES[:, :, :1].copy()
    whole = np.linspace(0, 3, 7)
    line = np.apply_along_axis(lambda row: np.interp(whole, np.arange(4), row), 3, x)
    check_cell(Resized, x, names={}, oracle=lambda _, x: line)


def test_lookup_of_fields():
    """The oracle is the sum by its definition."""
    ids, fields = np.array([[0, 1, 3], [2, 2, 0]]), np.array([[0, 0, 1], [1, 1, 2]])
    check_cell(
        lambda: nn.MultiFieldEmbeddingLookup(4, 2, 3, dtype=DOUBLE),
        ids.astype(np.int32), SHARES[:2], fields.astype(np.int32),
        names={"embedding_table": (4, 2)},
        oracle=lambda v, *xs: summed(*xs, v["embedding_table"]),
    )  # fmt: skip


# -- layers around layers ----------------------------------------------------------------------

STATISTICS = ("moving_mean", "moving_variance")


def normed(x, values, prefix, eps=1e-5):
    """What BatchNorm predicts at first."""
    shape = (1, -1, *[1] * (x.ndim - 2))
    gamma, beta = (values[prefix + n].reshape(shape) for n in ("gamma", "beta"))
    return x / np.sqrt(1 + eps) * gamma + beta


def test_convolution_with_norm_and_activation():
    """The oracle is a product with the one element of the kernel."""
    names = {"conv.weight": (2, 3, 1, 1), "conv.bias": (2,)}
    norm = {f"batchnorm.{n}": (2,) for n in (*STATISTICS, "gamma", "beta")}
    check_cell(
        lambda: wide(nn.Conv2dBnAct(3, 2, 1, has_bn=True, has_bias=True, activation="relu")),
        IMAGES,
        names={**names, **norm},
        oracle=lambda v, x: np.maximum(
            normed(np.einsum("nihw,oi->nohw", x, v["conv.weight"][..., 0, 0])
                   + v["conv.bias"].reshape(1, 2, 1, 1), v, "batchnorm."),
            0,
        ),
        moved=tuple(f"batchnorm.{n}" for n in STATISTICS),
    )  # fmt: skip


def test_dense_with_norm_and_activation():
    """The oracle is NumPy."""
    norm = {f"batchnorm.{n}": (2,) for n in (*STATISTICS, "gamma", "beta")}
    check_cell(
        lambda: wide(nn.DenseBnAct(3, 2, has_bn=True, activation="tanh")),
        ROWS,
        names={"dense.weight": (2, 3), "dense.bias": (2,), **norm},
        oracle=lambda v, x: np.tanh(
            normed(x @ v["dense.weight"].T + v["dense.bias"], v, "batchnorm.")
        ),
        moved=tuple(f"batchnorm.{n}" for n in STATISTICS),
    )


@pytest.mark.parametrize("make", [nn.SyncBatchNorm, mint.nn.SyncBatchNorm])
def test_norm_of_all_devices(make):
    """The oracle is NumPy: on one device it is BatchNorm."""
    statistics = ("mean", "variance")
    names = (*statistics, "gamma", "beta")
    if make is mint.nn.SyncBatchNorm:
        statistics = ("running_mean", "running_var", "num_batches_tracked")
        names = (*statistics, "weight", "bias")
    check_cell(
        lambda: make(3, dtype=DOUBLE),
        IMAGES,
        names={name: () if name.startswith("num") else (3,) for name in names},
        oracle=lambda v, x: x / np.sqrt(1 + 1e-5),
        moved=statistics,
    )


def test_steps_of_time():
    """The oracle is NumPy: the layer works on each step alone."""
    check_cell(
        lambda: nn.TimeDistributed(nn.Dense(4, 2, dtype=DOUBLE), 1, 0),
        IMAGES[0],
        names={"layer.weight": (2, 4), "layer.bias": (2,)},
        oracle=lambda v, x: np.stack(
            [x[:, n] @ v["layer.weight"].T + v["layer.bias"] for n in range(4)], 1
        ),
    )


def test_layers_behind_each_other():
    """The oracle is NumPy."""
    check_cell(
        lambda: nn.SequentialCell(nn.Dense(3, 2, dtype=DOUBLE), nn.Tanh()),
        ROWS,
        names={"0.weight": (2, 3), "0.bias": (2,)},
        oracle=lambda v, x: np.tanh(x @ v["0.weight"].T + v["0.bias"]),
    )


def dense():
    return nn.Dense(3, 2, dtype=DOUBLE)


def predicted(v, x):
    return x @ v["weight"].T + v["bias"]


def gradients(out, x):
    """Of the Parameters, for the gradient of the output."""
    return out.T @ x, out.sum(0)


LABELS = RANDOM.normal(size=(4, 2))
NAMES = {"weight": (2, 3), "bias": (2,)}
# Cells that hold a network, with its loss or its derivative.
AROUND = {
    "WithLossCell": (
        lambda: nn.WithLossCell(dense(), nn.MSELoss()),
        (ROWS, LABELS),
        lambda v, x, y: ((predicted(v, x) - y) ** 2).mean(),
    ),
    "WithEvalCell": (
        lambda: nn.WithEvalCell(dense(), nn.MSELoss()),
        (ROWS, LABELS),
        lambda v, x, y: (((predicted(v, x) - y) ** 2).mean(), predicted(v, x), y),
    ),
    "WithGradCell": (
        lambda: nn.WithGradCell(dense(), nn.MSELoss()),
        (ROWS, LABELS),
        lambda v, x, y: gradients((predicted(v, x) - y) / 4, x),
    ),
    "ForwardValueAndGrad": (
        lambda: nn.ForwardValueAndGrad(dense(), get_by_list=True),
        (ROWS,),
        lambda v, x: (predicted(v, x), gradients(np.ones((4, 2)), x)),
    ),
    "Jvp": (
        lambda: nn.Jvp(dense()),
        (ROWS, OTHERS),
        lambda v, x, dx: (predicted(v, x), dx @ v["weight"].T),
    ),
    "Vjp": (
        lambda: nn.Vjp(dense()),
        (ROWS, LABELS),
        lambda v, x, dy: (predicted(v, x), dy @ v["weight"]),
    ),
}
PREFIXES = {"Jvp": "fn.", "Vjp": "fn."}


@pytest.mark.parametrize("name", AROUND)
def test_around_a_network(name):
    """The oracle is NumPy."""
    make, inputs, oracle = AROUND[name]
    prefix = PREFIXES.get(name, "")
    check_cell(
        make,
        *inputs,
        names={prefix + key: shape for key, shape in NAMES.items()},
        oracle=lambda v, *xs: oracle({k.removeprefix(prefix): a for k, a in v.items()}, *xs),
    )
