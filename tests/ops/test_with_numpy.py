# SPDX-License-Identifier: Apache-2.0
"""Numbers, arrays and functions of NumPy beside Tensors; numbers of classes of one's own."""

from __future__ import annotations

import enum
import operator

import numpy as np
import pytest

import mycel as ms
from fixtures.load import pairs
from harness import assert_close
from mycel import Tensor, ops
from support.recorded_operators import agrees

SCALARS = [
    np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.int32(2), np.uint8(2),
    np.bool_(True),
]  # fmt: skip
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, ops.maximum, ops.atan2,
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "recorded"), [pytest.param(*pair, id=pair[0].name) for pair in pairs("beside_numpy")]
)
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.int32])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: type(s).__name__)
def test_a_scalar_of_numpy_is_a_number(scalar, dtype):
    # Oracle: MindSpore 2.10, where they are as Python's numbers: `x - np.log(2.0)` stays Float32.
    x = Tensor([1, 2, 3], dtype)
    for function in OPERATORS:
        result, expected = function(x, scalar), function(x, scalar.item())
        assert result.dtype == expected.dtype, function
        assert_close(result.asnumpy(), expected.asnumpy(), str(function))
    for function in OPERATORS[:4]:
        assert function(scalar, x).dtype == function(scalar.item(), x).dtype


def test_numbers_of_classes_of_a_program():
    # Oracle: MindSpore 2.10 gives these types and numbers.
    class Scale(float):
        pass

    class Level(enum.IntEnum):
        LOW = 2

    x = Tensor([1.0, 2.0])
    assert (x * Scale(2.5)).asnumpy().tolist() == [2.5, 5.0]
    assert (Level.LOW * x).dtype == ms.float32
    assert (Tensor([1, 2]) + Level.LOW).dtype == ms.int64


@pytest.mark.parametrize(
    "name", ["sqrt", "exp", "log", "abs", "isnan", "floor", "sign", "maximum", "minimum", "hypot"]
)
def test_functions_of_numpy_give_arrays(name):
    # Oracle: NumPy; MindSpore's Tensors are taken as arrays by it too.
    function, data = getattr(np, name), np.array([1.0, 4.0], np.float32)
    others = [data] * (function.nin - 1)
    result = function(Tensor(data), *[Tensor(other) for other in others])
    assert type(result) is np.ndarray
    assert_close(result, function(data, *others), name)


def test_operators_of_arrays_give_tensors():
    # Oracle: NumPy; the Tensor decides, so that gradients flow.
    data, x = np.array([1.0, 2.0], np.float32), Tensor([3.0, 4.0])
    for function in (*OPERATORS[:7], operator.matmul, operator.lt, operator.eq, operator.ge):
        result = function(data, x)
        assert isinstance(result, Tensor), function
        np.testing.assert_allclose(result.asnumpy(), function(data, x.asnumpy()), 1e-6)
    assert ms.grad(lambda x: (data * x).sum())(x).asnumpy().tolist() == [1.0, 2.0]
    data += x
    assert data.tolist() == [4.0, 6.0]
