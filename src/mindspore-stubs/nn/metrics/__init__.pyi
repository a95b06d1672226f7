# SPDX-License-Identifier: Apache-2.0
"""What mindspore.nn.metrics means here; written by `python -m tools.stubs`, which see."""


from mycel.train.metrics.base import *
from mycel.train.metrics.names import *
from mycel.train.metrics import *
from mindspore.nn.metrics import accuracy as accuracy
from mindspore.nn.metrics import loss as loss
from mindspore.nn.metrics import metric as metric
