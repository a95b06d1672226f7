# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._ps_context means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.context import *
from mycel.parallel.context import is_parameter_server as __is_role_pserver  # pyright: ignore
_is_role_pserver = __is_role_pserver  # pyright: ignore
from mycel.parallel.context import is_parameter_server as __is_role_sched  # pyright: ignore
_is_role_sched = __is_role_sched  # pyright: ignore
