# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.serialization means here; written by `python -m tools.stubs`, which see."""


from mycel import *
from mycel.checkpoint.serialization import *
from mycel.checkpoint import *
from mycel import context as context
from mycel.checkpoint.serialization import exec_save as __exec_save  # pyright: ignore
_exec_save = __exec_save  # pyright: ignore
from mycel.checkpoint.serialization import update_param as __update_param  # pyright: ignore
_update_param = __update_param  # pyright: ignore
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
