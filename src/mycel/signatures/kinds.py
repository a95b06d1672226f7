# SPDX-License-Identifier: Apache-2.0
"""The types of parameters in the generated signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from mycel.init.initializer import Initializer
from mycel.kernel.base.dtypes import DType
from mycel.kernel.record.generator import Generator
from mycel.kernel.record.tensor import Tensor
from mycel.nn.cell import Cell

# Methods of Tensor are called so, and would hide the classes from each other's signatures.
Bool: TypeAlias = bool
Int: TypeAlias = int
Float: TypeAlias = float
Str: TypeAlias = str
Bytes: TypeAlias = bytes
Random: TypeAlias = Generator

Number: TypeAlias = bool | int | float | complex
# What stands for an array: a Tensor, or what `Tensor(...)` would make one of.
TensorLike: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | Number | Sequence[Any]
# A number, or a Tensor without dimensions.
Scalar: TypeAlias = Tensor | np.generic | Number
# One axis or several.
Axes: TypeAlias = int | Sequence[int]
# A shape, a kernel's size, padding: one number, or one for each dimension, or more.
Sizes: TypeAlias = int | float | Sequence[Any] | Tensor | np.ndarray[Any, Any]
DTypeLike: TypeAlias = DType | type | np.dtype[Any] | str
# What a Parameter is filled with: a Tensor, a number, an Initializer or the name of one.
Initial: TypeAlias = Tensor | Number | Initializer | str
# A learning rate: a number, one for each step, or what computes it from the step.
Rate: TypeAlias = Tensor | Number | Cell | Iterable[Any]
Activation: TypeAlias = str | Cell | type[Cell] | Callable[..., Any]
