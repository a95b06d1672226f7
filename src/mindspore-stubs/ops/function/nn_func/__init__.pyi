# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.function.nn_func means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.mint_operators import *
from mycel.ops import *
from mycel.compat.internals import inner_log_softmax as __innner_log_softmax  # pyright: ignore
_innner_log_softmax = __innner_log_softmax  # pyright: ignore
