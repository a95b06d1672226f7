# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy.math_ops means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy import *
