# SPDX-License-Identifier: Apache-2.0
"""What mindspore.experimental means here; written by `python -m tools.stubs`, which see."""


from mycel.optim.experimental import *
from mindspore.experimental import optim as optim
