# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint.special are; written by `python -m tools.stubs`, which see."""

from mycel.ops.math.elementwise import (
    erfc, round,
)
from mycel.ops.math.powers import (
    exp2, expm1, log1p,
)
from mycel.ops.math.trigonometry import (
    sinc,
)
from mycel.ops.spelled.mint_variants import (
    mint_log_softmax as log_softmax,
)
