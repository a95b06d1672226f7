# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops means here; written by `python -m tools.stubs`, which see."""


from mycel.communication.writing import *
from mycel.mint.distributed import *
from mycel.ops import *
from mindspore.ops import _grad as _grad  # pyright: ignore
from mindspore.ops import _grad_experimental as _grad_experimental  # pyright: ignore
from mindspore.ops import _primitive_cache as _primitive_cache  # pyright: ignore
from mindspore.ops import _selected_ops as _selected_ops  # pyright: ignore
from mindspore.ops import auto_generate as auto_generate
from mindspore.ops import communication as communication
from mindspore.ops import composite as composite
from mindspore.ops import function as function
from mindspore.ops import functional as functional
from mindspore.ops import functional_overload as functional_overload
from mindspore.ops import op_info_register as op_info_register
from mindspore.ops import operations as operations
from mindspore.ops import primitive as primitive
from mycel import Tensor as Tensor
from mycel.communication.comm_func import P2POp as P2POp
from mycel.communication.tcp_store import TCPStore as TCPStore
from mycel.compat.replay_buffers import BufferAppend as BufferAppend
from mycel.compat.replay_buffers import BufferGetItem as BufferGetItem
from mycel.compat.replay_buffers import BufferSample as BufferSample
from mycel.ops.spelled.hints import constexpr as __primexpr  # pyright: ignore
_primexpr = __primexpr  # pyright: ignore
from mycel.ops import TensorShape as _DynamicShape
DynamicShape = _DynamicShape
