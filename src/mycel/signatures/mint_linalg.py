# SPDX-License-Identifier: Apache-2.0
"""Where the definitions of mint.linalg are; written by `python -m tools.stubs`, which see."""

from mycel.ops.math.decompositions import (
    inverse as inv, matrix_norm, qr, vector_norm,
)
from mycel.ops.math.statistics import (
    norm,
)
