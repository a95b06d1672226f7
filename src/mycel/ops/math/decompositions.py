# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices, and what is read off them: eigenvalues, determinants, norms."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from mycel.kernel.base.dtypes import numpy_dtype
from mycel.kernel.record.tensor import Tensor
from mycel.kernel.spell import composite, op
from mycel.ops.array.axes import axes_in
from mycel.ops.common import as_float
from mycel.ops.math.lengths import length, matrix_length


def inexact(x, what):
    """x itself.

    Raises:
        TypeError: x holds integers, or real numbers of 16 bits.
    """
    if x.dtype.kind not in "fc" or x.dtype.itemsize < 4:
        raise TypeError(
            f"{what} needs real or complex numbers of 32 bits or more, but the type is {x.dtype}."
        )
    return x


def square_matrices(x, what):
    """x itself, of real or complex numbers.

    Raises:
        TypeError: x holds integers, or real numbers of 16 bits.
        ValueError: x is not a square matrix or a batch of them.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{what} needs square matrices, but the shape is {x.shape}.")
    return inexact(x, what)


def turned(x):
    """The matrices flipped about their diagonal, and conjugated."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


@op(
    "ops.svd(input=x, full_matrices=whole, compute_uv=vectors)",
    "Svd(full_matrices=whole, compute_uv=vectors)(input=x)",
    "Tensor.svd(x, full_matrices=whole, compute_uv=vectors)",
)
def svd(x, *, whole=False, vectors=True):
    """The singular values s of matrices, and u and v with x = u · diag(s) · vᵀ.

    Args:
        x: [..., M, N].
        whole: u and v are square, instead of having a column for each value.
        vectors: False gives the values alone.

    Example:
        >>> print(ops.svd(Tensor([[3.0, 0.0], [0.0, 2.0]]), compute_uv=False))
        [3. 2.]
    """
    inexact(x, "svd")
    if not vectors:
        return jnp.linalg.svd(x, compute_uv=False)
    left, values, right = jnp.linalg.svd(x, full_matrices=whole)
    return values, left, turned(right)


def _factors(x, whole) -> tuple[Array, Array]:
    q, r = jnp.linalg.qr(inexact(x, "qr"), "complete" if whole else "reduced")
    return q, r


@op("Qr(full_matrices=whole)(x)")
def qr_primitive(x, *, whole=False) -> tuple[Array, Array]:
    """Matrices q with orthogonal columns and r with zeros below the diagonal, whose product is x.

    Example:
        >>> q, r = ops.Qr()(Tensor([[0.0, 2.0], [3.0, 0.0]]))
        >>> print(q @ r)
        [[0. 2.]
         [3. 0.]]
    """
    return _factors(x, whole)


@composite("ops.qr(input=x, mode=mode)", "mint.linalg.qr(A=x, mode=mode)")
def qr(x, mode="reduced") -> tuple[Tensor, Tensor]:
    """Matrices q with orthogonal columns and r with zeros below the diagonal, whose product is x.

    Args:
        mode: 'complete' gives a square q, 'reduced' one as wide as r is high.

    Raises:
        TypeError: the mode is unknown.

    Example:
        >>> [part.shape for part in ops.qr(ops.ones((3, 2)), mode="complete")]
        [(3, 3), (3, 2)]
    """
    if mode not in ("reduced", "complete"):
        raise TypeError(f"mode must be 'reduced' or 'complete', not {mode!r}.")
    return qr_primitive(x, mode == "complete")


@composite("Tensor.qr(x, some=True)")
def qr_method(x, some=True) -> tuple[Tensor, Tensor]:
    """As `ops.qr`; `some=False` gives the square q.

    Example:
        >>> [part.shape for part in ops.ones((3, 2)).qr()]
        [(3, 2), (2, 2)]
    """
    return qr_primitive(x, not some)


