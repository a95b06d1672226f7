# SPDX-License-Identifier: Apache-2.0
"""Sums, means, products, truth and extremes over axes; `axis` None or () means all of them."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axes_in
from mycel.ops.common import as_float, mean_of, sum_of
from mycel.ops.math.arithmetic import add


def _summed_dtype(x, dtype):
    """The type of a sum: as asked for, else Int64 for booleans, UInt8 and integers with a sign."""
    if dtype is not None:
        return numpy_dtype(dtype)
    return np.dtype(np.int64) if x.dtype.kind in "bi" or x.dtype == np.uint8 else x.dtype


def first_given(*values):
    """The first that is not None: a parameter has one of several names."""
    for value in values:
        if value is not None:
            return value
    return None


@op(
    "ops.sum(input=x, dim=axis, keepdim=keepdims, dtype=dtype)",
    "mint.sum(input=x, dim=axis, keepdim=keepdims, dtype=dtype)",
)
def sum(x, *, axis=None, keepdims=False, dtype=None):
    """The sum over some dimensions; integers and booleans add up as Int64.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result; None, the default, for Int64 of integers and
            booleans, and for that of `x` otherwise.

    Raises:
        ValueError: there is no such axis.

    Example:
        >>> print(ops.sum(Tensor([[1, 2], [3, 4]]), 0))
        [4 6]
    """
    return sum_of(x, axes_in(axis, x.ndim), _summed_dtype(x, dtype), keepdims)


@composite(
    "Tensor.sum(x, axis=axis, keepdim=keepdim, dtype=dtype, keepdims=keepdims, initial=initial,"
    " dim=dim)"
)
def sum_method(x, axis=None, keepdim=False, dtype=None, keepdims=None, initial=None, dim=None):
    """The sum over some dimensions; integers and booleans add up as Int64.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdim: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the sum; None, the default, for Int64 of integers and booleans,
            and for that of `x` otherwise.
        keepdims: another name for `keepdim`.
        initial: a number that is added to the sum; None, the default, for none.
        dim: another name for `axis`.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).sum(axis=1, keepdims=True))
        [[3]
         [7]]
    """
    made = sum(x, first_given(axis, dim), bool(first_given(keepdims, keepdim)), dtype)
    return made if initial is None else add(made, initial)


@op(
    "ReduceSum(keep_dims=keepdims, skip_mode=skip_mode)(x, axis=axis)",
    "ops.reduce_sum(x, axis=axis)",
)
def reduce_sum(x, *, axis=(), keepdims=False, skip_mode=False):
    """The sum over some dimensions, in the type of x.

    Args:
        x: any shape; of booleans the result is whether any is True.
        axis: a dimension, a tuple of dimensions, or () for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        skip_mode: whether an empty `axis` stands for no dimension instead of all; False by default.

    Example:
        >>> print(ops.ReduceSum(keep_dims=True)(Tensor([[1, 2], [3, 4]]), 1))
        [[3]
         [7]]
    """
    if skip_mode and axis == ():
        return x
    axes = axes_in(axis, x.ndim)
    if x.dtype == np.bool_:
        return jnp.any(x, axes, keepdims=keepdims)
    return sum_of(x, axes, x.dtype, keepdims)


@op(
    "ops.mean(x, axis=axis, keep_dims=keepdims)",
    "ops.reduce_mean(x, axis=axis)",
    "ReduceMean(keep_dims=keepdims)(x, axis=(axis, ()))",
    "mint.mean(input=x, dim=axis, keepdim=keepdims, dtype=dtype)",
)
def mean(x, *, axis=None, keepdims=False, dtype=None):
    """The mean over some dimensions; of integers it is rounded towards zero.

    Args:
        x: any shape, not Bool.
        axis: a dimension, a tuple of dimensions, or None or () for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Raises:
        TypeError: x holds booleans.
        ValueError: there is no such axis.

    Example:
        >>> print(ops.mean(Tensor([[1.0, 2.0], [3.0, 4.0]]), 0))
        [2. 3.]
    """
    if dtype is not None:
        x = x.astype(numpy_dtype(dtype))
    if x.dtype == np.bool_:
        raise TypeError("The mean of booleans is not a boolean; convert with `.float()` first.")
    axes = axes_in(axis, x.ndim)
    if x.dtype.kind not in "iu":
        return mean_of(x, axes, keepdims)
    summed = jnp.sum(x, axes, np.int64, keepdims=keepdims)
    count = max(x.size // max(summed.size, 1), 1)
    return lax.div(summed, jnp.full_like(summed, count)).astype(x.dtype)


@composite("Tensor.mean(x, axis, keep_dims=keep_dims, dim=dim, keepdim=keepdim, dtype=dtype)")
def mean_method(x, axis=None, keep_dims=False, dim=None, keepdim=None, dtype=None):
    """The mean over some dimensions; of integers it is rounded towards zero.

    Args:
        x: any shape, not Bool.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keep_dims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dim: another name for `axis`.
        keepdim: another name for `keep_dims`.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).mean(axis=1))
        [1.5 3.5]
    """
    return mean(x, first_given(axis, dim), bool(first_given(keepdim, keep_dims)), dtype)


@op(
    "ops.prod(input=x, axis=axis, keep_dims=keepdims, dtype=dtype)",
    "mint.prod(input=x, dim=axis, keepdim=keepdims, dtype=dtype)",
)
def prod(x, *, axis=None, keepdims=False, dtype=None):
    """The product over some dimensions; integers and booleans multiply as Int64.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result; None, the default, for Int64 of integers and
            booleans, and for that of `x` otherwise.

    Example:
        >>> print(ops.prod(Tensor([[1, 2], [3, 4]]), 0))
        [3 8]
    """
    return jnp.prod(x, axes_in(axis, x.ndim), _summed_dtype(x, dtype), keepdims=keepdims)


@composite("Tensor.prod(x, axis, keep_dims=keep_dims, dtype=dtype, dim=dim, keepdim=keepdim)")
def prod_method(x, axis=None, keep_dims=False, dtype=None, dim=None, keepdim=None):
    """The product over some dimensions; integers and booleans multiply as Int64.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keep_dims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result; None, the default, for Int64 of integers and
            booleans, and for that of `x` otherwise.
        dim: another name for `axis`.
        keepdim: another name for `keep_dims`.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).prod(1))
        [ 2 12]
    """
    return prod(x, first_given(axis, dim), bool(first_given(keepdim, keep_dims)), dtype)


@op("ReduceProd(keep_dims=keepdims)(x, axis=axis)")
def reduce_prod(x, *, axis=(), keepdims=False):
    """The product over some dimensions, in the type of x.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or (), the default, for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.ReduceProd()(Tensor([[1, 2], [3, 4]]), 1))
        [ 2 12]
    """
    return jnp.prod(x, axes_in(axis, x.ndim), x.dtype, keepdims=keepdims)


@op(
    "ops.all(input=x, axis=axis, keep_dims=keepdims)",
    "ReduceAll(keep_dims=keepdims)(input=x, axis=axis)",
    "mint.all(input=x, dim=axis, keepdim=keepdims)",
)
def all(x, *, axis=None, keepdims=False):
    """Whether all elements along some dimensions are true; Bool.

    Args:
        x: any shape; a number is true unless it is 0.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.all(Tensor([[True, False], [True, True]]), 0))
        [ True False]
    """
    return jnp.all(x, axes_in(axis, x.ndim), keepdims=keepdims)


@composite("Tensor.all(x, axis, keep_dims=keep_dims, dim=dim, keepdim=keepdim)")
def all_method(x, axis=None, keep_dims=False, dim=None, keepdim=None):
    """Whether all elements along some dimensions are true; Bool.

    Args:
        x: any shape; a number is true unless it is 0.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keep_dims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dim: another name for `axis`.
        keepdim: another name for `keep_dims`.

    Example:
        >>> print(Tensor([True, False]).all())
        False
    """
    return all(x, first_given(axis, dim), bool(first_given(keepdim, keep_dims)))


@op(
    "ops.any(input=x, axis=axis, keep_dims=keepdims)",
    "ReduceAny(keep_dims=keepdims)(x, axis=axis)",
    "mint.any(input=x, dim=axis, keepdim=keepdims)",
)
def any(x, *, axis=None, keepdims=False):
    """Whether any element along some dimensions is true; Bool.

    Args:
        x: any shape; a number is true unless it is 0.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.any(Tensor([[True, False], [False, False]]), 1))
        [ True False]
    """
    return jnp.any(x, axes_in(axis, x.ndim), keepdims=keepdims)


@composite("Tensor.any(x, axis, keep_dims=keep_dims, dim=dim, keepdim=keepdim)")
def any_method(x, axis=None, keep_dims=False, dim=None, keepdim=None):
    """Whether any element along some dimensions is true; Bool.

    Args:
        x: any shape; a number is true unless it is 0.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keep_dims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dim: another name for `axis`.
        keepdim: another name for `keep_dims`.

    Example:
        >>> print(Tensor([True, False]).any())
        True
    """
    return any(x, first_given(axis, dim), bool(first_given(keepdim, keep_dims)))


def _axes_of_some(axis, x):
    """The axes of a largest or smallest element: there must be one."""
    axes = axes_in(axis, x.ndim)
    if not math.prod(x.shape[i] for i in axes) and x.shape != ():
        raise ValueError(f"There is no maximum or minimum of {x.shape} along axis {axis}.")
    return axes


@op(
    "ReduceMax(keep_dims=keepdims)(x, axis=axis)",
    "ops.reduce_max(x, axis=axis)",
    "mint.amax(input=x, dim=axis, keepdim=keepdims)",
)
def reduce_max(x, *, axis=(), keepdims=False):
    """The largest element along some dimensions; equal ones share the gradient.

    Args:
        x: any shape; the reduced dimensions must not be empty.
        axis: a dimension, a tuple of dimensions, or (), the default, for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.ReduceMax()(Tensor([[1, 2], [3, 4]]), 1))
        [2 4]
    """
    return jnp.max(x, _axes_of_some(axis, x), keepdims=keepdims)


@op(
    "ReduceMin(keep_dims=keepdims)(x, axis=axis)",
    "ops.reduce_min(x, axis=axis)",
    "mint.amin(input=x, dim=axis, keepdim=keepdims)",
)
def reduce_min(x, *, axis=(), keepdims=False):
    """The smallest element along some dimensions; equal ones share the gradient.

    Args:
        x: any shape; the reduced dimensions must not be empty.
        axis: a dimension, a tuple of dimensions, or (), the default, for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.ReduceMin()(Tensor([[1, 2], [3, 4]]), 1))
        [1 3]
    """
    return jnp.min(x, _axes_of_some(axis, x), keepdims=keepdims)


@op(
    "ops.logsumexp(input=x, dim=axis, keepdim=keepdims)",
    "Tensor.logsumexp(x, dim=axis, keepdim=keepdims)",
    "mint.logsumexp(input=x, dim=axis, keepdim=keepdims)",
)
def logsumexp(x, *, axis, keepdims=False):
    """The logarithm of the sum of exponentials along some dimensions, without overflow.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None or () for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.logsumexp(Tensor([[0.0, 0.0], [1000.0, 1000.0]]), 1))
        [6.9314718e-01 1.0006932e+03]
    """
    axes = axes_in(axis, x.ndim)
    return jax.scipy.special.logsumexp(as_float(x), axes, keepdims=keepdims)


@op(
    "ops.count_nonzero(x, axis=axis, keep_dims=keepdims, dtype=dtype)",
    "CountNonZero(dims=(axis, None))(x)",
)
def count_nonzero(x, *, axis=(), keepdims=False, dtype="int32"):
    """How many elements along some dimensions are not zero.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or () or None for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result, Int32 by default.

    Example:
        >>> print(ops.count_nonzero(Tensor([[0, 2], [3, 4]]), axis=0))
        [1 2]
    """
    wanted = numpy_dtype(dtype or "int32")
    return jnp.sum(x != 0, axes_in(axis, x.ndim), wanted, keepdims=keepdims)


@composite("Tensor.count_nonzero(x, axis, keep_dims=keep_dims, dtype=dtype, dim=dim)")
def count_nonzero_method(x, axis=(), keep_dims=False, dtype=None, dim=None):
    """How many elements along some dimensions are not zero.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or (), the default, for all.
        keep_dims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result; None, the default, for Int32.
        dim: another name for `axis`.

    Example:
        >>> print(Tensor([0, 2, 3]).count_nonzero())
        2
    """
    return count_nonzero(x, first_given(dim, axis), keep_dims, dtype)


@op(
    "ops.nansum(input=x, axis=axis, keepdims=keepdims, dtype=dtype)",
    "Tensor.nansum(x, axis=axis, keepdims=keepdims, dtype=dtype)",
    "mint.nansum(input=x, dim=axis, keepdim=keepdims, dtype=dtype)",
)
def nansum(x, *, axis=None, keepdims=False, dtype=None):
    """The sum of the elements along some dimensions that are not NaN.

    Args:
        x: any shape.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type of the result; None, the default, for that of `x`, and for Int64 of
            booleans.

    Example:
        >>> print(ops.nansum(Tensor([1.0, float("nan"), 3.0])))
        4.0
    """
    numbers = jnp.where(jnp.isnan(x), jnp.zeros((), x.dtype), x)
    if dtype is not None:
        kind = numpy_dtype(dtype)
    else:
        kind = np.dtype(np.int64) if x.dtype == np.bool_ else x.dtype
    return sum_of(numbers, axes_in(axis, x.ndim), kind, keepdims)


@op(
    "ops.nanmean(input=x, axis=axis, keepdims=keepdims, dtype=dtype)",
    "Tensor.nanmean(x, axis=axis, keepdims=keepdims, dtype=dtype)",
)
def nanmean(x, *, axis=None, keepdims=False, dtype=None):
    """The mean of the elements along some dimensions that are not NaN.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type to which the result is cast; None, the default, for none.

    Example:
        >>> print(ops.nanmean(Tensor([1.0, float("nan"), 3.0])))
        2.0
    """
    axes = axes_in(axis, x.ndim)
    made = jnp.nanmean(as_float(x), axes, keepdims=keepdims)
    return made if dtype is None else made.astype(numpy_dtype(dtype))


@op("Tensor.sum_to_size(x, *shape)")
def sum_to_size(x, *, shape):
    """The sum over dimensions until x has a shape that broadcasts to its own; booleans add up as
    Int64.

    Args:
        x: any shape.
        shape: the lengths, one after another or as one tuple.

    Raises:
        ValueError: the shape does not broadcast to that of x.

    Example:
        >>> print(ops.ones((2, 3)).sum_to_size((1, 3)))
        [[2. 2. 2.]]
    """
    extra = x.ndim - len(shape)
    pairs = zip(shape, x.shape[max(extra, 0) :], strict=False)
    if extra < 0 or [n for wanted, n in pairs if wanted not in (1, n)]:
        raise ValueError(f"{shape} does not broadcast to {x.shape}.")
    axes = [n for n in range(x.ndim) if n < extra or shape[n - extra] == 1]
    kind = np.int64 if x.dtype == np.bool_ else x.dtype
    return sum_of(x, tuple(axes), kind).reshape(shape)
