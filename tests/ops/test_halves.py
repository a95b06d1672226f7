# SPDX-License-Identifier: Apache-2.0
"""Float16 and BFloat16: what is composed of several steps, or adds up, is rounded once."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import mycel as ms
from harness import run_everywhere
from mycel import Tensor, mint, nn, ops

HALVES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
WIDE = np.concatenate([np.linspace(-6, 6, 121), [-9.0, -12.5, 8.0, 100.0]])
ABOVE_1 = np.linspace(1.25, 9, 64)
WITHIN_1 = np.linspace(-0.95, 0.95, 77)


def sigmoid(x):
    return special.expit(x)


def smooth(x):
    return np.logaddexp(x, 0)


def exponential(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def hard(x):
    return np.clip(x + 3, 0, 6) / 6


FUNCTIONS = {
    "exp2": (lambda x: (ops.exp2(x), mint.exp2(x), mint.special.exp2(x)), np.exp2, WIDE[:-1]),
    "expm1": (ops.expm1, np.expm1, WIDE[:-1]),
    "log2": (ops.log2, np.log2, ABOVE_1),
    "log10": (ops.log10, np.log10, ABOVE_1),
    "asin": (ops.asin, np.arcsin, WITHIN_1),
    "asinh": (ops.asinh, np.arcsinh, WIDE),
    "acosh": (ops.acosh, np.arccosh, ABOVE_1),
    "atanh": (ops.atanh, np.arctanh, WITHIN_1),
    "sinc": (ops.sinc, np.sinc, WITHIN_1),
    "sinh": (ops.sinh, np.sinh, WIDE[abs(WIDE) < 9]),
    "logit": (ops.logit, special.logit, np.linspace(0.05, 0.9, 60)),
    "elu": (ops.elu, exponential, WIDE),
    "celu": (ops.celu, exponential, WIDE),
    "fast_gelu": (ops.fast_gelu, lambda x: x * sigmoid(1.702 * x), WIDE[WIDE > -10]),
    "silu": (ops.silu, lambda x: x * sigmoid(x), WIDE),
    "mish": (ops.mish, lambda x: x * np.tanh(smooth(x)), WIDE),
    "sigmoid": (ops.sigmoid, sigmoid, WIDE),
    "hardswish": (ops.hardswish, lambda x: x * hard(x), WIDE),
    "hardsigmoid": (ops.hardsigmoid, hard, WIDE),
    "softplus": (ops.softplus, smooth, WIDE),
    "softsign": (ops.softsign, lambda x: x / (1 + abs(x)), WIDE),
    "logsigmoid": (ops.logsigmoid, lambda x: -smooth(-x), WIDE),
    "tanhshrink": (ops.tanhshrink, lambda x: x - np.tanh(x), WIDE[abs(WIDE) > 0.05]),
}


def close(actual, expected, half):
    """Both within one step of the type."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(expected).astype(half)
    assert actual.dtype == rounded.dtype
    step = np.spacing(np.abs(rounded)).astype(np.float64)
    apart = np.abs(actual.astype(np.float64) - rounded.astype(np.float64))
    assert (apart <= step).all(), (apart / step).max()


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_rounded_once(name, half):
    # Oracle: NumPy and SciPy in Float64, rounded; MindSpore 2.10 is as near in Float16, or less so.
    function, oracle, values = FUNCTIONS[name]
    values = values.astype(HALVES[half])
    expected = oracle(values.astype(np.float64))
    for found in run_everywhere(function, values).values():
        for one in found if isinstance(found, tuple) else (found,):
            close(one, expected, HALVES[half])


