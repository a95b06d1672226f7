# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine.config means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.config import *
