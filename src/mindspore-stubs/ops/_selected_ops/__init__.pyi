# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops._selected_ops means here; written by `python -m tools.stubs`, which see."""


from mycel.ops import *
