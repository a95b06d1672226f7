# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.train_thor.convert_utils means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
