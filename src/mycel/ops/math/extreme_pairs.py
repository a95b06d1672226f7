# SPDX-License-Identifier: Apache-2.0
"""What `x.max(2)` gives: a pair of values and indices that can be used as the values alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycel.kernel.record.tensor import StandIn, Tensor

_COMPARISONS = "lt le gt ge eq ne"
_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor"
_UNARY = "neg pos abs invert float int"


class ExtremePair(tuple, StandIn):
    """The extreme values along a dimension and their indices, and at the same time the values.

    MindSpore gives a pair here in PyNative mode and the values alone in Graph mode, and there are
    programs written for each. This serves both: it is a tuple for whatever takes a tuple apart
    (unpacking, `[0]`, `[1]`, `len`), and the values for operators, arithmetic, comparison with
    anything but a tuple, indices that are not integers or slices, every public attribute of a
    Tensor, and NumPy.

    Example:
        >>> x = Tensor([[1, 5], [4, 3]])
        >>> values, indices = x.max(1)
        >>> print(values, indices, x.max(1) < 5, x.max(1).sum(), ops.neg(x.max(1)))
        [5 4] [1 0] [False  True] 9 [-5 -4]
    """

    __slots__ = ()
    __hash__ = tuple.__hash__

    @property
    def values(self) -> Any:
        """The extreme values."""
        return self[0]

    @property
    def operand(self) -> Tensor:
        """The extreme values, for operators."""
        return self[0]

    @property
    def indices(self) -> Any:
        """Where they stand."""
        return self[1]

    def __getitem__(self, key) -> Any:
        if isinstance(key, (int, slice)):
            return tuple.__getitem__(self, key)
        return tuple.__getitem__(self, 0)[key]

    def __getattr__(self, name) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self[0], name)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self[0].asnumpy().astype(dtype, copy=bool(copy))


def _with_values(name: str):
    """The operator of this name on the values; on the pair if it meets another tuple."""

    def operator(self, *others):
        if others and isinstance(others[0], ExtremePair):
            others = (others[0].values,)
        elif others and isinstance(others[0], tuple) and hasattr(tuple, name):
            return getattr(tuple, name)(self, *others)
        return getattr(self.values, name)(*others)

    operator.__name__ = name
    return operator


for _word in f"{_COMPARISONS} {_BINARY} {_UNARY}".split():
    setattr(ExtremePair, f"__{_word}__", _with_values(f"__{_word}__"))
for _word in _BINARY.split():
    setattr(ExtremePair, f"__r{_word}__", _with_values(f"__r{_word}__"))
