# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.utils means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
from mycel.init.later import *
from mindspore.nn.utils import init as init
