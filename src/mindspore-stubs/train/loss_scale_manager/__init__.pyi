# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.loss_scale_manager means here; written by `python -m tools.stubs`, which see."""


from mycel.amp import *
