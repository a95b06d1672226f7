# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._cost_model_context means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.context import *
from mycel.parallel.context import set_multi_subgraphs as __set_multi_subgraphs  # pyright: ignore
_set_multi_subgraphs = __set_multi_subgraphs  # pyright: ignore
