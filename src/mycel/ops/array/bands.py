# SPDX-License-Identifier: Apache-2.0
"""Bands of diagonals of matrices: taken out, put in, and laid side by side."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from mycel.kernel.spell import op

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


class Band(NamedTuple):
    """Where the elements of a band are: in the matrix, and in the table of its diagonals.

    The table has a row for each diagonal, the highest first, as long as the longest.
    """

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray
    table_rows: np.ndarray
    table_columns: np.ndarray


def _bounds(k):
    """The lowest and the highest diagonal that k means: a number, or a pair of numbers."""
    first, *rest = k if isinstance(k, tuple) else (k,)
    low, high = (first, *rest) if rest else (first, first)
    if low > high:
        raise ValueError(f"A band goes from a lower to a higher diagonal, not from {low} to {high}")
    return int(low), int(high)


def _band(rows, columns, k, align) -> Band:
    if align not in _ALIGNMENTS:
        raise ValueError(f"align must be one of {', '.join(_ALIGNMENTS)}, not {align!r}.")
    low, high = _bounds(k)
    if not -rows < low or not high < columns:
        raise ValueError(f"A matrix of {rows} rows and {columns} columns has no diagonal {k}.")
    longest = min(rows + min(high, 0), columns - max(low, 0))
    above, _, below = align.partition("_")
    parts = []
    for place, d in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(d, 0), columns - max(d, 0))
        left = (d >= 0 and above == "LEFT") or (d <= 0 and below == "LEFT")
        steps = np.arange(length)
        parts.append([
            steps + max(-d, 0),
            steps + max(d, 0),
            np.full(length, place),
            steps + (0 if left else longest - length),
        ])  # fmt: skip
    places = np.concatenate(parts, axis=1)
    return Band((high - low + 1, longest), *places)


def _as_table(diagonal, band):
    """The diagonals as rows of a table; a single one comes without that dimension."""
    count, longest = band.shape
    single = count == 1 and (diagonal.ndim == 1 or diagonal.shape[-2:] != (1, longest))
    table = diagonal[..., None, :] if single else diagonal
    if table.shape[-2:] != band.shape:
        raise ValueError(f"Diagonals of shape {band.shape} are needed, not {diagonal.shape}.")
    return table


def _laid(x, table, band):
    """x with the elements of the table in the places of the band."""
    chosen = table[..., band.table_rows, band.table_columns]
    return x.at[..., band.rows, band.columns].set(chosen.astype(x.dtype))


@op("ops.matrix_band_part(x, lower, upper)", "MatrixBandPart()(x, lower, upper)")
def matrix_band_part(x, lower, upper):
    """Matrices with zeros outside a band around the main diagonal.

    Args:
        x: [..., M, N].
        lower: how many diagonals below the main one stay, a number or one for each matrix; a
            negative one keeps all.
        upper: how many diagonals above the main one stay, a number or one for each matrix; a
            negative one keeps all.

    Example:
        >>> print(ops.matrix_band_part(Tensor([[1, 2], [3, 4]]), 0, -1))
        [[1 2]
         [0 4]]
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_band_part needs matrices, not {x.shape}.")
    lower, upper = (n.astype(np.int64)[..., None, None] for n in (lower, upper))
    apart = np.arange(x.shape[-2])[:, None] - np.arange(x.shape[-1])
    inside = ((lower < 0) | (apart <= lower)) & ((upper < 0) | (-apart <= upper))
    return jnp.where(inside, x, jnp.zeros((), x.dtype))


