# SPDX-License-Identifier: Apache-2.0
"""Quotients are rounded once. Oracle: NumPy, to the last bit.

XLA multiplies by 1 / y where y is a constant or is broadcast, and turns a / b / c into a / (b · c).
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import run_everywhere
from mycel import Tensor, mint, nn, ops

NUMBERS = np.arange(-20, 120, dtype=np.float32)
FORMS = {
    "x / number": (lambda x, n: x / n, lambda x, n: x / n),
    "x / Tensor": (lambda x, n: ops.div(x, Tensor(n)), lambda x, n: x / n),
    "x // number": (lambda x, n: (x * n) // n, lambda x, n: x),
    "floor": (lambda x, n: ops.floor(x * n / n), lambda x, n: x),
    "floor_div": (lambda x, n: ops.floor_div(x * n, Tensor([n])), lambda x, n: x),
    "trunc": (lambda x, n: mint.div(x * n, n, rounding_mode="trunc"), lambda x, n: x),
    "truncate_div": (lambda x, n: ops.truncate_div(x * n, Tensor(n)), lambda x, n: x),
    "RealDiv": (lambda x, n: ops.RealDiv()(x, Tensor(n)), lambda x, n: x / n),
    "DivNoNan": (lambda x, n: ops.DivNoNan()(x, Tensor(n)), lambda x, n: x / n),
    "addcdiv": (lambda x, n: ops.addcdiv(x * 0, x, Tensor(n)), lambda x, n: x / n),
    "by rows": (lambda x, n: x / (x[:, :1] * 0 + n), lambda x, n: x / n),
    "mean": (lambda x, n: (x[:1, :1] * 0 + n).broadcast_to((47, 1)).mean(), lambda x, n: n),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_rounded_once(form, dtype):
    function, oracle = FORMS[form]
    half = dtype is np.float16
    x = NUMBERS[: 28 if half else None].reshape(-1, 7).astype(dtype)
    for n in map(dtype, (41, 47, 82, 94, 61 if half else 255)):  # products with x are exact
        for name, made in run_everywhere(lambda x, n=n: function(x, n), x).items():
            expected = np.broadcast_to(oracle(x, n), np.shape(made))
            np.testing.assert_array_equal(made, expected, f"{name} by {n}")


def test_quotients_of_quotients_do_not_overflow():
    x = np.float32([1e30, -1e-10, 3e10])

    def function(x):
        return x / 1e20 / 1e20, x / 1e-20 / 1e-20

    y, z = np.float32(1e20), np.float32(1e-20)
    with np.errstate(over="ignore"):
        expected = x / y / y, x / z / z
    for name, made in run_everywhere(function, x).items():
        np.testing.assert_array_equal(made, expected, name)


def test_what_is_no_number_stays_so_and_gradients_do_too():
    x, y = np.float32([np.nan, np.inf, -np.inf, 1, 0]), np.float32([2, np.inf, 2, 0, 0])
    with np.errstate(all="ignore"):
        expected = [x / y, 1 / y, -x / (y * y)]
    gradient = ms.grad(lambda x, y: (x / y).sum(), (0, 1))
    for name, made in run_everywhere(lambda x, y: (x / y, *gradient(x, y)), x, y).items():
        for actual, wanted in zip(made, expected, strict=True):
            np.testing.assert_allclose(actual, wanted, 1e-6, err_msg=name)


@pytest.mark.parametrize("power", [0.5, 0.9, 1.0])
def test_polynomial_rates_end_where_they_should(power):
    for length in (3, 10, 41, 47, 100):
        rate = nn.PolynomialDecayLR(0.1, 0.001, length, power)
        for name, made in run_everywhere(rate, np.int32(length)).items():
            assert made == np.float32(0.001), (name, length)


@pytest.mark.parametrize("count", [41, 47, 82, 768])
def test_equal_numbers_have_no_spread(count):
    """Oracle: the definition."""
    x = np.full((2, count), 41, np.float32)

    def function(x):
        return x.mean(1), ops.var(x, 1), ops.std(x, (0, 1)), ops.mean(x)

    for name, made in run_everywhere(function, x).items():
        for actual, wanted in zip(made, (41, 0, 0, 41), strict=True):
            np.testing.assert_array_equal(actual, np.full_like(actual, wanted), name)


def test_edges_of_bins():
    x = np.float32([0, 41, 82, 123, 164])
    for made in run_everywhere(lambda x: ops.histc(x, bins=4, min=0.0, max=164.0), x).values():
        np.testing.assert_array_equal(made, [1, 1, 1, 2])


def test_integers_divided_by_zero():
    # Oracle: MindSpore 2.10; XLA has -1 and -2. Of remainders its ops.remainder and ops.fmod, all
    # of x (its FloorMod has the least number of Int32, and 0 of Int8).
    functions = (
        lambda x, y: (x // y, ops.floor_div(x, y), ops.FloorDiv()(x, y), ops.TruncateDiv()(x, y)),
        lambda x, y: (x // 0, mint.floor_divide(x, 0), ops.div(x, y, rounding_mode="floor")),
        lambda x, y: (ops.RealDiv()(x, y), ops.div(x, y, rounding_mode="trunc")),
    )
    for kind in (np.int8, np.int32, np.int64, np.uint8):
        x, limits = np.array([0, 4, 5, 1], kind) - np.array([0, 0, 9, 0], kind), np.iinfo(kind)
        expected = [limits.min if n < 0 else limits.max if n else 0 for n in x]
        for function in functions:
            for made in run_everywhere(function, x, x * 0).values():
                for one in made:
                    assert one.dtype == kind
                    np.testing.assert_array_equal(one, expected)
        for made in run_everywhere(
            lambda x, y: (ops.remainder(x, y), x % 0, ops.fmod(x, y)), x, x * 0
        ).values():
            for one in made:
                np.testing.assert_array_equal(one, x)


def test_negative_powers_of_the_integer_zero():
    # Oracle: MindSpore 2.10, which has the least number where a type holds no infinity.
    for kind, none in ((np.int32, -(2**31)), (np.int64, -(2**63)), (np.int8, 0)):
        x = np.array([0, 4, -1, 1, 0], kind)
        y = np.array([-1, -2, -1, -3, 0], kind)
        for made, by_number in run_everywhere(lambda x, y: (ops.pow(x, y), x**-1), x, y).values():
            np.testing.assert_array_equal(made, [none, 0, -1, 1, 1])
            np.testing.assert_array_equal(by_number, [none, 0, -1, 1, none])
