# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.py_transforms_util means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms.operations import *
