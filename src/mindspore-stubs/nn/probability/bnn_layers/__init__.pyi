# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.bnn_layers means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.bnn_layers import *
from mindspore.nn.probability.bnn_layers import bnn_cell_wrapper as bnn_cell_wrapper
from mindspore.nn.probability.bnn_layers import conv_variational as conv_variational
from mindspore.nn.probability.bnn_layers import dense_variational as dense_variational
from mindspore.nn.probability.bnn_layers import layer_distribution as layer_distribution
