# SPDX-License-Identifier: Apache-2.0
"""What mindspore.scipy.optimize means here; written by `python -m tools.stubs`, which see."""


from mycel.scipy.optimize import *
