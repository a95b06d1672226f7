# SPDX-License-Identifier: Apache-2.0
"""The type in which two operands meet. Oracle: the recorded table of MindSpore 2.10, and NumPy
where both have one rule.

tests/ops/test_promotion.py asks every operator; these are the functions that they all ask.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fixtures import load, promotion
from mycel.kernel.base import dtypes
from mycel.kernel.base.promotion import promote_dtypes, promote_weakly, scalar_dtype

NUMPY = [dtype.numpy for dtype in dtypes.ALL]
NUMBERS = {"True": bool, "3": int, "3.5": float}


def kind_and_dimensions(operand: str) -> tuple[np.dtype, int]:
    name = operand.removeprefix("0d:")
    return dtypes.as_dtype(name).numpy, int(name == operand)


def recorded(name: str):
    """Pairs of Tensors whose result has a type in MindSpore."""
    for (left, right), expected in load.promotion_table(name).items():
        if left not in NUMBERS and right not in NUMBERS and not expected.endswith("Error"):
            yield left, right, expected


def test_two_tensors_as_recorded():
    pairs = list(recorded("add"))
    assert len(pairs) > 300
    for left, right, expected in pairs:
        (a, _), (b, _) = kind_and_dimensions(left), kind_and_dimensions(right)
        assert promote_dtypes(a, b) == dtypes.as_dtype(expected).numpy, (left, right)


def test_a_product_lets_the_operand_with_dimensions_decide():
    pairs, decided = list(recorded("mul")), 0
    assert len(pairs) > 300
    for left, right, expected in pairs:
        (a, more), (b, others) = kind_and_dimensions(left), kind_and_dimensions(right)
        found = promote_weakly(a, b, more, others)
        assert found == dtypes.as_dtype(expected).numpy, (left, right)
        decided += found != promote_dtypes(a, b)
    assert decided > 10, "the two rules are to be told apart"


def test_a_number_beside_a_tensor_as_recorded():
    seen = 0
    for (left, right), expected in load.promotion_table("add").items():
        for tensor, number in ((left, right), (right, left)):
            if number in NUMBERS and tensor not in NUMBERS and not expected.endswith("Error"):
                (a, _), kind = kind_and_dimensions(tensor), NUMBERS[number]
                assert scalar_dtype(a, kind) == dtypes.as_dtype(expected).numpy, (left, right)
                seen += 1
    assert seen > 80


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
def test_a_complex_number_is_as_wide_as_the_tensor(dtype):
    found = scalar_dtype(dtype, complex)
    wide = dtype in (np.float64, np.complex128)
    assert found == (np.complex128 if wide else np.complex64)


def test_the_order_of_operands_does_not_matter():
    for a, b in itertools.product(NUMPY, NUMPY):
        assert promote_dtypes(a, b) == promote_dtypes(b, a)
        assert promote_weakly(a, b, 1, 0) == promote_weakly(b, a, 0, 1)
        assert promote_weakly(a, b, 1, 1) == promote_dtypes(a, b)
        assert promote_weakly(a, b, 0, 0) == promote_dtypes(a, b)


def test_within_a_kind_as_in_numpy():
    """NumPy has no integer for uint64 with a signed one, and no common type of the two halves."""
    by_kind = [
        [d for d in NUMPY if d.kind in "bui" and d != np.uint64],
        [d for d in NUMPY if d.kind == "f"],
        [d for d in NUMPY if d.kind == "c"],
    ]
    for kinds in by_kind:
        for a, b in itertools.product(kinds, kinds):
            assert promote_dtypes(a, b) == np.promote_types(a, b), (a, b)


def test_an_integer_never_widens_a_real_number():
    """Where MindSpore departs from NumPy, for which int32 and float32 meet in float64."""
    for integer in (d for d in NUMPY if d.kind in "bui"):
        for real in (d for d in NUMPY if d.kind in "fcV"):
            assert promote_dtypes(integer, real) == real
    assert set(promotion.DTYPES) <= {d.name for d in NUMPY}
