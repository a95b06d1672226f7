# SPDX-License-Identifier: Apache-2.0
"""Numbers that are given in Python, as arrays on the device."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.core
import numpy as np

from mycel.kernel.base import backend, errors
from mycel.kernel.base.dtypes import DType, as_dtype, float32, int64
from mycel.kernel.base.places import user_place
from mycel.kernel.base.promotion import scalar_dtype

LARGEST = np.iinfo(np.int64).max


def opts_out(kind: type) -> bool:
    """Whether a class says, by NumPy's convention, that its objects are no arrays."""
    return getattr(kind, "__array_ufunc__", kind) is None


def type_beside(data, other: np.dtype) -> DType | None:
    """The type of data beside a Tensor of type `other`; None for what it is by itself.

    A list of Python's numbers counts as one such number does, where that type holds all of them.
    """
    leaves = list(_leaves(data))
    if not leaves or not all(type(leaf) in (int, float, complex) for leaf in leaves):
        return None
    kind = type(sum(leaves))
    beside = scalar_dtype(other, kind)
    if beside.kind in "iu":
        bounds = np.iinfo(beside)
        if min(leaves) < bounds.min or max(leaves) > bounds.max:
            return None
    return as_dtype(beside)


def _leaves(data) -> Iterator:
    if isinstance(data, (list, tuple)):
        for part in data:
            yield from _leaves(part)
    else:
        yield data


def to_array(data, dtype: DType | None) -> jax.Array:
    """A device array of numbers given in Python."""
    if isinstance(data, jax.core.Tracer):
        # It has no numbers, and would be kept beyond the function that JAX traces.
        raise jax.errors.TracerArrayConversionError(data)
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
        told = _of_unlike_tensors(data) or str(error)
        raise ValueError(f"Ragged data at {user_place(4)}: {told}") from None
    if dtype is not None and array.dtype.kind in "iu" and array.size:
        check_fits(int(array.min()), dtype)
        check_fits(int(array.max()), dtype)
    if dtype is None and array.dtype == np.float64:
        array = array.astype(float32.numpy)
    elif dtype is None and array.dtype == np.uint64 and (array > LARGEST).any():
        pass  # no Int64 holds it
    elif array.dtype == np.uint64 or (dtype is None and array.dtype.kind == "i"):
        array = array.astype(int64.numpy)
    return array


def check_fits(number: int, dtype: DType) -> None:
    """Raise where a type of integers does not have a number, which would wrap around.

    Raises:
        OverflowError: so it is.
    """
    if dtype.numpy.kind in "iu":
        bounds = np.iinfo(dtype.numpy)
        if not bounds.min <= number <= bounds.max:
            raise OverflowError(f"{number} does not fit {dtype} (at {user_place()}).")


def _of_unlike_tensors(data) -> str:
    """Words for a list or tuple of arrays that do not fit together; empty for another one."""
    shapes = {str(leaf.shape) for leaf in _leaves(data) if isinstance(leaf, np.ndarray)}
    if len(shapes) < 2:
        return ""
    return (
        f"{len(data)} parts with Tensors of unlike shapes, {', '.join(sorted(shapes))}, are no "
        "Tensor. Does a layer give several results, as nn.LSTM gives (output, state)? Take one of "
        "them, as by [0]; to join them, write ops.cat((x, y))."
    )


def without_tensors(data):
    """Nested lists and tuples with arrays in place of Tensors, whose numbers are read."""
    if isinstance(data, (list, tuple)):
        return [without_tensors(part) for part in data]
    return np.asarray(data) if hasattr(data, "__array__") else data
