# SPDX-License-Identifier: Apache-2.0
"""Products over batches, tables of powers, and covariances."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_float, is_half, promoted, sum_of


@op("ops.batch_dot(x1=x, x2=y, axes=axes)")
def batch_dot(x, y, *, axes=None):
    """For each element of the first dimension, the sum of products over an axis of x and one of y.

    Args:
        x: [N, ...].
        y: [N, ...].
        axes: these axes, or one for both; without them the last of x and the last but one of y, or
            the last of y if that has two.

    Raises:
        ValueError: the batches or the lengths summed over differ, or an axis is the batch.

    Example:
        >>> ops.batch_dot(ops.ones((5, 2, 3)), ops.ones((5, 3, 4))).shape
        (5, 2, 4)
    """
    x, y = promoted(x, y)
    if min(x.ndim, y.ndim) < 2 or x.shape[0] != y.shape[0]:
        raise ValueError(f"Two batches of one size are needed, not {x.shape} and {y.shape}.")
    if axes is None:
        axes = (x.ndim - 1, max(y.ndim - 2, 1))
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = axis_in(first, x.ndim), axis_in(second, y.ndim)
    if not first or not second or x.shape[first] != y.shape[second]:
        raise ValueError(f"The axes {axes} of {x.shape} and {y.shape} cannot be summed over.")
    made = lax.dot_general(x, y, (((first,), (second,)), ((0,), (0,))))
    return made[:, None] if made.ndim == 1 else made


@op("ops.vecdot(x, y, axis=axis)")
def vecdot(x, y, *, axis=-1):
    """The sum of conj(x) · y along an axis; Int64 of integers and booleans.

    Args:
        x: a Tensor.
        y: a Tensor; the shapes are broadcast.
        axis: the dimension, the last one by default.

    Example:
        >>> print(ops.vecdot(Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))
        [11.]
    """
    x, y = promoted(x, y)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        x, y = x.astype(jnp.int64), y.astype(jnp.int64)
    return sum_of(jnp.conj(x) * y, axis, dtype=x.dtype)


@op("ops.vander(x, N=count)")
def vander(x, *, count=None):
    """The Vandermonde matrix: powers of a vector as columns, the highest first.

    Raises:
        ValueError: x is not a vector.

    Example:
        >>> print(ops.vander(Tensor([1, 2, 3])))
        [[1 1 1]
         [4 2 1]
         [9 3 1]]
    """
    if x.ndim != 1:
        raise ValueError(f"vander needs a vector, not {x.shape}.")
    count = x.shape[0] if count is None else count
    if not count:
        return jnp.zeros((x.shape[0], 0), x.dtype)
    return jnp.stack([lax.integer_pow(x, n) for n in reversed(range(count))], 1)


@op(
    "ops.cov(input=x, correction=correction, fweights=counts, aweights=weights)",
    "Tensor.cov(x, correction=correction, fweights=counts, aweights=weights)",
)
def cov(x, counts=None, weights=None, *, correction=1):
    """How the rows of x vary together: rows are variables, columns observations.

    Halves give Float32.

    Args:
        x: [variables, observations], or one variable as a vector.
        counts: how often each observation was made.
        weights: how much each of them matters.
        correction: what is taken from the number of observations that is divided by.

    Example:
        >>> print(ops.cov(Tensor([[0.0, 2.0], [3.0, 1.0]])))
        [[ 2. -2.]
         [-2.  2.]]
    """
    if x.ndim > 2:
        raise ValueError(f"cov needs a matrix, not {x.shape}.")
    x = as_float(x.reshape(1, -1) if x.ndim < 2 else x)
    x = x.astype(np.float32) if is_half(x.dtype) else x
    given = [part.astype(x.dtype) for part in (counts, weights) if part is not None]
    factors = jnp.ones(x.shape[-1], x.dtype)
    for part in given:
        factors = factors * part
    total = jnp.sum(factors)
    apart = x - jnp.sum(x * factors, 1, keepdims=True) / total
    lost = correction if weights is None else correction * jnp.sum(factors * given[-1]) / total
    made = (apart * factors) @ jnp.conj(apart).T / (total - lost)
    return made.reshape(()) if made.size == 1 else made


@op("ops.adjoint(x)", "Tensor.adjoint(x)")
def adjoint(x):
    """The last two dimensions exchanged, and every element conjugated.

    Example:
        >>> print(ops.adjoint(Tensor([[1, 2], [3, 4]])))
        [[1 3]
         [2 4]]
    """
    if x.ndim < 2:
        raise ValueError(f"adjoint needs matrices, not {x.shape}.")
    return jnp.conj(jnp.swapaxes(x, -1, -2))


@op("ConjugateTranspose()(x, perm=axes)")
def conjugate_transpose(x, *, axes):
    """The dimensions in another order, and every element conjugated.

    Example:
        >>> print(ops.ConjugateTranspose()(Tensor([[1, 2], [3, 4]]), (1, 0)))
        [[1 3]
         [2 4]]
    """
    return jnp.conj(jnp.transpose(x, axes))
