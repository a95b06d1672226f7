# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.function means here; written by `python -m tools.stubs`, which see."""


from mycel.ops import *
from mindspore.ops.function import array_func as array_func
from mindspore.ops.function import clip_func as clip_func
from mindspore.ops.function import debug_func as debug_func
from mindspore.ops.function import grad as grad
from mindspore.ops.function import linalg_func as linalg_func
from mindspore.ops.function import math_func as math_func
from mindspore.ops.function import nn_func as nn_func
from mindspore.ops.function import other_func as other_func
from mindspore.ops.function import parameter_func as parameter_func
from mindspore.ops.function import random_func as random_func
from mycel import grad as grad
