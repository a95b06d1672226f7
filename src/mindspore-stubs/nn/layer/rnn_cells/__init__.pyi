# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.rnn_cells means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.nn.layers.recurrent import RNNCellBase as RNNCellBase
