# SPDX-License-Identifier: Apache-2.0
"""What mindspore means here; written by `python -m tools.stubs`, which see."""


from mycel.checkpoint import *
from mycel.train import *
from mycel.debug.runtime import *
from mycel.parallel import *
from mycel.compat.types import *
from mycel.compat.older import *
from mycel.compat.context import *
from mycel.kernel.base.context import *
from mycel import *
from mindspore import _c_expression as _c_expression  # pyright: ignore
from mindspore import _checkparam as _checkparam  # pyright: ignore
from mindspore import _extends as _extends  # pyright: ignore
from mindspore import amp as amp
from mindspore import boost as boost
from mindspore import common as common
from mindspore import communication as communication
from mindspore import context as context
from mindspore import dataset as dataset
from mindspore import device_context as device_context
from mindspore import dtype as dtype
from mindspore import experimental as experimental
from mindspore import graph as graph
from mindspore import hal as hal
from mindspore import log as log
from mindspore import mindrecord as mindrecord
from mindspore import mint as mint
from mindspore import multiprocessing as multiprocessing
from mindspore import nn as nn
from mindspore import numpy as numpy
from mindspore import ops as ops
from mindspore import parallel as parallel
from mindspore import profiler as profiler
from mindspore import rewrite as rewrite
from mindspore import runtime as runtime
from mindspore import scipy as scipy
from mindspore import train as train
from mindspore import utils as utils
from mindspore import version as version
from mycel.kernel.base.dtypes import DType as _Type
Type = _Type
from mycel.compat.types import TensorType as _tensor_type
tensor_type = _tensor_type
from mycel import COOTensor as _SparseTensor
SparseTensor = _SparseTensor
from mycel import float16 as _half
half = _half
from mycel import float32 as _single
single = _single
from mycel import float64 as _double
double = _double
from mycel import float32 as _float_
float_ = _float_
from mycel.compat.internals import Function as __Function  # pyright: ignore
_Function = __Function  # pyright: ignore
from mycel import int32 as _int_
int_ = _int_
from mycel import bool_ as _bool
bool = _bool
from mycel import int32 as _int
int = _int
from mycel import float32 as _float
float = _float
from mycel import int64 as _long
long = _long
from mycel import int8 as _byte
byte = _byte
from mycel import int16 as _short
short = _short
from mycel import uint8 as _ubyte
ubyte = _ubyte
from mycel import int64 as _intp
intp = _intp
from mycel import complex64 as _cfloat
cfloat = _cfloat
from mycel import complex128 as _cdouble
cdouble = _cdouble
from mycel import int32 as _intc
intc = _intc
from mycel import uint32 as _uintc
uintc = _uintc
from mycel import uint16 as _ushort
ushort = _ushort
from mycel import uint64 as _uintp
uintp = _uintp
from mycel.compat.log import get_level as get_level
from mycel.compat.log import get_log_config as get_log_config
from mycel import jit_class as _ms_class
ms_class = _ms_class
from mycel import jit as _ms_function
ms_function = _ms_function
from mycel.debug.profiler import Profiler as Profiler
from mycel.transform.no_grad import no_grad as __no_grad  # pyright: ignore
_no_grad = __no_grad  # pyright: ignore
from mycel.transform.no_grad import no_grad as no_grad
from mycel.checkpoint import build_searched_strategy as build_searched_strategy
from mycel.checkpoint import load_segmented_checkpoints as load_segmented_checkpoints
from mycel.checkpoint import merge_pipeline_strategys as merge_pipeline_strategys
from mycel.checkpoint import merge_sliced_parameter as merge_sliced_parameter
from mycel.checkpoint import rank_list_for_transform as rank_list_for_transform
from mycel.checkpoint import restore_group_info_list as restore_group_info_list
from mycel.checkpoint import transform_checkpoint_by_rank as transform_checkpoint_by_rank
from mycel.checkpoint import transform_checkpoints as transform_checkpoints
from mycel.checkpoint import unified_safetensors as unified_safetensors
__version__: str
