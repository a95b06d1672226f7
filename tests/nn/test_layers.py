# SPDX-License-Identifier: Apache-2.0
"""Layers: each by one `check_cell` with NumPy or SciPy as oracle, and as recorded in MindSpore."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import signal, special

import mycel as ms
from check_cell import check_cell
from fixtures.load import rows
from harness import assert_close, run_everywhere
from mycel import nn
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(7)
ROWS = RANDOM.normal(size=(4, 3))
IMAGES = RANDOM.normal(size=(2, 4, 6, 5))
VOLUME = RANDOM.normal(size=(2, 2, 2, 3, 2))
SEQUENCES = RANDOM.normal(size=(2, 2, 7))
IDS = np.array([[0, 2], [3, 0]], np.int32)
DOUBLE = ms.float64


# -- oracles -----------------------------------------------------------------------------


def convolved(x, weight, stride=(1, 1), pads=((0, 0), (0, 0)), dilation=(1, 1), group=1):
    """The definition of a convolution, one output at a time by SciPy's correlation."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    outputs, channels, *kernel = weight.shape
    wide = np.zeros(
        (outputs, channels, *[(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)])
    )
    wide[:, :, :: dilation[0], :: dilation[1]] = weight
    made = []
    for image in x:
        planes = []
        for o in range(outputs):
            first = o // (outputs // group) * channels
            part = image[first : first + channels]
            planes.append(signal.correlate(part, wide[o], "valid")[0])
        made.append(np.stack(planes)[:, :: stride[0], :: stride[1]])
    return np.stack(made)


def windows(x, kernel, stride, pads=((0, 0), (0, 0)), fill=0.0):
    """All windows of the last two dimensions, as two new ones at the end."""
    x = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return seen[:, :, :: stride[0], :: stride[1]]


