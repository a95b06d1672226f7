# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel.parameter_broadcast means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
