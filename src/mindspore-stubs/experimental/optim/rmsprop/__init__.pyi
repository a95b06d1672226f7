# SPDX-License-Identifier: Apache-2.0
"""What mindspore.experimental.optim.rmsprop means here; written by `python -m tools.stubs`, which see."""


from mycel.optim.experimental import *
