# SPDX-License-Identifier: Apache-2.0
"""What Python's symbols mean for Tensors. Oracle: answers of MindSpore 2.10, asked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from mycel import Parameter, Tensor, ops


def test_comparison_with_what_is_no_number():
    x = Tensor([1.0, 2.0])
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert (x == "a") is False
    assert (x == [1, 2]) is False
    assert (x == x).all()


def test_tensors_are_hashed_by_identity():
    x, y = Tensor([1]), Tensor([1])
    assert len({x, y}) == 2
    assert {x: 1}[x] == 1


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**"])
def test_augmented_assignment_makes_a_new_tensor(symbol):
    """MindSpore leaves the first Tensor, and a Parameter, as they are."""
    for first in (Tensor([5.0, 7.0]), Parameter(Tensor([5.0, 7.0]), name="p")):
        names = {"x": first}
        exec(f"x {symbol}= 2", names)
        assert type(names["x"]) is Tensor
        np.testing.assert_array_equal(first.asnumpy(), [5, 7])
        np.testing.assert_array_equal(
            names["x"].asnumpy(), eval(f"a {symbol} 2", {"a": first.asnumpy()})
        )


def test_a_written_exponent_is_part_of_the_program():
    """Oracle: counts of compilations; a varying real exponent compiles nothing new."""
    x = Tensor([1.0, 2.0, 3.0])
    for exponent in (2.5, 2.5, 1.5):
        (x**exponent).asnumpy()
    before = ms.debug.ledger().counts.compilations
    for exponent in (0.1, 0.2, 0.3, 11, 12, 13):
        np.testing.assert_allclose((x**exponent).asnumpy(), x.asnumpy() ** exponent, 1e-6)
    # One for the larger integers, which are inputs of the same program as real ones.
    assert ms.debug.ledger().counts.compilations - before <= 1


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 8, 9])
def test_integer_powers(exponent):
    """Oracle: NumPy for real numbers; for integers the truncated real power."""
    real = np.array([-2.0, -1.0, 0.5, 3.0], np.float32)
    np.testing.assert_allclose(
        (Tensor(real) ** exponent).asnumpy(), real.astype(np.float64) ** exponent, 1e-6
    )
    whole = np.array([-2, -1, 1, 3], np.int32)
    expected = np.trunc(whole.astype(np.float64) ** exponent).astype(np.int32)
    result = (Tensor(whole) ** exponent).asnumpy()
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(
        ops.pow(Tensor(whole), Tensor(np.full(4, exponent, np.int32))).asnumpy(), expected
    )


CASTS = {
    "int32": [-(2**31)] * 5 + [300, -3],
    "int8": [0, 0, 0, 0, 0, 44, -3],
    "uint8": [0, 0, 0, 0, 0, 44, 253],
    "int16": [0, 0, 0, 0, 0, 300, -3],
    "uint32": [1410065408, 2884901888, 0, 0, 0, 300, 4294967293],
    "int64": [10**10, -(10**10), -(2**63), -(2**63), -(2**63), 300, -3],
}


@pytest.mark.parametrize("name", CASTS)
def test_casts_out_of_range(name):
    """Oracle: MindSpore 2.10 on a processor, asked by hand."""
    x = Tensor([1e10, -1e10, float("nan"), float("inf"), -float("inf"), 300.7, -3.7])
    assert ops.cast(x, getattr(ms, name)).tolist() == CASTS[name]


def test_casting_to_the_same_type():
    x = Tensor([1.0])
    assert ops.cast(x, ms.float32) is x
    assert x.to(ms.float32) is x
    copied = x.astype(ms.float32)
    assert copied is not x
    assert copied.dtype is ms.float32


def test_max_positional_and_by_keyword():
    x = Tensor([[1.0, 5.0], [4.0, 3.0]])
    values, indices = x.max(0)
    np.testing.assert_array_equal(values.asnumpy(), [4, 5])
    np.testing.assert_array_equal(indices.asnumpy(), [1, 0])
    np.testing.assert_array_equal(x.max(axis=0).asnumpy(), [4, 5])
    assert x.max(0, keepdims=True).shape == (1, 2)
    masked = ops.amax(x, 0, initial=0.0, where=Tensor([[True, False], [True, True]]))
    np.testing.assert_array_equal(masked.asnumpy(), [4, 3])
