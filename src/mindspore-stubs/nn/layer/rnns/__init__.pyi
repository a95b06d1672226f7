# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.rnns means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
