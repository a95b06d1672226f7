# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.metrics means here; written by `python -m tools.stubs`, which see."""


from mycel.train.metrics.base import *
from mycel.train.metrics.names import *
from mycel.train.metrics import *
from mindspore.train.metrics import metric as metric
