# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.audio means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.audio import *
from mindspore.dataset.audio import transforms as transforms
from mindspore.dataset.audio import utils as utils
