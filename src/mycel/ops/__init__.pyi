# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.ops; written by `python -m tools.stubs`, which see."""

from _operator import add as _string_concat
from _operator import eq as _bool_eq
from _operator import eq as _list_equal
from _operator import eq as _string_eq
from _operator import eq as _tuple_equal
from _operator import getitem as _dict_getitem
from _operator import getitem as _list_getitem
from _operator import getitem as _tuple_getitem
from _operator import is_ as is_
from _operator import is_not as is_not
from _operator import not_ as _bool_not
from builtins import len as _list_len
from builtins import len as _tuple_len
from builtins import slice as _make_slice
from math import prod as _shape_mul
from mindspore.ops import auto_generate as auto_generate
from mindspore.ops import communication as communication
from mindspore.ops import function as function
from mindspore.ops import functional as functional
from mindspore.ops import functional_overload as functional_overload
from mindspore.ops import operations as operations
from mindspore.ops import primitive as primitive
from mycel.communication.comm_func import P2POp as P2POp
from mycel.communication.comm_func import all_to_all_v_c as all_to_all_v_c
from mycel.communication.comm_func import isend as isend
from mycel.communication.comm_func import send as send
from mycel.communication.objects import all_gather_object as all_gather_object
from mycel.communication.objects import broadcast_object_list as broadcast_object_list
from mycel.communication.objects import gather_object as gather_object
from mycel.communication.objects import recv_object_list as recv_object_list
from mycel.communication.objects import scatter_object_list as scatter_object_list
from mycel.communication.objects import send_object_list as send_object_list
from mycel.communication.tcp_store import TCPStore as TCPStore
from mycel.communication.writing import all_gather_into_tensor_uneven as all_gather_into_tensor_uneven
from mycel.communication.writing import all_to_all as all_to_all
from mycel.communication.writing import all_to_all_single as all_to_all_single
from mycel.communication.writing import batch_isend_irecv as batch_isend_irecv
from mycel.communication.writing import gather_into_tensor as gather_into_tensor
from mycel.communication.writing import irecv as irecv
from mycel.communication.writing import recv as recv
from mycel.communication.writing import reduce_scatter_tensor_uneven as reduce_scatter_tensor_uneven
from mycel.communication.writing import scatter_tensor as scatter_tensor
from mycel.compat.operators import ControlDepend as ControlDepend
from mycel.compat.operators import Load as Load
from mycel.compat.operators import Morph as Morph
from mycel.compat.operators import ScalarCast as ScalarCast
from mycel.compat.operators import ScalarToArray as ScalarToArray
from mycel.compat.operators import StopGradient as StopGradient
from mycel.compat.operators import TupleToArray as TupleToArray
from mycel.compat.operators import control_depend as control_depend
from mycel.compat.operators import dtype as dtype
from mycel.compat.operators import get_vm_impl_fn as get_vm_impl_fn
from mycel.compat.operators import scalar_cast as scalar_cast
from mycel.compat.operators import scalar_to_array as scalar_to_array
from mycel.compat.operators import set_comm_ops_inplace as set_comm_ops_inplace
from mycel.compat.operators import vm_impl_registry as vm_impl_registry
from mycel.compat.replay_buffers import BufferAppend as BufferAppend
from mycel.compat.replay_buffers import BufferGetItem as BufferGetItem
from mycel.compat.replay_buffers import BufferSample as BufferSample
from mycel.compat.types import typeof as typeof
from mycel.kernel.differentiate.api import GradOperation as GradOperation
from mycel.kernel.differentiate.api import get_grad as get_grad
from mycel.kernel.differentiate.api import grad as grad
from mycel.kernel.differentiate.api import stop_gradient as stop_gradient
from mycel.kernel.differentiate.api import value_and_grad as value_and_grad
from mycel.kernel.record.tensor import Tensor as Tensor
from mycel.kernel.spell.primitive import Primitive as Primitive
from mycel.kernel.spell.primitive import Primitive as _Primitive
from mycel.mint.distributed import all_gather as all_gather
from mycel.mint.distributed import all_gather_into_tensor as all_gather_into_tensor
from mycel.mint.distributed import all_reduce as all_reduce
from mycel.mint.distributed import barrier as barrier
from mycel.mint.distributed import broadcast as broadcast
from mycel.mint.distributed import destroy_process_group as destroy_process_group
from mycel.mint.distributed import get_backend as get_backend
from mycel.mint.distributed import get_global_rank as get_global_rank
from mycel.mint.distributed import get_group_rank as get_group_rank
from mycel.mint.distributed import get_process_group_ranks as get_process_group_ranks
from mycel.mint.distributed import get_rank as get_rank
from mycel.mint.distributed import get_world_size as get_world_size
from mycel.mint.distributed import init_process_group as init_process_group
from mycel.mint.distributed import is_available as is_available
from mycel.mint.distributed import is_initialized as is_initialized
from mycel.mint.distributed import new_group as new_group
from mycel.mint.distributed import reduce as reduce
from mycel.mint.distributed import reduce_scatter as reduce_scatter
from mycel.mint.distributed import reduce_scatter_tensor as reduce_scatter_tensor
from mycel.ops import array as array
from mycel.ops import collectives as collectives
from mycel.ops import math as math
from mycel.ops import nn as nn
from mycel.ops import random as random
from mycel.ops import sparse as sparse
from mycel.ops import spelled as spelled
from mycel.ops import update as update
from mycel.ops import user as user
from mycel.ops.array.casting import mixed_precision_cast as mixed_precision_cast
from mycel.ops.array.diagonals import block_diag as block_diag
from mycel.ops.array.diagonals import meshgrid as meshgrid
from mycel.ops.collectives.passing import BatchISendIRecv as BatchISendIRecv
from mycel.ops.collectives.passing import Receive as Receive
from mycel.ops.collectives.passing import Send as Send
from mycel.ops.collectives.primitives import AllGather as AllGather
from mycel.ops.collectives.primitives import AllReduce as AllReduce
from mycel.ops.collectives.primitives import AlltoAll as AlltoAll
from mycel.ops.collectives.primitives import Barrier as Barrier
from mycel.ops.collectives.primitives import Broadcast as Broadcast
from mycel.ops.collectives.primitives import CollectiveGather as CollectiveGather
from mycel.ops.collectives.primitives import CollectiveScatter as CollectiveScatter
from mycel.ops.collectives.primitives import Reduce as Reduce
from mycel.ops.collectives.primitives import ReduceOp as ReduceOp
from mycel.ops.collectives.primitives import ReduceScatter as ReduceScatter
from mycel.ops.collectives.uneven_primitives import AllGatherV as AllGatherV
from mycel.ops.collectives.uneven_primitives import AlltoAllV as AlltoAllV
from mycel.ops.collectives.uneven_primitives import AlltoAllVC as AlltoAllVC
from mycel.ops.collectives.uneven_primitives import NeighborExchange as NeighborExchange
from mycel.ops.collectives.uneven_primitives import NeighborExchangeV2 as NeighborExchangeV2
from mycel.ops.collectives.uneven_primitives import ReduceScatterV as ReduceScatterV
from mycel.ops.data_queue import GetNext as GetNext
from mycel.ops.data_queue import feed_queue as feed_queue
from mycel.ops.spelled.hints import DType as DType
from mycel.ops.spelled.hints import Depend as Depend
from mycel.ops.spelled.hints import Print as Print
from mycel.ops.spelled.hints import constexpr as constexpr
from mycel.ops.spelled.hints import depend as depend
from mycel.ops.spelled.hints import is_tensor as is_tensor
from mycel.ops.spelled.hints import print_ as print_
from mycel.ops.spelled.hints import tuple_to_array as tuple_to_array
from mycel.ops.summary import HistogramSummary as HistogramSummary
from mycel.ops.summary import ImageSummary as ImageSummary
from mycel.ops.summary import ScalarSummary as ScalarSummary
from mycel.ops.summary import TensorSummary as TensorSummary
from mycel.ops.update.overflow import NPUAllocFloatStatus as NPUAllocFloatStatus
from mycel.ops.update.overflow import NPUClearFloatStatus as NPUClearFloatStatus
from mycel.ops.update.overflow import NPUGetFloatStatus as NPUGetFloatStatus
from mycel.ops.user import composite as composite
from mycel.ops.user.composite import HyperMap as HyperMap
from mycel.ops.user.composite import Map as Map
from mycel.ops.user.composite import MultitypeFuncGraph as MultitypeFuncGraph
from mycel.ops.user.composite import Partial as Partial
from mycel.ops.user.composite import add_flags as add_flags
from mycel.ops.user.composite import core as core
from mycel.ops.user.composite import partial as partial
from mycel.ops.user.control import ForiLoop as ForiLoop
from mycel.ops.user.control import Scan as Scan
from mycel.ops.user.control import WhileLoop as WhileLoop
from mycel.ops.user.control import cond as cond
from mycel.ops.user.control import fori_loop as fori_loop
from mycel.ops.user.control import scan as scan
from mycel.ops.user.control import while_loop as while_loop
from mycel.ops.user.custom import Custom as Custom
from mycel.ops.user.custom import custom_op as custom_op
from mycel.ops.user.hook import HookBackward as HookBackward
from mycel.ops.user.hook import InsertGradientOf as InsertGradientOf
from mycel.ops.user.registration import CustomRegOp as CustomRegOp
from mycel.ops.user.registration import DataType as DataType
from mycel.ops.user.registration import custom_info_register as custom_info_register
from mycel.ops.user.taylor import derivative as derivative
from mycel.ops.user.taylor import jet as jet
from mycel.ops.user.user_primitive import PrimitiveWithCheck as PrimitiveWithCheck
from mycel.ops.user.user_primitive import PrimitiveWithInfer as PrimitiveWithInfer
from mycel.ops.user.user_primitive import PyFunc as PyFunc
from mycel.ops.user.user_primitive import prim_arg_register as prim_arg_register
from mycel.ops.user.user_primitive import prim_attr_register as prim_attr_register
from mycel.signatures.mint import add as _add_ext
from mycel.signatures.mint import baddbmm as _baddbmm_ext
from mycel.signatures.mint import bernoulli as _bernoulli_ext
from mycel.signatures.mint import bmm as _bmm_ext
from mycel.signatures.mint import chunk as _chunk_ext
from mycel.signatures.mint import cumsum as _cumsum_ext
from mycel.signatures.mint import diff as _diff_ext
from mycel.signatures.mint import einsum as _einsum_ext
from mycel.signatures.mint import float_power as _float_power_ext
from mycel.signatures.mint import isnan as _isnan_ext
from mycel.signatures.mint import matmul as _matmul_ext
from mycel.signatures.mint import mean as _mean_ext
from mycel.signatures.mint import prod as _prod_ext
from mycel.signatures.mint import sort as _sort_ext
from mycel.signatures.mint import stack as _stack_ext
from mycel.signatures.mint import sub as _sub_ext
from mycel.signatures.mint import sum as _sum_ext
from mycel.signatures.mint import topk as _topk_ext
from mycel.signatures.mint_functional import adaptive_avg_pool2d as _adaptive_avg_pool2d_ext
from mycel.signatures.mint_functional import mse_loss as _mse_loss_ext
from mycel.signatures.ops import *
from mycel.signatures.ops import Add as _TensorAdd
from mycel.signatures.ops import FastGeLU as _FastGelu
from mycel.signatures.ops import GeLU as _Gelu
from mycel.signatures.ops import Stack as _Pack
from mycel.signatures.ops import TensorShape as _DynamicShape
from mycel.signatures.ops import Unstack as _Unpack
from mycel.signatures.ops import add as _hyper_add
from mycel.signatures.ops import add as _tensor_add
from mycel.signatures.ops import div as _tensor_div
from mycel.signatures.ops import exp as _tensor_exp
from mycel.signatures.ops import expm1 as _tensor_expm1
from mycel.signatures.ops import floor_div as _floordiv
from mycel.signatures.ops import floor_div as _tensor_floordiv
from mycel.signatures.ops import floor_mod as _floormod
from mycel.signatures.ops import floor_mod as _tensor_mod
from mycel.signatures.ops import ge as _tensor_ge
from mycel.signatures.ops import gt as _tensor_gt
from mycel.signatures.ops import le as _tensor_le
from mycel.signatures.ops import lt as _tensor_lt
from mycel.signatures.ops import mul as _tensor_mul
from mycel.signatures.ops import pow as _pows
from mycel.signatures.ops import pow as _tensor_pow
from mycel.signatures.ops import slice as _tensor_slice
from mycel.signatures.ops import sub as _tensor_sub
from mycel.transform.jacobian import jacfwd as jacfwd
from mycel.transform.jacobian import jacrev as jacrev
from mycel.transform.jacobian import jvp as jvp
from mycel.transform.jacobian import linearize as linearize
from mycel.transform.jacobian import vjp as vjp
from mycel.transform.vmap import vmap as vmap
from typing import Any as _Any
DynamicShape = _DynamicShape
FastGelu = _FastGelu
Gelu = _Gelu
Pack = _Pack
TensorAdd = _TensorAdd
Unpack = _Unpack
adaptive_avg_pool2d_ext = _adaptive_avg_pool2d_ext
add_ext = _add_ext
baddbmm_ext = _baddbmm_ext
bernoulli_ext = _bernoulli_ext
bmm_ext = _bmm_ext
bool_eq = _bool_eq
bool_not = _bool_not
chunk_ext = _chunk_ext
class AddExt(_Primitive): ...
class ArgMaxExt(_Primitive): ...
class ArgMinExt(_Primitive): ...
class BatchMatMulExt(_Primitive): ...
class Clone(_Primitive): ...
class CumsumExt(_Primitive): ...
class FmodScalar(_Primitive): ...
class IndexSelect(_Primitive): ...
class MatMulExt(_Primitive): ...
class MaxDim(_Primitive): ...
class MeanExt(_Primitive): ...
class MinDim(_Primitive): ...
class OnesLikeExt(_Primitive): ...
class Outer(_Primitive): ...
class ProdExt(_Primitive): ...
class SortExt(_Primitive): ...
class SplitWithSize(_Primitive): ...
class SubExt(_Primitive): ...
class SumExt(_Primitive): ...
class TopkExt(_Primitive): ...
class ZerosLikeExt(_Primitive): ...
cumsum_ext = _cumsum_ext
def bool_and(x: _Any, y: _Any) -> _Any: ...
def bool_or(x: _Any, y: _Any) -> _Any: ...
def dict_setitem(sequence: _Any, index: _Any, value: _Any) -> _Any: ...
def in_dict(key: _Any, dictionary: _Any) -> _Any: ...
def list_setitem(sequence: _Any, index: _Any, value: _Any) -> _Any: ...
def make_dict(keys: _Any, values: _Any) -> _Any: ...
def make_list(*members: _Any) -> _Any: ...
def make_range(*bounds: _Any) -> _Any: ...
def make_tuple(*members: _Any) -> _Any: ...
def not_in_dict(key: _Any, dictionary: _Any) -> _Any: ...
def scalar_add(x: _Any, y: _Any) -> _Any: ...
def scalar_div(x: _Any, y: _Any) -> _Any: ...
def scalar_eq(x: _Any, y: _Any) -> _Any: ...
def scalar_floordiv(x: _Any, y: _Any) -> _Any: ...
def scalar_ge(x: _Any, y: _Any) -> _Any: ...
def scalar_gt(x: _Any, y: _Any) -> _Any: ...
def scalar_le(x: _Any, y: _Any) -> _Any: ...
def scalar_log(x: _Any) -> _Any: ...
def scalar_lt(x: _Any, y: _Any) -> _Any: ...
def scalar_max(x: _Any, y: _Any) -> _Any: ...
def scalar_min(x: _Any, y: _Any) -> _Any: ...
def scalar_mod(x: _Any, y: _Any) -> _Any: ...
def scalar_mul(x: _Any, y: _Any) -> _Any: ...
def scalar_ne(x: _Any, y: _Any) -> _Any: ...
def scalar_pow(x: _Any, y: _Any) -> _Any: ...
def scalar_sub(x: _Any, y: _Any) -> _Any: ...
def scalar_uadd(x: _Any) -> _Any: ...
def scalar_usub(x: _Any) -> _Any: ...
def tuple_div(x: _Any, y: _Any) -> _Any: ...
def tuple_reversed(members: _Any) -> _Any: ...
def tuple_setitem(sequence: _Any, index: _Any, value: _Any) -> _Any: ...
dict_getitem = _dict_getitem
diff_ext = _diff_ext
einsum_ext = _einsum_ext
float_power_ext = _float_power_ext
floordiv = _floordiv
floormod = _floormod
hyper_add = _hyper_add
isnan_ext = _isnan_ext
list_equal = _list_equal
list_getitem = _list_getitem
list_len = _list_len
make_slice = _make_slice
matmul_ext = _matmul_ext
mean_ext = _mean_ext
mse_loss_ext = _mse_loss_ext
pows = _pows
prod_ext = _prod_ext
shape_mul = _shape_mul
sort_ext = _sort_ext
stack_ext = _stack_ext
string_concat = _string_concat
string_eq = _string_eq
sub_ext = _sub_ext
sum_ext = _sum_ext
tensor_add = _tensor_add
tensor_div = _tensor_div
tensor_exp = _tensor_exp
tensor_expm1 = _tensor_expm1
tensor_floordiv = _tensor_floordiv
tensor_ge = _tensor_ge
tensor_gt = _tensor_gt
tensor_le = _tensor_le
tensor_lt = _tensor_lt
tensor_mod = _tensor_mod
tensor_mul = _tensor_mul
tensor_pow = _tensor_pow
tensor_slice = _tensor_slice
tensor_sub = _tensor_sub
topk_ext = _topk_ext
tuple_equal = _tuple_equal
tuple_getitem = _tuple_getitem
tuple_len = _tuple_len
