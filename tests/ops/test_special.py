# SPDX-License-Identifier: Apache-2.0
"""Special functions, quantiles, counting, and other functions that few programs use."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

NAN = np.nan
TABLE = np.array([[3.0, 1.0, 2.0], [-1.0, 5.0, 0.5]])
GAPS = np.array([[3.0, NAN, 2.0], [-1.0, 5.0, 0.5]])


@pytest.mark.parametrize(("case", "recorded"), list(cases("special")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


BESSEL = {
    **{name: getattr(scipy.special, name) for name in ("i0", "i0e", "i1", "i1e", "j0", "j1")},
    **{name: getattr(scipy.special, name) for name in ("y0", "y1", "k0", "k0e", "k1", "k1e")},
}


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions(name):
    # Oracle: SciPy, on both sides of the borders between approximations; and at the ends.
    x = np.array([1e-3, 0.5, 1.99, 2.01, 5.0, 7.99, 8.01, 30.0, 80.0])
    function, oracle = getattr(ops, f"bessel_{name}"), BESSEL[name]
    matches(function, oracle, x)
    narrow = function(Tensor(x.astype(np.float32))).asnumpy()
    np.testing.assert_allclose(narrow, oracle(x).astype(np.float32), 2e-5, 2e-6)
    assert function(Tensor(np.float16([1.5]))).dtype == ms.float16
    ends = np.array([0.0, -2.0, NAN])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(function(Tensor(ends)).asnumpy(), oracle(ends), 1e-9)


@pytest.mark.parametrize("name", BESSEL)
def test_derivatives_of_bessel_functions(name):
    # Oracle: finite differences in Float64, to second order; and the limits at 0.
    function = getattr(ops, f"bessel_{name}")
    x = np.array([0.25, 3.0, 9.5])
    expected = gradients_by_differences(function, (x,))[0]
    for execution_name, actual in run_everywhere(ms.grad(function), x).items():
        assert_close(actual, expected, execution_name, "float32")
    slope = ms.grad(function)
    expected = gradients_by_differences(slope, (x,))[0]
    assert_close(ms.grad(slope)(Tensor(x)).asnumpy(), expected, "second", "float32")
    limits = {"i0": 0, "i1": 0.5, "j0": 0, "j1": 0.5, "i0e": 0, "i1e": 0.5}
    if name in limits:
        found = ms.grad(function)(Tensor(np.zeros(1))).asnumpy()
        np.testing.assert_allclose(found, limits[name], atol=1e-12)


def test_gamma_functions():
    # Oracle: SciPy; derivatives by finite differences.
    a, x = np.array([0.5, 2.0, 4.0]), np.array([0.25, 3.0, 3.5])
    matches(ops.igamma, scipy.special.gammainc, a, x)
    matches(ops.igammac, scipy.special.gammaincc, a, x)
    matches(ops.zeta, scipy.special.zeta, a + 1, x)
    matches(lambda x: ops.polygamma(Tensor(2), x), lambda x: scipy.special.polygamma(2, x), x)
    matches(
        lambda x: ops.mvlgamma(x, 2),
        lambda x: np.array([scipy.special.multigammaln(n, 2) for n in x]),
        x + 1,
    )
    matches(
        lambda x: ops.Betainc()(Tensor(a), Tensor(x), x / 8),
        lambda x: scipy.special.betainc(a, x, x / 8),
        x,
    )
    functions = {
        "igamma": lambda x: ops.igamma(Tensor(a), x),
        "zeta": lambda x: ops.zeta(Tensor(a + 1), x),
        "polygamma": lambda x: ops.polygamma(Tensor(1), x),
        "betainc": lambda x: ops.Betainc()(Tensor(a), Tensor(a + 1), x / 8),
    }
    for name, function in functions.items():
        expected = gradients_by_differences(function, (x,))[0]
        assert_close(ms.grad(function)(Tensor(x)).asnumpy(), expected, name, "float32")


def test_quantiles():
    # Oracle: NumPy; MindSpore's CPU has no kernels for them.
    q = np.array([0.25, 0.6])
    matches(lambda x: ops.quantile(x, 0.3), lambda x: np.quantile(x, 0.3), TABLE)
    matches(lambda x, q: ops.quantile(x, q, axis=1), lambda x, q: np.quantile(x, q, 1), TABLE, q)
    matches(
        lambda x: x.quantile(0.5, axis=0, keepdims=True),
        lambda x: np.quantile(x, 0.5, 0, keepdims=True),
        TABLE,
    )
    matches(lambda x: ops.quantile(x, 0.5, axis=1), lambda x: np.quantile(x, 0.5, 1), GAPS)
    matches(lambda x: ops.nanquantile(x, 0.3, 1), lambda x: np.nanquantile(x, 0.3, 1), GAPS)
    matches(lambda x: ops.Quantile(1)(x, Tensor(q)), lambda x: np.quantile(x, q, 1), TABLE)
    assert ops.quantile(Tensor([1, 2]), 0.5).dtype == ms.float32
    with pytest.raises(ValueError, match=r"q of a quantile must be from 0 to 1, but 1\.5"):
        ops.nanquantile(Tensor(TABLE), [0.5, 1.5])

    def squared(x):
        y = ops.quantile(x, 0.3, axis=1)
        return (y * y).sum()

    expected = gradients_by_differences(squared, (TABLE,))[0]
    assert_close(ms.grad(squared)(Tensor(TABLE)).asnumpy(), expected, "slope", "float32")


def test_numbers_or_missing():
    # Oracle: NumPy.
    for name in ("fmax", "fmin"):
        matches(getattr(ops, name), getattr(np, name), GAPS, np.full_like(GAPS, 2.0))
    matches(lambda x: ops.fmin(x, Tensor(TABLE)), lambda x: np.fmin(x, TABLE), GAPS)
    whole = np.array([True, False])
    assert ops.fmax(Tensor(whole), Tensor(whole[::-1].copy())).asnumpy().all()
    value, place = ops.nanmedian(Tensor(np.full((2,), NAN)))
    assert np.isnan(value.asnumpy()) and int(place) == 0


def test_counting():
    # Oracle: NumPy.
    x = np.array([0.1, 3.0, 2.9, -1.0, 1.0], np.float32)
    matches(
        lambda x: ops.HistogramFixedWidth(3)(x, Tensor([0.0, 3.0])),
        lambda _: np.array([2, 1, 2], np.int32),
        x,
    )
    matches(
        lambda x: ops.histc(x, 5, -1.0, 3.0),
        lambda x: np.histogram(x, 5, (-1, 3))[0].astype(np.float32),
        x,
    )
    assert ops.histc(Tensor([2.0, 2.0]), 4).asnumpy().tolist() == [0, 0, 2, 0]
    choices = [np.array([1, 2]), np.array([5, 6])]
    for mode in ("clip", "wrap"):
        found = Tensor([3, -1]).choose([Tensor(c) for c in choices], mode).asnumpy()
        assert_close(found, np.choose([3, -1], choices, mode=mode), mode)
    assert ops.Fills()(Tensor(x), 3).asnumpy().tolist() == [3.0] * 5
    made = ops.RaggedRange(ms.int64)(Tensor([2, 5, 8]), Tensor([3, 5, 12]), Tensor([1, 1, 2]))
    assert [part.asnumpy().tolist() for part in made] == [[0, 1, 1, 3], [2, 8, 10]]
    with pytest.raises(ValueError, match="does not broadcast to"):
        Tensor(x).sum_to_size((3,))
    with pytest.raises(ValueError, match="0 to 2, each once"):
        ops.InvertPermutation()((0, 1, 1))


def test_products_of_segments():
    # Oracle: NumPy and finite differences, to second order, also where a factor is 0.
    x = np.array([[2.0, 0.0], [3.0, 4.0], [5.0, 0.0], [-1.0, 2.0]])
    index = Tensor([0, 2, 0, -1])

    def function(x):
        return ops.unsorted_segment_prod(x, index, 4)

    matches(function, lambda x: np.stack([x[0] * x[2], [1, 1], x[1], [1, 1]]), x)

    def cubed(x):
        y = function(x) + 1
        return (y * y * y).sum()

    expected = gradients_by_differences(cubed, (x,))[0]
    for name, actual in run_everywhere(ms.grad(cubed), x).items():
        assert_close(actual, expected, name, "float32")

    weights = Tensor(x + 1.5)
    second = lambda x: (ms.grad(cubed)(x) * weights).sum()  # noqa: E731
    expected = gradients_by_differences(second, (x,))[0]
    assert_close(ms.grad(second)(Tensor(x)).asnumpy(), expected, "second", "float32")
