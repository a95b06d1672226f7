# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, exported programs, and Tensors and Cells for other libraries."""

from mycel.checkpoint.convert import ckpt_to_safetensors, safetensors_to_ckpt
from mycel.checkpoint.exporting import export, load
from mycel.checkpoint.graph_cell import GraphCell
from mycel.checkpoint.interop import from_dlpack, to_dlpack, to_jax
from mycel.checkpoint.loading import load_checkpoint, load_checkpoint_async, load_param_into_net
from mycel.checkpoint.pure import pure_function
from mycel.checkpoint.pytorch import load_pytorch, pytorch_names
from mycel.checkpoint.saving import async_ckpt_thread_status, save_checkpoint
from mycel.checkpoint.sharded.loading import load_distributed_checkpoint, load_segmented_checkpoints
from mycel.checkpoint.sharded.transform import (
    build_searched_strategy,
    merge_pipeline_strategys,
    merge_sliced_parameter,
    rank_list_for_transform,
    restore_group_info_list,
    transform_checkpoint_by_rank,
    transform_checkpoints,
    unified_safetensors,
)
from mycel.checkpoint.training import load_training_state, save_training_state
from mycel.checkpoint.weight_rules import Stored
from mycel.checkpoint.weights import WeightReport, load_weights, save_weights