def normalised(x, axes, eps):
    """x less its mean, over the root of its variance."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


def channels(vector, rank):
    return vector.reshape(1, -1, *[1] * (rank - 2))


def trained_norm(values, x, prefix=""):
    made = normalised(x, (0, *range(2, x.ndim)), 1e-5)
    gamma, beta = (channels(values[prefix + n], x.ndim) for n in ("gamma", "beta"))
    return made * gamma + beta


def predicted_norm(values, x):
    mean, variance = (channels(values[n], x.ndim) for n in ("mean", "variance"))
    gamma, beta = (channels(values[n], x.ndim) for n in ("gamma", "beta"))
    return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta


def grouped_norm(values, x):
    parts = x.reshape(x.shape[0], 2, -1)
    made = normalised(parts, 2, 1e-5).reshape(x.shape)
    return made * channels(values["gamma"], 4) + channels(values["beta"], 4)


def relu(x):
    return np.maximum(x, 0)


# -- layers with Parameters ---------------------------------------------------------------


def test_dense():
    check_cell(
        lambda: nn.Dense(3, 2, dtype=DOUBLE),
        ROWS,
        names={"weight": (2, 3), "bias": (2,)},
        oracle=lambda v, x: x @ v["weight"].T + v["bias"],
    )


def test_dense_without_bias_on_three_dimensions():
    check_cell(
        lambda: nn.Dense(3, 2, has_bias=False, dtype=DOUBLE),
        ROWS.reshape(2, 2, 3),
        names={"weight": (2, 3)},
        oracle=lambda v, x: x @ v["weight"].T,
    )


def test_dense_with_activation():
    check_cell(
        lambda: nn.Dense(3, 2, activation="tanh", dtype=DOUBLE),
        ROWS,
        names={"weight": (2, 3), "bias": (2,)},
        oracle=lambda v, x: np.tanh(x @ v["weight"].T + v["bias"]),
    )


CONVOLUTIONS = {
    "same": ({}, {"pads": ((1, 1), (1, 1))}),
    "same with stride": ({"stride": 2}, {"stride": (2, 2), "pads": ((0, 1), (1, 1))}),
    "valid": ({"pad_mode": "valid", "has_bias": True}, {}),
    "pad": ({"pad_mode": "pad", "padding": 2}, {"pads": ((2, 2), (2, 2))}),
    "four paddings": (
        {"pad_mode": "pad", "padding": (1, 0, 2, 3)},
        {"pads": ((1, 0), (2, 3))},
    ),
    "groups": ({"group": 2, "pad_mode": "valid"}, {"group": 2}),
    "depth by depth": ({"group": 4, "pad_mode": "valid"}, {"group": 4}),
    "dilation": ({"dilation": (2, 1), "pad_mode": "valid"}, {"dilation": (2, 1)}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_conv2d(name):
    """The oracle is SciPy's correlation."""
    given, meant = CONVOLUTIONS[name]
    shape = (8, 4 // given.get("group", 1), 3, 3)
    bias = {"bias": (8,)} if given.get("has_bias") else {}

    def oracle(values, x):
        made = convolved(x, values["weight"], **meant)
        return made + channels(values["bias"], 4) if bias else made

    check_cell(
        lambda: nn.Conv2d(4, 8, 3, **given, dtype=DOUBLE),
        IMAGES,
        names={"weight": shape, **bias},
        oracle=oracle,
    )


def test_conv2d_channels_last():
    def oracle(values, x):
        weight = values["weight"].transpose(0, 3, 1, 2)
        made = convolved(x.transpose(0, 3, 1, 2), weight) + channels(values["bias"], 4)
        return made.transpose(0, 2, 3, 1)

    check_cell(
        lambda: nn.Conv2d(
            4, 2, 3, pad_mode="valid", has_bias=True, data_format="NHWC", dtype=DOUBLE
        ),
        np.ascontiguousarray(IMAGES.transpose(0, 2, 3, 1)),
        names={"weight": (2, 3, 3, 4), "bias": (2,)},
        oracle=oracle,
    )


def test_conv1d():
    def oracle(values, x):
        made = convolved(x[:, :, None], values["weight"], (1, 2), ((0, 0), (1, 1)))
        return made[:, :, 0] + channels(values["bias"], 3)

    check_cell(
        lambda: nn.Conv1d(2, 3, 3, 2, "pad", 1, has_bias=True, dtype=DOUBLE),
        SEQUENCES,
        names={"weight": (3, 2, 1, 3), "bias": (3,)},
        oracle=oracle,
    )


def norm_names(count, prefix="", own=True):
    mean, variance = ("mean", "variance") if own else ("moving_mean", "moving_variance")
    return {prefix + name: (count,) for name in (mean, variance, "gamma", "beta")}


NORMS = {
    "rows": (nn.BatchNorm1d, 3, ROWS),
    "sequences": (nn.BatchNorm1d, 2, SEQUENCES),
    "images": (nn.BatchNorm2d, 4, IMAGES),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("train", [True, False])
def test_batch_norm(name, train):
    kind, count, data = NORMS[name]
    check_cell(
        lambda: kind(count, gamma_init="uniform", beta_init=0.5, dtype=DOUBLE),
        data,
        names=norm_names(count),
        oracle=trained_norm if train else predicted_norm,
        moved=("mean", "variance"),
        train=train,
    )


def test_batch_norm_3d():
    check_cell(
        lambda: nn.BatchNorm3d(2, dtype=DOUBLE),
        VOLUME,
        names=norm_names(2, "bn2d.", own=False),
        oracle=lambda v, x: trained_norm(v, x, "bn2d."),
        moved=("bn2d.moving_mean", "bn2d.moving_variance"),
        train=True,
    )


def test_batch_norm_moves_its_statistics():
    """The oracle is NumPy; the variance of the batch is the one without bias."""
    layer = nn.BatchNorm2d(4, momentum=0.75, dtype=DOUBLE).set_train()
    mean, variance = np.zeros(4), np.ones(4)
    for scale in (1.0, 3.0):
        layer(ms.Tensor(IMAGES * scale))
        mean = 0.75 * mean + 0.25 * (IMAGES * scale).mean((0, 2, 3))
        variance = 0.75 * variance + 0.25 * (IMAGES * scale).var((0, 2, 3), ddof=1)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), mean)
    np.testing.assert_allclose(layer.moving_variance.asnumpy(), variance)


def test_batch_norm_moves_once_in_a_derivative():
    layer = nn.BatchNorm1d(3).set_train()
    ms.grad(lambda x: layer(x).sum())(ms.Tensor(ROWS.astype(np.float32)))
    expected = 0.1 * ROWS.astype(np.float32).mean(0)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), expected, 1e-5)


def test_layer_norm():
    check_cell(
        lambda: nn.LayerNorm((6, 5), 2, 2, "uniform", 0.5, dtype=DOUBLE),
        IMAGES,
        names={"gamma": (6, 5), "beta": (6, 5)},
        oracle=lambda v, x: normalised(x, (2, 3), 1e-7) * v["gamma"] + v["beta"],
    )


