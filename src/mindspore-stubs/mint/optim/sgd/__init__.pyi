# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.optim.sgd means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.optim import *
