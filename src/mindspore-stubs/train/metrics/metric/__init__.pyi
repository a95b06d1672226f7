# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.metrics.metric means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
