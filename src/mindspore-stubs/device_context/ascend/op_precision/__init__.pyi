# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context.ascend.op_precision means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
from mycel.compat.older import precision_mode as precision_mode
