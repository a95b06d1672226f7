# SPDX-License-Identifier: Apache-2.0
"""How values are printed: MindSpore's text, number by number."""

from __future__ import annotations

import numpy as np


def tensor_str(array: np.ndarray) -> str:
    """`print(tensor)`: as NumPy prints it."""
    return str(_printable(array))


def tensor_repr(array: np.ndarray, dtype=None) -> str:
    """`repr(tensor)`: shape, element type and values."""
    from_numpy = _printable(array)
    kind = str(dtype) if dtype is not None else array.dtype.name.capitalize()
    shape = ", ".join(map(str, array.shape))
    head = f"Tensor(shape=[{shape}], dtype={kind}, value="
    if array.ndim == 0:
        return f"{head} {_element(from_numpy[()])})"
    body = np.array2string(from_numpy, separator=", ", formatter=_FORMATTERS)
    return f"{head}{' ' if array.ndim == 1 else chr(10)}{body})"


def _printable(array):
    if array.dtype.kind == "V":  # bfloat16: NumPy has no name for it
        return array.astype(np.float32)
    return array


def _scientific(number) -> str:
    return f"{number: .8e}"


def _element(number) -> str:
    if number.dtype.kind == "f":
        return f"{number:.8g}"
    return str(number)


_FORMATTERS = {"float_kind": _scientific}
