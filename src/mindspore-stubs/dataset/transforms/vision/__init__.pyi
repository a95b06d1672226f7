# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.vision means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.vision import *
from mindspore.dataset.transforms.vision import c_transforms as c_transforms
from mindspore.dataset.transforms.vision import py_transforms as py_transforms
