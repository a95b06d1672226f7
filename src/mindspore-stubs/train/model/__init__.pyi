# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.model means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
from mycel.parallel import ParallelMode as ParallelMode
