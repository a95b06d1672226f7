# SPDX-License-Identifier: Apache-2.0
"""What mindspore.train.amp means here; written by `python -m tools.stubs`, which see."""


from mycel.amp import *
from mycel.compat.internals import config_level as __config_level  # pyright: ignore
_config_level = __config_level  # pyright: ignore
from mycel.amp.mixed import keep_listed as __auto_black_list  # pyright: ignore
_auto_black_list = __auto_black_list  # pyright: ignore
from mycel.amp.mixed import rewritten as __auto_mixed_precision_rewrite  # pyright: ignore
_auto_mixed_precision_rewrite = __auto_mixed_precision_rewrite  # pyright: ignore
from mycel.amp.mixed import _OutputTo16 as _OutputTo16  # pyright: ignore
from mycel.amp.mixed import _OutputTo32 as _OutputTo32  # pyright: ignore
from mycel.amp.build import keep_batchnorm as __do_keep_batchnorm_fp32  # pyright: ignore
_do_keep_batchnorm_fp32 = __do_keep_batchnorm_fp32  # pyright: ignore
from mycel.amp.build import _with_loss as __add_loss_network  # pyright: ignore
_add_loss_network = __add_loss_network  # pyright: ignore
from mycel.amp.lists import AMP_WHITE_LIST as AMP_WHITE_LIST
from mycel.amp.lists import AMP_BLACK_LIST as AMP_BLACK_LIST
