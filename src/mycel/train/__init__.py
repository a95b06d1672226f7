# SPDX-License-Identifier: Apache-2.0
"""Training: Model, callbacks, metrics, and the loop below them."""

from mycel.amp.build import build_train_network
from mycel.amp.managers import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mycel.checkpoint import (
    async_ckpt_thread_status,
    ckpt_to_safetensors,
    export,
    load,
    load_checkpoint,
    load_checkpoint_async,
    load_distributed_checkpoint,
    load_param_into_net,
    safetensors_to_ckpt,
    save_checkpoint,
)
from mycel.summary import SummaryRecord
from mycel.train import accumulation, callbacks, metrics
from mycel.train.accumulation import ParameterUpdate
from mycel.train.callbacks import *
from mycel.train.feed import DatasetHelper, connect_network_with_dataset, data_sink
from mycel.train.metrics import *
from mycel.train.model import Model
from mycel.train.second_order import ConvertModelUtils, ConvertNetUtils

__all__ = [
    "ConvertModelUtils",
    "ConvertNetUtils",
    "DatasetHelper",
    "DynamicLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "Model",
    "SummaryRecord",
    "async_ckpt_thread_status",
    "build_train_network",
    "ckpt_to_safetensors",
    "connect_network_with_dataset",
    "data_sink",
    "export",
    "load",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_distributed_checkpoint",
    "load_param_into_net",
    "safetensors_to_ckpt",
    "save_checkpoint",
]
__all__ += callbacks.__all__
__all__ += metrics.__all__
