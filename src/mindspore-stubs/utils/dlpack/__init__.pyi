# SPDX-License-Identifier: Apache-2.0
"""What mindspore.utils.dlpack means here; written by `python -m tools.stubs`, which see."""


from mycel.checkpoint.interop import *
