# SPDX-License-Identifier: Apache-2.0
"""Operators: functions, and Primitive classes of the same names. Each is defined once, below."""

from mycel.kernel.differentiate.api import (
    GradOperation,
    get_grad,
    grad,
    stop_gradient,
    value_and_grad,
)
from mycel.kernel.spell import Primitive
from mycel.kernel.spell import answer as _answer
from mycel.kernel.spell import namespaces as _namespaces
from mycel.ops.array import (
    bands,
    casting,
    combinatorics,
    copying,
    creation,
    diagonals,
    formats,
    indexing,
    joining,
    masking,
    ordering,
    replacing,
    scatter,
    scatter_in_place,
    selection,
    shape,
    space_to_batch,
)
from mycel.ops.array.casting import mixed_precision_cast
from mycel.ops.array.diagonals import block_diag, meshgrid
from mycel.ops.collectives import (
    AllGather,
    AllReduce,
    AlltoAll,
    Barrier,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Receive,
    Reduce,
    ReduceOp,
    ReduceScatter,
    Send,
)
from mycel.ops.data_queue import GetNext, feed_queue
from mycel.ops.math import (
    accumulation,
    argminmax,
    arithmetic,
    comparison,
    complex_numbers,
    decompositions,
    distances,
    elementwise,
    fourier,
    linear,
    matrix_functions,
    powers,
    products,
    quantiles,
    quotients,
    reduction,
    segments,
    short_time,
    solving,
    special,
    statistics,
    trigonometry,
    windows,
)
from mycel.ops.nn import (
    activation,
    attention,
    colours,
    convolution,
    decoding,
    deformable,
    detection,
    dropout,
    embedding,
    fractional_pooling,
    fused_attention,
    loss,
    margins,
    normalization,
    padding,
    paged_attention,
    patches,
    pooling,
    positions,
    recurrent,
    regions,
    regression_loss,
    resizing,
    sampling,
    scaled_images,
    sequence_loss,
    transposed,
    unpooling,
    volumes,
)
from mycel.ops.random import (
    candidates,
    choices,
    distributions,
    drawing,
)
from mycel.ops.sparse import (
    sparse_functions,
)
from mycel.ops.spelled import (
    in_place,
    in_place_methods,
    in_place_places,
    members,
    mint_variants,
    overloads,
)
from mycel.ops.spelled.hints import (
    Depend,
    DType,
    Print,
    constexpr,
    depend,
    is_tensor,
    print_,
    tuple_to_array,
)
from mycel.ops.summary import HistogramSummary, ImageSummary, ScalarSummary, TensorSummary
from mycel.ops.update import (
    clipping,
    descent_updates,
    sparse_updates,
    updates,
)
from mycel.ops.update.overflow import NPUAllocFloatStatus, NPUClearFloatStatus, NPUGetFloatStatus
from mycel.ops.user.composite import (
    HyperMap,
    Map,
    MultitypeFuncGraph,
    Partial,
    add_flags,
    core,
    partial,
)
from mycel.ops.user.control import ForiLoop, Scan, WhileLoop, cond, fori_loop, scan, while_loop
from mycel.ops.user.custom import Custom, custom_op
from mycel.ops.user.hook import HookBackward, InsertGradientOf
from mycel.ops.user.registration import CustomRegOp, DataType, custom_info_register
from mycel.ops.user.taylor import derivative, jet
from mycel.ops.user.user_primitive import (
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    PyFunc,
    prim_arg_register,
    prim_attr_register,
)
from mycel.transform.jacobian import jacfwd, jacrev, jvp, linearize, vjp
from mycel.transform.vmap import vmap

_answer(globals(), "ops")

__all__ = [
    "AllGather",
    "AllReduce",
    "AlltoAll",
    "Barrier",
    "Broadcast",
    "CollectiveGather",
    "CollectiveScatter",
    "Custom",
    "CustomRegOp",
    "DType",
    "DataType",
    "Depend",
    "ForiLoop",
    "GetNext",
    "GradOperation",
    "HistogramSummary",
    "HookBackward",
    "HyperMap",
    "ImageSummary",
    "InsertGradientOf",
    "Map",
    "MultitypeFuncGraph",
    "NPUAllocFloatStatus",
    "NPUClearFloatStatus",
    "NPUGetFloatStatus",
    "Partial",
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "Print",
    "PyFunc",
    "Receive",
    "Reduce",
    "ReduceOp",
    "ReduceScatter",
    "ScalarSummary",
    "Scan",
    "Send",
    "TensorSummary",
    "WhileLoop",
    "add_flags",
    "block_diag",
    "cond",
    "constexpr",
    "core",
    "custom_info_register",
    "custom_op",
    "depend",
    "derivative",
    "feed_queue",
    "fori_loop",
    "get_grad",
    "grad",
    "is_tensor",
    "jacfwd",
    "jacrev",
    "jet",
    "jvp",
    "linearize",
    "meshgrid",
    "mixed_precision_cast",
    "partial",
    "prim_arg_register",
    "prim_attr_register",
    "print_",
    "scan",
    "stop_gradient",
    "tuple_to_array",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
__all__ += [*_namespaces["ops"]]
