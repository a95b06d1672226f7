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
from mycel.compat.older import merge_sliced_parameter as merge_sliced_parameter
from mycel.compat.older import build_searched_strategy as build_searched_strategy
