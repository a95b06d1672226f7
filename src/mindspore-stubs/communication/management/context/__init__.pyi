# SPDX-License-Identifier: Apache-2.0
"""What mindspore.communication.management.context means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
from mycel.compat.context import *
from mycel.kernel.base.context import *
