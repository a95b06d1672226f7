# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.wrap.cell_wrapper means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.cells import *
from mycel.nn import *
from mycel.compat.layers import VirtualDatasetCell as __VirtualDatasetCell  # pyright: ignore
_VirtualDatasetCell = __VirtualDatasetCell  # pyright: ignore
from mycel.compat.layers import VirtualDatasetCellTriple as VirtualDatasetCellTriple
