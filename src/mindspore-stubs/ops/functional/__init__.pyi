# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.functional means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.mint_operators import *
from mycel import *
from mycel.ops import *
