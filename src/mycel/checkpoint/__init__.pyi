# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.checkpoint; written by `python -m tools.stubs`, which see."""

from mycel.checkpoint import sharded as sharded
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
