# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.probability.distribution.logistic means here; written by `python -m tools.stubs`, which see."""


from mycel.nn.probability.distribution import *
