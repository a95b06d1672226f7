# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy import *
from mindspore.numpy import array_creations as array_creations
from mindspore.numpy import array_ops as array_ops
from mindspore.numpy import dtypes as dtypes
from mindspore.numpy import fft as fft
from mindspore.numpy import logic_ops as logic_ops
from mindspore.numpy import math_ops as math_ops
from mindspore.numpy import utils as utils
from mindspore.numpy import utils_const as utils_const
