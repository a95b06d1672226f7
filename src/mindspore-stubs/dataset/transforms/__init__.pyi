# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms import *
from mindspore.dataset.transforms import c_transforms as c_transforms
from mindspore.dataset.transforms import py_transforms as py_transforms
from mindspore.dataset.transforms import py_transforms_util as py_transforms_util
from mindspore.dataset.transforms import transforms as transforms
from mindspore.dataset.transforms import validators as validators
from mindspore.dataset.transforms import vision as vision
