# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.vision.c_transforms means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.vision.c_transforms import *
