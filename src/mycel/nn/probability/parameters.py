# SPDX-License-Identifier: Apache-2.0
"""What distributions and bijectors are made with: numbers, arrays or Tensors, of one type."""

from __future__ import annotations

import numpy as np

from mycel import ops
from mycel.kernel.base.dtypes import ALL, as_dtype, float32, float64
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor

REAL = tuple(dtype for dtype in ALL if dtype.is_floating)
INTEGER = tuple(dtype for dtype in ALL if dtype.name.startswith(("int", "uint")))
FORMS = (Tensor, np.ndarray, list, int, float)


def known_type(dtype, owner: str, allowed=REAL):
    """The element type, if it is one of those allowed.

    Raises:
        TypeError: it is another.
    """
    found = as_dtype(dtype)
    if found not in allowed:
        expected = f"one of {', '.join(each.name for each in allowed)}"
        raise wrong(TypeError, f"{owner}: dtype", expected, found.name)
    return found


def common_type(given: dict, hint):
    """The element type of parameters: theirs, or `hint`; Float32 in place of integers and Float64.

    Raises:
        TypeError: two of them have different types.
    """
    types = {
        name: as_dtype(value.dtype) for name, value in given.items() if hasattr(value, "dtype")
    }
    found = set(types.values())
    if len(found) > 1:
        raise wrong(TypeError, "The parameters", "of one element type", types)
    if not found:
        return float32 if hint is None or not as_dtype(hint).is_floating else as_dtype(hint)
    (dtype,) = found
    return float32 if dtype in INTEGER or dtype is float64 else dtype


def as_tensor(value, dtype) -> Tensor:
    """A parameter as a Tensor; a Parameter stays what it is.

    Raises:
        TypeError: it is none of the forms that parameters have.
    """
    if isinstance(value, Parameter):
        return value
    if isinstance(value, bool) or not isinstance(value, FORMS):
        expected = "a number, a list, an array or a Tensor"
        raise wrong(TypeError, "A parameter", expected, f"{type(value).__name__} {value!r:.40}")
    return ops.cast(value, dtype) if isinstance(value, Tensor) else Tensor(value, dtype)


def shape_of(given: dict) -> tuple[int, ...] | None:
    """The shape that parameters have together; None where one is not known yet."""
    if any(value is None for value in given.values()):
        return None
    return np.broadcast_shapes(*[np.shape(value) for value in given.values()])


def are_numbers(given: dict) -> bool:
    """Whether all the parameters that are known are plain numbers."""
    return all(isinstance(value, (int, float)) for value in given.values() if value is not None)


def in_range(value, name: str, expected: str, fits) -> None:
    """Raise unless every element of a parameter fits; None does.

    Raises:
        ValueError: one does not.
    """
    if value is not None and not bool(fits(value).all()):
        raise wrong(ValueError, name, expected, value)


def positive(value, name: str) -> None:
    """Raise unless a parameter is above 0 everywhere."""
    in_range(value, name, "above 0", lambda x: x > 0)


def probability(value, name: str) -> None:
    """Raise unless a parameter lies between 0 and 1 everywhere, and is neither."""
    in_range(value, name, "above 0 and below 1", lambda x: ops.logical_and(x > 0, x < 1))
