# SPDX-License-Identifier: Apache-2.0
"""The names of mycel.numpy; written by `python -m tools.stubs`, which see."""

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
from mycel.numpy import arithmetic as arithmetic
from mycel.numpy import choosing as choosing
from mycel.numpy import convert as convert
from mycel.numpy import creation as creation
from mycel.numpy import declare as declare
from mycel.numpy import differences as differences
from mycel.numpy import dtypes as dtypes
from mycel.numpy import elementwise as elementwise
from mycel.numpy import fft as fft
from mycel.numpy import grids as grids
from mycel.numpy import layout as layout
from mycel.numpy import logic as logic
from mycel.numpy import products as products
from mycel.numpy import reduction as reduction
from mycel.numpy import signal as signal
from mycel.numpy import statistics as statistics
from mycel.numpy.dtypes import float_ as float_
from mycel.numpy.dtypes import int_ as int_
from mycel.numpy.grids import mgrid as mgrid
from mycel.numpy.grids import ogrid as ogrid
from mycel.signatures.numpy import *
