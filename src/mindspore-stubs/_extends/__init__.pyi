# SPDX-License-Identifier: Apache-2.0
"""What mindspore._extends means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
from mindspore._extends import utils as utils
from mycel.compat.older import cell_attr_register as cell_attr_register
