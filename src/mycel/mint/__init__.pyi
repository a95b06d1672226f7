# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.mint; written by `python -m tools.stubs`, which see."""

from mycel.kernel.record.tensor import Tensor as Tensor
from mycel.mint import distributed as distributed
from mycel.mint import linalg as linalg
from mycel.mint import nn as nn
from mycel.mint import optim as optim
from mycel.mint import special as special
from mycel.mint.grids import meshgrid as meshgrid
from mycel.mint.nn import functional as functional
from mycel.signatures.mint import *
