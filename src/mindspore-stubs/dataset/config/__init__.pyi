# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.config means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.config import *
