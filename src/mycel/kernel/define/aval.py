# SPDX-License-Identifier: Apache-2.0
"""Interned pairs of shape and element type, compared by identity."""

from __future__ import annotations

from math import prod

import jax
import numpy as np

from mycel.kernel.base.dtypes import DType, as_dtype


class Aval:
    """What is known of an array without its values."""

    __slots__ = ("dtype", "inexact", "nbytes", "numpy", "shape", "struct")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape = shape
        self.numpy = dtype
        self.dtype: DType = as_dtype(dtype)
        self.inexact = self.dtype.is_inexact
        self.struct = jax.ShapeDtypeStruct(shape, dtype)
        self.nbytes = prod(shape) * dtype.itemsize

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__


_avals: dict[tuple, Aval] = {}


def aval_of(shape: tuple[int, ...], dtype) -> Aval:
    """The one Aval of this shape and NumPy dtype."""
    aval = _avals.get((shape, dtype))
    if aval is None:
        aval = _avals.setdefault((shape, np.dtype(dtype)), Aval(shape, np.dtype(dtype)))
    return aval
