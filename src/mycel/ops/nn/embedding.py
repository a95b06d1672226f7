# SPDX-License-Identifier: Apache-2.0
"""Embeddings: rows of a table, looked up by number."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.define.bounds import Bounds
from mycel.kernel.record.tensor import Tensor, update
from mycel.kernel.spell import composite, op
from mycel.ops.common import as_wide
from mycel.ops.math.distances import shrinking_factors


def _rows(position, table):
    return Bounds(position, 0, table.shape[0], operator="embedding")


@composite("SubAndFilter()(input_x=index, max_num=limit, offset=offset)")
def sub_and_filter(index, limit, offset) -> tuple[Tensor, Tensor]:
    """Numbers of rows counted from an offset, those within a part of a table, and where they were.

    Args:
        index: [N], integers, which are read.
        limit: the number of rows of the part.
        offset: the number of its first row.

    Returns:
        What is left of `index - offset`, and the positions of it in `index`, Int32.

    Example:
        >>> print(*ops.SubAndFilter()(Tensor([1, 5, 8]), 3, 5))
        [0] [1]
    """
    limit, offset = int(limit), int(offset)
    counted = index.asnumpy() - offset
    inside = np.flatnonzero((counted >= 0) & (counted < limit))
    return Tensor(counted[inside]), Tensor(inside.astype(np.int32))


@op(indices=lambda index, table, **_: [_rows(0, table)])
def embedding_rows(index, table, *, empty, by_count):
    """Rows of a table by number; see `embedding`.

    Example:
        >>> from mycel.ops.nn.embedding import embedding_rows
        >>> print(embedding_rows(Tensor([1]), Tensor([[1.0], [2.0]]), None, False))
        [[2.]]
    """
    if table.ndim != 2 or index.dtype.kind not in "iu":
        raise TypeError(
            f"embedding needs integers and a table [N, M], not {index.dtype} and {table.shape}."
        )
    return table.at[index.astype(np.int64)].get(mode="clip")


@embedding_rows.reverse
def _(index, table, output, cotangent, *, empty, by_count):
    flat = index.reshape(-1).astype(np.int64)
    parts = cotangent.reshape(-1, table.shape[1])
    if by_count:
        counts = jnp.zeros(table.shape[0], np.float32).at[flat].add(1)
        parts = parts / counts[flat][:, None]
    if empty is not None:
        parts = jnp.where((flat == empty)[:, None], jnp.zeros((), parts.dtype), parts)
    parts = as_wide(parts.astype(table.dtype))
    gradient = jnp.zeros(table.shape, parts.dtype).at[flat].add(parts)
    return np.zeros(index.shape, jax.dtypes.float0), gradient.astype(table.dtype)


@op(indices=lambda table, index, **_: [_rows(1, table)])
def renormalized_rows(table, index, *, p, most):
    """A table whose rows of these numbers are `most` long at most; see `embedding`.

    Example:
        >>> from mycel.ops.nn.embedding import renormalized_rows
        >>> print(renormalized_rows(Tensor([[2.0], [3.0]]), Tensor([1]), 2.0, 1.0))
        [[2.]
         [1.]]
    """
    met = jnp.zeros(table.shape[0], bool).at[index.reshape(-1).astype(np.int64)].set(True)
    shorter = table * shrinking_factors(table, p, most)[:, None]
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
        index: integers of any shape.
        table: [N, M].
        padding_idx: the number of a row that gets no gradient; None, the default, for none.
        max_norm: rows that are looked up and longer than this are scaled down to it in the table
            itself; None, the default, for none.
        norm_type: the p of the p-norm that `max_norm` limits, 2 by default.
        scale_grad_by_freq: whether the gradient of a row is divided by how often it is looked up;
            False by default.

    Raises:
        TypeError: the numbers are not integers.
        ValueError: `padding_idx` lies outside of the table.

    Example:
        >>> print(ops.embedding(Tensor([2, 0]), Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])))
        [[4. 5.]
         [0. 1.]]
    """
    rows = table.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ValueError(f"padding_idx must be from {-rows} to {rows - 1}, not {padding_idx}.")
        padding_idx %= rows
    if max_norm is not None:
        update(table, renormalized_rows(table, index, float(norm_type), float(max_norm)))
    return embedding_rows(index, table, padding_idx, bool(scale_grad_by_freq))


@op("EmbeddingLookup()(input_params=x, input_indices=index, offset=offset)")
def embedding_lookup(x, index, *, offset):
    """Rows of a table of which only a part is here.

    Args:
        x: the rows that are here, [R, D] or [R].
        index: integers of any shape: numbers of rows in the whole table; what is not here gives
            zeros.
        offset: the number of the first row of `x` in the whole table.

    Raises:
        TypeError: the numbers are not integers.
        ValueError: the table has more than two dimensions.

    Example:
        >>> print(ops.EmbeddingLookup()(Tensor([[1.0], [2.0]]), Tensor([4, 9]), 3))
        [[2.]
         [0.]]
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"The table of EmbeddingLookup has one or two dimensions, not {x.shape}.")
    if index.dtype.kind not in "iu":
        raise TypeError(f"Rows are looked up by integers, not by {index.dtype}.")
    place = index.astype(np.int64) - offset
    there = (place >= 0) & (place < x.shape[0])
    rows = as_wide(x)[jnp.where(there, place, 0)].astype(x.dtype)
    shape = (*there.shape, *[1] * (x.ndim - 1))
    return jnp.where(there.reshape(shape), rows, jnp.zeros((), x.dtype))
