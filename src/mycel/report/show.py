# SPDX-License-Identifier: Apache-2.0
"""How values are printed: MindSpore's text, number by number.

`print` shows what NumPy prints. `repr` has its own layout: real numbers in scientific notation
and fixed width, others as wide as the widest shown; of more than six rows or columns the first
three and the last three; a vector whole up to 1000 elements, some to a line.
"""

from __future__ import annotations

import numpy as np

# Of a longer dimension this many are shown at each end; a vector is shown whole up to a limit.
_SHOWN = 3
_WHOLE_VECTOR = 1000
# Elements of a vector to a line.
_FEW, _MANY = 12, 24


def tensor_str(array: np.ndarray) -> str:
    """`print(tensor)`: as NumPy prints it; BFloat16, which NumPy lacks, with six decimals."""
    if array.dtype.kind != "V":
        return str(array)
    wide = array.astype(np.float32)
    if array.ndim == 0:
        return f"{wide[()]:f}"
    return np.array2string(wide, formatter={"float_kind": "{:f}".format})


def tensor_repr(array: np.ndarray, dtype=None) -> str:
    """`repr(tensor)`: shape, element type and values."""
    kind = str(dtype) if dtype is not None else array.dtype.name.capitalize()
    head = f"Tensor(shape=[{', '.join(map(str, array.shape))}], dtype={kind}, value="
    if array.ndim == 0:
        return f"{head} {_short(array[()])})"
    gap = " " if array.ndim == 1 else "\n"
    return f"{head}{gap}{_Layout(array).text() if array.size else ''})"


class _Layout:
    """The text of an array with dimensions; the width of an element is known when all are."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.vector = array.ndim == 1
        self.write = _writer(array.dtype)
        few = array.dtype.kind in "fb"
        self.to_a_line = (_FEW if few else _MANY) if self.vector else 0
        shown = array[self._sample()]
        padded = array.dtype.kind in "iuV"
        self.width = max(len(self.write(x)) for x in shown.flat) if padded else 0

    def _sample(self):
        """Indices of all elements shown."""
        return np.ix_(*[_ends(n, self._limit()) for n in self.array.shape])

    def _limit(self) -> int:
        return _WHOLE_VECTOR if self.vector else 2 * _SHOWN

    def text(self) -> str:
        return self._block(self.array, 1)

    def _block(self, part, depth) -> str:
        if part.ndim == 1:
            return f"[{self._row(part)}]"
        rows = [self._block(row, depth + 1) for row in part[_ends(len(part), self._limit())]]
        margin = "\n" + " " * depth
        if len(part) <= self._limit():
            return "[" + f",{margin}".join(rows) + "]"
        first, last = rows[:_SHOWN], rows[_SHOWN:]
        # No comma follows the dots.
        return (
            "[" + f",{margin}".join(first) + f",{margin}...{margin}" + f",{margin}".join(last) + "]"
        )

    def _row(self, row) -> str:
        texts = [self.write(x).rjust(self.width) for x in row[_ends(len(row), self._limit())]]
        if len(row) > self._limit():
            return ", ".join(texts[:_SHOWN]) + " ... " + ", ".join(texts[_SHOWN:])
        if not self.to_a_line:
            return ", ".join(texts)
        lines = [
            ", ".join(texts[i : i + self.to_a_line]) for i in range(0, len(texts), self.to_a_line)
        ]
        full = "\n " if len(texts) % self.to_a_line == 0 else ""
        return ", \n ".join(lines) + full


def _ends(length: int, limit: int) -> list[int]:
    """All positions of a short dimension, the first and last of a long one."""
    if length <= limit:
        return list(range(length))
    return [*range(_SHOWN), *range(length - _SHOWN, length)]


def _writer(dtype):
    if dtype == np.float16:
        return lambda number: f"{number:.4e}".rjust(11)
    if dtype.kind == "f":
        return lambda number: f"{number:.8e}".rjust(15)
    if dtype.kind == "b":
        return lambda truth: str(truth).rjust(5)
    return _short


def _short(number) -> str:
    """A number by itself: at most six digits of a real one."""
    kind = number.dtype.kind
    if kind == "c":
        return f"{number.real:g}{number.imag:+g}j"
    return f"{float(number):g}" if kind in "fV" else str(number)
