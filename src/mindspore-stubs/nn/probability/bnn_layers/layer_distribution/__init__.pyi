# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.bnn_layers.layer_distribution means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.bnn_layers import *
