# SPDX-License-Identifier: Apache-2.0
"""Operations on data of any kind, for `dataset.map(operations=...)` or to call directly."""

from mycel.dataset.transforms import c_transforms, py_transforms
from mycel.dataset.transforms.arrays import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Plugin,
    Relational,
    Slice,
    TypeCast,
    Unique,
)
from mycel.dataset.transforms.chains import (
    Compose,
    CompoundOperation,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from mycel.dataset.transforms.operations import (
    Implementation,
    PyTensorOperation,
    TensorOperation,
    not_random,
)

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "PyTensorOperation",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "TensorOperation",
    "TypeCast",
    "Unique",
    "not_random",
]
