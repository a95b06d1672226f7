# SPDX-License-Identifier: Apache-2.0
"""The signatures of mycel.mint.linalg; written by `python -m tools.stubs`, which see."""

from typing import Any as _Any


from mycel.kernel.record.tensor import Tensor as _Tensor
from mycel.signatures.kinds import Any as _Any
from mycel.signatures.kinds import Bool as _Bool
from mycel.signatures.kinds import DTypeLike as _DTypeLike
from mycel.signatures.kinds import Int as _Int
from mycel.signatures.kinds import Axes as _Axes
from mycel.signatures.kinds import Str as _Str
from mycel.signatures.kinds import TensorLike as _TensorLike

def inv(input: _TensorLike) -> _Tensor: ...
def matrix_norm(A: _TensorLike, ord: _Str | _Str = 'fro', dim: _Axes = ..., keepdim: _Bool = False, dtype: _DTypeLike | None = None) -> _Tensor: ...
def norm(A: _TensorLike, ord: _Any = None, dim: _Axes | None = None, keepdim: _Bool = False, dtype: _DTypeLike | None = None) -> _Tensor: ...
def qr(A: _TensorLike, mode: _Str = 'reduced') -> tuple[_Tensor, _Tensor]: ...
def vector_norm(x: _TensorLike, ord: _Int | _Str = 2, dim: _Axes | None = None, keepdim: _Bool = False, dtype: _DTypeLike | None = None) -> _Tensor: ...
