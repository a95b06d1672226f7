# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.nn.layer means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.nn import *
from mindspore.mint.nn.layer import activation as activation
from mindspore.mint.nn.layer import basic as basic
from mindspore.mint.nn.layer import conv as conv
from mindspore.mint.nn.layer import normalization as normalization
from mindspore.mint.nn.layer import padding as padding
from mindspore.mint.nn.layer import pooling as pooling
