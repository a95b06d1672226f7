# SPDX-License-Identifier: Apache-2.0
"""What mindspore.ops.primitive means here; written by `python -m tools.stubs`, which see."""


from mycel import *
from mycel.ops import *
from mycel.ops.spelled.hints import constexpr as __primexpr  # pyright: ignore
_primexpr = __primexpr  # pyright: ignore
