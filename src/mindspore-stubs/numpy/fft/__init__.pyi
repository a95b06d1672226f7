# SPDX-License-Identifier: Apache-2.0
"""What mindspore.numpy.fft means here; written by `python -m tools.stubs`, which see."""


from mycel.numpy.fft import *
