# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.bijector means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.bijector import *
from mindspore.nn.probability.bijector import bijector as bijector
from mindspore.nn.probability.bijector import exp as exp
from mindspore.nn.probability.bijector import gumbel_cdf as gumbel_cdf
from mindspore.nn.probability.bijector import invert as invert
from mindspore.nn.probability.bijector import power_transform as power_transform
from mindspore.nn.probability.bijector import scalar_affine as scalar_affine
from mindspore.nn.probability.bijector import softplus as softplus
