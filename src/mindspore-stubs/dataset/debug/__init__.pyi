# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.debug means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.debug import *
