# SPDX-License-Identifier: Apache-2.0
"""The older module of operations on arrays: `mindspore.dataset.transforms.c_transforms`."""

from __future__ import annotations

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
from mycel.dataset.transforms.chains import Compose, RandomApply, RandomChoice
from mycel.dataset.transforms.operations import TensorOperation

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "RandomApply",
    "RandomChoice",
    "Relational",
    "Slice",
    "TensorOperation",
    "TypeCast",
    "Unique",
]
