# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.summary.summary_record means here; written by `python -m tools.stubs`, which see."""


from mycel.summary import *
from mycel.summary.latest import get_summary_tensor_data as __get_summary_tensor_data  # pyright: ignore
_get_summary_tensor_data = __get_summary_tensor_data  # pyright: ignore
