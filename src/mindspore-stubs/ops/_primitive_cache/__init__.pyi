# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops._primitive_cache means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.older import *
from mycel.compat.older import get_cache_prim as __get_cache_prim  # pyright: ignore
_get_cache_prim = __get_cache_prim  # pyright: ignore
