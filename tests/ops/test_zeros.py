# SPDX-License-Identifier: Apache-2.0
"""0.0, -0.0, 0 and False are equal to Python, and are other programs where they are attributes."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import run_everywhere
from mycel import Tensor, mint, nn, ops
from mycel.compat.older import get_cache_prim
from mycel.kernel.define.definition import definitions

X = np.array([-2.0, -0.0, 0.0, 2.0, np.nan], np.float32)


def slope(x, z):
    return np.where(x > 0, x, np.where(np.isnan(x), x, x * np.float32(z)))


def exponential(x, z):
    return np.where(x > 0, x, np.float32(z) * np.expm1(x))


def replaced(x, z):
    return np.where(np.isnan(x), np.float32(z), x)


def clipped(x, z):
    """-0 is less than 0, as XLA has it; their sum is the greater one."""
    above = np.where(x == 0, x + np.float32(z), np.minimum(x, np.float32(1)))
    return np.where(x < 0, np.float32(z), above)


def soft(x, z):
    with np.errstate(divide="ignore"):
        scale = np.float32(1) / np.float32(z)
    return np.log1p(np.exp(x * np.float32(z))) * scale


CALLS = {
    "leaky_relu": (lambda x, z: ops.leaky_relu(x, z), slope),
    "LeakyReLU": (lambda x, z: nn.LeakyReLU(z)(x), slope),
    "mint leaky_relu": (lambda x, z: mint.nn.functional.leaky_relu(x, z), slope),
    "elu": (lambda x, z: ops.elu(x, z), exponential),
    "Elu": (lambda x, z: ops.Elu(z)(x), exponential),
    "nn.ELU": (lambda x, z: nn.ELU(z)(x), exponential),
    "softplus": (lambda x, z: ops.softplus(x, z), soft),
    "nan_to_num": (lambda x, z: ops.nan_to_num(x, z), replaced),
    "Tensor.nan_to_num": (lambda x, z: x.nan_to_num(z), replaced),
    "mint nan_to_num": (lambda x, z: mint.nan_to_num(x, z), replaced),
    "hardtanh": (lambda x, z: ops.hardtanh(x, z, 1.0), clipped),
    "mint hardtanh": (lambda x, z: mint.nn.functional.hardtanh(x, z, 1.0), clipped),
}
ZEROS = (0.0, -0.0, 0)


@pytest.mark.parametrize("order", [ZEROS, ZEROS[::-1]])
@pytest.mark.parametrize("name", CALLS)
def test_the_sign_of_a_zero_reaches_the_result(name, order):
    """Oracle: NumPy, with the signs of zeros."""
    call, oracle = CALLS[name]
    for zero in order:
        expected = oracle(X, zero)
        for mode, actual in run_everywhere(lambda x, z=zero: call(x, z), X).items():
            np.testing.assert_array_equal(actual, expected, f"{name} at {zero}, {mode}")
            numbers = ~np.isnan(expected)
            signs = np.signbit(actual)[numbers], np.signbit(expected)[numbers]
            np.testing.assert_array_equal(*signs, f"signs of {name} at {zero}, {mode}")


def test_a_static_nan_compiles_once():
    """A new NaN at each call is the same number."""
    x = Tensor(X)
    ops.nan_to_num(x, float("nan")).asnumpy()
    before = len(definitions["nan_to_num"]._ops)
    for _ in range(5):
        result = ops.nan_to_num(x, float("nan")).asnumpy()
    np.testing.assert_array_equal(result, X)
    assert len(definitions["nan_to_num"]._ops) == before


def test_an_operator_of_the_user_has_signed_static_zeros():
    @ops.custom_op
    def scaled(x, *, by):
        return x * by

    for zero in (*ZEROS, *ZEROS[::-1]):
        for actual in run_everywhere(lambda x, z=zero: scaled(x, by=z), X[:4]).values():
            expected = X[:4] * np.float32(zero)
            np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


def test_a_primitive_is_made_once_for_each_choice_and_kept_apart_from_equal_ones():
    for zero in (*ZEROS, *ZEROS[::-1]):
        actual = get_cache_prim(ops.Elu)(zero)(Tensor(X)).asnumpy()
        expected = exponential(X, zero)
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(np.signbit(actual[:4]), np.signbit(expected[:4]))
    assert get_cache_prim(ops.Elu)(-0.0) is get_cache_prim(ops.Elu)(-0.0)
    assert get_cache_prim(ops.ReduceSum)(True) is not get_cache_prim(ops.ReduceSum)(1)
    assert get_cache_prim(ops.ReduceSum)(keep_dims=True) is not get_cache_prim(ops.ReduceSum)(True)


def test_a_primitive_with_lists_is_made_once_too():
    """A list is no key; its numbers are."""
    made = get_cache_prim(ops.MaxPool)([1, 1], strides=[1, 1])
    assert made is get_cache_prim(ops.MaxPool)([1, 1], strides=[1, 1])


def test_the_order_of_modes_does_not_matter():
    results = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        cells = [nn.LeakyReLU(zero) for zero in (0.0, -0.0)]
        try:
            results += [[np.signbit(c(Tensor(X)).asnumpy()[:4]) for c in cells] for _ in range(4)]
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    expected = [np.signbit(slope(X, zero)[:4]) for zero in (0.0, -0.0)]
    for found in results:
        np.testing.assert_array_equal(found, expected)
