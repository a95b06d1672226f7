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
from mycel.compat.older import lazy_inline as lazy_inline
from mycel.compat.older import recompute as recompute
from mycel import seed as seed
from mycel import tensor as tensor
from mycel.kernel.base.dtypes import DType as _Type
Type = _Type
from mycel.compat.internals import Function as __Function  # pyright: ignore
_Function = __Function  # pyright: ignore
from mycel import int8 as _byte
byte = _byte
from mycel import int16 as _short
short = _short
from mycel import int32 as _int
int = _int
from mycel import int32 as _intc
intc = _intc
from mycel import int64 as _long
long = _long
from mycel import int64 as _intp
intp = _intp
from mycel import uint8 as _ubyte
ubyte = _ubyte
from mycel import uint16 as _ushort
ushort = _ushort
from mycel import uint32 as _uintc
uintc = _uintc
from mycel import uint64 as _uintp
uintp = _uintp
from mycel import float16 as _half
half = _half
from mycel import float32 as _float
float = _float
from mycel import float32 as _single
single = _single
from mycel import float64 as _double
double = _double
from mycel import bool_ as _bool
bool = _bool
from mycel import float32 as _float_
float_ = _float_
from mycel import int32 as _int_
int_ = _int_
from mycel import complex64 as _cfloat
cfloat = _cfloat
from mycel import complex128 as _cdouble
cdouble = _cdouble
from mycel.transform.no_grad import no_grad as __no_grad  # pyright: ignore
_no_grad = __no_grad  # pyright: ignore
from mycel import jit as _ms_function
ms_function = _ms_function
