# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
from mindspore.device_context import ascend as ascend
from mindspore.device_context import cpu as cpu
from mindspore.device_context import gpu as gpu
