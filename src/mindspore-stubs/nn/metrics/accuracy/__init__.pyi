# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.metrics.accuracy means here; written by `python -m tools.stubs`, which see."""


from mycel.train.metrics import *
