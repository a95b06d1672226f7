# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.initializer means here; written by `python -m tools.stubs`, which see."""


from mycel.init import *
from mycel.init.schemes import fans as __calculate_fan_in_and_fan_out
_calculate_fan_in_and_fan_out = __calculate_fan_in_and_fan_out
from mycel.init.schemes import fan_of as __calculate_correct_fan
_calculate_correct_fan = __calculate_correct_fan
from mycel.compat.initializers import gain as __calculate_gain
_calculate_gain = __calculate_gain
from mycel.compat.initializers import assignment as __assignment
_assignment = __assignment
from mycel.compat.initializers import register as __register
_register = __register
from mycel.init.initializer import NAMES as __INITIALIZER_ALIAS
_INITIALIZER_ALIAS = __INITIALIZER_ALIAS
from mycel.compat.initializers import random_uniform as __init_random_uniform
_init_random_uniform = __init_random_uniform
from mycel.compat.initializers import random_normal as __init_random_normal
_init_random_normal = __init_random_normal
from mycel.compat.initializers import truncated_normal as __init_truncated_normal
_init_truncated_normal = __init_truncated_normal
from mycel.init.initializer import Initializer as __Initializer
_Initializer = __Initializer
