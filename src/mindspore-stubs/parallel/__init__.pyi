# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
from mindspore.parallel import _auto_parallel_context as _auto_parallel_context  # pyright: ignore
from mindspore.parallel import _cost_model_context as _cost_model_context  # pyright: ignore
from mindspore.parallel import _ps_context as _ps_context  # pyright: ignore
from mindspore.parallel import _transformer as _transformer  # pyright: ignore
from mindspore.parallel import _utils as _utils  # pyright: ignore
from mindspore.parallel import algo_parameter_config as algo_parameter_config
from mindspore.parallel import auto_parallel as auto_parallel
from mindspore.parallel import nn as nn
from mindspore.parallel import parameter_broadcast as parameter_broadcast
from mindspore.parallel import shard as shard
from mycel.parallel.layouts import shard as shard
from mycel.checkpoint import build_searched_strategy as build_searched_strategy
from mycel.checkpoint import load_distributed_checkpoint as load_distributed_checkpoint
from mycel.checkpoint import load_segmented_checkpoints as load_segmented_checkpoints
from mycel.checkpoint import merge_pipeline_strategys as merge_pipeline_strategys
from mycel.checkpoint import merge_sliced_parameter as merge_sliced_parameter
from mycel.checkpoint import rank_list_for_transform as rank_list_for_transform
from mycel.checkpoint import restore_group_info_list as restore_group_info_list
from mycel.checkpoint import transform_checkpoint_by_rank as transform_checkpoint_by_rank
from mycel.checkpoint import transform_checkpoints as transform_checkpoints
from mycel.checkpoint import unified_safetensors as unified_safetensors
from mycel.checkpoint import transform_checkpoints as _convert_checkpoints
convert_checkpoints = _convert_checkpoints
from mycel.checkpoint import transform_checkpoint_by_rank as _convert_checkpoint_by_rank
convert_checkpoint_by_rank = _convert_checkpoint_by_rank
from mycel.checkpoint import rank_list_for_transform as _rank_list_for_convert
rank_list_for_convert = _rank_list_for_convert
