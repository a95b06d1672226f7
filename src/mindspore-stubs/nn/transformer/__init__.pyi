# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.transformer means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.configurations import *
from mindspore.nn.transformer import layers as layers
from mindspore.nn.transformer import loss as loss
from mindspore.nn.transformer import transformer as transformer
