# SPDX-License-Identifier: Apache-2.0
"""Operators: functions, and Primitive classes of the same names. Each is defined once, below."""

from mycel.differentiate.api import GradOperation, stop_gradient
from mycel.ops import (
    accumulation,
    activation,
    arithmetic,
    casting,
    comparison,
    convolution,
    creation,
    distributions,
    dropout,
    elementwise,
    extremes,
    indexing,
    joining,
    linear,
    loss,
    normalization,
    pooling,
    powers,
    random,
    reduction,
    selection,
    shape,
    statistics,
    trigonometry,
)
from mycel.record.parameter import assign
from mycel.spell import Primitive, namespaces

globals().update(namespaces["ops"])

__all__ = ["GradOperation", "Primitive", "assign", "stop_gradient", *namespaces["ops"]]
