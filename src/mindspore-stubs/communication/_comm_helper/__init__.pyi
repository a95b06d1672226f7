# SPDX-License-Identifier: Apache-2.0
"""What mindspore.communication._comm_helper means here; written by `python -m tools.stubs`, which see."""


from mycel.ops.collectives.groups import *
from mycel.communication import *
from mycel.communication import is_initialized as __is_initialized  # pyright: ignore
_is_initialized = __is_initialized  # pyright: ignore
