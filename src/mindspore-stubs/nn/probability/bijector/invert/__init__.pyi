# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.bijector.invert means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.bijector import *
