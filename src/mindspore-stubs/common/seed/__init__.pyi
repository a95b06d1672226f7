# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.seed means here; written by `python -m tools.stubs`, which see."""


from mycel.kernel.record.generator import *
from mycel.compat.older import get_graph_seed as __get_graph_seed  # pyright: ignore
_get_graph_seed = __get_graph_seed  # pyright: ignore
