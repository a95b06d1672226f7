# SPDX-License-Identifier: Apache-2.0
"""What mindspore.dataset.callback means here; written by `python -m tools.stubs`, which see."""


from mycel.dataset.engine.callbacks import *
from mindspore.dataset.callback import ds_callback as ds_callback
