# SPDX-License-Identifier: Apache-2.0
"""What op bodies share: meeting in one element type."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.promotion import promote_dtypes


def promoted(x, y):
    """Both operands in the type they meet in."""
    if x.dtype == y.dtype:
        return x, y
    meeting = promote_dtypes(x.dtype, y.dtype)
    return x.astype(meeting), y.astype(meeting)


def as_float(x):
    """An integer or boolean array as Float32; real and complex ones as they are."""
    return x if x.dtype.kind in "fcV" else x.astype(np.float32)


def from_above(x):
    """x with +0 for -0: roots and logarithms have their pole, and their slope, above 0."""
    return x - lax.stop_gradient(jnp.where(x == 0, x, jnp.zeros((), x.dtype)))
