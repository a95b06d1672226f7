# SPDX-License-Identifier: Apache-2.0
"""Programs with open lengths, run for longer arrays."""

from mycel.tuning.padding import control, places, shapes, sums
from mycel.tuning.padding.core import Refused, cut, lengthened, written

__all__ = ["Refused", "cut", "lengthened", "written"]
