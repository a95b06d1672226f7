# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.optim.adam means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.optim import *