@op(
    "ops.cholesky(input_x=x, upper=upper)",
    "Cholesky(upper=upper)(input_x=x)",
    "Tensor.cholesky(x, upper=upper)",
)
def cholesky(x, *, upper=False):
    """The triangular L of positive definite matrices x = L · Lᵀ; `upper` gives Lᵀ.

    Raises:
        ValueError: x is not square.

    Example:
        >>> print(ops.cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]])))
        [[2. 0.]
         [0. 3.]]
    """
    lower = jnp.linalg.cholesky(square_matrices(x, "cholesky"))
    return turned(lower) if upper else lower


@op("ops.eig(A=x)")
def eig(x) -> tuple[Array, Array]:
    """The eigenvalues of square matrices and their eigenvectors as columns, complex.

    The eigenvectors have no derivative.

    Example:
        >>> print(ops.eig(Tensor([[2.0, 0.0], [0.0, 3.0]]))[0])
        [2.+0.j 3.+0.j]
    """
    values, vectors = jnp.linalg.eig(square_matrices(x, "eig"))
    return values, vectors


@op("ops.eigvals(A=x)", "Tensor.eigvals(x)")
def eigvals(x):
    """The eigenvalues of square matrices, complex, in no order.

    Example:
        >>> print(ops.eigvals(Tensor([[2.0, 0.0], [0.0, 3.0]])))
        [2.+0.j 3.+0.j]
    """
    return jnp.linalg.eigvals(square_matrices(x, "eigvals"))


@composite("Eig(compute_v=vectors)(x)")
def eig_primitive(x, vectors=False) -> tuple[Tensor, Tensor]:
    """The eigenvalues of square matrices and their eigenvectors, which are empty unless wanted.

    Example:
        >>> print(ops.Eig()(Tensor([[2.0]]))[0])
        [2.+0.j]
    """
    if vectors:
        return eig(x)
    values = eigvals(x)
    return values, values[:0]


@op(
    "ops.slogdet(input=x)",
    "ops.log_matrix_determinant(input=x)",
    "LogMatrixDeterminant()(input=x)",
    "Tensor.slogdet(x)",
    "Tensor.log_matrix_determinant(x)",
)
def slogdet(x) -> tuple[Array, Array]:
    """The sign of the determinant of square matrices, and the logarithm of its size.

    Example:
        >>> print(ops.slogdet(Tensor([[-1.0, 0.0], [0.0, 1.0]]))[0])
        -1.0
    """
    sign, size = jnp.linalg.slogdet(square_matrices(x, "slogdet"))
    return sign, size


@op(
    "ops.det(input=x)",
    "ops.matrix_determinant(input=x)",
    "MatrixDeterminant()(input=x)",
    "Tensor.det(x)",
    "Tensor.matrix_determinant(x)",
)
def det(x):
    """The determinant of square matrices, (..., n, n) to (...).

    Raises:
        TypeError: x holds integers, or real numbers of 16 bits.
        ValueError: x is not square.

    Example:
        >>> print(ops.det(Tensor([[2.0, 0.0], [0.0, 3.0]])))
        6.0
    """
    return jnp.linalg.det(square_matrices(x, "det"))


@op("ops.inverse(input=x)", "Tensor.inverse(x)", "mint.inverse(input=x)",
    "mint.linalg.inv(input=x)")  # fmt: skip