def test_group_norm():
    check_cell(
        lambda: nn.GroupNorm(2, 4, gamma_init="uniform", beta_init=0.5, dtype=DOUBLE),
        IMAGES,
        names={"gamma": (4,), "beta": (4,)},
        oracle=grouped_norm,
    )


@pytest.mark.parametrize("one_hot", [False, True])
def test_embedding(one_hot):
    check_cell(
        lambda: nn.Embedding(4, 2, one_hot, dtype=DOUBLE),
        IDS,
        names={"embedding_table": (4, 2)},
        oracle=lambda v, ids: v["embedding_table"][ids],
    )


def test_embedding_starts_with_an_empty_row():
    table = nn.Embedding(4, 2, embedding_table="ones", padding_idx=2).embedding_table.asnumpy()
    np.testing.assert_array_equal(table, [[1, 1], [1, 1], [0, 0], [1, 1]])


# -- layers without Parameters --------------------------------------------------------------

SAME = ((0, 1), (1, 1))
PLAIN = {
    "Identity": (nn.Identity, ROWS, lambda x: x),
    "Flatten": (nn.Flatten, IMAGES, lambda x: x.reshape(2, -1)),
    "Flatten two": (lambda: nn.Flatten(1, 2), IMAGES, lambda x: x.reshape(2, 24, 5)),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 2)), IMAGES, lambda x: x.reshape(2, 2, 2, 6, 5)),
    "Dropout": (nn.Dropout, ROWS, lambda x: x),
    "Dropout2d": (nn.Dropout2d, IMAGES, lambda x: x),
    "OneHot": (
        lambda: nn.OneHot(depth=4, dtype=DOUBLE), IDS, lambda x: np.eye(4)[x],
    ),
    "OneHot in front": (
        lambda: nn.OneHot(0, 4, 3.0, 1.0, DOUBLE),
        IDS,
        lambda x: np.moveaxis(np.eye(4)[x] * 2 + 1, -1, 0),
    ),
    "Pad": (
        lambda: nn.Pad(((1, 0), (2, 1))), ROWS, lambda x: np.pad(x, ((1, 0), (2, 1))),
    ),
    "Pad mirrored": (
        lambda: nn.Pad(((1, 2), (2, 1)), "REFLECT"),
        ROWS,
        lambda x: np.pad(x, ((1, 2), (2, 1)), "reflect"),
    ),
    "Pad mirrored with edge": (
        lambda: nn.Pad(((1, 2), (2, 1)), "SYMMETRIC"),
        ROWS,
        lambda x: np.pad(x, ((1, 2), (2, 1)), "symmetric"),
    ),
    "MaxPool2d": (
        lambda: nn.MaxPool2d(2, 2),
        IMAGES,
        lambda x: windows(x, (2, 2), (2, 2)).max((4, 5)),
    ),
    "MaxPool2d overlapping": (
        lambda: nn.MaxPool2d((3, 2), 1),
        IMAGES,
        lambda x: windows(x, (3, 2), (1, 1)).max((4, 5)),
    ),
    "MaxPool2d same": (
        lambda: nn.MaxPool2d(3, 2, "same"),
        IMAGES,
        lambda x: windows(x, (3, 3), (2, 2), SAME, -np.inf).max((4, 5)),
    ),
    "MaxPool2d pad": (
        lambda: nn.MaxPool2d(3, 2, "pad", 1),
        IMAGES,
        lambda x: windows(x, (3, 3), (2, 2), ((1, 1), (1, 1)), -np.inf).max((4, 5)),
    ),
    "MaxPool2d without batch": (
        lambda: nn.MaxPool2d(2, 2),
        IMAGES[0],
        lambda x: windows(x[None], (2, 2), (2, 2)).max((4, 5))[0],
    ),
    "MaxPool2d channels last": (
        lambda: nn.MaxPool2d(2, 2, data_format="NHWC"),
        IMAGES,
        lambda x: windows(x.transpose(0, 3, 1, 2), (2, 2), (2, 2))
        .max((4, 5))
        .transpose(0, 2, 3, 1),
    ),
    "MaxPool1d": (
        lambda: nn.MaxPool1d(3, 2),
        SEQUENCES,
        lambda x: windows(x[:, :, None], (1, 3), (1, 2)).max((4, 5))[:, :, 0],
    ),
    "AvgPool2d": (
        lambda: nn.AvgPool2d(2, 2),
        IMAGES,
        lambda x: windows(x, (2, 2), (2, 2)).mean((4, 5)),
    ),
    "AvgPool2d same": (
        lambda: nn.AvgPool2d(3, 2, "same"),
        IMAGES,
        lambda x: np.nanmean(windows(x, (3, 3), (2, 2), SAME, np.nan), (4, 5)),
    ),
    "AvgPool2d pad": (
        lambda: nn.AvgPool2d(3, 2, "pad", 1),
        IMAGES,
        lambda x: windows(x, (3, 3), (2, 2), ((1, 1), (1, 1))).mean((4, 5)),
    ),
    "AvgPool2d divisor": (
        lambda: nn.AvgPool2d(2, 2, divisor_override=3),
        IMAGES,
        lambda x: windows(x, (2, 2), (2, 2)).sum((4, 5)) / 3,
    ),
    "AvgPool1d": (
        lambda: nn.AvgPool1d(3, 2),
        SEQUENCES,
        lambda x: windows(x[:, :, None], (1, 3), (1, 2)).mean((4, 5))[:, :, 0],
    ),
    "AdaptiveAvgPool2d": (
        lambda: nn.AdaptiveAvgPool2d((2, None)),
        IMAGES,
        lambda x: windows(x, (3, 1), (3, 1)).mean((4, 5)),
    ),
    "AdaptiveAvgPool1d": (
        lambda: nn.AdaptiveAvgPool1d(1), SEQUENCES, lambda x: x.mean(2, keepdims=True),
    ),
    "AdaptiveMaxPool2d": (
        lambda: nn.AdaptiveMaxPool2d(1), IMAGES, lambda x: x.max((2, 3), keepdims=True),
    ),
    "Softmax2d": (nn.Softmax2d, IMAGES, lambda x: special.softmax(x, 1)),
}  # fmt: skip

