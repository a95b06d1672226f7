# SPDX-License-Identifier: Apache-2.0
"""Layers of transposed and three-dimensional convolution, resizing and padding.

Each by one `check_cell` with NumPy as oracle, and as recorded in MindSpore.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from check_cell import check_cell
from harness import run_everywhere
from mycel import Tensor, nn
from support import recorded_cells as recorded

RANDOM = np.random.default_rng(11)
LINES = RANDOM.normal(size=(2, 4, 5))
IMAGES = RANDOM.normal(size=(2, 4, 3, 5))
VOLUMES = RANDOM.normal(size=(2, 2, 4, 2, 3))
DOUBLE = ms.float64

# Programs that use a layer; the others are tested with the operators.
WITH_LAYERS = [
    pair
    for family in ("transposed", "resizing", "volumes")
    for pair in recorded.named(family)
    if "nn." in pair[0].expression + pair[0].program
]


@pytest.mark.parametrize(("case", "answer"), WITH_LAYERS, ids=recorded.case_name)
def test_as_recorded(case, answer):
    """The oracle is MindSpore 2.10."""
    recorded.check(case, answer)


# -- oracles -----------------------------------------------------------------------------------


def spread(x, weight, stride, cuts, dilation, group, bias=None):
    """A transposed convolution by its definition: kernels laid at every element and summed."""
    lengths, kernel = x.shape[2:], weight.shape[2:]
    spans = list(zip(lengths, kernel, stride, dilation, strict=True))
    full = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in spans]
    parts = []
    for share, part in zip(np.split(x, group, 1), np.split(weight, group, 0), strict=True):
        # What a negative cut asks for lies in the margin.
        made = np.zeros((x.shape[0], weight.shape[1], *[n + 8 for n in full]))
        for element in np.ndindex(*kernel):
            starts = [e * d for e, d in zip(element, dilation, strict=True)]
            ends = [a + (n - 1) * s + 1 for a, (n, _, s, _) in zip(starts, spans, strict=True)]
            target = [slice(a, b, s) for a, b, s in zip(starts, ends, stride, strict=True)]
            laid = np.einsum("ni...,io->no...", share, part[(..., *element)])
            made[(slice(None), slice(None), *target)] += laid
        parts.append(made)
    kept = [slice(front, n - behind) for n, (front, behind) in zip(full, cuts, strict=True)]
    made = np.concatenate(parts, 1)[(slice(None), slice(None), *kept)]
    return made if bias is None else made + bias.reshape(1, -1, *[1] * len(kernel))


def convolved(x, weight, stride, pads, dilation, group):
    """A convolution by its definition: one element of the kernel at a time."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    kernel = weight.shape[2:]
    spans = list(zip(x.shape[2:], kernel, stride, dilation, strict=True))
    counts = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in spans]
    parts = []
    for share, part in zip(np.split(x, group, 1), np.split(weight, group, 0), strict=True):
        made = np.zeros((x.shape[0], part.shape[0], *counts))
        for element in np.ndindex(*kernel):
            starts = [e * d for e, d in zip(element, dilation, strict=True)]
            of_x = [
                slice(a, a + (c - 1) * s + 1, s)
                for a, c, s in zip(starts, counts, stride, strict=True)
            ]
            met = share[(slice(None), slice(None), *of_x)]
            made += np.einsum("ni...,oi->no...", met, part[(..., *element)])
        parts.append(made)
    return np.concatenate(parts, 1)


def windows(x, kernel, stride, pads=((0, 0),) * 3, fill=0.0):
    """All windows of the last three dimensions, as three new ones at the end."""
    x = np.pad(x, ((0, 0), (0, 0), *pads), constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3, 4))
    return seen[:, :, :: stride[0], :: stride[1], :: stride[2]]


# -- convolutions ------------------------------------------------------------------------------

