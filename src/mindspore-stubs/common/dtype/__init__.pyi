# SPDX-License-Identifier: Apache-2.0
"""What mindspore.common.dtype means here; written by `python -m tools.stubs`, which see."""


from mycel.compat.types import *
from mycel.kernel.base.dtypes import *
from mindspore.common.dtype import typing as typing
from mycel.kernel.base.dtypes import DType as _Type
Type = _Type
from mycel import float16 as _half
half = _half
from mycel import float32 as _single
single = _single
from mycel import float64 as _double
double = _double
from mycel import int8 as _byte
byte = _byte
from mycel import int16 as _short
short = _short
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
from mycel import complex64 as _cfloat
cfloat = _cfloat
from mycel import complex128 as _cdouble
cdouble = _cdouble
from mycel import float32 as _float_
float_ = _float_
from mycel import int32 as _int_
int_ = _int_
from mycel import bool_ as _bool
bool = _bool
from mycel import int32 as _int
int = _int
from mycel import float32 as _float
float = _float
from mycel.compat.types import all_types as all_types
from mycel.compat.types import complex_type as complex_type
from mycel.compat.types import float_type as float_type
from mycel.compat.types import int_type as int_type
from mycel.compat.types import number_type as number_type
from mycel.compat.types import signed_type as signed_type
from mycel.compat.types import TensorType as _tensor_type
tensor_type = _tensor_type
from mycel.compat.types import uint_type as uint_type
