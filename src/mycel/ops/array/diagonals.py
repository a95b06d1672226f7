# SPDX-License-Identifier: Apache-2.0
"""Triangles, diagonals and grids."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mycel.kernel.base.errors import wrong
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axis_in
from mycel.ops.common import sum_of


@op(
    "ops.triu(input=x, diagonal=0)",
    "Triu(diagonal=0)(input=x)",
    "Tensor.triu(x, diagonal=0)",
    "mint.triu(input=x, diagonal=0)",
)
def triu(x, *, diagonal=0):
    """The elements on and above a diagonal of the last two dimensions, zeros elsewhere.

    Example:
        >>> print(ops.triu(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    _needs_matrix(x, "triu")
    return jnp.triu(x, diagonal)


@op(
    "ops.tril(input=x, diagonal=0)",
    "Tril(diagonal=0)(input=x)",
    "Tensor.tril(x, diagonal=0)",
    "mint.tril(input=x, diagonal=0)",
)
def tril(x, *, diagonal=0):
    """The elements on and below a diagonal of the last two dimensions, zeros elsewhere.

    Example:
        >>> print(ops.tril(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    _needs_matrix(x, "tril")
    return jnp.tril(x, diagonal)


def _needs_matrix(x, what):
    if x.ndim < 2:
        raise ValueError(f"{what} needs at least two dimensions, not {x.shape}.")


@op("ops.diag(input=x)", "Diag()(input=x)")
def diag(x):
    """The elements of x on the diagonal of zeros, with the shape of x twice.

    Example:
        >>> print(ops.diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    return jnp.diag(x.reshape(-1)).reshape(x.shape + x.shape)


@op("mint.diag(input=x, diagonal=0)")
def mint_diag(x, *, diagonal=0):
    """A vector as the diagonal of a matrix, or the diagonal of a matrix.

    Example:
        >>> print(mint.diag(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"diag needs a vector or a matrix, not {x.shape}.")
    return jnp.diag(x, diagonal)


@op(
    "ops.diagonal(input=x, offset=0, dim1=(first, 0), dim2=(second, 1))",
    "Tensor.diagonal(x, offset=0, axis1=(first, 0), axis2=(second, 1))",
)
def diagonal(x, *, offset=0, first=0, second=1):
    """The diagonal of two dimensions, as a new last one.

    Args:
        x: two dimensions or more.
        offset: how far above the main diagonal the chosen one lies; below for a negative number.
        first: the dimension of the rows.
        second: the dimension of the columns.

    Raises:
        ValueError: fewer than two dimensions.

    Example:
        >>> print(ops.diagonal(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    _needs_matrix(x, "diagonal")
    return jnp.diagonal(x, offset, axis_in(first, x.ndim), axis_in(second, x.ndim))


@op("DiagPart()(x)")
def diag_part(x):
    """The diagonal of a Tensor whose shape is some shape twice.

    Example:
        >>> print(ops.DiagPart()(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    half = x.ndim // 2
    if x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        raise ValueError(f"DiagPart needs some shape twice, not {x.shape}.")
    size = math.prod(x.shape[:half])
    return jnp.diagonal(x.reshape(size, size)).reshape(x.shape[:half])


@op(
    "ops.diag_embed(input=x, offset=0, dim1=(first, -2), dim2=(second, -1))",
    "Tensor.diag_embed(x, offset=0, dim1=(first, -2), dim2=(second, -1))",
)
def diag_embed(x, *, offset=0, first=-2, second=-1):
    """The last dimension of x on the diagonals of two new ones, zeros elsewhere.

    Args:
        x: [..., N].
        offset: how far above the main diagonal the chosen one lies; below for a negative number.
        first: the dimension of the result that holds the rows.
        second: the dimension of the result that holds the columns.

    Example:
        >>> print(ops.diag_embed(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    if not x.ndim:
        raise ValueError("diag_embed needs a vector at least, not a single number.")
    size = x.shape[-1] + abs(offset)
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    columns = np.arange(x.shape[-1]) + max(offset, 0)
    matrices = jnp.zeros((*x.shape[:-1], size, size), x.dtype).at[..., rows, columns].set(x)
    places = axis_in(first, matrices.ndim), axis_in(second, matrices.ndim)
    return jnp.moveaxis(matrices, (-2, -1), places)


@composite("ops.diagflat(input=x, offset=0)", "Tensor.diagflat(x, offset=0)")
def diagflat(x, offset=0):
    """All elements of x on the diagonal of a matrix.

    Example:
        >>> ops.diagflat(Tensor([[1, 2]])).shape
        (2, 2)
    """
    return diag_embed(x.reshape(-1), offset)


@op()
def grid(*tensors, indexing):
    """Every vector along a dimension of its own; see `meshgrid`.

    Example:
        >>> from mycel.ops.array.diagonals import grid
        >>> [part.shape for part in grid((Tensor([1]), Tensor([1, 2])), "ij")]
        [(1, 2), (1, 2)]
    """
    return tuple(jnp.meshgrid(*map(jnp.atleast_1d, tensors), indexing=indexing))


def _meshgrid(inputs, indexing):
    if indexing not in ("xy", "ij"):
        raise wrong(ValueError, "meshgrid: indexing", "'xy' or 'ij'", repr(indexing))
    if not inputs:
        raise ValueError("meshgrid needs one vector at least.")
    if any(x.ndim > 1 for x in inputs):
        shapes = ", ".join(str(x.shape) for x in inputs)
        raise wrong(ValueError, "What meshgrid takes", "vectors", f"Tensors of shape {shapes}")
    return grid(tuple(inputs), indexing)


@composite("Meshgrid(indexing='xy')(inputs)")
def meshgrid_of(inputs, indexing="xy") -> tuple[Tensor, ...]:
    """`meshgrid` of a tuple of vectors.

    Args:
        inputs: a tuple of vectors.
        indexing: 'xy' puts the second vector first, 'ij' keeps the order.

    Example:
        >>> [part.shape for part in ops.Meshgrid()((Tensor([1]), Tensor([1, 2])))]
        [(2, 1), (2, 1)]
    """
    return _meshgrid(inputs, indexing)


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> Any:
    """Coordinates of a grid: for every vector a Tensor over all of them.

    Args:
        indexing: 'xy' puts the second vector first, 'ij' keeps the order.

    Raises:
        ValueError: `indexing` is unknown, or an input is not a vector.

    Source: MindSpore's `ops.meshgrid`.

    Example:
        >>> [part.shape for part in ops.meshgrid(Tensor([1]), Tensor([1, 2]))]
        [(2, 1), (2, 1)]
    """
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    return _meshgrid(inputs, indexing)


@op()
def blocks(*tensors):
    """Matrices along the diagonal of zeros; see `block_diag`.

    Example:
        >>> from mycel.ops.array.diagonals import blocks
        >>> blocks((Tensor([[1]]), Tensor([[1, 2]]))).shape
        (2, 3)
    """
    tensors = [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in tensors]
    width = sum(x.shape[1] for x in tensors)
    rows, before = [], 0
    for x in tensors:
        zero = jnp.zeros((), x.dtype)
        sides = (before, width - before - x.shape[1], 0)
        rows.append(lax.pad(x, zero, ((0, 0, 0), sides)))
        before += x.shape[1]
    return jnp.concatenate(rows)


def block_diag(*inputs: Tensor) -> Any:
    """Matrices along the diagonal of zeros.

    Source: MindSpore's `ops.block_diag`.

    Example:
        >>> ops.block_diag(Tensor([[1]]), Tensor([[1, 2]])).shape
        (2, 3)
    """
    return blocks(inputs)


@op("ops.trace(input=x)", "Trace()(input=x)")
def trace(x):
    """The sum of the diagonal of a matrix.

    Raises:
        ValueError: x is not a matrix.

    Example:
        >>> print(ops.trace(Tensor([[1, 2], [3, 4]])))
        5
    """
    if x.ndim != 2:
        raise ValueError(f"trace needs a matrix, not {x.shape}.")
    return sum_of(jnp.diagonal(x), dtype=x.dtype)
