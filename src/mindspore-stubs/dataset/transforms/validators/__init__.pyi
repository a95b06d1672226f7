# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.transforms.validators means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.transforms.validators import *
