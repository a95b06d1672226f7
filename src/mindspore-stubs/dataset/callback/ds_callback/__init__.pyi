# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.callback.ds_callback means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.engine.callbacks import *
