# SPDX-License-Identifier: Apache-2.0
"""Distances between vectors, their angles, lengths and bilinear forms; rows chosen by chance."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import rebind, resolve
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import as_float, promoted
from mycel.ops.math.lengths import distance, length
from mycel.ops.random.drawing import as_key, draw_key


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
        x, y: of shapes that broadcast.
        epsilon: the least that the product of both lengths counts as.

    Raises:
        ValueError: shapes that do not broadcast, or no such dimension.

    Example:
        >>> print(ops.cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[3.0, 4.0]])))
        [0.6]
    """
    x, y = map(as_float, promoted(x, y))
    axis = axis_in(dim, max(x.ndim, y.ndim))
    x, y = jnp.broadcast_arrays(x, y)
    lengths = jnp.maximum(length(x, 2, axis) * length(y, 2, axis), jnp.array(epsilon, x.dtype))
    return jnp.sum(x * y, axis, dtype=x.dtype) / lengths


@op("ops.pdist(input=x, p=p)", "Pdist(p=p)(x)")
def pdist(x, *, p=2.0):
    """The p-norms of the differences of every two rows: 0 and 1, 0 and 2, …, 1 and 2, ….

    Args:
        x: [..., N, M].

    Returns:
        [..., N · (N - 1) / 2].

    Raises:
        ValueError: no rows, or a negative p.

    Example:
        >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])))
        [5. 4. 3.]
    """
    p = _order(p, "pdist")
    if x.ndim < 2:
        raise ValueError(f"There are no distances between the rows of {x.shape}.")
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
    return x * _shrinking(rows, p, most).reshape(shape)


def _shrinking(rows, p, most):
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
        ValueError: lengths that do not fit.

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


# -- tables ------------------------------------------------------------------------------------


def _rows(position, table):
    return Bounds(position, 0, table.shape[0], operator="embedding")


@op(indices=lambda index, table, **_: [_rows(0, table)])
def rows_looked_up(index, table, *, empty, by_count):
    """Rows of a table by number; see `embedding`.

    Example:
        >>> from mycel.ops.math.distances import rows_looked_up
        >>> print(rows_looked_up(Tensor([1]), Tensor([[1.0], [2.0]]), None, False))
        [[2.]]
    """
    if table.ndim != 2 or index.dtype.kind not in "iu":
        raise TypeError(
            f"Integers look up rows of [N, M], not {index.dtype} those of {table.shape}."
        )
    return table.at[index.astype(np.int64)].get(mode="clip")


@rows_looked_up.reverse
def _(index, table, output, cotangent, *, empty, by_count):
    flat = index.reshape(-1).astype(np.int64)
    parts = cotangent.reshape(-1, table.shape[1])
    if by_count:
        counts = jnp.zeros(table.shape[0], table.dtype).at[flat].add(1)
        parts = parts / counts[flat][:, None]
    if empty is not None:
        parts = jnp.where((flat == empty)[:, None], jnp.zeros((), parts.dtype), parts)
    made = jnp.zeros(table.shape, table.dtype).at[flat].add(parts.astype(table.dtype))
    return np.zeros(index.shape, jax.dtypes.float0), made


@op(indices=lambda table, index, **_: [_rows(1, table)])
def rows_shortened(table, index, *, p, most):
    """A table whose rows of these numbers are `most` long at most; see `embedding`.

    Example:
        >>> from mycel.ops.math.distances import rows_shortened
        >>> print(rows_shortened(Tensor([[2.0], [3.0]]), Tensor([1]), 2.0, 1.0))
        [[2.]
         [1.]]
    """
    met = jnp.zeros(table.shape[0], bool).at[index.reshape(-1).astype(np.int64)].set(True)
    shorter = table * _shrinking(table, p, most)[:, None]
    return lax.stop_gradient(jnp.where(met[:, None], shorter, table))


@composite(
    "ops.embedding(input=index, weight=table, padding_idx=None, max_norm=None, norm_type=2.0,"
    " scale_grad_by_freq=False)",
    "mint.nn.functional.embedding(input=index, weight=table, padding_idx=None, max_norm=None,"
    " norm_type=2.0, scale_grad_by_freq=False)",
)
def embedding(
    index, table, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False
):
    """A row of a table for each number: (…) to (…, M).

    Args:
        table: [N, M]; padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up and longer than this, in the norm `norm_type`, are
            shortened in the table itself.
        scale_grad_by_freq: divide the gradient of a row by how often it is looked up.

    Raises:
        TypeError: numbers that are not integers.
        ValueError: a padding_idx outside of the table.

    Example:
        >>> print(ops.embedding(Tensor([2, 0]), Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])))
        [[4. 5.]
         [0. 1.]]
    """
    rows = table.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ValueError(f"padding_idx is from {-rows} to {rows - 1}, not {padding_idx}.")
        padding_idx %= rows
    if max_norm is not None:
        rebind(table, resolve(rows_shortened(table, index, float(norm_type), float(max_norm))))
    return rows_looked_up(index, table, padding_idx, bool(scale_grad_by_freq))


