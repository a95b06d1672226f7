# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.wrap means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.cells import *
from mycel.amp import *
from mycel.nn import *
from mindspore.nn.wrap import cell_wrapper as cell_wrapper
from mindspore.nn.wrap import grad_reducer as grad_reducer
from mindspore.nn.wrap import loss_scale as loss_scale
