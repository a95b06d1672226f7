# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability import *
from mindspore.nn.probability import bijector as bijector
from mindspore.nn.probability import bnn_layers as bnn_layers
from mindspore.nn.probability import distribution as distribution
