# SPDX-License-Identifier: Apache-2.0
"""Spread and size: standard deviation, variance and norms."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axes_in
from mycel.ops.common import as_float, mean_of, quotient
from mycel.ops.math.lengths import absolute, length, matrix_length, root
from mycel.ops.math.reduction import first_given


def _variance(x, axis, ddof, keepdims):
    x, axes = as_float(x), axes_in(axis, x.ndim)
    if x.dtype.kind == "c":
        return jnp.var(x, axes, ddof=int(ddof), keepdims=keepdims)
    wide = x.astype(np.promote_types(np.float32, x.dtype)) if x.dtype.itemsize < 4 else x
    squares = jnp.square(wide - mean_of(wide, axes, keepdims=True))
    total = jnp.sum(squares, axes, keepdims=keepdims)
    count = x.size // max(total.size, 1) - int(ddof)
    divisor = jnp.asarray(count if count > 0 else np.nan, total.dtype)
    return quotient(total, divisor).astype(x.dtype)


@op(
    "ops.var(input=x, axis=axis, ddof=ddof, keepdims=keepdims)",
    "mint.var(input=x, dim=axis, correction=(ddof, 1), keepdim=keepdims)",
)
def var(x, *, axis=None, ddof=0, keepdims=False):
    """The variance over some dimensions: the sum of squared distances from the mean over N - ddof.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        ddof: what is subtracted from the count N in the divisor, an integer or a bool.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.var(Tensor([1.0, 3.0])))
        1.0
    """
    return _variance(x, axis, ddof, keepdims)


@op(
    "ops.std(input=x, axis=axis, ddof=ddof, keepdims=keepdims)",
    "mint.std(input=x, dim=axis, correction=(ddof, 1), keepdim=keepdims)",
)
def std(x, *, axis=None, ddof=0, keepdims=False):
    """The standard deviation over some dimensions: the root of the variance.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        ddof: what is subtracted from the count in the divisor of the variance, an integer or a
            bool.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.std(Tensor([1.0, 3.0])))
        1.0
    """
    return root(_variance(x, axis, ddof, keepdims))


@op(
    "ops.var_mean(input=x, axis=axis, ddof=ddof, keepdims=keepdims)",
    "mint.var_mean(input=x, dim=axis, correction=(ddof, 1), keepdim=keepdims)",
)
def var_mean(x, *, axis=None, ddof=0, keepdims=False) -> tuple[Array, Array]:
    """The variance and the mean over some dimensions.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        ddof: what is subtracted from the count in the divisor of the variance, an integer or a
            bool.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> ops.var_mean(Tensor([1.0, 3.0]))
        (Tensor(shape=[], dtype=Float32, value= 1), Tensor(shape=[], dtype=Float32, value= 2))
    """
    mean = mean_of(as_float(x), axes_in(axis, x.ndim), keepdims)
    return _variance(x, axis, ddof, keepdims), mean


@op(
    "ops.std_mean(input=x, axis=axis, ddof=ddof, keepdims=keepdims)",
    "mint.std_mean(input=x, dim=axis, correction=(ddof, 1), keepdim=keepdims)",
    "ReduceStd(axis=(axis, ()), unbiased=(ddof, True), keep_dims=keepdims)(x)",
)
def std_mean(x, *, axis=None, ddof=0, keepdims=False) -> tuple[Array, Array]:
    """The standard deviation and the mean over some dimensions.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None or () for all.
        ddof: what is subtracted from the count in the divisor of the variance, an integer or a
            bool.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> ops.std_mean(Tensor([1.0, 3.0]))
        (Tensor(shape=[], dtype=Float32, value= 1), Tensor(shape=[], dtype=Float32, value= 2))
    """
    mean = mean_of(as_float(x), axes_in(axis, x.ndim), keepdims)
    return root(_variance(x, axis, ddof, keepdims)), mean


@composite(
    "Tensor.var(x, axis, ddof=ddof, keepdims=keepdims, dim=dim, correction=correction,"
    " keepdim=keepdim)"
)
def var_method(
    x, axis=None, ddof=0, keepdims=False, dim=None, correction=None, keepdim=None
):  # fmt: skip
    """The variance over some dimensions: the sum of squared distances from the mean over N - ddof.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        ddof: what is subtracted from the count N in the divisor, 0 by default.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dim: another name for `axis`.
        correction: another name for `ddof`, whose default is 1 once `dim`, `correction` or
            `keepdim` is given.
        keepdim: another name for `keepdims`.

    Example:
        >>> print(Tensor([1.0, 3.0]).var())
        1.0
    """
    if dim is not None or correction is not None or keepdim is not None:
        return var(x, first_given(dim, axis), first_given(correction, 1), bool(keepdim))
    return var(x, axis, ddof, keepdims)


@composite(
    "Tensor.std(x, axis, ddof=ddof, keepdims=keepdims, dim=dim, correction=correction,"
    " keepdim=keepdim)"
)
def std_method(
    x, axis=None, ddof=0, keepdims=False, dim=None, correction=None, keepdim=None
):  # fmt: skip
    """The standard deviation over some dimensions: the root of the variance.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        ddof: what is subtracted from the count in the divisor of the variance, 0 by default.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dim: another name for `axis`.
        correction: another name for `ddof`, whose default is 1 once `dim`, `correction` or
            `keepdim` is given.
        keepdim: another name for `keepdims`.

    Example:
        >>> print(Tensor([1.0, 3.0]).std())
        1.0
    """
    if dim is not None or correction is not None or keepdim is not None:
        return std(x, first_given(dim, axis), first_given(correction, 1), bool(keepdim))
    return std(x, axis, ddof, keepdims)


@op(
    "ops.norm(A=x, ord=order, dim=axis, keepdim=keepdims, dtype=dtype)",
    "mint.linalg.norm(A=x, ord=order, dim=axis, keepdim=keepdims, dtype=dtype)",
    "Tensor.norm(x, ord=order, dim=axis, keepdim=keepdims, dtype=dtype)",
)
def norm(x, *, order=None, axis=None, keepdims=False, dtype=None):
    """The size of vectors (one axis) or matrices (two axes); of all elements if neither is given.

    Args:
        x: any shape; integers are taken as Float32.
        order: None for the root of the sum of squares, a number, "fro" or "nuc".
        axis: a dimension, for vectors, or two, for matrices; None, the default, for all elements.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Raises:
        ValueError: the order is not that of a norm of vectors or matrices.

    Example:
        >>> print(ops.norm(Tensor([3.0, 4.0])))
        5.0
    """
    x = as_float(x) if dtype is None else x.astype(numpy_dtype(dtype))
    if isinstance(order, str) and order not in ("fro", "nuc"):
        raise ValueError(f"The order of norm is a number, 'fro' or 'nuc', not {order!r}.")
    if not x.ndim and axis is not None:
        axes_in(axis, 0)
        return absolute(x)
    axes = tuple(range(x.ndim)) if axis is None else axes_in(axis, x.ndim)
    if order is None:
        return length(x, 2, axes, keepdims)
    if len(axes) == 1 and not isinstance(order, str):
        return length(x, order, axes, keepdims)
    return matrix_length(x, order, axes, keepdims)


@op("mint.norm(input=x, p=order, dim=axis, keepdim=keepdims, dtype=dtype)")
def mint_norm(x, *, order="fro", axis=None, keepdims=False, dtype=None):
    """The p-norm over dimensions: the p-th root of the sum of the p-th powers of absolute values.

    Args:
        x: any shape; integers are taken as Float32.
        order: the exponent p; 'fro', the default, for 2. The infinities give the largest and the
            smallest absolute value, 0 counts the elements that are not zero.
        axis: a dimension, a tuple of dimensions, or None (the default) for all.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(mint.norm(Tensor([3.0, -4.0]), 1))
        7.0
    """
    x = as_float(x) if dtype is None else x.astype(numpy_dtype(dtype))
    return length(x, 2 if order == "fro" else order, axes_in(axis, x.ndim), keepdims)


@op()
def root_of_squares(squares):
    """The root of what was summed up from squares: its derivative is 0 at 0.

    Example:
        >>> from mycel.ops.math.statistics import root_of_squares
        >>> print(mycel.grad(root_of_squares)(Tensor([0.0, 4.0])))
        [0.   0.25]
    """
    return root(squares)


@op("LpNorm(axis=axis, p=order, keep_dims=keepdims, epsilon=epsilon)(input=x)")
def lp_norm(x, *, axis, order=2, keepdims=False, epsilon=1e-12):
    """The p-norm over dimensions: the p-th root of the sum of the p-th powers of absolute values.

    Args:
        x: any shape; integers are taken as Float32.
        axis: a dimension, or a tuple of dimensions.
        order: the exponent p, 2 by default.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.
        epsilon: the least value of the result, 1e-12 by default.

    Example:
        >>> print(ops.LpNorm(axis=0, p=1)(Tensor([3.0, -4.0])))
        7.0
    """
    made = length(as_float(x), order, axes_in(axis, x.ndim), keepdims)
    return jnp.maximum(made, jnp.array(epsilon, made.dtype))


@op("EuclideanNorm(keep_dims=keepdims)(x, axes)")
def euclidean_norm(x, *, axes, keepdims=False):
    """The root of the sum of squares over some dimensions.

    Args:
        x: any shape; integers are taken as Float32.
        axes: a dimension, or a tuple of dimensions.
        keepdims: whether reduced dimensions stay, with length 1; False, the default, drops them.

    Example:
        >>> print(ops.EuclideanNorm()(Tensor([3.0, 4.0]), (0,)))
        5.0
    """
    return length(as_float(x), 2, axes_in(axes, x.ndim), keepdims)


@op("L2Normalize(axis=axis, epsilon=epsilon)(x)")
def l2_normalize(x, *, axis=0, epsilon=1e-4):
    """x divided by its Euclidean norm along some dimensions.

    Args:
        x: any shape, real.
        axis: a dimension, or a tuple of dimensions; 0 by default.
        epsilon: the least value of the sum of squares, 1e-4 by default; it keeps the divisor from
            0.

    Example:
        >>> print(ops.L2Normalize()(Tensor([3.0, 4.0])))
        [0.6 0.8]
    """
    squares = jnp.sum(jnp.square(x), axes_in(axis, x.ndim), keepdims=True)
    return x / jnp.sqrt(jnp.maximum(squares, jnp.array(epsilon, x.dtype)))