ACTIVATIONS = {
    "ReLU": (nn.ReLU, relu),
    "ReLU6": (nn.ReLU6, lambda x: np.clip(x, 0, 6)),
    "LeakyReLU": (nn.LeakyReLU, lambda x: np.where(x > 0, x, 0.2 * x)),
    "ELU": (nn.ELU, lambda x: np.where(x > 0, x, np.expm1(x))),
    "CELU": (lambda: nn.CELU(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    "SeLU": (
        nn.SeLU,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    "GELU": (
        nn.GELU,
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "GELU exact": (lambda: nn.GELU(False), lambda x: x * special.ndtr(x)),
    "FastGelu": (nn.FastGelu, lambda x: x * special.expit(1.702 * x)),
    "SiLU": (nn.SiLU, lambda x: x * special.expit(x)),
    "Sigmoid": (nn.Sigmoid, special.expit),
    "LogSigmoid": (nn.LogSigmoid, special.log_expit),
    "Tanh": (nn.Tanh, np.tanh),
    "Tanhshrink": (nn.Tanhshrink, lambda x: x - np.tanh(x)),
    "Softmax": (nn.Softmax, lambda x: special.softmax(x, -1)),
    "LogSoftmax": (lambda: nn.LogSoftmax(0), lambda x: special.log_softmax(x, 0)),
    "Softmin": (nn.Softmin, lambda x: special.softmax(-x, -1)),
    "Softsign": (nn.Softsign, lambda x: x / (1 + abs(x))),
    "HSwish": (nn.HSwish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "HSigmoid": (nn.HSigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
    "Mish": (nn.Mish, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "Hardtanh": (lambda: nn.Hardtanh(-0.5, 1.0), lambda x: np.clip(x, -0.5, 1)),
    "HShrink": (nn.HShrink, lambda x: np.where(abs(x) > 0.5, x, 0)),
    "SoftShrink": (nn.SoftShrink, lambda x: np.sign(x) * relu(abs(x) - 0.5)),
    "Threshold": (lambda: nn.Threshold(0.1, 7), lambda x: np.where(x > 0.1, x, 7)),
    "RReLU": (nn.RReLU, lambda x: np.where(x > 0, x, x * (1 / 8 + 1 / 3) / 2)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_layer_without_parameters(name):
    """The oracles are NumPy and SciPy."""
    make, data, oracle = PLAIN[name]
    check_cell(make, data, names={}, oracle=lambda _, x: oracle(x))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name):
    """The oracles are NumPy and SciPy."""
    make, oracle = ACTIVATIONS[name]
    check_cell(make, ROWS * 3, names={}, oracle=lambda _, x: oracle(x))


def test_glu():
    x = RANDOM.normal(size=(3, 4))
    check_cell(nn.GLU, x, names={}, oracle=lambda _, x: x[:, :2] * special.expit(x[:, 2:]))


def test_max_pool_gives_positions():
    """The oracle is NumPy."""
    pooled, places = nn.MaxPool2d(2, 2, "pad", return_indices=True)(ms.Tensor(IMAGES))
    flat = IMAGES.reshape(2, 4, -1)
    assert places.dtype is ms.int64
    found = np.take_along_axis(flat, places.asnumpy().reshape(2, 4, -1), 2)
    np.testing.assert_array_equal(found.reshape(pooled.shape), pooled.asnumpy())


@pytest.mark.parametrize("name", ["Dropout", "Dropout2d"])
def test_dropout_in_training(name):
    """The oracle is counting: the share of zeros, and what the others are multiplied by."""
    ms.set_seed(5)
    made = getattr(nn, name)(p=0.25).set_train()(ms.ops.ones((50, 40, 5, 5))).asnumpy()
    assert set(np.unique(made)) == {0, np.float32(4 / 3)}
    whole = made.reshape(2000, 25) if name == "Dropout2d" else made.reshape(-1, 1)
    empty = (whole == 0).mean(1)
    assert set(empty) == {0.0, 1.0}
    assert abs(empty.mean() - 0.25) < 0.05


def test_dropout_draws_anew_in_every_call_and_mode():
    layer = nn.Dropout(p=0.5).set_train()
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        drawn = {layer(ms.ops.ones((64,))).asnumpy().tobytes() for _ in range(6)}
        assert len(drawn) == 6


# -- recorded MindSpore ------------------------------------------------------------------------

# Not deterministic (a bias is drawn), or layers that are not there yet.
LEFT_OUT = ("run_sequential",)


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("layers", without=LEFT_OUT), ids=recorded.case_name
)
def test_recorded_layers(case, answer):
    recorded.check(case, answer)


@pytest.mark.parametrize(
    ("case", "answer"),
    recorded.named("images", ".*layer", "conv2d_", "[A-Z]"),
    ids=recorded.case_name,
)
def test_recorded_images(case, answer):
    recorded.check(case, answer)


LAYER_ERRORS = (
    "max_pool", "avg_pool", "dense", "batch_norm", "layer_norm", "embedding", "dropout_layer",
    "dropout_both", "conv2d", "flatten",
)  # fmt: skip
# Where MindSpore's kernel gives a RuntimeError, ours is a ValueError like every other wrong shape.
KINDS = {"conv2d_channels": "ValueError", "conv2d_layer_channels": "ValueError"}


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("errors", *LAYER_ERRORS), ids=recorded.case_name
)
def test_recorded_errors(case, answer):
    if case.name in KINDS:
        recorded.check_error(case, KINDS[case.name])
        return
    recorded.check(case, answer, ("fused",))


SIGNATURES = {
    name: text
    for name, text in rows("signatures").items()
    if name.startswith("nn.") and text and text != "?"
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_recorded_signatures(name):
    kind = getattr(nn, name.removeprefix("nn."))
    made = inspect.signature(kind.__init__ if inspect.isclass(kind) else kind)
    parameters = [
        p.replace(annotation=p.empty) for p in made.parameters.values() if p.name != "self"
    ]
    text = str(made.replace(parameters=parameters, return_annotation=made.empty))
    # The last is a keyword of older MindSpore, which 2.10 refuses.
    assert text.replace(", is_grad=None", "") == SIGNATURES[name]


REPRESENTATIONS = {
    "Dense(3, 4)": "Dense(input_channels=3, output_channels=4, has_bias=True)",
    "Dense(3, 4, has_bias=False, activation='relu')": (
        "Dense(\n  input_channels=3, output_channels=4, activation=ReLU()\n"
        "  (activation): ReLU()\n)"
    ),
    "MaxPool2d(2, 2)": "MaxPool2d(kernel_size=2, stride=2, pad_mode=VALID)",
    "AvgPool2d(3, 1, 'pad', 1)": "AvgPool2d(kernel_size=3, stride=1, pad_mode=PAD)",
    "Dropout(p=0.3)": "Dropout(p=0.3)",
    "Dropout()": "Dropout(keep_prob=0.5)",
    "ReLU()": "ReLU()",
    "Flatten()": "Flatten()",
    "GroupNorm(2, 4)": "GroupNorm(num_groups=2, num_channels=4)",
    "Embedding(5, 3)": (
        "Embedding(vocab_size=5, embedding_size=3, use_one_hot=False, embedding_table=Parameter "
        "(name=embedding_table, shape=(5, 3), dtype=Float32, requires_grad=True), "
        "dtype=Float32, padding_idx=None)"
    ),
    "LayerNorm([4])": (
        "LayerNorm(normalized_shape=[4], begin_norm_axis=-1, begin_params_axis=-1, "
        "gammaParameter (name=gamma, shape=(4,), dtype=Float32, requires_grad=True), "
        "beta=Parameter (name=beta, shape=(4,), dtype=Float32, requires_grad=True))"
    ),
    "Conv2d(3, 6, (3, 5), 2, 'pad', (1, 2, 3, 4), group=3, weight_init='ones')": (
        "Conv2d(input_channels=3, output_channels=6, kernel_size=(3, 5), stride=(2, 2), "
        "pad_mode=pad, padding=(1, 2, 3, 4), dilation=(1, 1), group=3, has_bias=False, "
        "weight_init=ones, bias_init=None, format=NCHW)"
    ),
}


@pytest.mark.parametrize("source", REPRESENTATIONS)
def test_representations(source):
    """The oracle is what MindSpore 2.10 writes."""
    assert repr(eval(f"nn.{source}")) == REPRESENTATIONS[source]


# -- errors name the argument and the user's line ----------------------------------------------

ERRORS = {
    "nn.Dense(3.0, 4)": (TypeError, "Dense.in_channels must be a positive integer, but float 3.0"),
    "nn.Dense(3, 4, activation=3)": (
        TypeError, "Dense.activation must be a name, a Cell or a Primitive, but int 3"),
    "nn.Dense(3, 4)(ms.ops.ones((2, 5)))": (
        ValueError, "the last length of the inputs (2, 5) must be in_channels=3"),
    "nn.Conv2d(3, 4, 3, padding=1)": (
        ValueError, "Conv2d.padding must be 0 with pad_mode='same', but 1 was given"),
    "nn.Conv2d(3, 4, 3, pad_mode='pad', padding=(1, 1))": (
        ValueError, "Conv2d.padding must be an integer or 4 of them, not negative, but (1, 1)"),
    "nn.MaxPool2d(2, 2, padding=1)": (
        ValueError, "MaxPool2d.padding must be 0 with pad_mode='valid', but 1 was given"),
    "nn.BatchNorm2d(3)(ms.ops.ones((2, 3)))": (
        ValueError, "The input of BatchNorm2d must be of 4 dimensions, but shape (2, 3)"),
    "nn.Embedding(5, 3, padding_idx=7)": (
        ValueError, "Embedding.padding_idx must be from 0 to 4, but 7 was given"),
    "nn.get_activation('foo')": (KeyError, "No activation is named 'foo'; known: softmin,"),
}  # fmt: skip


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    with pytest.raises(kind) as caught:
        eval(compile(source, "train.py", "eval"), {"nn": nn, "ms": ms})
    assert text in str(caught.value)
    if kind is not KeyError:
        assert "train.py:1" in str(caught.value)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_a_convolution_with_a_weight_that_is_given(data_format):
    """The steps of Conv2d, for subclasses that change the weight. Oracle: a product, in NumPy."""
    layer = nn.Conv2d(2, 3, 1, has_bias=True, data_format=data_format)
    weight = np.arange(6, dtype=np.float32).reshape(3, 2)
    bias = np.array([1, 2, 3], np.float32)
    pixels = np.random.default_rng(1).standard_normal((2, 4, 5, 2)).astype(np.float32)
    first = data_format == "NCHW"
    images = pixels.transpose(0, 3, 1, 2) if first else pixels
    kernels = weight[:, :, None, None] if first else weight[:, None, None, :]
    expected = pixels @ weight.T + bias
    results = run_everywhere(
        lambda x, w, b: layer.bias_add(layer.conv2d(x, w), b), images, kernels, bias
    )
    for result in results.values():
        assert_close(result, expected.transpose(0, 3, 1, 2) if first else expected)
