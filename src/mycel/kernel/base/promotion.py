# SPDX-License-Identifier: Apache-2.0
"""Which type two operands meet in. Data: one lattice for Tensors, one rule for Python numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_BF16 = np.dtype(ml_dtypes.bfloat16)
_UNSIGNED_PARTNER = {
    np.dtype(np.uint8): np.dtype(np.int16),
    np.dtype(np.uint16): np.dtype(np.int32),
    np.dtype(np.uint32): np.dtype(np.int64),
    np.dtype(np.uint64): np.dtype(np.int64),
}
_table: dict = {}


def promote_dtypes(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type of `a ⊗ b` for two Tensors."""
    if a == b:
        return a
    dtype = _table.get((a, b))
    if dtype is None:
        dtype = _table[(a, b)] = _meet(a, b)
    return dtype


def promote_weakly(a: np.dtype, b: np.dtype, a_ndim: int, b_ndim: int) -> np.dtype:
    """As `promote_dtypes`, but of one kind (integer, real) the operand with dimensions decides.

    MindSpore's product and quotient follow this rule, its other operators do not.
    """
    if a_ndim and not b_ndim and _rank(a) == _rank(b):
        return a
    if b_ndim and not a_ndim and _rank(a) == _rank(b):
        return b
    return promote_dtypes(a, b)


def _rank(d: np.dtype) -> int:
    if d == np.bool_:
        return 0
    if d.kind in "iu":
        return 1
    return 3 if d.kind == "c" else 2


def _meet(a: np.dtype, b: np.dtype) -> np.dtype:
    ra, rb = _rank(a), _rank(b)
    if ra > rb:
        return a if ra != 3 or b != np.float64 else np.dtype(np.complex128)
    if rb > ra:
        return _meet(b, a)
    if ra == 2:
        if a.itemsize == b.itemsize:  # float16 with bfloat16
            return np.dtype(np.float32)
        return a if a.itemsize > b.itemsize else b
    if ra == 1 and a.kind != b.kind:
        unsigned, signed = (a, b) if a.kind == "u" else (b, a)
        return signed if signed.itemsize > unsigned.itemsize else _UNSIGNED_PARTNER[unsigned]
    return a if a.itemsize > b.itemsize else b


def scalar_dtype(tensor: np.dtype, number_class: type) -> np.dtype:
    """The type a Python number takes next to a Tensor: the Tensor's own where its kind allows."""
    if number_class is bool or tensor.kind == "c":
        return tensor
    if number_class is int:
        return np.dtype(np.int64) if tensor == np.bool_ else tensor
    if number_class is float:
        return tensor if _rank(tensor) == 2 else np.dtype(np.float32)
    return np.dtype(np.complex128 if tensor == np.float64 else np.complex64)
