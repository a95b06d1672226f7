# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.distribution.gumbel means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.distribution import *
