# SPDX-License-Identifier: Apache-2.0
"""What mindspore.mint.linalg means here; written by `python -m tools.stubs`, which see."""


from mycel.mint.linalg import *
