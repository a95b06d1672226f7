# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context.ascend means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
from mindspore.device_context.ascend import op_precision as op_precision
