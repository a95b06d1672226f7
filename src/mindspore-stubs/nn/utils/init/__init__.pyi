# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.utils.init means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.init.later import *
