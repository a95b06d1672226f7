# SPDX-License-Identifier: Apache-2.0
"""Element types and constants under NumPy's names, and the type that several meet in."""

from __future__ import annotations

import functools
import math

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import (
    DType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mycel.kernel.record.tensor import Tensor
from mycel.numpy.convert import as_tensor, element, meeting_of

int_, uint, float_ = int32, uint32, float32
inf = PINF = math.inf
NINF = -math.inf
nan = math.nan
pi = math.pi

numeric_types = ["int_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float_", "float16", "float32", "float64", "bool_"]  # fmt: skip


def promote_types(type1, type2) -> DType:
    """The type that two types meet in.

    Example:
        >>> ms.numpy.promote_types(ms.int8, "uint8")
        mindspore.int16
    """
    return meeting_of(element(type1), element(type2))


def result_type(*arrays_and_dtypes) -> DType:
    """The type that Tensors, Python numbers and types meet in.

    Example:
        >>> ms.numpy.result_type("int32", Tensor([1.0]), 2)
        mindspore.float32
    """
    if not arrays_and_dtypes:
        raise errors.wrong(TypeError, "result_type", "given a Tensor or a type", "nothing")
    return functools.reduce(meeting_of, map(_element_of, arrays_and_dtypes))


def _element_of(item) -> DType:
    numeric = isinstance(item, (Tensor, bool, int, float, list, tuple))
    return as_tensor(item).dtype if numeric else element(item)


__all__ = [
    "NINF",
    "PINF",
    "bool_",
    "float16",
    "float32",
    "float64",
    "float_",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "nan",
    "numeric_types",
    "pi",
    "promote_types",
    "result_type",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip
