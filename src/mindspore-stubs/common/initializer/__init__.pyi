# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.initializer means here; written by `python -m tools.stubs`, which see."""


from mycel.init import *
from mycel.init.schemes import fans as __calculate_fan_in_and_fan_out  # pyright: ignore
_calculate_fan_in_and_fan_out = __calculate_fan_in_and_fan_out  # pyright: ignore
from mycel.init.schemes import fan_of as __calculate_correct_fan  # pyright: ignore
_calculate_correct_fan = __calculate_correct_fan  # pyright: ignore
from mycel.compat.initializers import gain as __calculate_gain  # pyright: ignore
_calculate_gain = __calculate_gain  # pyright: ignore
from mycel.compat.initializers import assignment as __assignment  # pyright: ignore
_assignment = __assignment  # pyright: ignore
from mycel.compat.initializers import register as __register  # pyright: ignore
_register = __register  # pyright: ignore
from mycel.init.initializer import NAMES as __INITIALIZER_ALIAS  # pyright: ignore
_INITIALIZER_ALIAS = __INITIALIZER_ALIAS  # pyright: ignore
from mycel.compat.initializers import random_uniform as __init_random_uniform  # pyright: ignore
_init_random_uniform = __init_random_uniform  # pyright: ignore
from mycel.compat.initializers import random_normal as __init_random_normal  # pyright: ignore
_init_random_normal = __init_random_normal  # pyright: ignore
from mycel.compat.initializers import truncated_normal as __init_truncated_normal  # pyright: ignore
_init_truncated_normal = __init_truncated_normal  # pyright: ignore
from mycel.init.initializer import Initializer as __Initializer  # pyright: ignore
_Initializer = __Initializer  # pyright: ignore
