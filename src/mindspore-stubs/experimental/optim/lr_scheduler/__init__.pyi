# SPDX-License-Identifier: Apache-2.0
"""What mindspore.experimental.optim.lr_scheduler means here; written by `python -m tools.stubs`, which see."""


from mycel.optim.lr_scheduler import *
