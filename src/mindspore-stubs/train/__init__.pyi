# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train means here; written by `python -m tools.stubs`, which see."""


from mycel.checkpoint import *
from mycel.summary import *
from mycel.train import *
from mindspore.train import _utils as _utils  # pyright: ignore
from mindspore.train import amp as amp
from mindspore.train import callback as callback
from mindspore.train import data_sink as data_sink
from mindspore.train import dataset_helper as dataset_helper
from mindspore.train import loss_scale_manager as loss_scale_manager
from mindspore.train import metrics as metrics
from mindspore.train import model as model
from mindspore.train import node_strategy_pb2 as node_strategy_pb2
from mindspore.train import serialization as serialization
from mindspore.train import summary as summary
from mindspore.train import train_thor as train_thor
from mycel.train.feed import data_sink as data_sink
from mycel.checkpoint import build_searched_strategy as build_searched_strategy
from mycel.checkpoint import load_segmented_checkpoints as load_segmented_checkpoints
from mycel.checkpoint import merge_pipeline_strategys as merge_pipeline_strategys
from mycel.checkpoint import merge_sliced_parameter as merge_sliced_parameter
from mycel.checkpoint import rank_list_for_transform as rank_list_for_transform
from mycel.checkpoint import restore_group_info_list as restore_group_info_list
from mycel.checkpoint import transform_checkpoint_by_rank as transform_checkpoint_by_rank
from mycel.checkpoint import transform_checkpoints as transform_checkpoints
from mycel.checkpoint import unified_safetensors as unified_safetensors
