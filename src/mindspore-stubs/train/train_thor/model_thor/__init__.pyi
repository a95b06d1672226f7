# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.train_thor.model_thor means here; written by `python -m tools.stubs`, which see."""


from mycel.train.second_order import *