@op(
    "ops.matrix_diag(x, k=k, num_rows=rows, num_cols=columns, padding_value=padding, align=align)",
    "MatrixDiagV3(align=align)"
    "(x, k=k, num_rows=rows, num_cols=columns, padding_value=padding)",
)  # fmt: skip
def matrix_diag(x, padding=0, *, k=0, rows=-1, columns=-1, align="RIGHT_LEFT"):
    """Matrices with the last dimension of x as a diagonal, or its last two as several.

    Args:
        x: [..., N]; or [..., D, N] for a band of D diagonals, the highest first.
        padding: what stands elsewhere, a number.
        k: the diagonal, counted upwards from the main one; or a pair, the lowest and the highest of
            a band.
        rows: the number of rows; -1 for the least. If `columns` is -1 too, the matrices are square.
        columns: the number of columns; -1 for the least. If `rows` is -1 too, the matrices are
            square.
        align: where the shorter diagonals lie in their rows, those above the main one '_' those
            below: 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.

    Raises:
        ValueError: the matrices do not have such diagonals.

    Example:
        >>> print(ops.matrix_diag(Tensor([1, 2]), padding_value=9))
        [[1 9]
         [9 2]]
    """
    low, high = _bounds(k)
    least_rows, least_columns = x.shape[-1] - min(high, 0), x.shape[-1] + max(low, 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    band = _band(rows, columns, (low, high), align)
    table = _as_table(x, band)
    empty = jnp.full((*table.shape[:-2], rows, columns), jnp.asarray(padding, x.dtype), x.dtype)
    return _laid(empty, table, band)


@op(
    "ops.matrix_diag_part(x, k, padding_value=padding, align=align)",
    "MatrixDiagPartV3(align=align)(x, k, padding_value=padding)",
)
def matrix_diag_part(x, padding, *, k, align="RIGHT_LEFT"):
    """A diagonal of matrices, or several as rows of a table, the highest first.

    Args:
        x: [..., M, N].
        padding: what the shorter diagonals are filled up with, a number.
        k: the diagonal, counted upwards from the main one; or a pair, the lowest and the highest of
            a band.
        align: where the shorter diagonals lie in their rows, those above the main one '_' those
            below: 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.

    Raises:
        ValueError: the matrices do not have such diagonals.

    Example:
        >>> print(ops.matrix_diag_part(Tensor([[1, 2], [3, 4]]), (0, 1), 9))
        [[9 2]
         [1 4]]
    """
    rows, columns = x.shape[-2:]
    band = _band(rows, columns, k, align)
    table = jnp.full((*x.shape[:-2], *band.shape), padding.astype(x.dtype), x.dtype)
    elements = x[..., band.rows, band.columns]
    table = table.at[..., band.table_rows, band.table_columns].set(elements)
    return table if band.shape[0] > 1 else table[..., 0, :]


@op(
    "ops.matrix_set_diag(x, diagonal, k=k, align=align)",
    "MatrixSetDiagV3(align=align)(x, diagonal, k=k)",
)
def matrix_set_diag(x, diagonal, *, k=0, align="RIGHT_LEFT"):
    """Matrices with a diagonal, or a band of them, exchanged.

    Args:
        x: [..., M, N].
        diagonal: as `ops.matrix_diag_part` gives it: [..., L], or [..., D, L] for a band of D
            diagonals of which the longest has L elements.
        k: the diagonal, counted upwards from the main one; or a pair, the lowest and the highest of
            a band.
        align: where the shorter diagonals lie in their rows, those above the main one '_' those
            below: 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.

    Raises:
        ValueError: the matrices do not have such diagonals, or these have another shape.

    Example:
        >>> print(ops.matrix_set_diag(Tensor([[1, 2], [3, 4]]), Tensor([8, 9])))
        [[8 2]
         [3 9]]
    """
    rows, columns = x.shape[-2:]
    band = _band(rows, columns, k, align)
    return _laid(x, _as_table(diagonal, band), band)


@op(
    "FillDiagonal(fill_value=value, wrap=wrap)(input_x=x)",
    "Tensor.fill_diagonal(x, fill_value=value, wrap=wrap)",
    "Tensor.fill_diagonal_(x, fill_value=value, wrap=wrap) -> x",
)
def fill_diagonal(x, value, *, wrap=False):
    """x with a number on its diagonal, all of whose indices are equal.

    Args:
        x: [M, N], or three or more dimensions of one length.
        value: a number.
        wrap: whether the diagonal of a matrix with more rows than columns begins anew below, one
            row after it has ended.

    Raises:
        ValueError: fewer than two dimensions; or more, of different lengths.

    Example:
        >>> print(Tensor([[1, 2], [3, 4]]).fill_diagonal(9))
        [[9 2]
         [3 9]]
        >>> print(Tensor([[1, 2], [3, 4]]).fill_diagonal_(9))
        [[9 2]
         [3 9]]
    """
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise ValueError(f"A matrix, or dimensions of one length, is needed, not {x.shape}.")
    step = sum(np.cumprod((1, *x.shape[:0:-1])))
    end = x.size if x.ndim > 2 or wrap else min(x.size, x.shape[1] * x.shape[1])
    chosen = np.zeros(x.size, bool)
    chosen[:end:step] = True
    return jnp.where(chosen.reshape(x.shape), value.astype(x.dtype), x)


@op("TridiagonalMatMul()(superdiag=above, maindiag=main, subdiag=below, rhs=right)")
def tridiagonal_product(above, main, below, right):
    """The product of a matrix given by three diagonals and another matrix, [..., N, M].

    Args:
        above: [..., 1, N], the diagonal above the main one; its last element counts for nothing.
        main: [..., 1, N], the main diagonal.
        below: [..., 1, N], the diagonal below the main one; its first element counts for nothing.
        right: [..., N, M].

    Example:
        >>> one = Tensor([[1.0, 1.0]])
        >>> print(ops.TridiagonalMatMul()(one, one, one, Tensor([[1.0], [2.0]])))
        [[3.]
         [3.]]
    """
    above, main, below = (jnp.swapaxes(part, -1, -2) for part in (above, main, below))
    edge = [(0, 0)] * (right.ndim - 2)
    next_row = jnp.pad(right, [*edge, (0, 1), (0, 0)])[..., 1:, :]
    row_before = jnp.pad(right, [*edge, (1, 0), (0, 0)])[..., :-1, :]
    return above * next_row + main * right + below * row_before
