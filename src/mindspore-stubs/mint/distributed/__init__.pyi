# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.distributed means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.distributed import *
from mindspore.mint.distributed import distributed as distributed
