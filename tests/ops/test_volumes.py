# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in three dimensions, and adaptive maxima."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences


def numbers(*shape, seed=0, dtype=np.float32):
    """Normal random numbers of a shape."""
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


@pytest.mark.parametrize(("case", "recorded"), list(cases("volumes")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def windows(x, kernel, stride, pad, filler):
    """All windows of the last three dimensions, as three new ones at the end."""
    x = np.pad(x, ((0, 0), (0, 0), *[(n, n) for n in pad]), constant_values=filler)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3, 4))
    return seen[:, :, :: stride[0], :: stride[1], :: stride[2]]


@pytest.mark.parametrize(
    ("kernel", "stride", "pad"),
    [((2, 2, 2), (2, 2, 2), (0, 0, 0)), ((3, 2, 1), (1, 2, 1), (1, 0, 0)),
     ((3, 3, 3), (1, 1, 1), (1, 1, 1)), ((4, 4, 4), (4, 2, 2), (0, 1, 2))],
)  # fmt: skip
def test_pooling(kernel, stride, pad):
    # Oracle: the definition in NumPy; gradients by finite differences.
    x = numbers(2, 2, 4, 6, 5)
    space = (5, 6, 7)
    matches(
        lambda x: ops.max_pool3d(x, kernel, stride, pad),
        lambda x: windows(x, kernel, stride, pad, -np.inf).max(space),
        x,
    )
    matches(
        lambda x: ops.avg_pool3d(x, kernel, stride, pad),
        lambda x: windows(x, kernel, stride, pad, 0).mean(space),
        x,
    )
    x = numbers(1, 1, 4, 4, 4, dtype=np.float64)
    for pool in (ops.max_pool3d, ops.avg_pool3d):

        def squared(x, pool=pool):
            made = pool(x, kernel, stride, pad)
            return made * made

        expected = gradients_by_differences(squared, (x,))[0]
        for execution, actual in run_everywhere(ms.grad(squared), x).items():
            assert_close(actual, expected, execution, "float32")


def test_positions_of_maxima():
    # Oracle: NumPy.
    x = numbers(2, 2, 4, 6, 4)

    def oracle(x):
        parts = x.reshape(2, 2, 2, 2, 3, 2, 2, 2).transpose(0, 1, 2, 4, 6, 3, 5, 7)
        positions = np.arange(96).reshape(2, 2, 3, 2, 2, 2).transpose(0, 2, 4, 1, 3, 5)
        flat = parts.reshape(2, 2, 2, 3, 2, 8)
        places = np.broadcast_to(positions.reshape(2, 3, 2, 8), flat.shape)
        best = flat.argmax(-1)[..., None]
        return flat.max(-1), np.take_along_axis(places, best, -1)[..., 0]

    matches(lambda x: ops.max_pool3d(x, 2, return_indices=True), oracle, x)
    matches(
        lambda x: ops.adaptive_max_pool3d(x, (2, 3, 2), True),
        lambda x: (oracle(x)[0], oracle(x)[1].astype(np.int32)),
        x,
    )


@pytest.mark.parametrize("sizes", [(3, 5), (7, 2), (4, 4), (1, 1)])
def test_adaptive_positions(sizes):
    # Oracle: the regions one by one in NumPy; ties go to the first element.
    x = np.round(numbers(2, 3, 7, 8))

    def oracle(x):
        pooled = np.zeros((2, 3, *sizes), x.dtype)
        places = np.zeros(pooled.shape, np.int64)
        for i, j in np.ndindex(*sizes):
            rows = slice(i * 7 // sizes[0], -(-(i + 1) * 7 // sizes[0]))
            columns = slice(j * 8 // sizes[1], -(-(j + 1) * 8 // sizes[1]))
            part = x[:, :, rows, columns].reshape(2, 3, -1)
            numbered = np.arange(56).reshape(7, 8)[rows, columns].reshape(-1)
            pooled[:, :, i, j], places[:, :, i, j] = part.max(-1), numbered[part.argmax(-1)]
        return pooled, places

    matches(lambda x: ops.AdaptiveMaxPool2D(sizes)(x), oracle, x)


def test_adaptive_pooling():
    # Oracle: the regions in NumPy.
    x = numbers(2, 3, 4, 2, 6)
    matches(
        lambda x: ops.adaptive_avg_pool3d(x, (2, None, 3)),
        lambda x: x.reshape(2, 3, 2, 2, 2, 3, 2).mean((3, 6)),
        x,
    )
    line = numbers(2, 3, 5)
    regions = [(0, 2), (1, 4), (3, 5)]
    matches(
        lambda x: ops.adaptive_max_pool1d(x, 3),
        lambda x: np.stack([x[..., a:b].max(-1) for a, b in regions], -1),
        line,
    )
    matches(
        lambda x: ms.mint.nn.functional.adaptive_max_pool1d(x, 3, return_indices=True)[1],
        lambda x: np.stack([a + x[..., a:b].argmax(-1) for a, b in regions], -1),
        line,
    )


def test_primitives():
    # Oracle: the functions.
    x, weight = numbers(1, 2, 4, 4, 4), numbers(3, 2, 2, 2, 2, seed=1)
    pairs = (
        (lambda x: ops.Conv3D(3, 2)(x, Tensor(weight)), lambda x: ops.conv3d(x, Tensor(weight))),
        (lambda x: ops.MaxPool3D(2, (1, 1, 2, 2, 2))(x), lambda x: ops.max_pool3d(x, 2)),
        (lambda x: ops.AvgPool3D(2, 2)(x), lambda x: ops.avg_pool3d(x, 2, 2)),
        (
            lambda x: ms.mint.nn.functional.avg_pool3d(x, 2, padding=1),
            lambda x: ops.avg_pool3d(x, 2, 2, 1),
        ),
    )
    for first, second in pairs:
        matches(first, lambda x, f=second: f(Tensor(x)).asnumpy(), x)


def test_errors():
    x = Tensor(numbers(1, 2, 4, 4, 4))
    with pytest.raises(ValueError, match="Only the layout NCDHW"):
        ops.MaxPool3D(2, 2, data_format="NDHWC")(x)
    with pytest.raises(ValueError, match="pad_mode must be 'valid', 'same' or 'pad', not 'full'"):
        ops.AvgPool3D(2, 2, pad_mode="full")(x)
    with pytest.raises(ValueError, match="does not fit"):
        ops.max_pool3d(x, 5)
    with pytest.raises(ValueError, match=r"Pooling over 3 dimensions needs \[N, C, …\]"):
        ops.adaptive_max_pool3d(Tensor(numbers(2, 3, 4)), 1)
