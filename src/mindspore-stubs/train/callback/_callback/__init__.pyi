# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.callback._callback means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
from mycel.train.callbacks.base import InternalCallbackParam as InternalCallbackParam
from mycel.train.callbacks.base import CallbackManager as CallbackManager
from mycel.train.callbacks.base import handle_loss as __handle_loss  # pyright: ignore
_handle_loss = __handle_loss  # pyright: ignore
from mycel.compat.older import set_current_network as _set_cur_net
set_cur_net = _set_cur_net