# -- categories --------------------------------------------------------------------------------


@op()
def softened_choice(x, key, tau, *, hard, axis):
    """One category drawn by logits, softened; see `gumbel_softmax`.

    Example:
        >>> from mycel.ops.math.distances import softened_choice
        >>> key = Tensor(np.array([0, 1], np.uint32))
        >>> print(softened_choice(Tensor([0.0, 99.0]), key, 1.0, True, -1))
        [0. 1.]
    """
    if x.dtype.kind != "f":
        raise TypeError(f"gumbel_softmax needs real numbers, not {x.dtype}.")
    axis = axis_in(axis, x.ndim)
    noise = jax.random.gumbel(as_key(key), x.shape, np.promote_types(x.dtype, np.float32))
    soft = jax.nn.softmax((x + noise.astype(x.dtype)) / tau.astype(x.dtype), axis)
    if not hard:
        return soft
    place = jnp.argmax(soft, axis, keepdims=True)
    chosen = (lax.broadcasted_iota(place.dtype, x.shape, axis) == place).astype(x.dtype)
    return lax.stop_gradient(chosen - soft) + soft


@composite("ops.gumbel_softmax(logits=x, tau=1.0, hard=False, dim=-1)")
def gumbel_softmax(x, tau=1.0, hard=False, dim=-1):
    """A category drawn by logits along one dimension, softened so that it has a derivative.

    Args:
        tau: the temperature; the smaller, the nearer to one category.
        hard: give ones and zeros, with the derivative of the soft choice.

    Raises:
        TypeError: logits that are not real.
        ValueError: tau is not positive.

    Example:
        >>> print(ops.gumbel_softmax(Tensor([0.0, 99.0]), hard=True))
        [0. 1.]
    """
    if tau <= 0:
        raise ValueError(f"The tau of gumbel_softmax must be positive, but {tau} was given.")
    return softened_choice(x, draw_key(), float(tau), bool(hard), dim)


# -- masks -------------------------------------------------------------------------------------

# A mask is kept as bits, in bytes, in portions of 128.
PORTION = 128


@op()
def packed_mask(key, keep, *, count):
    """`count` random bits, each 1 with the probability `keep`; see `dropout_mask`.

    Example:
        >>> from mycel.ops.math.distances import packed_mask
        >>> packed_mask(Tensor(np.array([0, 1], np.uint32)), 0.5, 3).shape
        (16,)
    """
    whole = -(-count // PORTION) * PORTION
    bits = jax.random.bits(as_key(key), (whole,), np.uint32).astype(np.float64)
    return jnp.packbits(bits < keep.astype(np.float64) * 2.0**32, bitorder="little")


@composite("DropoutGenMask(Seed0=(seed, 0), Seed1=(seed2, 0))(shape=shape, keep_prob=keep)")
def dropout_mask(shape, keep, seed=0, seed2=0):
    """A mask for `DropoutDoMask`: a bit for each element of a shape, in UInt8.

    Args:
        keep: the probability of a 1, a number or a Tensor.

    Example:
        >>> ops.DropoutGenMask(1, 2)((4, 50), 0.5).shape
        (32,)
    """
    shape = tuple(shape)
    return packed_mask(draw_key(seed or seed2), keep, math.prod(shape))


@op("DropoutDoMask()(input_x=x, mask=mask, keep_prob=keep)")
def dropout_by_mask(x, mask, keep):
    """x / keep where the mask of `DropoutGenMask` has a 1, and 0 elsewhere.

    Args:
        x: any shape.
        mask: [bytes], UInt8: one bit for each element of `x` in C order, the lowest of a byte
            first.
        keep: the probability with which elements were kept, a number.

    Raises:
        ValueError: a mask of another size.

    Example:
        >>> mask = ops.DropoutGenMask()((2,), 1.0)
        >>> print(ops.DropoutDoMask()(Tensor([1.0, 2.0]), mask, 1.0))
        [1. 2.]
    """
    if mask.ndim != 1 or mask.size * 8 < x.size:
        raise ValueError(f"A mask {mask.shape} of bytes has no bit for each element of {x.shape}.")
    kept = jnp.unpackbits(mask, bitorder="little")[: x.size].reshape(x.shape)
    return jnp.where(kept == 1, x / keep.astype(x.dtype), jnp.zeros((), x.dtype))
