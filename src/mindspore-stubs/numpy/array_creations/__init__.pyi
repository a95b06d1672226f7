# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy.array_creations means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy import *
