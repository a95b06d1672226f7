# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.rnn_cells means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
