# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context.cpu.op_tuning means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
from mycel.compat.older import threads_num as threads_num
