# SPDX-License-Identifier: Apache-2.0
"""What mindspore.context means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
from mycel.compat.context import *
from mycel.kernel.base.context import *
from mycel.compat.internals import get_mode as __get_mode  # pyright: ignore
_get_mode = __get_mode  # pyright: ignore
from mycel.compat.checking import args_type_check as args_type_check
