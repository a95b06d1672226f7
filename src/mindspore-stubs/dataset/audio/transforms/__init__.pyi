# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.audio.transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms import *
from mycel.dataset.audio.operation import *
from mycel.dataset.audio import *
