# SPDX-License-Identifier: Apache-2.0
"""Distances between vectors, their angles, lengths and bilinear forms."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.spell import op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_float, promoted, sum_of
from mycel.ops.math.lengths import distance, length


def _order(p, what: str) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise TypeError(f"The p of {what} must be a number, not {p!r}.")
    if p < 0:
        raise ValueError(f"The p of {what} must not be negative, but {p} was given.")
    return float(p)


@op("ops.cosine_similarity(x1=x, x2=y, dim=1, eps=epsilon)")
def cosine_similarity(x, y, *, dim=1, epsilon=1e-8):
    """The cosine of the angle between vectors along one dimension.

    Args:
        x, y: of shapes that broadcast; a number is a vector of one element.
        dim: the dimension of the vectors, 1 by default.
        epsilon: the least that the product of both lengths counts as.

    Raises:
        ValueError: the shapes do not broadcast, or there is no such dimension.

    Example:
        >>> print(ops.cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [0.6]
    """
    x, y = map(as_float, promoted(x, y))
    x, y = map(jnp.atleast_1d, jnp.broadcast_arrays(x, y))
    axis = axis_in(dim, x.ndim)
    lengths = jnp.maximum(length(x, 2, axis) * length(y, 2, axis), jnp.array(epsilon, x.dtype))
    return sum_of(x * y, axis, dtype=x.dtype) / lengths


@op("ops.pdist(input=x, p=p)", "Pdist(p=p)(x)")
def pdist(x, *, p=2.0):
    """The p-norms of the differences of every two rows: 0 and 1, 0 and 2, …, 1 and 2, ….

    Args:
        x: [..., N, M].

    Returns:
        [..., N · (N - 1) / 2].

    Raises:
        ValueError: x does not consist of rows, or p is negative.

    Example:
        >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])))
        [5. 4. 3.]
    """
    p = _order(p, "pdist")
    if x.ndim < 2:
        raise ValueError(f"pdist needs rows, [N, M] or [..., N, M], not {x.shape}.")
    first, second = np.triu_indices(x.shape[-2], 1)
    return distance(x[..., first, :] - x[..., second, :], p)


@op("ops.dist(input=x, other=y, p=p)")
def dist(x, y, *, p=2):
    """The p-norm of x - y, taken over all elements; see `ops.vector_norm`.

    Args:
        x: a Tensor; integers are taken as Float32.
        y: a Tensor; the shapes are broadcast.
        p: the order of the norm, a number from 0, 2 by default; it may be infinite.

    Example:
        >>> print(ops.dist(Tensor([1.0, 2.0]), Tensor([4.0, 6.0])))
        5.0
    """
    p = _order(p, "dist")
    x, y = map(as_float, promoted(x, y))
    return length((x - y).reshape(-1), p, -1)


@op(
    "ops.renorm(input=x, p=p, axis=axis, maxnorm=most)",
    "Renorm(p, dim=axis, maxnorm=most)(x)",
    "Tensor.renorm(x, p=p, axis=axis, maxnorm=most)",
)
def renorm(x, *, p, axis, most):
    """x with each of its slices along one dimension scaled down to a p-norm of at most `most`.

    Args:
        x: any shape.
        p: the order of the norm, a positive number.
        axis: the dimension along which the slices are counted; the norm is taken over all others.
        most: the greatest norm allowed; slices with a smaller one stay as they are.

    Raises:
        ValueError: p is not positive, or there is no such dimension.

    Example:
        >>> print(ops.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0))
        [[0.6 0.8]
         [0.3 0.4]]
    """
    if _order(p, "renorm") == 0:
        raise ValueError("The p of renorm must be positive, but 0 was given.")
    axis = axis_in(axis, x.ndim)
    rows = jnp.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    shape = [1] * x.ndim
    shape[axis] = -1
    return x * shrinking_factors(rows, p, most).reshape(shape)


def shrinking_factors(rows, p, most):
    """The factor that brings each row to the length `most` at most."""
    lengths = distance(rows, float(p))
    most = jnp.array(most, rows.dtype)
    longer = lengths > most
    return jnp.where(longer, most / jnp.where(longer, lengths, 1), jnp.ones((), rows.dtype))


@op("ops.bidense(input1=x, input2=y, weight=weight, bias=bias)")
def bidense(x, y, weight, bias=None):
    """The bilinear form xᵀ · weight · y + bias.

    Args:
        x: [..., N].
        y: [..., M], with the same leading dimensions.
        weight: [O, N, M]; the result is [..., O].
        bias: [O]; None, the default, for none.

    Raises:
        ValueError: the lengths do not fit together.

    Example:
        >>> x, y = Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])
        >>> print(ops.bidense(x, y, Tensor([[[1.0, 0.0], [0.0, 1.0]]])))
        [[11.]]
    """
    wanted = (*x.shape[-1:], *y.shape[-1:])
    if weight.ndim != 3 or weight.shape[1:] != wanted or x.shape[:-1] != y.shape[:-1]:
        raise ValueError(f"{x.shape} and {y.shape} do not fit a weight (out, n, m) {weight.shape}.")
    half = jnp.einsum("...n,onm->...om", x, weight.astype(x.dtype), precision=lax.Precision.HIGHEST)
    made = jnp.einsum("...om,...m->...o", half, y.astype(x.dtype), precision=lax.Precision.HIGHEST)
    return made if bias is None else made + bias.astype(x.dtype)
