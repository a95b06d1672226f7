# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.callback._checkpoint means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
from mycel.train.callbacks.checkpoint import CheckpointManager as CheckpointManager
