# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.data_sink means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
