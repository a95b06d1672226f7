# SPDX-License-Identifier: Apache-2.0
"""What mindspore.graph means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
from mindspore.graph import lazy_inline as lazy_inline
