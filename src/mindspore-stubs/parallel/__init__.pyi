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
from mycel.compat.older import build_searched_strategy as build_searched_strategy
from mycel.compat.older import merge_sliced_parameter as merge_sliced_parameter