@pytest.mark.parametrize("half", HALVES)
def test_sums_and_means_of_many(half):
    # Oracle: arithmetic, as MindSpore 2.10 has it in Float16; 4900 ones were 2306 in BFloat16.
    ones, kind = np.ones((1, 1, 70, 70), HALVES[half]), getattr(ms, half)

    def found(x):
        flat = x.reshape(-1)
        means = ops.avg_pool2d(x, 70, 70), ops.adaptive_avg_pool2d(x, 1), ops.mse_loss(flat, -flat)
        sums = [f(flat) for f in (ops.sum, mint.sum, ops.nansum, ops.reduce_sum)]
        return means, (*sums, flat.sum(), ops.mse_loss(flat, flat * 0, "sum"))

    for means, sums in run_everywhere(found, ones).values():
        assert [m.astype(float).item() for m in means] == [1, 1, 4]
        assert {s.astype(float).item() for s in sums} == {float(HALVES[half](4900))}
    classes = Tensor(np.zeros((5000, 10)), kind)
    loss = nn.CrossEntropyLoss()(classes, ops.zeros(5000, ms.int32))
    close(loss.asnumpy(), np.log(10), HALVES[half])
    signs = np.tile(np.clip(np.linspace(-1, 1, 241), -0.999, 0.999), 9).astype(HALVES[half])
    assert abs(ops.sum(Tensor(signs, kind)).float().item()) < 1e-4


PLACES = np.zeros(5000, np.int32)


def added(x, ones):
    rows, at = PLACES[:, None], Tensor(PLACES)
    yield ops.scatter_nd(Tensor(rows), ones, (2,))
    yield ops.tensor_scatter_add(x, Tensor(rows), ones)
    yield -ops.tensor_scatter_sub(x, Tensor(rows), ones)
    yield ops.tensor_scatter_elements(x, at, ones, 0, "add")
    yield x.scatter_add(0, at, ones)
    yield mint.index_add(x, 0, at, ones)
    yield x.index_add(0, at, ones)
    yield ops.unsorted_segment_sum(ones, at, 2)
    yield ops.SegmentSum()(ones, at)
    yield ops.Bincount()(at, 2, ones)
    yield ops.index_add(ms.Parameter(x.copy(), name="x"), at, ones, 0)
    yield ops.scatter_add(ms.Parameter(x.copy(), name="x"), at, ones)
    yield x.copy().index_put_((at,), ones, True)


READS = {
    "gather": lambda x: ops.gather(x, Tensor(PLACES), 0),
    "gather_nd": lambda x: ops.gather_nd(x, Tensor(PLACES[:, None])),
    "gather_elements": lambda x: ops.gather_elements(x, 0, Tensor(PLACES)),
    "index_select": lambda x: ops.index_select(x, 0, Tensor(PLACES)),
    "take": lambda x: ops.take(x, Tensor(PLACES)),
    "x[index]": lambda x: x[Tensor(PLACES)],
    "embedding": lambda x: ops.embedding(Tensor(PLACES), x.reshape(2, 1)),
    "interpolate": lambda x: ops.interpolate(x.reshape(1, 1, 2), size=10000),
}


@pytest.mark.parametrize("half", HALVES)
def test_what_is_added_at_one_place(half):
    # Oracle: arithmetic, as MindSpore 2.10's scatter_nd has it. A BFloat16 stopped at 256.
    x, ones = np.zeros(2, HALVES[half]), np.ones(5000, HALVES[half])
    expected = float(HALVES[half](5000))
    for found in run_everywhere(lambda x, y: tuple(added(x, y)), x, ones, replayed=False).values():
        assert [one.astype(float).ravel()[0].item() for one in found] == [expected] * len(found)
        assert {one.dtype for one in found} == {x.dtype}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("read", READS)
def test_gradients_of_what_is_read_often(half, read):
    # Oracle: arithmetic; MindSpore 2.10 has it of gather_nd and gather_elements.
    def gradient(x):
        return ms.grad(lambda x: READS[read](x).sum())(x)

    for found in run_everywhere(gradient, np.zeros(2, HALVES[half])).values():
        assert found.dtype == HALVES[half]
        assert found.astype(float)[0].item() == float(HALVES[half](5000))


@pytest.mark.parametrize("half", HALVES)
def test_softmax_is_rounded_once(half):
    # Oracle: SciPy in Float64, rounded; MindSpore 2.10's log_softmax of Float16 is as near.
    x = (np.random.default_rng(0).normal(size=(16, 100)) * 2).astype(HALVES[half])
    wide = x.astype(np.float64)
    expected = special.softmax(wide, 1), special.log_softmax(wide, 1), special.softmax(-wide, 1)

    def function(x):
        return ops.softmax(x, 1), ops.log_softmax(x, 1), ops.softmin(x, 1)

    for found in run_everywhere(function, x).values():
        for one, other in zip(found, expected, strict=True):
            close(one, other, HALVES[half])
