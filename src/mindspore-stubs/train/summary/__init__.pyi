# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.summary means here; written by `python -m tools.stubs`, which see."""


from mycel.summary import *
from mindspore.train.summary import summary_record as summary_record