def inverse(x):
    """The inverse of square matrices, (..., n, n).

    Raises:
        TypeError: x holds integers, or real numbers of 16 bits.
        ValueError: x is not square.

    Example:
        >>> print(ops.inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    return jnp.linalg.inv(square_matrices(x, "inverse"))


@op("ops.logdet(input=x)", "Tensor.logdet(x)")
def logdet(x):
    """The logarithm of the determinant of square matrices, NaN where that is negative.

    Example:
        >>> print(ops.logdet(Tensor([[1.0, 0.0], [0.0, 1.0]])))
        0.0
    """
    sign, size = jnp.linalg.slogdet(square_matrices(x, "logdet"))
    if x.dtype.kind == "c":
        return size + jnp.log(sign)
    return jnp.where(sign < 0, jnp.nan, size)


@op("ops.matrix_exp(input=x)", "MatrixExp()(input=x)")
def matrix_exp(x):
    """The exponential of square matrices: the sum of xⁿ / n!.

    Example:
        >>> print(ops.matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])))
        [[1. 1.]
         [0. 1.]]
    """
    return jax.scipy.linalg.expm(square_matrices(x, "matrix_exp"))


@op("ops.pinv(x, atol=atol, rtol=rtol, hermitian=hermitian)")
def pinv(x, *, atol=None, rtol=None, hermitian=False):
    """The inverse of matrices where they have one, and the nearest thing to it elsewhere.

    Args:
        x: [..., M, N].
        atol, rtol: singular values up to the larger of `atol` and `rtol` times the largest one
            count as 0; without either `rtol` is the longer side times the machine's precision.
        hermitian: only the lower triangle is read.

    Example:
        >>> print(ops.pinv(Tensor([[2.0, 0.0], [0.0, 0.0]])))
        [[0.5 0. ]
         [0.  0. ]]
    """
    inexact(x, "pinv")
    if x.ndim < 2:
        raise ValueError(f"pinv needs matrices, not {x.shape}.")
    if hermitian:
        x = jnp.tril(x) + turned(jnp.tril(x, -1))
    if rtol is None and not atol:
        return jnp.linalg.pinv(x, rtol=max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps))
    # Its derivative is one of the decomposition: values that are left out still turn the others.
    left, values, right = jnp.linalg.svd(x, full_matrices=False)
    least = jnp.maximum(values[..., :1] * (rtol or 0), atol or 0)
    kept = values > least
    inverses = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0).astype(x.dtype)
    return turned(right) @ (inverses[..., None] * turned(left))


@op("ops.matrix_norm(A=x, ord=order, axis=axis, keepdims=keepdims, dtype=dtype)",
    "mint.linalg.matrix_norm(A=x, ord=order, dim=axis, keepdim=keepdims, dtype=dtype)")  # fmt: skip
def matrix_norm(x, *, order="fro", axis=(-2, -1), keepdims=False, dtype=None):
    """The size of matrices that lie in the two axes `axis`.

    Args:
        x: two dimensions or more; integers are taken as Float32.
        order: "fro" for the root of the sum of squares, "nuc" for the sum of the singular values, 2
            and -2 for the largest and smallest of these, 1 and -1 for sums of columns, the
            infinities for sums of rows.
        axis: the two dimensions of the matrices, the last two by default.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        dtype: the element type to which `x` is cast first; None, the default, for its own.

    Example:
        >>> print(ops.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        5.0
    """
    x = as_float(x) if dtype is None else x.astype(numpy_dtype(dtype))
    return matrix_length(x, order, axes_in(axis, x.ndim), keepdims)


@op()
def condition_number(x, *, order=None):
    """The condition number of square matrices: their norm times that of their inverses.

    Args:
        order: which norm, as in `matrix_norm`; None is 2, for which matrices of any shape are
            taken: the largest over the smallest singular value.

    Returns:
        One number for each matrix; infinite where there is no inverse.

    Raises:
        TypeError: the matrices hold integers.
        ValueError: the order is unknown, or it is neither 2 nor -2 and the matrices are not square.

    Source: MindSpore's `ops.cond`.
    """
    inexact(x, "cond")
    if order not in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"):
        raise ValueError(f"cond: the order of a norm must not be {order!r}.")
    if order not in (None, 2, -2):
        square_matrices(x, "cond")
    return jnp.linalg.cond(x, order)


@op("ops.vector_norm(x, ord=order, axis=axis, keepdims=keepdims, dtype=dtype)",
    "mint.linalg.vector_norm(x, ord=order, dim=axis, keepdim=keepdims, dtype=dtype)")  # fmt: skip
def vector_norm(x, *, order=2, axis=None, keepdims=False, dtype=None):
    """The norm of vectors: the p-th root of the sum of the p-th powers of absolute values.

    Args:
        x: any shape; integers are taken as Float32.
        order: the exponent p, 2 by default. The infinities give the largest and the smallest
            absolute value, 0 counts the elements that are not zero.
        axis: a dimension or several over which the norm is taken; None, the default, for all.
        keepdims: whether reduced dimensions stay, with length 1; False by default.
        dtype: the element type to which `x` is cast first; None for its own.

    Example:
        >>> print(ops.vector_norm(Tensor([3.0, 4.0])))
        5.0
    """
    x = as_float(x) if dtype is None else x.astype(numpy_dtype(dtype))
    if axis is not None:
        axis = axes_in(axis, x.ndim)
    return length(x, order, axis, keepdims)


@op("NuclearNorm(dim=axis, keepdim=keepdims)(x)")
def nuclear_norm(x, *, axis=None, keepdims=False):
    """The nuclear norm of matrices: the sum of their singular values.

    Args:
        x: two dimensions or more.
        axis: the two dimensions of the matrices; None, the default, for the first two.
        keepdims: whether these dimensions stay, with length 1; False by default.

    Example:
        >>> print(ops.NuclearNorm()(Tensor([[3.0, 0.0], [0.0, 2.0]])))
        5.0
    """
    return jnp.linalg.norm(x, "nuc", (0, 1) if axis is None else tuple(axis), keepdims)


@op("ops.geqrf(input=x)", "Geqrf()(input=x)", "Tensor.geqrf(x)")
def geqrf(x) -> tuple[Array, Array]:
    """The reflections whose product is the q of `ops.qr`: vectors below the diagonal, and scales.

    On and above the diagonal is r. There is no derivative.

    Example:
        >>> [part.shape for part in ops.geqrf(ops.ones((3, 2)))]
        [(3, 2), (2,)]
    """
    packed, scales = jnp.linalg.qr(inexact(x, "geqrf"), "raw")
    return jnp.swapaxes(packed, -1, -2), scales


def _reflected(packed, scales, other, turn):
    """q · other, or qᵀ · other, with q the product of the reflections."""
    count = scales.shape[-1]
    below = jnp.arange(packed.shape[-2])

    def reflect(step, other):
        i = step if turn else count - 1 - step
        vector = lax.dynamic_index_in_dim(packed, i, -1, keepdims=False)
        vector = jnp.where(below > i, vector, (below == i).astype(vector.dtype))
        scale = lax.dynamic_index_in_dim(scales, i, -1)
        met = jnp.einsum("...i,...ij->...j", jnp.conj(vector), other)
        scale = jnp.conj(scale) if turn else scale
        return other - scale[..., None] * vector[..., :, None] * met[..., None, :]

    return lax.fori_loop(0, count, reflect, other)


@op("ops.orgqr(input=x, input2=scales)", "Orgqr()(x, tau=scales)",
    "Tensor.orgqr(x, input2=scales)")  # fmt: skip
def orgqr(x, scales):
    """The first columns of the product of the reflections that `ops.geqrf` gives, as many as x has.

    Example:
        >>> print(ops.orgqr(*ops.geqrf(Tensor([[2.0, 1.0], [0.0, 3.0]]))))
        [[1. 0.]
         [0. 1.]]
    """
    columns = jnp.broadcast_to(jnp.eye(*x.shape[-2:], dtype=x.dtype), x.shape)
    return _reflected(inexact(x, "orgqr"), scales, columns, False)


@op(
    "ops.ormqr(input=x, tau=scales, other=other, left=left, transpose=transpose)",
    "Ormqr(left=left, transpose=transpose)(x, tau=scales, other=other)",
    "Tensor.ormqr(x, input2=scales, input3=other, left=left, transpose=transpose)",
)
def ormqr(x, scales, other, *, left=True, transpose=False):
    """The product of q, the reflections that `ops.geqrf` gives, and another matrix.

    Args:
        x: [..., M, K]: reflections, as `ops.geqrf` gives them.
        scales: [..., K]: their factors, as `ops.geqrf` gives them.
        other: [..., M, N], or [..., N, M] if q is the right factor.
        left: whether q is the left factor.
        transpose: take qᵀ, conjugated, instead of q.

    Example:
        >>> reflections = ops.geqrf(Tensor([[2.0, 1.0], [0.0, 3.0]]))
        >>> print(ops.ormqr(*reflections, Tensor([[5.0], [6.0]])))
        [[5.]
         [6.]]
    """
    inexact(x, "ormqr")
    if left:
        return _reflected(x, scales, other, transpose)
    return turned(_reflected(x, scales, turned(other), not transpose))


@op()
def unpacked_matrices(x):
    """L and U of a matrix that holds both; see `lu_unpack`."""
    rows, columns = x.shape[-2:]
    short = min(rows, columns)
    lower = jnp.tril(x[..., :, :short], -1) + jnp.eye(rows, short, dtype=x.dtype)
    return lower, jnp.triu(x[..., :short, :])


@op()
def unpacked_order(x, pivots):
    """The permutation matrix of exchanges of rows; see `lu_unpack`."""
    rows = x.shape[-2]
    order = lax.linalg.lu_pivots_to_permutation(pivots.astype(np.int32) - 1, rows)
    return jnp.swapaxes(jax.nn.one_hot(order, rows, dtype=x.dtype), -1, -2)


@composite(
    "ops.lu_unpack(LU_data=x, LU_pivots=pivots, unpack_data=data, unpack_pivots=order)",
    "LuUnpack(unpack_data=data, unpack_pivots=order)(LU_data=x, LU_pivots=pivots)",
)
def lu_unpack(x, pivots, data=True, order=True) -> tuple[Tensor | Any, Tensor | Any, Tensor | Any]:
    """P, L and U, whose product is the decomposed matrix, from what an LU decomposition gives.

    Args:
        x: [..., M, N]: L below the diagonal and U on and above it, as an LU decomposition gives
            them.
        pivots: for each row the number of the row, from 1 on, that it was exchanged with.
        data, order: False leaves out L and U, or P; None stands in their places.

    Example:
        >>> print(ops.lu_unpack(Tensor([[4.0, 2.0], [0.5, 3.0]]), Tensor([2, 2]))[1])
        [[1.  0. ]
         [0.5 1. ]]
    """
    lower, upper = unpacked_matrices(x) if data else (None, None)
    return unpacked_order(x, pivots) if order else None, lower, upper


@op()
def eigh(x, *, lower=True, vectors=True):
    """The eigenvalues of symmetric matrices in order, and their eigenvectors as columns.

    Args:
        lower: which triangle is read.

    Example:
        >>> from mycel.ops.math.decompositions import eigh
        >>> print(eigh(Tensor([[3.0, 0.0], [0.0, 2.0]]), True, False))
        [2. 3.]
    """
    x = jnp.tril(x) + turned(jnp.tril(x, -1)) if lower else jnp.triu(x) + turned(jnp.triu(x, 1))
    values, columns = jnp.linalg.eigh(x, symmetrize_input=False)
    return (values, columns) if vectors else values


@op()
def lu_decomposition(x):
    """L and U of matrices in one, and for each row the one, from 0 on, it was exchanged with.

    Example:
        >>> from mycel.ops.math.decompositions import lu_decomposition
        >>> print(lu_decomposition(Tensor([[2.0, 1.0], [4.0, 3.0]]))[1])
        [1 1]
    """
    packed, pivots, _ = lax.linalg.lu(x)
    return packed, pivots
