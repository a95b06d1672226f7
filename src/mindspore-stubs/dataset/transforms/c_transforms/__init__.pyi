# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.c_transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms.c_transforms import *
