# SPDX-License-Identifier: Apache-2.0
"""What mindspore.runtime means here; written by `python -m tools.stubs`, which see."""


from mycel.debug.runtime import *
