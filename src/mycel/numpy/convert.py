# SPDX-License-Identifier: Apache-2.0
"""What all functions share: Python data as Tensors, element types, axes, results."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel import ops
from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    float16,
    float32,
    int32,
    uint32,
)
from mycel.kernel.base.promotion import promote_dtypes
from mycel.kernel.record.tensor import Tensor

_PYTHON = {bool: bool_, int: int32, float: float32, complex: complex64}
_WORDS = {int: int32, float: float32, "uint": uint32}
_NARROWED = {"int64": int32, "float64": float32, "complex128": complex64}
# Beside these a Python number gives the same result as the Tensor it stands for.
_ROOMY = {int: {"int32", "int64", "float16", "bfloat16", "float32", "float64"},
          float: {"int8", "int16", "int32", "int64", "uint8", "uint16", "float32",
                  "float64"}}  # fmt: skip


def as_tensor(value: Any, name: str = "An argument") -> Tensor:
    """A Tensor as it is; Python numbers and nested lists of them as Bool, Int32 or Float32.

    Tensors in a list are joined by operators, so that gradients reach them.

    Raises:
        TypeError: nothing that could be an array.
    """
    if isinstance(value, Tensor):
        return value
    kind = _PYTHON.get(value.__class__)
    if kind is not None:
        return Tensor(value, kind)
    if isinstance(value, (np.ndarray, np.generic)):
        return Tensor(value)
    if not isinstance(value, (list, tuple)):
        expected = "a number, a nested list of numbers or a Tensor"
        raise errors.wrong(TypeError, name, expected, type(value).__name__)
    if _holds_tensors(value):
        return narrowed(stacked([as_tensor(part, name) for part in value]))
    array = np.array(value)
    narrow = _NARROWED.get(array.dtype.name)
    return Tensor(array, narrow)


def _holds_tensors(values) -> bool:
    return any(
        isinstance(v, Tensor) or (isinstance(v, (list, tuple)) and _holds_tensors(v))
        for v in values
    )


def narrowed(x: Tensor) -> Tensor:
    """Int64 as Int32 and Float64 as Float32, as Python data has them."""
    narrow = _NARROWED.get(x.dtype.name)
    return x if narrow is None else ops.cast(x, narrow)


def stacked(tensors) -> Tensor:
    """Tensors of one shape side by side, in the type they meet in."""
    meeting = meeting_type(*tensors)
    return ops.stack([ops.cast(x, meeting) for x in tensors])


def operands(x1, x2):
    """Two operands for an operator; a number stays one where that makes no difference."""
    if isinstance(x1, Tensor):
        return x1, (x2 if isinstance(x2, Tensor) or _fits(x2, x1) else as_tensor(x2, "x2"))
    if isinstance(x2, Tensor):
        return (x1 if _fits(x1, x2) else as_tensor(x1, "x1")), x2
    return as_tensor(x1, "x1"), as_tensor(x2, "x2")


def _fits(number, beside: Tensor) -> bool:
    return beside.dtype.name in _ROOMY.get(number.__class__, ())


def element(dtype) -> DType:
    """The element type that `dtype` means; `int` and `float` are Int32 and Float32."""
    meant = _WORDS.get(dtype) if isinstance(dtype, (str, type)) else None
    return meant or as_dtype(dtype)


def in_type(x, dtype):
    """x in the type asked for; None asks for nothing."""
    return x if dtype is None else ops.cast(x, element(dtype))


def meeting_of(a: DType, b: DType) -> DType:
    """The type that two meet in: of UInt64 and a signed integer Float64, as in NumPy."""
    signed = {a.name, b.name} & {"int8", "int16", "int32", "int64"}
    if signed and "uint64" in (a.name, b.name):
        return as_dtype("float64")
    return as_dtype(promote_dtypes(a.numpy, b.numpy))


def meeting_type(*tensors) -> DType:
    """The type that all Tensors meet in."""
    meeting = tensors[0].dtype
    for x in tensors[1:]:
        meeting = meeting_of(meeting, x.dtype)
    return meeting


def as_float32(x, name: str = "x") -> Tensor:
    """Everything as Float32."""
    return ops.cast(as_tensor(x, name), float32)


def as_real(x, name: str = "x") -> Tensor:
    """Integers and booleans as Float32; real and complex numbers as they are."""
    x = as_tensor(x, name)
    return x if x.dtype.is_inexact else ops.cast(x, float32)


def as_angle(x, name: str = "x") -> Tensor:
    """What sine and its like take: Bool and integers of one byte as Float16, longer as Float32."""
    x = as_tensor(x, name)
    if x.dtype.is_inexact:
        return x
    return ops.cast(x, float16 if x.dtype.itemsize == 1 else float32)


def axis_of(axis, ndim: int, name: str = "axis") -> int:
    """One dimension counted from the front.

    Raises:
        TypeError: not an integer.
        ValueError: there is no such dimension.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise errors.wrong(TypeError, name, "an integer", repr(axis))
    if not -ndim <= axis < ndim:
        raise errors.wrong(ValueError, name, f"from {-ndim} to {ndim - 1}", axis)
    return axis % ndim


def axes_of(axes, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Dimensions counted from the front, each once; None means all.

    Raises:
        TypeError: not integers.
        ValueError: there is no such dimension, or it is named twice.
    """
    if axes is None:
        return tuple(range(ndim))
    several = axes if isinstance(axes, (tuple, list)) else (axes,)
    counted = tuple(axis_of(axis, ndim, name) for axis in several)
    if len(set(counted)) < len(counted):
        raise errors.wrong(ValueError, name, "dimensions named once", axes)
    return counted


def broadcast_shape(*shapes) -> tuple[int, ...]:
    """The shape that all can be broadcast to.

    Raises:
        ValueError: there is none.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(map(str, shapes))
        raise errors.wrong(ValueError, "The shapes", "such as can be broadcast", shown) from None
