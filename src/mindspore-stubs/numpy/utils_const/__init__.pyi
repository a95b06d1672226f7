# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy.utils_const means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy import *
from mycel.compat.internals import raise_value_error as __raise_value_error  # pyright: ignore
_raise_value_error = __raise_value_error  # pyright: ignore
