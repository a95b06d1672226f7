# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.api means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
from mycel import *
from mycel import jit as _ms_function
ms_function = _ms_function
from mycel.transform.no_grad import no_grad as __no_grad  # pyright: ignore
_no_grad = __no_grad  # pyright: ignore
from mycel.compat.executor import pynative_executor as __pynative_executor  # pyright: ignore
_pynative_executor = __pynative_executor  # pyright: ignore
from mycel.compat.older import graph_executor as __cell_graph_executor  # pyright: ignore
_cell_graph_executor = __cell_graph_executor  # pyright: ignore
from mycel.compat.older import cells_compile_cache as cells_compile_cache
