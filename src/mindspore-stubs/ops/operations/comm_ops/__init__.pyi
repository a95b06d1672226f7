# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.operations.comm_ops means here; written by `python -m tools.stubs`, which see."""


from mycel.ops import *
from mycel.compat.internals import VirtualDataset as __VirtualDataset  # pyright: ignore
_VirtualDataset = __VirtualDataset  # pyright: ignore
