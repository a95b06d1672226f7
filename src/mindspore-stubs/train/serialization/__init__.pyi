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
from mycel.compat.older import build_searched_strategy as build_searched_strategy
from mycel.compat.older import merge_sliced_parameter as merge_sliced_parameter
