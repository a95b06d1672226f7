# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context.cpu means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
from mindspore.device_context.cpu import op_tuning as op_tuning
