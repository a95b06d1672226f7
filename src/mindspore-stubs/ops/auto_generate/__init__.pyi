# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.auto_generate means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.mint_operators import *
from mycel.ops import *
from mindspore.ops.auto_generate import gen_ops_def as gen_ops_def
from mindspore.ops.auto_generate import gen_ops_prim as gen_ops_prim
