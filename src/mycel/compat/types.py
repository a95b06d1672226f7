# SPDX-License-Identifier: Apache-2.0
"""Element types as MindSpore programs convert and ask for them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from mycel.kernel.base import dtypes
from mycel.kernel.base.dtypes import DType, as_dtype
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor


def _group(*starts: str) -> tuple[DType, ...]:
    return tuple(d for d in dtypes.ALL if d.name.startswith(starts))


int_type = _group("int")
uint_type = _group("uint")
float_type = _group("float", "bfloat")
complex_type = _group("complex")
number_type = (*int_type, *uint_type, *float_type, *complex_type)
signed_type = (*int_type, *float_type, *complex_type)
all_types = (dtypes.bool_, *number_type)


class Numbered(enum.Enum):
    """Words with numbers, which MindSpore gives by a method."""

    def value(self) -> int:  # type: ignore[override]
        """The number."""
        return self._value_


# Quantised types by MindSpore's numbers: signed ones count from 0, others from 100.
QuantDtype = Numbered(
    "QuantDtype",
    {f"INT{bits}": bits - 1 for bits in range(1, 17)}
    | {f"UINT{bits}": bits + 99 for bits in range(1, 17)},
)
QuantDtype.__doc__ = "Numbers of few bits, by their words; a name only, nothing computes in them."


class Named:
    """A type of MindSpore's that is only named here: equal to itself, and printed as there.

    Args:
        name: what it is called below `mindspore`.

    Example:
        >>> from mycel.compat.types import Named
        >>> Named("string_")
        mindspore.string_
    """

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"mindspore.{self.name}"

    def __reduce__(self):
        # The one object also in another process.
        return _NAMED.get(self.name, self.name)


class String:
    """The class of `mycel.string`, the type of texts.

    Example:
        >>> from mycel.compat.types import String
        >>> isinstance(ms.string, String), String()
        (True, mindspore.string_)
    """

    def __repr__(self) -> str:
        return "mindspore.string_"

    def __str__(self) -> str:
        return "String"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, String)

    def __hash__(self) -> int:
        return hash(String)


class List:
    """The type of a list, of what it is made with if that is said.

    Args:
        elements: the types of the entries.

    Source: MindSpore's `mindspore.common.dtype.List`.

    Example:
        >>> from mycel.compat.types import List
        >>> List((ms.int32,)), List()
        (mindspore.list[int32], mindspore.list)
    """

    def __init__(self, elements: Any = ()):
        self._elements = tuple(as_dtype(each) for each in elements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, List) and other._elements == self._elements

    def __hash__(self) -> int:
        return hash((List, self._elements))

    def __repr__(self) -> str:
        inner = ", ".join(each.name for each in self._elements)
        return f"mindspore.list[{inner}]" if inner else "mindspore.list"


string = String()
# Bytes of two numbers of four bits each, and floats of one byte: names to compare with, which no
# Tensor has.
qint4x2 = Named("int4")
float8_e4m3fn = Named("float8_e4m3fn")
float8_e5m2 = Named("float8_e5m2")
hifloat8 = Named("hifloat8")
_NAMED = {"int4": "qint4x2"}


class TensorType:
    """The type of a Tensor with elements of one type, or of any, as annotations name it.

    Args:
        element: the type of the elements; None, of any.

    Source: MindSpore's `mindspore.TensorType`.

    Example:
        >>> ms.TensorType(ms.float32)
        mindspore.tensor[float32]
    """

    def __init__(self, element: Any = None):
        self._element = None if element is None else as_dtype(element)

    def element_type(self) -> DType | None:
        """The type of the elements."""
        return self._element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and other._element == self._element

    def __hash__(self) -> int:
        return hash((TensorType, self._element))

    def __repr__(self) -> str:
        inner = "" if self._element is None else f"[{self._element.name}]"
        return f"mindspore.tensor{inner}"

    def __str__(self) -> str:
        return "Tensor" if self._element is None else f"Tensor[{self._element}]"


def typeof(x: Any) -> Any:
    """The type of a value: that of a Tensor with its element type, or of a number of Python.

    Args:
        x: a Tensor or a number.

    Source: MindSpore's `mindspore.ops.typeof`.

    Example:
        >>> print(ops.typeof(Tensor([1.0])), ops.typeof(3))
        Tensor[Float32] Int64
    """
    return TensorType(x.dtype) if isinstance(x, Tensor) else get_py_obj_dtype(x)


def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """A vector of the numbers that lie in a buffer, as `bytes` are one: a copy.

    Args:
        buffer: an object with the buffer interface.
        dtype: the element type.
        count: how many numbers are read; -1, the default, for all.
        offset: how many bytes come before them; 0 by default.

    Raises:
        ValueError: the buffer is too short, or its length is no multiple of the element's.

    Source: MindSpore's `mindspore.frombuffer`, which shares the memory.

    Example:
        >>> print(ms.frombuffer(bytes([7, 8, 9]), ms.uint8, count=2, offset=1))
        [8 9]
    """
    return Tensor(np.frombuffer(buffer, as_dtype(dtype).numpy, count, offset))


def dtype_to_nptype(type_: Any) -> type[Any]:
    """The NumPy type of an element type.

    Source: MindSpore's `mindspore.dtype_to_nptype`.

    Example:
        >>> ms.dtype_to_nptype(ms.float32)
        <class 'numpy.float32'>
    """
    return as_dtype(type_).numpy.type


def dtype_to_pytype(type_: Any) -> type[Any]:
    """The Python type of the numbers of an element type.

    Source: MindSpore's `mindspore.dtype_to_pytype`.

    Example:
        >>> ms.dtype_to_pytype(ms.int8)
        <class 'int'>
    """
    kind = as_dtype(type_)
    if kind.is_floating:
        return float
    if kind.is_inexact:
        return complex
    return bool if kind is dtypes.bool_ else int


def pytype_to_dtype(obj: Any) -> DType:
    """The element type of a Python or NumPy type: `float` gives Float64, as in MindSpore.

    Raises:
        NotImplementedError: a type that no element has.

    Source: MindSpore's `mindspore.pytype_to_dtype`.

    Example:
        >>> ms.pytype_to_dtype(float)
        mindspore.float64
    """
    wide = {float: dtypes.float64, complex: dtypes.complex128}
    if isinstance(obj, DType):
        return obj
    if isinstance(obj, type) and (obj in wide or obj in (int, bool) or issubclass(obj, np.generic)):
        return wide.get(obj) or as_dtype(obj)
    raise wrong(NotImplementedError, "pytype_to_dtype: obj", "the type of numbers", repr(obj))


def get_py_obj_dtype(obj: Any) -> DType:
    """The element type of a number, of a Tensor, or of a NumPy number.

    Raises:
        NotImplementedError: something else.

    Source: MindSpore's `mindspore.get_py_obj_dtype`.

    Example:
        >>> ms.get_py_obj_dtype(1)
        mindspore.int64
    """
    return obj.dtype if isinstance(obj, Tensor) else pytype_to_dtype(type(obj))


class _Kind(type):
    """A class whose objects are the element types that it names."""

    members: tuple[DType, ...]

    def __instancecheck__(cls, instance):
        return any(instance is member for member in cls.members)


class Number(metaclass=_Kind):
    """Every element type of numbers: `isinstance(dtype, Number)`.

    Example:
        >>> from mycel.compat.types import Float, Number
        >>> isinstance(ms.float16, Float), isinstance(ms.bool_, Number)
        (True, True)
    """

    members = all_types


class Bool(metaclass=_Kind):
    """The element type of truth values."""

    members = (dtypes.bool_,)


class Int(metaclass=_Kind):
    """Element types of integers with a sign."""

    members = int_type


class UInt(metaclass=_Kind):
    """Element types of integers without a sign."""

    members = uint_type


class Float(metaclass=_Kind):
    """Element types of real numbers but BFloat16."""

    members = _group("float")


class BFloat(metaclass=_Kind):
    """BFloat16."""

    members = _group("bfloat")


class Complex(metaclass=_Kind):
    """Element types of complex numbers."""

    members = complex_type


__all__ = [
    "List",
    "QuantDtype",
    "String",
    "TensorType",
    "dtype_to_nptype",
    "dtype_to_pytype",
    "float8_e4m3fn",
    "float8_e5m2",
    "frombuffer",
    "get_py_obj_dtype",
    "hifloat8",
    "pytype_to_dtype",
    "qint4x2",
    "string",
]
