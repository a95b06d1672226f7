# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dtype.typing means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.types import *
