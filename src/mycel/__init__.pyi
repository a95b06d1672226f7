# SPDX-License-Identifier: Apache-2.0
"""The names of mycel; written by `python -m tools.stubs`, which see."""

from mindspore import boost as boost
from mindspore import common as common
from mindspore import context as context
from mindspore import device_context as device_context
from mindspore import dtype as dtype
from mindspore import experimental as experimental
from mindspore import graph as graph
from mindspore import hal as hal
from mindspore import log as log
from mindspore import multiprocessing as multiprocessing
from mindspore import profiler as profiler
from mindspore import runtime as runtime
from mindspore import utils as utils
from mindspore import version as version
from mycel import amp as amp
from mycel import checkpoint as checkpoint
from mycel import communication as communication
from mycel import compat as compat
from mycel import dataset as dataset
from mycel import debug as debug
from mycel import init as init
from mycel import kernel as kernel
from mycel import mindrecord as mindrecord
from mycel import mint as mint
from mycel import nn as nn
from mycel import numpy as numpy
from mycel import ops as ops
from mycel import optim as optim
from mycel import parallel as parallel
from mycel import report as report
from mycel import scipy as scipy
from mycel import summary as summary
from mycel import train as train
from mycel import transform as transform
from mycel import tuning as tuning
from mycel.amp.build import build_train_network as build_train_network
from mycel.amp.managers import DynamicLossScaleManager as DynamicLossScaleManager
from mycel.amp.managers import FixedLossScaleManager as FixedLossScaleManager
from mycel.amp.managers import LossScaleManager as LossScaleManager
from mycel.checkpoint.convert import ckpt_to_safetensors as ckpt_to_safetensors
from mycel.checkpoint.convert import safetensors_to_ckpt as safetensors_to_ckpt
from mycel.checkpoint.exporting import export as export
from mycel.checkpoint.exporting import load as load
from mycel.checkpoint.graph_cell import GraphCell as GraphCell
from mycel.checkpoint.interop import from_dlpack as from_dlpack
from mycel.checkpoint.interop import to_dlpack as to_dlpack
from mycel.checkpoint.interop import to_jax as to_jax
from mycel.checkpoint.loading import load_checkpoint as load_checkpoint
from mycel.checkpoint.loading import load_checkpoint_async as load_checkpoint_async
from mycel.checkpoint.loading import load_param_into_net as load_param_into_net
from mycel.checkpoint.pure import pure_function as pure_function
from mycel.checkpoint.pytorch import load_pytorch as load_pytorch
from mycel.checkpoint.pytorch import pytorch_names as pytorch_names
from mycel.checkpoint.saving import async_ckpt_thread_status as async_ckpt_thread_status
from mycel.checkpoint.saving import save_checkpoint as save_checkpoint
from mycel.checkpoint.sharded.loading import load_distributed_checkpoint as load_distributed_checkpoint
from mycel.checkpoint.sharded.loading import load_segmented_checkpoints as load_segmented_checkpoints
from mycel.checkpoint.sharded.transform import build_searched_strategy as build_searched_strategy
from mycel.checkpoint.sharded.transform import merge_pipeline_strategys as merge_pipeline_strategys
from mycel.checkpoint.sharded.transform import merge_sliced_parameter as merge_sliced_parameter
from mycel.checkpoint.sharded.transform import rank_list_for_transform as rank_list_for_transform
from mycel.checkpoint.sharded.transform import restore_group_info_list as restore_group_info_list
from mycel.checkpoint.sharded.transform import transform_checkpoint_by_rank as transform_checkpoint_by_rank
from mycel.checkpoint.sharded.transform import transform_checkpoints as transform_checkpoints
from mycel.checkpoint.sharded.transform import unified_safetensors as unified_safetensors
from mycel.checkpoint.training import load_training_state as load_training_state
from mycel.checkpoint.training import save_training_state as save_training_state
from mycel.checkpoint.weight_rules import Stored as Stored
from mycel.checkpoint.weights import WeightReport as WeightReport
from mycel.checkpoint.weights import load_weights as load_weights
from mycel.checkpoint.weights import save_weights as save_weights
from mycel.compat.alias import install_as_mindspore as install_as_mindspore
from mycel.compat.context import COMPATIBLE as COMPATIBLE
from mycel.compat.context import LAX as LAX
from mycel.compat.context import STRICT as STRICT
from mycel.compat.context import get_current_device as get_current_device
from mycel.compat.context import set_deterministic as set_deterministic
from mycel.compat.context import set_device as set_device
from mycel.compat.context import set_recursion_limit as set_recursion_limit
from mycel.compat.log import get_level as get_level
from mycel.compat.log import get_log_config as get_log_config
from mycel.compat.older import JitConfig as JitConfig
from mycel.compat.older import Symbol as Symbol
from mycel.compat.older import lazy_inline as lazy_inline
from mycel.compat.older import ms_memory_recycle as ms_memory_recycle
from mycel.compat.older import recompute as recompute
from mycel.compat.older import run_check as run_check
from mycel.compat.older import set_offload_context as set_offload_context
from mycel.compat.types import List as List
from mycel.compat.types import QuantDtype as QuantDtype
from mycel.compat.types import String as String
from mycel.compat.types import TensorType as TensorType
from mycel.compat.types import TensorType as _tensor_type
from mycel.compat.types import dtype_to_nptype as dtype_to_nptype
from mycel.compat.types import dtype_to_pytype as dtype_to_pytype
from mycel.compat.types import float8_e4m3fn as float8_e4m3fn
from mycel.compat.types import float8_e5m2 as float8_e5m2
from mycel.compat.types import frombuffer as frombuffer
from mycel.compat.types import get_py_obj_dtype as get_py_obj_dtype
from mycel.compat.types import hifloat8 as hifloat8
from mycel.compat.types import pytype_to_dtype as pytype_to_dtype
from mycel.compat.types import qint4x2 as qint4x2
from mycel.compat.types import string as string
from mycel.debug.profiler import Profiler as Profiler
from mycel.debug.runtime import Event as Event
from mycel.debug.runtime import Stream as Stream
from mycel.debug.runtime import StreamCtx as StreamCtx
from mycel.debug.runtime import current_stream as _communication_stream
from mycel.debug.runtime import current_stream as _default_stream
from mycel.debug.runtime import current_stream as current_stream
from mycel.debug.runtime import dispatch_threads_num as dispatch_threads_num
from mycel.debug.runtime import empty_cache as empty_cache
from mycel.debug.runtime import get_device_limit as get_device_limit
from mycel.debug.runtime import get_stream_limit as get_stream_limit
from mycel.debug.runtime import launch_blocking as launch_blocking
from mycel.debug.runtime import max_memory_allocated as max_memory_allocated
from mycel.debug.runtime import max_memory_reserved as max_memory_reserved
from mycel.debug.runtime import memory_allocated as memory_allocated
from mycel.debug.runtime import memory_reserved as memory_reserved
from mycel.debug.runtime import memory_stats as memory_stats
from mycel.debug.runtime import memory_summary as memory_summary
from mycel.debug.runtime import reset_max_memory_allocated as reset_max_memory_allocated
from mycel.debug.runtime import reset_max_memory_reserved as reset_max_memory_reserved
from mycel.debug.runtime import reset_peak_memory_stats as reset_peak_memory_stats
from mycel.debug.runtime import reset_stream_limit as reset_stream_limit
from mycel.debug.runtime import set_cpu_affinity as set_cpu_affinity
from mycel.debug.runtime import set_cur_stream as set_cur_stream
from mycel.debug.runtime import set_device_limit as set_device_limit
from mycel.debug.runtime import set_kernel_launch_capture as set_kernel_launch_capture
from mycel.debug.runtime import set_kernel_launch_group as set_kernel_launch_group
from mycel.debug.runtime import set_memory as set_memory
from mycel.debug.runtime import set_stream_limit as set_stream_limit
from mycel.debug.runtime import synchronize as synchronize
from mycel.kernel.base.context import GRAPH_MODE as GRAPH_MODE
from mycel.kernel.base.context import PYNATIVE_MODE as PYNATIVE_MODE
from mycel.kernel.base.context import get_context as get_context
from mycel.kernel.base.context import set_context as set_context
from mycel.kernel.base.dtypes import DType as DType
from mycel.kernel.base.dtypes import DType as _Type
from mycel.kernel.base.dtypes import bfloat16 as bfloat16
from mycel.kernel.base.dtypes import bool_ as _bool
from mycel.kernel.base.dtypes import bool_ as bool_
from mycel.kernel.base.dtypes import complex128 as _cdouble
from mycel.kernel.base.dtypes import complex128 as complex128
from mycel.kernel.base.dtypes import complex64 as _cfloat
from mycel.kernel.base.dtypes import complex64 as complex64
from mycel.kernel.base.dtypes import float16 as _half
from mycel.kernel.base.dtypes import float16 as float16
from mycel.kernel.base.dtypes import float32 as _float
from mycel.kernel.base.dtypes import float32 as _float_
from mycel.kernel.base.dtypes import float32 as _single
from mycel.kernel.base.dtypes import float32 as float32
from mycel.kernel.base.dtypes import float64 as _double
from mycel.kernel.base.dtypes import float64 as float64
from mycel.kernel.base.dtypes import int16 as _short
from mycel.kernel.base.dtypes import int16 as int16
from mycel.kernel.base.dtypes import int32 as _int
from mycel.kernel.base.dtypes import int32 as _int_
from mycel.kernel.base.dtypes import int32 as _intc
from mycel.kernel.base.dtypes import int32 as int32
from mycel.kernel.base.dtypes import int64 as _intp
from mycel.kernel.base.dtypes import int64 as _long
from mycel.kernel.base.dtypes import int64 as int64
from mycel.kernel.base.dtypes import int8 as _byte
from mycel.kernel.base.dtypes import int8 as int8
from mycel.kernel.base.dtypes import uint16 as _ushort
from mycel.kernel.base.dtypes import uint16 as uint16
from mycel.kernel.base.dtypes import uint32 as _uintc
from mycel.kernel.base.dtypes import uint32 as uint32
from mycel.kernel.base.dtypes import uint64 as _uintp
from mycel.kernel.base.dtypes import uint64 as uint64
from mycel.kernel.base.dtypes import uint8 as _ubyte
from mycel.kernel.base.dtypes import uint8 as uint8
from mycel.kernel.base.errors import BudgetError as BudgetError
from mycel.kernel.base.errors import HookOrderError as HookOrderError
from mycel.kernel.base.errors import NoIntegersError as NoIntegersError
from mycel.kernel.base.errors import OutOfRangeError as OutOfRangeError
from mycel.kernel.base.parallel_settings import ParallelMode as ParallelMode
from mycel.kernel.differentiate.api import get_grad as get_grad
from mycel.kernel.differentiate.api import grad as grad
from mycel.kernel.differentiate.api import value_and_grad as value_and_grad
from mycel.kernel.execute.graph import jit as _ms_function
from mycel.kernel.execute.graph import jit as jit
from mycel.kernel.execute.sites import every_call as every_call
from mycel.kernel.record.generator import Generator as Generator
from mycel.kernel.record.generator import default_generator as default_generator
from mycel.kernel.record.generator import get_rng_state as get_rng_state
from mycel.kernel.record.generator import get_seed as get_seed
from mycel.kernel.record.generator import initial_seed as initial_seed
from mycel.kernel.record.generator import manual_seed as manual_seed
from mycel.kernel.record.generator import seed as seed
from mycel.kernel.record.generator import set_rng_state as set_rng_state
from mycel.kernel.record.generator import set_seed as set_seed
from mycel.kernel.record.parameter import Parameter as Parameter
from mycel.kernel.record.parameter import ParameterTuple as ParameterTuple
from mycel.kernel.record.stream import flush as flush
from mycel.kernel.record.tensor import Tensor as Tensor
from mycel.kernel.record.tensor import from_numpy as from_numpy
from mycel.kernel.record.tensor import tensor as tensor
from mycel.ops.sparse.sparse_tensors import COOTensor as COOTensor
from mycel.ops.sparse.sparse_tensors import COOTensor as _SparseTensor
from mycel.ops.sparse.sparse_tensors import CSRTensor as CSRTensor
from mycel.ops.sparse.sparse_tensors import RowTensor as RowTensor
from mycel.ops.spelled.hints import constexpr as constexpr
from mycel.ops.spelled.hints import is_tensor as is_tensor
from mycel.ops.spelled.hints import jit_class as _ms_class
from mycel.ops.spelled.hints import jit_class as jit_class
from mycel.ops.spelled.hints import mutable as mutable
from mycel.parallel.context import get_algo_parameters as get_algo_parameters
from mycel.parallel.context import get_auto_parallel_context as get_auto_parallel_context
from mycel.parallel.context import get_ps_context as get_ps_context
from mycel.parallel.context import reset_algo_parameters as reset_algo_parameters
from mycel.parallel.context import reset_auto_parallel_context as reset_auto_parallel_context
from mycel.parallel.context import reset_ps_context as reset_ps_context
from mycel.parallel.context import set_algo_parameters as set_algo_parameters
from mycel.parallel.context import set_auto_parallel_context as set_auto_parallel_context
from mycel.parallel.context import set_ps_context as set_ps_context
from mycel.parallel.layout import Layout as Layout
from mycel.parallel.layouts import AutoParallel as AutoParallel
from mycel.parallel.layouts import shard as shard
from mycel.parallel.layouts import sync_pipeline_shared_parameters as sync_pipeline_shared_parameters
from mycel.summary.record import SummaryRecord as SummaryRecord
from mycel.train.callbacks.base import Callback as Callback
from mycel.train.callbacks.base import RunContext as RunContext
from mycel.train.callbacks.checkpoint import CheckpointConfig as CheckpointConfig
from mycel.train.callbacks.checkpoint import ModelCheckpoint as ModelCheckpoint
from mycel.train.callbacks.monitors import History as History
from mycel.train.callbacks.monitors import LambdaCallback as LambdaCallback
from mycel.train.callbacks.monitors import LossMonitor as LossMonitor
from mycel.train.callbacks.monitors import TimeMonitor as TimeMonitor
from mycel.train.callbacks.rates import EarlyStopping as EarlyStopping
from mycel.train.callbacks.rates import LearningRateScheduler as LearningRateScheduler
from mycel.train.callbacks.rates import ReduceLROnPlateau as ReduceLROnPlateau
from mycel.train.callbacks.resuming import BackupAndRestore as BackupAndRestore
from mycel.train.callbacks.resuming import OnRequestExit as OnRequestExit
from mycel.train.callbacks.summaries import SummaryCollector as SummaryCollector
from mycel.train.feed import DatasetHelper as DatasetHelper
from mycel.train.feed import connect_network_with_dataset as connect_network_with_dataset
from mycel.train.feed import data_sink as data_sink
from mycel.train.metrics.base import Metric as Metric
from mycel.train.metrics.base import rearrange_inputs as rearrange_inputs
from mycel.train.metrics.classes import Accuracy as Accuracy
from mycel.train.metrics.classes import F1 as F1
from mycel.train.metrics.classes import Fbeta as Fbeta
from mycel.train.metrics.classes import Precision as Precision
from mycel.train.metrics.classes import Recall as Recall
from mycel.train.metrics.classes import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from mycel.train.metrics.classes import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from mycel.train.metrics.classes import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from mycel.train.metrics.confusion import ConfusionMatrix as ConfusionMatrix
from mycel.train.metrics.confusion import ConfusionMatrixMetric as ConfusionMatrixMetric
from mycel.train.metrics.curves import ROC as ROC
from mycel.train.metrics.curves import auc as auc
from mycel.train.metrics.losses import Loss as Loss
from mycel.train.metrics.losses import MAE as MAE
from mycel.train.metrics.losses import MSE as MSE
from mycel.train.metrics.losses import Perplexity as Perplexity
from mycel.train.metrics.names import get_metric_fn as get_metric_fn
from mycel.train.metrics.names import names as names
from mycel.train.metrics.occlusion import OcclusionSensitivity as OcclusionSensitivity
from mycel.train.metrics.similarity import BleuScore as BleuScore
from mycel.train.metrics.similarity import CosineSimilarity as CosineSimilarity
from mycel.train.metrics.similarity import Dice as Dice
from mycel.train.metrics.surfaces import HausdorffDistance as HausdorffDistance
from mycel.train.metrics.surfaces import MeanSurfaceDistance as MeanSurfaceDistance
from mycel.train.metrics.surfaces import RootMeanSquareDistance as RootMeanSquareDistance
from mycel.train.model import Model as Model
from mycel.train.second_order import ConvertModelUtils as ConvertModelUtils
from mycel.train.second_order import ConvertNetUtils as ConvertNetUtils
from mycel.transform.jacobian import jacfwd as jacfwd
from mycel.transform.jacobian import jacrev as jacrev
from mycel.transform.jacobian import jvp as jvp
from mycel.transform.jacobian import vjp as vjp
from mycel.transform.no_grad import no_grad as no_grad
from mycel.transform.vmap import vmap as vmap
SparseTensor = _SparseTensor
Type = _Type
__version__: str
bool = _bool
byte = _byte
cdouble = _cdouble
cfloat = _cfloat
communication_stream = _communication_stream
default_stream = _default_stream
double = _double
float = _float
float_ = _float_
half = _half
int = _int
int_ = _int_
intc = _intc
intp = _intp
long = _long
ms_class = _ms_class
ms_function = _ms_function
short = _short
single = _single
tensor_type = _tensor_type
ubyte = _ubyte
uintc = _uintc
uintp = _uintp
ushort = _ushort
