# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.communication means here; written by `python -m tools.stubs`, which see."""


from mycel.ops import *
from mycel.communication.writing import *
from mycel.mint.distributed import *
