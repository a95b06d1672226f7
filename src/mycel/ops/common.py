# SPDX-License-Identifier: Apache-2.0
"""What op bodies share: meeting in one element type."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

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


@jax.custom_jvp
def quotient(x, y):
    """x / y, rounded once.

    XLA multiplies by 1 / y where y is a constant or is broadcast, and then 82 / 41 is below 2; and
    it divides by y · z instead of by y and z, which overflows. It does neither where x and y are
    chosen, as it seems here: NaN is NaN, whatever it is divided by.
    """
    if jnp.issubdtype(x.dtype, jnp.floating):
        is_number = x == x
        y = jnp.where(is_number, y, jnp.ones((), x.dtype))
        x = jnp.where(is_number, x, jnp.asarray(jnp.nan, x.dtype))
    return jnp.divide(x, y)


@functools.partial(quotient.defjvp, symbolic_zeros=True)
def _(arrays, tangents):
    made, divisor = quotient(*arrays), arrays[1]
    of_x, of_y = (None if isinstance(t, SymbolicZero) else t for t in tangents)
    slope = jnp.zeros_like(made) if of_x is None else jnp.broadcast_to(of_x / divisor, made.shape)
    return made, slope if of_y is None else slope - made / divisor * of_y


def whole_quotient(divide, x, y):
    """Integers divided by integers, as `divide` does with equal shapes; of a division by 0 the
    extreme integer of the sign of x, and 0 of 0, as MindSpore has it (XLA has -1 or -2)."""
    x, y = jnp.broadcast_arrays(x, y)
    limits = jnp.iinfo(x.dtype)
    extreme = jnp.where(x > 0, limits.max, limits.min).astype(x.dtype)
    return jnp.where(y == 0, jnp.where(x == 0, x, extreme), divide(x, y))


def is_half(dtype) -> bool:
    """Whether numbers of a type are real and shorter than Float32."""
    return dtype.kind in "fV" and dtype.itemsize < 4


def rounded_once(function):
    """The function of one array, computed with Float32 where that holds halves, and rounded once.

    A composition rounds halves at every step, and XLA's exp2, sigmoid and others overflow there.
    """

    @functools.wraps(function)
    def computed(x, **statics):
        if not is_half(x.dtype):
            return function(x, **statics)
        made = function(x.astype(np.float32), **statics)
        return made.astype(x.dtype) if made.dtype == np.float32 else made

    return computed


def as_wide(x):
    """Halves as Float32, others as they are: where many of them are added, here or in the reverse.

    A Float16 stops growing at 2048 ones, a BFloat16 at 256.
    """
    return x.astype(np.float32) if is_half(x.dtype) else x


def sum_of(x, axes=None, dtype=None, keepdims=False):
    """The sum in the type of x, or another; halves are added as Float32 and rounded once."""
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    wide = np.float32 if is_half(dtype) else dtype
    return jnp.sum(x, axes, wide, keepdims=keepdims).astype(dtype)


def mean_of(x, axes, keepdims=False):
    """The mean, rounded once: of equal numbers it is that number. Halves are added as Float32."""
    total = jnp.sum(x, axes, np.float32 if is_half(x.dtype) else x.dtype, keepdims=keepdims)
    count = x.size // max(total.size, 1)
    return quotient(total, jnp.asarray(count, total.dtype)).astype(x.dtype)


def from_above(x):
    """x with +0 for -0: roots and logarithms have their pole, and their slope, above 0."""
    return x - lax.stop_gradient(jnp.where(x == 0, x, jnp.zeros((), x.dtype)))