# What a layer is made with, and what it means: stride, cuts, dilation.
TRANSPOSED = {
    "same": ({}, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "same with stride": ({"stride": 2}, (2, 2), ((0, 1), (0, 1)), (1, 1)),
    "same, stride beyond the kernel": ({"stride": 4}, (4, 4), ((0, -1), (0, -1)), (1, 1)),
    "valid": ({"stride": (2, 1), "pad_mode": "valid"}, (2, 1), ((0, 0), (0, 0)), (1, 1)),
    "valid, stride beyond the kernel": (
        {"stride": 4, "pad_mode": "valid"}, (4, 4), ((0, -1), (0, -1)), (1, 1),
    ),
    "pad": (
        {"stride": 2, "pad_mode": "pad", "padding": 1}, (2, 2), ((1, 1), (1, 1)), (1, 1),
    ),
    "four paddings": (
        {"stride": 2, "pad_mode": "pad", "padding": (1, 0, 2, 1)}, (2, 2), ((1, 0), (2, 1)), (1, 1),
    ),
    "dilation": ({"dilation": (1, 2), "pad_mode": "valid"}, (1, 1), ((0, 0), (0, 0)), (1, 2)),
    "side by side": ({"stride": 3, "pad_mode": "valid"}, (3, 3), ((0, 0), (0, 0)), (1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv2d_transpose(name, group):
    """The oracle is the definition in NumPy."""
    given, *meant = TRANSPOSED[name]
    bias = {"bias": (8,)} if group != 2 else {}
    check_cell(
        lambda: nn.Conv2dTranspose(4, 8, 3, **given, group=group, has_bias=bool(bias),
                                   dtype=DOUBLE),
        IMAGES,
        names={"weight": (4, 8 // group, 3, 3), **bias},
        oracle=lambda v, x: spread(x, v["weight"], *meant, group, v.get("bias")),
    )  # fmt: skip


def test_conv2d_transpose_output_padding():
    """The oracle is MindSpore: rows and columns of zeros, without the bias."""

    def oracle(values, x):
        made = spread(x, values["weight"], (2, 2), ((1, 1),) * 2, (1, 1), 1, values["bias"])
        return np.pad(made, ((0, 0), (0, 0), (0, 1), (0, 1)))

    check_cell(
        lambda: nn.Conv2dTranspose(4, 2, 3, 2, "pad", 1, 1, has_bias=True, dtype=DOUBLE),
        IMAGES,
        names={"weight": (4, 2, 3, 3), "bias": (2,)},
        oracle=oracle,
    )


def test_conv1d_transpose():
    """The oracle is the definition in NumPy."""
    check_cell(
        lambda: nn.Conv1dTranspose(4, 6, 3, 2, "pad", 1, group=2, has_bias=True, dtype=DOUBLE),
        LINES,
        names={"weight": (4, 3, 1, 3), "bias": (6,)},
        oracle=lambda v, x: spread(x, v["weight"][:, :, 0], (2,), ((1, 1),), (1,), 2, v["bias"]),
    )


def test_conv3d_transpose():
    """The oracle is the definition in NumPy."""
    check_cell(
        lambda: nn.Conv3dTranspose(
            2, 3, (2, 3, 1), 2, "pad", (1, 0, 1, 1, 0, 0), output_padding=(0, 1, 0),
            has_bias=True, dtype=DOUBLE,
        ),
        VOLUMES,
        names={"weight": (2, 3, 2, 3, 1), "bias": (3,)},
        oracle=lambda v, x: spread(
            x, v["weight"], (2, 2, 2), ((1, 0), (1, 0), (0, 0)), (1, 1, 1), 1, v["bias"]
        ),
    )  # fmt: skip


def test_transposed_weights_spread_as_in_mindspore():
    """The oracle is the bound ±1/√n, n the elements of one input channel's kernels."""
    layer = nn.Conv2dTranspose(64, 48, 3, group=4, has_bias=True)
    bound = 1 / np.sqrt(12 * 9)
    weight = layer.weight.asnumpy()
    assert 0.99 * bound < abs(weight).max() <= bound
    np.testing.assert_allclose(weight.std(), bound / np.sqrt(3), 0.05)
    assert 0.7 * bound < abs(layer.bias.asnumpy()).max() <= bound


CONVOLUTIONS = {
    "same": ({}, (1, 1, 1), ((0, 1), (1, 1), (0, 0)), (1, 1, 1)),
    "valid": ({"pad_mode": "valid", "stride": (2, 1, 1), "kernel_size": (2, 2, 3)},
              (2, 1, 1), ((0, 0),) * 3, (1, 1, 1)),
    "three": ({"pad_mode": "pad", "padding": (1, 2, 0)}, (1, 1, 1), ((1, 1), (2, 2), (0, 0)),
              (1, 1, 1)),
    "six": ({"pad_mode": "pad", "padding": (1, 0, 1, 2, 0, 1), "dilation": (1, 2, 1)},
            (1, 1, 1), ((1, 0), (1, 2), (0, 1)), (1, 2, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("group", [1, 2])
def test_conv3d(name, group):
    """The oracle is the definition in NumPy."""
    given, *meant = CONVOLUTIONS[name]
    given = {"kernel_size": (2, 3, 1), **given}
    check_cell(
        lambda: nn.Conv3d(2, 4, **given, group=group, has_bias=True, dtype=DOUBLE),
        VOLUMES,
        names={"weight": (4, 2 // group, *given["kernel_size"]), "bias": (4,)},
        oracle=lambda v, x: (
            convolved(x, v["weight"], *meant, group) + v["bias"].reshape(1, -1, 1, 1, 1)
        ),
    )


# -- layers without Parameters -----------------------------------------------------------------

LAST = (5, 6, 7)
NOTHING = ((0, 0), (0, 0))
PLAIN = {
    "MaxPool3d": (
        lambda: nn.MaxPool3d((2, 1, 3), (2, 1, 1)),
        VOLUMES,
        lambda x: windows(x, (2, 1, 3), (2, 1, 1)).max(LAST),
    ),
    "MaxPool3d pad": (
        lambda: nn.MaxPool3d(2, 2, "pad", 1),
        VOLUMES,
        lambda x: windows(x, (2, 2, 2), (2, 2, 2), ((1, 1),) * 3, -np.inf).max(LAST),
    ),
    "MaxPool3d without batch": (
        lambda: nn.MaxPool3d(2),
        VOLUMES[0],
        lambda x: windows(x[None], (2, 2, 2), (1, 1, 1)).max(LAST)[0],
    ),
    "AvgPool3d": (
        lambda: nn.AvgPool3d(2, 1),
        VOLUMES,
        lambda x: windows(x, (2, 2, 2), (1, 1, 1)).mean(LAST),
    ),
    "AvgPool3d pad": (
        lambda: nn.AvgPool3d(2, 2, "pad", 1),
        VOLUMES,
        lambda x: windows(x, (2, 2, 2), (2, 2, 2), ((1, 1),) * 3).mean(LAST),
    ),
    "AvgPool3d divisor": (
        lambda: nn.AvgPool3d(2, 1, divisor_override=3),
        VOLUMES,
        lambda x: windows(x, (2, 2, 2), (1, 1, 1)).sum(LAST) / 3,
    ),
    "AdaptiveAvgPool3d": (
        lambda: nn.AdaptiveAvgPool3d((2, None, 1)),
        VOLUMES,
        lambda x: x.reshape(2, 2, 2, 2, 2, 1, 3).mean((3, 6)),
    ),
    "AdaptiveMaxPool1d": (
        lambda: nn.AdaptiveMaxPool1d(1), LINES, lambda x: x.max(2, keepdims=True),
    ),
    "AdaptiveMaxPool3d": (
        lambda: nn.AdaptiveMaxPool3d((2, 1, 3)),
        VOLUMES,
        lambda x: x.reshape(2, 2, 2, 2, 1, 2, 3, 1).max((3, 5, 7)),
    ),
    "Upsample": (
        lambda: nn.Upsample(scale_factor=2.0), IMAGES, lambda x: x.repeat(2, 2).repeat(2, 3),
    ),
    "Upsample linear": (
        lambda: nn.Upsample(9, mode="linear", align_corners=True),
        LINES,
        lambda x: np.apply_along_axis(
            lambda line: np.interp(np.linspace(0, 4, 9), np.arange(5), line), 2, x
        ),
    ),
    "PixelShuffle": (
        lambda: nn.PixelShuffle(2),
        IMAGES,
        lambda x: x.reshape(2, 1, 2, 2, 3, 5).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 6, 10),
    ),
    "PixelUnshuffle": (
        lambda: nn.PixelUnshuffle(2),
        VOLUMES[..., :2].reshape(2, 2, 4, 4),
        lambda x: x.reshape(2, 2, 2, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 8, 2, 2),
    ),
    "Unfold": (
        lambda: nn.Unfold([1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1]),
        IMAGES,
        lambda x: np.concatenate(
            [x[:, :, i : i + 2, j : j + 4 : 2] for i in (0, 1) for j in (0, 1)], 1
        ),
    ),
    "Unfold same": (
        lambda: nn.Unfold([1, 2, 1, 1], [1, 2, 1, 1], [1, 1, 1, 1], "same"),
        IMAGES,
        lambda x: np.concatenate(
            [x[:, :, ::2], np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 0)))[:, :, 1::2]], 1
        ),
    ),
    "ConstantPad1d": (
        lambda: nn.ConstantPad1d((1, 2), 0.5),
        LINES,
        lambda x: np.pad(x, (*NOTHING, (1, 2)), constant_values=0.5),
    ),
    "ConstantPad2d": (
        lambda: nn.ConstantPad2d((-1, 2, 3, 0), 0.5),
        IMAGES,
        lambda x: np.pad(x, (*NOTHING, (3, 0), (0, 2)), constant_values=0.5)[..., 1:],
    ),
    "ConstantPad3d": (
        lambda: nn.ConstantPad3d((1, 0, 0, 2, 1, 1), 2),
        VOLUMES,
        lambda x: np.pad(x, (*NOTHING, (1, 1), (0, 2), (1, 0)), constant_values=2),
    ),
    "ZeroPad2d": (
        lambda: nn.ZeroPad2d((1, 2, 3, 0)),
        IMAGES,
        lambda x: np.pad(x, (*NOTHING, (3, 0), (1, 2))),
    ),
    "ReflectionPad1d": (
        lambda: nn.ReflectionPad1d((1, 2)),
        LINES,
        lambda x: np.pad(x, (*NOTHING, (1, 2)), "reflect"),
    ),
    "ReflectionPad2d": (
        lambda: nn.ReflectionPad2d((1, 2, 2, 0)),
        IMAGES,
        lambda x: np.pad(x, (*NOTHING, (2, 0), (1, 2)), "reflect"),
    ),
    "ReflectionPad3d": (
        lambda: nn.ReflectionPad3d(1),
        VOLUMES,
        lambda x: np.pad(x, (*NOTHING, *((1, 1),) * 3), "reflect"),
    ),
    "ReplicationPad1d": (
        lambda: nn.ReplicationPad1d(6),
        LINES[0],
        lambda x: np.pad(x, ((0, 0), (6, 6)), "edge"),
    ),
    "ReplicationPad2d": (
        lambda: nn.ReplicationPad2d((1, 2, 3, 0)),
        IMAGES,
        lambda x: np.pad(x, (*NOTHING, (3, 0), (1, 2)), "edge"),
    ),
    "ReplicationPad3d": (
        lambda: nn.ReplicationPad3d((1, 0, 0, 2, 1, 1)),
        VOLUMES,
        lambda x: np.pad(x, (*NOTHING, (1, 1), (0, 2), (1, 0)), "edge"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_layer_without_parameters(name):
    """The oracle is NumPy."""
    make, data, oracle = PLAIN[name]
    check_cell(make, np.ascontiguousarray(data), names={}, oracle=lambda _, x: oracle(x))


def test_resize_bilinear_of_mindspore_1():
    """The oracle is numpy.interp."""
    x = RANDOM.normal(size=(1, 2, 1, 5))

    def line(places):
        return np.apply_along_axis(lambda row: np.interp(places, np.arange(5), row), 3, x)

    layer, middles = nn.ResizeBilinear(), nn.ResizeBilinear(half_pixel_centers=True)
    given = ms.Tensor(x)
    calls = (
        (layer(given, (1, 9), align_corners=True), np.linspace(0, 4, 9)),
        (layer(given, size=(1, 8)), np.arange(8) * 5 / 8),
        (middles(given, (1, 8)), (np.arange(8) + 0.5) * 5 / 8 - 0.5),
    )
    for made, places in calls:
        np.testing.assert_allclose(made.asnumpy(), line(places), 1e-6, 1e-6)
    doubled = layer(given, scale_factor=2).asnumpy()
    np.testing.assert_allclose(doubled[:, :, :1], line(np.minimum(np.arange(10) / 2, 4)), 1e-6)
    with pytest.raises(ValueError, match="called with size or scale_factor"):
        layer(given)


ERRORS = {
    "Conv2dTranspose.padding must be 0 with pad_mode='same'": (
        ValueError, lambda: nn.Conv2dTranspose(1, 1, 2, padding=1),
    ),
    "Conv2dTranspose.output_padding must be 0 with pad_mode='same'": (
        ValueError, lambda: nn.Conv2dTranspose(1, 1, 2, 2, output_padding=1),
    ),
    "Conv2dTranspose.output_padding must be 2 numbers": (
        ValueError, lambda: nn.Conv2dTranspose(1, 1, 2, 2, "pad", output_padding=2),
    ),
    "Conv2dTranspose.group must be a divisor": (
        ValueError, lambda: nn.Conv2dTranspose(3, 2, 2, group=2),
    ),
    "Conv3d.kernel_size must be a positive integer or three": (
        TypeError, lambda: nn.Conv3d(1, 1, (2, 2)),
    ),
    "Conv3dTranspose.data_format must be one of 'NCDHW'": (
        ValueError, lambda: nn.Conv3dTranspose(1, 1, 2, data_format="NDHWC"),
    ),
    "The input of Conv1dTranspose must be (N, C, L)": (
        ValueError, lambda: nn.Conv1dTranspose(1, 1, 2)(ms.ops.ones((1, 2))),
    ),
    "The input of Conv3d must be (N, C, D, H, W)": (
        ValueError, lambda: nn.Conv3d(1, 1, 2)(ms.ops.ones((1, 2, 2, 2))),
    ),
    "MaxPool3d.padding must be 0 with pad_mode='valid'": (
        ValueError, lambda: nn.MaxPool3d(2, padding=1),
    ),
    "ReflectionPad2d.padding must be an integer or 4 of them, not negative": (
        ValueError, lambda: nn.ReflectionPad2d((1, 1, 1, -1)),
    ),
    "ConstantPad1d.value must be a number": (TypeError, lambda: nn.ConstantPad1d(1, "a")),
    "The input of ReplicationPad2d must be of 3 or 4 dimensions": (
        ValueError, lambda: nn.ReplicationPad2d(1)(ms.ops.ones((2, 2))),
    ),
    "Unfold.ksizes must be [1, rows, columns, 1]": (
        ValueError, lambda: nn.Unfold([2, 2], [1, 1, 1, 1], [1, 1, 1, 1]),
    ),
    "PixelShuffle.upscale_factor must be a positive integer": (
        ValueError, lambda: nn.PixelShuffle(0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    kind, call = ERRORS[text]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
    assert __file__ in str(caught.value)


@pytest.mark.parametrize("mode", ["same", "valid"])
def test_text_of_a_transposed_layer(mode):
    """The oracle is MindSpore's text."""
    layer = nn.Conv2dTranspose(2, 3, 3, 2, mode, weight_init="ones")
    assert str(layer) == (
        "Conv2dTranspose(input_channels=2, output_channels=3, kernel_size=(3, 3), stride=(2, 2), "
        f"pad_mode={mode}, padding=0, dilation=(1, 1), group=1, has_bias=False, "
        "weight_init=ones, bias_init=None, format=NCHW)"
    )


# By MindSpore 2.10: the dimensions of space, the mode, the window and its steps; the lengths of
# what it gives for squares / 7, or numbers / 7 in three dimensions, and the sum of that.
MEANS_WITH_CEIL = [
    (1, "valid", 3, 2, (6,), 39.833),
    (2, "valid", 3, 2, (3, 3), 837.357),
    (3, "valid", 3, 2, (2, 3, 3), 274.714),
    (1, "valid", 2, 3, (4,), 20.857),
    (2, "valid", 2, 3, (2, 3), 367.0),
    (3, "valid", 2, 3, (2, 2, 3), 173.714),
    (1, "valid", 4, 3, (4,), 26.167),
    (2, "valid", 4, 3, (2, 2), 355.476),
    (3, "valid", 4, 3, (2, 2, 2), 145.429),
    (1, "valid", 5, 5, (3,), 23.929),
    (2, "valid", 5, 5, (2, 2), 549.429),
    (3, "valid", 5, 5, (1, 2, 2), 64.143),
    (1, "same", 3, 2, (6,), 34.571),
    (2, "same", 3, 2, (3, 4), 739.333),
    (3, "same", 3, 2, (3, 3, 4), 312.222),
    (1, "same", 2, 3, (4,), 20.857),
    (2, "same", 2, 3, (2, 3), 292.357),
    (3, "same", 2, 3, (2, 2, 3), 144.0),
    (1, "same", 4, 3, (4,), 22.571),
    (2, "same", 4, 3, (2, 3), 322.5),
    (3, "same", 4, 3, (2, 2, 3), 88.687),
    (1, "same", 5, 5, (3,), 14.457),
    (2, "same", 5, 5, (2, 2), 136.12),
    (3, "same", 5, 5, (1, 2, 2), 25.08),
]


@pytest.mark.parametrize(("space", "mode", "kernel", "stride", "lengths", "total"), MEANS_WITH_CEIL)
def test_last_windows_of_means_reach_over_the_end(space, mode, kernel, stride, lengths, total):
    shape = {1: (1, 1, 12), 2: (1, 1, 6, 7), 3: (1, 1, 5, 6, 7)}[space]
    x = (np.arange(np.prod(shape)).reshape(shape) ** (1 if space == 3 else 2) / 7).astype("f")
    layer = getattr(nn, f"AvgPool{space}d")(kernel, stride, mode, ceil_mode=True)
    for found in run_everywhere(layer, x).values():
        assert found.shape == (1, 1, *lengths)
        assert found.astype(float).sum() == pytest.approx(total, abs=2e-3)


def test_divisors_of_means_over_the_end():
    # Oracle: MindSpore 2.10; the first numbers of each.
    x = Tensor(np.arange(42).reshape(1, 1, 6, 7) ** 2 / 7, ms.float32)
    for layer, expected in [
        (nn.AvgPool2d(3, 2, "same", ceil_mode=True, divisor_override=5), [15.285715, 29.4]),
        (nn.AvgPool2d(3, 2, "same", divisor_override=5), [15.285715, 29.4]),
        (nn.AvgPool2d(3, 2, "valid", ceil_mode=True, divisor_override=5), [25.02857, 34.285713]),
        (
            nn.AvgPool2d(3, 2, "same", ceil_mode=True, count_include_pad=False),
            [12.738095, 16.333334],
        ),
    ]:
        np.testing.assert_allclose(layer(x).asnumpy().ravel()[:2], expected, rtol=1e-6)
