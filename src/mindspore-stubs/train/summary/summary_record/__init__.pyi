# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.summary.summary_record means here; written by `python -m tools.stubs`, which see."""


from mycel.summary import *
