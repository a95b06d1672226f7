# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel.algo_parameter_config means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel.context import *
