# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.bnn_layers.dense_variational means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.bnn_layers import *
