# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.context import *
from mycel.kernel.base.context import *
from mycel.compat.older import *
from mycel.compat.types import *
from mycel.init import *
from mycel import *
from mindspore.common import _stub_tensor as _stub_tensor  # pyright: ignore
from mindspore.common import api as api
from mindspore.common import dtype as dtype
from mindspore.common import generator as generator
from mindspore.common import hook_handle as hook_handle
from mindspore.common import initializer as initializer
from mindspore.common import jit_config as jit_config
from mindspore.common import lazy_inline as lazy_inline
from mindspore.common import np_dtype as np_dtype
from mindspore.common import parameter as parameter
from mindspore.common import recompute as recompute
from mindspore.common import seed as seed
from mindspore.common import tensor as tensor
from mycel import jit as _ms_function
ms_function = _ms_function
