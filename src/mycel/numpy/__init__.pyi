# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.numpy; written by `python -m tools.stubs`, which see."""

from mindspore.numpy import array_creations as array_creations
from mindspore.numpy import array_ops as array_ops
from mindspore.numpy import logic_ops as logic_ops
from mindspore.numpy import math_ops as math_ops
from mindspore.numpy import utils as utils
from mindspore.numpy import utils_const as utils_const
from mycel.kernel.base.dtypes import bool_ as bool_
from mycel.kernel.base.dtypes import float16 as float16
from mycel.kernel.base.dtypes import float32 as float32
from mycel.kernel.base.dtypes import float64 as float64
from mycel.kernel.base.dtypes import int16 as int16
from mycel.kernel.base.dtypes import int32 as int32
from mycel.kernel.base.dtypes import int64 as int64
from mycel.kernel.base.dtypes import int8 as int8
from mycel.kernel.base.dtypes import uint16 as uint16
from mycel.kernel.base.dtypes import uint32 as uint32
from mycel.kernel.base.dtypes import uint64 as uint64
from mycel.kernel.base.dtypes import uint8 as uint8
from mycel.kernel.define.definition import nan as nan
from mycel.numpy import dtypes as dtypes
from mycel.numpy import fft as fft
from mycel.numpy.dtypes import NINF as NINF
from mycel.numpy.dtypes import PINF as PINF
from mycel.numpy.dtypes import float_ as float_
from mycel.numpy.dtypes import inf as inf
from mycel.numpy.dtypes import int_ as int_
from mycel.numpy.dtypes import numeric_types as numeric_types
from mycel.numpy.dtypes import pi as pi
from mycel.numpy.dtypes import uint as uint
from mycel.numpy.grids import mgrid as mgrid
from mycel.numpy.grids import ogrid as ogrid
from mycel.signatures.numpy import *
