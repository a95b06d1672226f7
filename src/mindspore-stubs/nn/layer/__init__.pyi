# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mindspore.nn.layer import activation as activation
from mindspore.nn.layer import basic as basic
from mindspore.nn.layer import channel_shuffle as channel_shuffle
from mindspore.nn.layer import combined as combined
from mindspore.nn.layer import container as container
from mindspore.nn.layer import conv as conv
from mindspore.nn.layer import dense as dense
from mindspore.nn.layer import embedding as embedding
from mindspore.nn.layer import flash_attention as flash_attention
from mindspore.nn.layer import image as image
from mindspore.nn.layer import math as math
from mindspore.nn.layer import normalization as normalization
from mindspore.nn.layer import padding as padding
from mindspore.nn.layer import pooling as pooling
from mindspore.nn.layer import rnn_cells as rnn_cells
from mindspore.nn.layer import rnns as rnns
from mindspore.nn.layer import thor_layer as thor_layer
from mindspore.nn.layer import timedistributed as timedistributed
from mindspore.nn.layer import transformer as transformer
