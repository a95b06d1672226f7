# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.dataloader means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.dataloader import *
from mindspore.dataset.dataloader import dataset as dataset
