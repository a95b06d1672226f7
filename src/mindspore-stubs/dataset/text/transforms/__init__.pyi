# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.text.transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.text import *
from mycel.dataset.text.strings import TextTensorOperation as TextTensorOperation
from mycel.dataset.transforms.operations import Implementation as Implementation
