# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.engine.datasets_text means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset import *
