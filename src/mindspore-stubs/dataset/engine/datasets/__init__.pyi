# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine.datasets means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
from mycel.dataset.engine.sending import TransferDataset as TransferDataset
