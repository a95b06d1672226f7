# SPDX-License-Identifier: Apache-2.0
"""Numbers that are given in Python, as arrays on the device."""

from __future__ import annotations

import jax
import numpy as np

from mycel.kernel.base import backend, errors
from mycel.kernel.base.dtypes import DType, float32, int64
from mycel.kernel.base.places import user_place

_LARGEST = np.iinfo(np.int64).max


def opts_out(kind: type) -> bool:
    """Whether a class says, by NumPy's convention, that its objects are no arrays."""
    return getattr(kind, "__array_ufunc__", kind) is None


def to_array(data, dtype: DType | None) -> jax.Array:
    """A device array of numbers given in Python."""
    if isinstance(data, jax.Array):
        return data if dtype is None else data.astype(dtype.numpy)
    if not isinstance(data, (np.ndarray, np.generic)):
        data = _numbers(data, dtype)
    if data.dtype.kind not in "biufcV":
        actual = f"data of type {data.dtype}"
        raise errors.wrong(TypeError, "The data of a Tensor", "numbers", actual)
    # A copy of our own, which device_put may then share: later changes of the array do not reach,
    # and no program is compiled for each new shape, as jnp.array would.
    backend.begin()
    copy = np.array(data, dtype.numpy if dtype is not None else data.dtype, order="C")
    return jax.device_put(copy)


def _numbers(data, dtype):
    if opts_out(type(data)):
        raise errors.wrong(TypeError, "The data of a Tensor", "numbers", type(data).__name__)
    data = without_tensors(data)
    try:
        array = np.array(data)
    except ValueError as error:
        raise ValueError(f"Ragged data at {user_place(4)}: {error}") from None
    if dtype is None and array.dtype == np.float64:
        array = array.astype(float32.numpy)
    elif dtype is None and array.dtype == np.uint64 and (array > _LARGEST).any():
        pass  # no Int64 holds it
    elif array.dtype == np.uint64 or (dtype is None and array.dtype.kind == "i"):
        array = array.astype(int64.numpy)
    return array


def without_tensors(data):
    """Nested lists and tuples with arrays in place of Tensors, whose numbers are read."""
    if isinstance(data, (list, tuple)):
        return [without_tensors(part) for part in data]
    return np.asarray(data) if hasattr(data, "__array__") else data
