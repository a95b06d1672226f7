# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.train_thor means here; written by `python -m tools.stubs`, which see."""


from mycel.train.second_order import *
from mycel.train import *
from mindspore.train.train_thor import convert_utils as convert_utils
from mindspore.train.train_thor import dataset_helper as dataset_helper
from mindspore.train.train_thor import model_thor as model_thor
