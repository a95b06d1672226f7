# SPDX-License-Identifier: Apache-2.0
"""What mindspore.amp means here; written by `python -m tools.stubs`, which see."""


from mycel.amp import *
from mycel.amp.scalers import scaled as __grad_scale_map  # pyright: ignore
_grad_scale_map = __grad_scale_map  # pyright: ignore
from mycel.amp.scalers import unscaled as __grad_unscale_map  # pyright: ignore
_grad_unscale_map = __grad_unscale_map  # pyright: ignore
from mycel.compat.older import MSContext as MSContext
from mycel.compat.older import get_cache_prim as __get_cache_prim  # pyright: ignore
_get_cache_prim = __get_cache_prim  # pyright: ignore
