# SPDX-License-Identifier: Apache-2.0
"""What mindspore.communication means here; written by `python -m tools.stubs`, which see."""


from mycel.communication import *
from mindspore.communication import _comm_helper as _comm_helper  # pyright: ignore
from mindspore.communication import comm_func as comm_func
from mindspore.communication import management as management
