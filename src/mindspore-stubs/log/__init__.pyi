# SPDX-License-Identifier: Apache-2.0
"""What mindspore.log means here; written by `python -m tools.stubs`, which see."""


from mycel.kernel.base.log import *
from mycel.compat.log import *
from mindspore.log import logging as logging
from mycel.compat.log import LogActionOnce as __LogActionOnce  # pyright: ignore
_LogActionOnce = __LogActionOnce  # pyright: ignore
from mycel.compat.log import get_logger as __get_logger  # pyright: ignore
_get_logger = __get_logger  # pyright: ignore
