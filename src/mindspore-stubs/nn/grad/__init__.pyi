# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.grad means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mindspore.nn.grad import cell_grad as cell_grad
