# SPDX-License-Identifier: Apache-2.0
"""What mindspore.hal means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.runtime import *
from mycel.debug.devices import *
from mindspore.hal import event as event
from mindspore.hal import memory as memory
from mindspore.hal import stream as stream
