# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.optim.thor means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.optim import *
from mycel.optim.second_order import Thor as _ThorGpu
ThorGpu = _ThorGpu
from mycel.optim.second_order import Thor as _ThorAscend
ThorAscend = _ThorAscend
