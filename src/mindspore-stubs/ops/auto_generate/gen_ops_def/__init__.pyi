# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.auto_generate.gen_ops_def means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.mint_operators import *
from mycel.ops import *
