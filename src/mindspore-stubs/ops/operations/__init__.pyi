# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations means here; written by `python -m tools.stubs`, which see."""


from mycel.ops import *
from mindspore.ops.operations import _grad_ops as _grad_ops  # pyright: ignore
from mindspore.ops.operations import _infer_ops as _infer_ops  # pyright: ignore
from mindspore.ops.operations import _inner_ops as _inner_ops  # pyright: ignore
from mindspore.ops.operations import _quant_ops as _quant_ops  # pyright: ignore
from mindspore.ops.operations import _rl_inner_ops as _rl_inner_ops  # pyright: ignore
from mindspore.ops.operations import _sequence_ops as _sequence_ops  # pyright: ignore
from mindspore.ops.operations import array_ops as array_ops
from mindspore.ops.operations import comm_ops as comm_ops
from mindspore.ops.operations import control_ops as control_ops
from mindspore.ops.operations import debug_ops as debug_ops
from mindspore.ops.operations import image_ops as image_ops
from mindspore.ops.operations import linalg_ops as linalg_ops
from mindspore.ops.operations import manually_defined as manually_defined
from mindspore.ops.operations import math_ops as math_ops
from mindspore.ops.operations import nn_ops as nn_ops
from mindspore.ops.operations import other_ops as other_ops
from mindspore.ops.operations import random_ops as random_ops
from mindspore.ops.operations import rl_ops as rl_ops
from mindspore.ops.operations import sparse_ops as sparse_ops
from mycel.ops import Identity as _identity
identity = _identity
from mycel.compat.replay_buffers import BufferAppend as BufferAppend
from mycel.compat.replay_buffers import BufferGetItem as BufferGetItem
from mycel.compat.replay_buffers import BufferSample as BufferSample
from mycel.compat.internals import VirtualDataset as __VirtualDataset  # pyright: ignore
_VirtualDataset = __VirtualDataset  # pyright: ignore
