# SPDX-License-Identifier: Apache-2.0
"""What mindspore.hal.stream means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.runtime import *
from mycel.debug.devices import *
