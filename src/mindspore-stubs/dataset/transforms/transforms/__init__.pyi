# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms.chains import *
from mycel.dataset.transforms import *
