# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.tensor means here; written by `python -m tools.stubs`, which see."""


from mycel import *
from mycel.kernel.record.tensor import *
