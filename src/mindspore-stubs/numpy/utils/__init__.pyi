# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy.utils means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy import *
from mycel.numpy.convert import as_tensor as __to_tensor  # pyright: ignore
_to_tensor = __to_tensor  # pyright: ignore
