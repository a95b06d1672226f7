# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train._utils means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
from mycel.compat.checking import *
from mycel.compat.internals import make_directory as __make_directory  # pyright: ignore
_make_directory = __make_directory  # pyright: ignore
