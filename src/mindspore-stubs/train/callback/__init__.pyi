# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.callback means here; written by `python -m tools.stubs`, which see."""


from mycel.train import *
from mindspore.train.callback import _callback as _callback  # pyright: ignore
from mindspore.train.callback import _checkpoint as _checkpoint  # pyright: ignore
from mindspore.train.callback import _loss_monitor as _loss_monitor  # pyright: ignore
from mindspore.train.callback import _time_monitor as _time_monitor  # pyright: ignore
from mycel.train.callbacks.base import InternalCallbackParam as __InternalCallbackParam  # pyright: ignore
_InternalCallbackParam = __InternalCallbackParam  # pyright: ignore
from mycel.train.callbacks.base import CallbackManager as __CallbackManager  # pyright: ignore
_CallbackManager = __CallbackManager  # pyright: ignore
from mycel.compat.older import set_current_network as __set_cur_net  # pyright: ignore
_set_cur_net = __set_cur_net  # pyright: ignore
