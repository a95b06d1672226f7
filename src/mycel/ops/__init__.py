# SPDX-License-Identifier: Apache-2.0
"""Operators: functions, and Primitive classes of the same names. Each is defined once, below."""

from mycel.differentiate.api import GradOperation, stop_gradient
from mycel.ops import (
    arithmetic,
    casting,
    comparison,
    creation,
    extremes,
    linear,
    powers,
    reduction,
)
from mycel.record.parameter import assign
from mycel.spell import Primitive, namespaces

globals().update(namespaces["ops"])

__all__ = ["GradOperation", "Primitive", "assign", "stop_gradient", *namespaces["ops"]]
