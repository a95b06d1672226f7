# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.vision.py_transforms_util means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.vision.py_transforms_util import *
