# SPDX-License-Identifier: Apache-2.0
"""Element types: one object per type, with MindSpore's names at the edge and NumPy's inside."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from mycel.kernel.base.places import user_place


class DType:
    """An element type such as `float32`; every type is one object, compared by identity.

    `str(dtype)` is MindSpore's capitalised word, `dtype.numpy` the NumPy dtype beneath.

    Example:
        >>> import mycel as ms
        >>> print(ms.float32, ms.float32.itemsize)
        Float32 4
    """

    __slots__ = ("is_floating", "is_inexact", "itemsize", "name", "numpy")

    def __init__(self, name: str, numpy_type):
        self.name = name
        self.numpy = np.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        self.is_floating = name.startswith(("float", "bfloat"))
        self.is_inexact = self.is_floating or name.startswith("complex")

    def __str__(self):
        return _PRINTED.get(self.name) or self.name.capitalize().replace("Uint", "UInt")

    def __repr__(self):
        return f"mindspore.{self.name}"

    def __reduce__(self):
        return as_dtype, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


_PRINTED = {"bfloat16": "BFloat16"}

bool_ = DType("bool", np.bool_)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
float16 = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = DType("float64", np.float64)
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)

ALL = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, float32, float64, bfloat16, complex64, complex128,
)  # fmt: skip

_BY_NUMPY = {d.numpy: d for d in ALL}
ALIASES = {
    "bool_": bool_, "half": float16, "single": float32, "double": float64, "byte": int8,
    "short": int16, "long": int64, "ubyte": uint8, "float_": float32, "int_": int32,
}  # fmt: skip
_BY_NAME = {d.name: d for d in ALL} | ALIASES | {"float": float32, "int": int32}
_BY_PYTHON = {bool: bool_, int: int64, float: float32, complex: complex64}


def as_dtype(spec) -> DType:
    """The DType that `spec` means: a DType, NumPy dtype or scalar type, Python type or name.

    Raises:
        TypeError: `spec` names no element type.
    """
    if spec.__class__ is DType:
        return spec
    if spec is None:
        raise TypeError("An element type is needed, but None was given.")
    if isinstance(spec, type) and spec in _BY_PYTHON:
        return _BY_PYTHON[spec]
    if isinstance(spec, str) and spec.lower() in _BY_NAME:
        return _BY_NAME[spec.lower()]
    try:
        return _BY_NUMPY[np.dtype(spec)]
    except (TypeError, KeyError):
        is_length = isinstance(spec, (int, tuple))
        hint = " (lengths of a shape are given as one tuple: zeros((2, 3)))" if is_length else ""
        names = ", mycel.".join(sorted(_BY_NAME))
        place = f" (at {user_place(2)})"
        text = f"{spec!r} is not an element type{hint}{place}; use one of mycel.{names}."
        raise TypeError(text) from None


def numpy_dtype(spec) -> np.dtype:
    """The NumPy dtype of anything `as_dtype` understands."""
    return as_dtype(spec).numpy


__all__ = [
    "DType",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
