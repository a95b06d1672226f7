# SPDX-License-Identifier: Apache-2.0
"""Sums and products up to each element of an axis."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import int8, int16, int32, numpy_dtype, uint8
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import as_vector, axis_in
from mycel.ops.array.joining import concat
from mycel.ops.common import as_float
from mycel.ops.math.reduction import first_given


def _accumulated(x, axis, accumulate, exclusive, reverse):
    """A running total; an exclusive one leaves the element itself out."""
    shape, axis = x.shape, axis_in(axis, x.ndim)
    x = as_vector(x)
    made = accumulate(x, axis, reverse)
    if not exclusive:
        return made.reshape(shape)
    neutral = 0 if accumulate is lax.cumsum else 1
    kept = lax.slice_in_dim(made, *((1, None) if reverse else (0, -1)), axis=axis)
    edge = [(0, 0, 0)] * x.ndim
    edge[axis] = (0, 1, 0) if reverse else (1, 0, 0)
    return lax.pad(kept, jnp.array(neutral, x.dtype), edge).reshape(shape)


@op(
    "ops.cumsum(x, axis=axis, dtype=dtype)",
    "CumSum(exclusive=exclusive, reverse=reverse)(input=x, axis=axis)",
)
def cumsum(x, *, axis, dtype=None, exclusive=False, reverse=False):
    """Running sums along an axis: each result adds up all elements up to its own position.

    Args:
        x: any shape; booleans add up as Int64, all others in their own type.
        axis: the dimension along which elements are added.
        dtype: the element type in which they are added, that of the result; None for that of `x`.
        exclusive: whether each sum leaves out the element at its own position; False by default.
        reverse: whether the sums start at the end of the dimension; False by default.

    Raises:
        ValueError: there is no such axis.

    Example:
        >>> print(ops.cumsum(Tensor([[1, 2, 3]]), 1))
        [[1 3 6]]
    """
    if dtype is not None:
        x = x.astype(numpy_dtype(dtype))
    elif x.dtype == np.bool_:
        x = x.astype(np.int64)
    return _accumulated(x, axis, lax.cumsum, exclusive, reverse)


@composite("Tensor.cumsum(x, axis, dtype=dtype, dim=dim)")
def cumsum_method(x, axis=None, dtype=None, dim=None):
    """Running sums along an axis: each result adds up all elements up to its own position.

    Args:
        x: any shape; booleans add up as Int64, all others in their own type.
        axis: the dimension along which elements are added; None (the default) flattens `x` first.
        dtype: the element type of the result; None for that of `x`, or Int32 of Int8, Int16, UInt8.
        dim: another name for `axis`.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).cumsum())
        [ 1  3  6 10]
    """
    chosen = first_given(axis, dim)
    if dtype is None and x.dtype in (int8, int16, uint8):
        dtype = int32
    return cumsum(x.reshape(-1), 0, dtype) if chosen is None else cumsum(x, chosen, dtype)


@op(
    "ops.cumprod(input=x, dim=axis, dtype=dtype)",
    "Tensor.cumprod(x, dim=axis, dtype=dtype)",
    "mint.cumprod(input=x, dim=axis, dtype=dtype)",
)
def cumprod(x, *, axis, dtype=None):
    """Running products along an axis: each result multiplies all elements up to its own position.

    Args:
        x: any shape.
        axis: the dimension along which elements are multiplied.
        dtype: the element type of the result; None gives Int64 for integers and booleans, and that
            of `x` for others.

    Raises:
        ValueError: there is no such axis.

    Example:
        >>> print(ops.cumprod(Tensor([1, 2, 3]), 0))
        [1 2 6]
    """
    natural = np.dtype(np.int64) if x.dtype.kind in "biu" else x.dtype
    wanted = natural if dtype is None else numpy_dtype(dtype)
    return _accumulated(x.astype(wanted), axis, lax.cumprod, False, False)


@op("CumProd(exclusive=exclusive, reverse=reverse)(x, axis)")
def cumprod_primitive(x, *, axis, exclusive=False, reverse=False):
    """Running products along an axis, in the type of x.

    Args:
        x: any shape.
        axis: the dimension along which elements are multiplied.
        exclusive: whether each product leaves out the element at its own position; False by
            default.
        reverse: whether the products start at the end of the dimension; False by default.

    Example:
        >>> print(ops.CumProd(exclusive=True)(Tensor([2, 3, 4]), 0))
        [1 2 6]
    """
    return _accumulated(x, axis, lax.cumprod, exclusive, reverse)


@op("ops.logcumsumexp(input=x, axis=axis)", "Tensor.logcumsumexp(x, axis)")
def logcumsumexp(x, *, axis):
    """The logarithms of the sums of exponentials up to each element, without overflow.

    Example:
        >>> print(ops.logcumsumexp(Tensor([0.0, 0.0]), 0))
        [0.        0.6931472]
    """
    return lax.cumlogsumexp(as_vector(as_float(x)), axis_in(axis, x.ndim)).reshape(x.shape)


@op()
def differences(x, *, n, axis):
    """The differences of neighbours along an axis, taken n times."""
    return jnp.diff(x, n, axis)


@composite(
    "ops.diff(x, n=n, axis=axis, prepend=before, append=behind)",
    "Tensor.diff(x, n=n, axis=axis, prepend=before, append=behind)",
    "mint.diff(input=x, n=1, dim=(axis, -1), prepend=before, append=behind)",
)
def diff(x, n=1, axis=-1, before=None, behind=None):
    """The differences of neighbours along an axis, taken n times.

    Args:
        x: at least one dimension.
        n: how many times differences are taken, 1 by default.
        axis: the dimension along which, the last one by default.
        before: a Tensor that is joined to the start of `x` first; None, the default, for none.
        behind: a Tensor that is joined to the end of `x` first; None, the default, for none.

    Example:
        >>> print(ops.diff(Tensor([1, 4, 9]), prepend=Tensor([0])))
        [1 3 5]
    """
    parts = tuple([part for part in (before, x, behind) if part is not None])
    return differences(concat(parts, axis) if len(parts) > 1 else x, n, axis)
