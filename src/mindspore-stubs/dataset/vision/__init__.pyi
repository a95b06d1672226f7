# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.vision means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.vision import *
from mindspore.dataset.vision import c_transforms as c_transforms
from mindspore.dataset.vision import py_transforms as py_transforms
from mindspore.dataset.vision import py_transforms_util as py_transforms_util
from mindspore.dataset.vision import transforms as transforms
from mindspore.dataset.vision import utils as utils
