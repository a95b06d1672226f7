# SPDX-License-Identifier: Apache-2.0
"""Operators: functions, and Primitive classes of the same names. Each is defined once, below."""

from mycel.differentiate.api import GradOperation, grad, stop_gradient, value_and_grad
from mycel.differentiate.mapping import vmap
from mycel.differentiate.products import jacfwd, jacrev, jvp, vjp
from mycel.ops import (
    accumulation,
    activation,
    arithmetic,
    casting,
    comparison,
    convolution,
    copying,
    creation,
    diagonals,
    distributions,
    dropout,
    elementwise,
    extremes,
    indexing,
    joining,
    linear,
    loss,
    masking,
    normalization,
    ordering,
    padding,
    patches,
    pooling,
    powers,
    random,
    recurrent,
    reduction,
    resizing,
    sampling,
    scatter,
    selection,
    shape,
    statistics,
    transposed,
    trigonometry,
    volumes,
)
from mycel.ops.custom import Custom, custom_op
from mycel.ops.data_queue import GetNext, feed_queue
from mycel.ops.diagonals import block_diag, meshgrid
from mycel.ops.hints import (
    Depend,
    DType,
    Print,
    constexpr,
    depend,
    is_tensor,
    print_,
    tuple_to_array,
)
from mycel.ops.hook import HookBackward, InsertGradientOf
from mycel.ops.summary import HistogramSummary, ImageSummary, ScalarSummary, TensorSummary
from mycel.spell import Primitive, answer, namespaces

answer(globals(), "ops")

__all__ = [
    "Custom",
    "DType",
    "Depend",
    "GetNext",
    "GradOperation",
    "HistogramSummary",
    "HookBackward",
    "ImageSummary",
    "InsertGradientOf",
    "Primitive",
    "Print",
    "ScalarSummary",
    "TensorSummary",
    "block_diag",
    "constexpr",
    "custom_op",
    "depend",
    "feed_queue",
    "is_tensor",
    "meshgrid",
    "print_",
    "stop_gradient",
    "tuple_to_array",
    *namespaces["ops"],
]
