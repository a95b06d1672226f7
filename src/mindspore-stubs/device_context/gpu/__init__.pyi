# SPDX-License-Identifier: Apache-2.0
"""What mindspore.device_context.gpu means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.devices import *
