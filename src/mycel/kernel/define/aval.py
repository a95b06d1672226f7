# SPDX-License-Identifier: Apache-2.0
"""Interned pairs of shape and element type, compared by identity."""

from __future__ import annotations

import threading
import weakref
from math import prod

import jax
import numpy as np

from mycel.kernel.base.dtypes import DType, as_dtype


class Aval:
    """What is known of an array without its values."""

    __slots__ = ("__weakref__", "dtype", "inexact", "nbytes", "numpy", "shape", "struct")

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


# Weakly: programs whose shapes change from call to call make new ones for ever.
_avals: dict[tuple, weakref.ref[Aval]] = {}
_lock = threading.RLock()


def aval_of(shape: tuple[int, ...], dtype) -> Aval:
    """The one Aval of this shape and NumPy dtype."""
    known = _avals.get((shape, dtype))
    aval = known() if known is not None else None
    return _new_aval((shape, np.dtype(dtype))) if aval is None else aval


def _new_aval(name: tuple[tuple[int, ...], np.dtype]) -> Aval:
    def forget(known: weakref.ref[Aval]) -> None:
        # Another may have taken its place; the lock is one that this thread may already have.
        with _lock:
            if _avals.get(name) is known:
                del _avals[name]

    with _lock:
        known = _avals.get(name)
        aval = known() if known is not None else None
        if aval is None:
            aval = Aval(*name)
            _avals[name] = weakref.ref(aval, forget)
        return aval
