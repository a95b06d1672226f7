# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint means here; written by `python -m tools.stubs`, which see."""


from mycel.mint import *
from mindspore.mint import distributed as distributed
from mindspore.mint import functional as functional
from mindspore.mint import linalg as linalg
from mindspore.mint import nn as nn
from mindspore.mint import optim as optim
from mindspore.mint import special as special
