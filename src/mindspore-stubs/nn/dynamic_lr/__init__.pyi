# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.dynamic_lr means here; written by `python -m tools.stubs`, which see."""


from mycel.optim import *
from mycel.nn import *
