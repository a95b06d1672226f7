# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.function.random_func means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.mint_operators import *
from mycel.ops import *
from mycel.compat.older import get_graph_seed as __get_seed  # pyright: ignore
_get_seed = __get_seed  # pyright: ignore
from mycel.compat.internals import set_prim_op_user_data as __set_prim_op_user_data  # pyright: ignore
_set_prim_op_user_data = __set_prim_op_user_data  # pyright: ignore
