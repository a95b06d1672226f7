# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.layer.channel_shuffle means here; written by `python -m tools.stubs`, which see."""


from mycel.nn import *
