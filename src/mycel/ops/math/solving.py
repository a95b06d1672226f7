# SPDX-License-Identifier: Apache-2.0
"""Systems of linear equations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from mycel.kernel.base.errors import wrong
from mycel.kernel.spell import composite, op
from mycel.ops.common import promoted
from mycel.ops.math.decompositions import inexact, square_matrices, turned


def _rows_fit(x, right):
    """Raise unless there is a right side for each row of x."""
    if right.ndim < 2 or right.shape[-2] != x.shape[-2]:
        raise ValueError(f"A right side of shape {right.shape} does not fit matrices {x.shape}.")


def _triangular(x, right, lower, transpose=False, conjugate=False, unit=False):
    """What x, read as triangular, times the unknown gives the right side, in batches."""
    batch = jnp.broadcast_shapes(x.shape[:-2], right.shape[:-2])
    return jax.lax.linalg.triangular_solve(
        jnp.broadcast_to(x, batch + x.shape[-2:]),
        jnp.broadcast_to(right, batch + right.shape[-2:]),
        left_side=True,
        lower=lower,
        transpose_a=transpose,
        conjugate_a=conjugate,
        unit_diagonal=unit,
    )


@op(
    "ops.cholesky_inverse(input_x=x, upper=upper)",
    "CholeskyInverse(upper=upper)(input_x=x)",
    "Tensor.cholesky_inverse(x, upper=upper)",
)
def cholesky_inverse(x, *, upper=False):
    """The inverse of the matrices whose `ops.cholesky` is x.

    Example:
        >>> print(ops.cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[0.25 0.  ]
         [0.   1.  ]]
    """
    square_matrices(x, "cholesky_inverse")
    eye = jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape)
    inverse = _triangular(x, eye, not upper)
    return inverse @ turned(inverse) if upper else turned(inverse) @ inverse


@op(
    "ops.cholesky_solve(input=right, input2=x, upper=upper)",
    "CholeskySolve(upper=upper)(x1=right, x2=x)",
    "Tensor.cholesky_solve(right, input2=x, upper=upper)",
)
def cholesky_solve(right, x, *, upper=False):
    """Solutions of linear equations with positive definite matrices, given their Cholesky factors.

    Args:
        right: [..., N, M]: the right sides of the equations, as columns.
        x: [..., N, N]: the triangular factors, as `ops.cholesky` gives them.
        upper: whether the factors are upper triangles; False, the default, for lower ones.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> print(ops.cholesky_solve(Tensor([[8.0], [1.0]]), Tensor([[2.0, 0.0], [0.0, 1.0]])))
        [[2.]
         [1.]]
    """
    _rows_fit(square_matrices(x, "cholesky_solve"), right)
    half = _triangular(x, right, not upper, transpose=upper, conjugate=upper)
    return _triangular(x, half, not upper, transpose=not upper, conjugate=not upper)


@op(
    "ops.lu_solve(b=right, LU_data=x, LU_pivots=pivots)",
    "LuSolve()(x=right, lu_data=x, lu_pivots=pivots)",
    "Tensor.lu_solve(right, LU_data=x, LU_pivots=pivots)",
)
def lu_solve(right, x, pivots):
    """The solutions of equations with matrices given by their LU decomposition.

    Args:
        right: [..., N, M]: the right sides of the equations, as columns.
        x: [..., N, N]: L below the diagonal and U on and above it.
        pivots: for each row the number of the row, from 1 on, that it was exchanged with.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> x = Tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> print(ops.lu_solve(Tensor([[2.0], [4.0]]), x, Tensor([1, 2])))
        [[1.]
         [1.]]
    """
    _rows_fit(square_matrices(x, "lu_solve"), right)
    order = jax.lax.linalg.lu_pivots_to_permutation(pivots.astype(np.int32) - 1, x.shape[-1])
    half = _triangular(x, jnp.take_along_axis(right, order[..., None], -2), True, unit=True)
    return _triangular(x, half, False)


@op("ops.matrix_solve(matrix=x, rhs=right, adjoint=adjoint)",
    "MatrixSolve(adjoint=adjoint)(matrix=x, rhs=right)")  # fmt: skip
def matrix_solve(x, right, *, adjoint=False):
    """What square matrices must be multiplied with to give `right`.

    Args:
        x: [..., N, N].
        right: [..., N, M]: the right sides of the equations, as columns.
        adjoint: whether the matrices are transposed and conjugated first; False by default.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> print(ops.matrix_solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [4.0]])))
        [[1.]
         [1.]]
    """
    _rows_fit(square_matrices(x, "matrix_solve"), right)
    return jnp.linalg.solve(turned(x) if adjoint else x, right)


@op("MatrixTriangularSolve(lower=lower, adjoint=adjoint)(matrix=x, rhs=right)")
def matrix_triangular_solve(x, right, *, lower=True, adjoint=False):
    """The solutions of linear equations with triangular matrices.

    Args:
        x: [..., N, N]; only the triangle that is named is read.
        right: [..., N, M]: the right sides of the equations, as columns.
        lower: whether the matrices are lower triangles, the default, or upper ones.
        adjoint: whether they are transposed and conjugated first; False by default.

    Example:
        >>> x = Tensor([[2.0, 9.0], [0.0, 4.0]])
        >>> print(ops.MatrixTriangularSolve()(x, Tensor([[2.0], [4.0]])))
        [[1.]
         [1.]]
    """
    _rows_fit(square_matrices(x, "MatrixTriangularSolve"), right)
    return _triangular(x, right, lower, transpose=adjoint, conjugate=adjoint)


@op(
    "Tensor.triangular_solve(right, A=x, upper=upper, transpose=transpose,"
    " unitriangular=unit)",
    "mint.triangular_solve(b=right, A=x, upper=upper, transpose=transpose, unitriangular=unit)",
)  # fmt: skip
def triangular_solve(right, x, *, upper=True, transpose=False, unit=False) -> tuple[Array, Array]:
    """What a triangular matrix must be multiplied with to give this Tensor, and that matrix.

    Args:
        right: [..., N, M]: the right sides of the equations, as columns.
        x: [..., N, N]; only one triangle is read.
        upper: whether that is the upper one, the default, or the lower one.
        transpose: whether the matrices are transposed first; False by default.
        unit: whether the diagonal is taken to consist of ones; False by default.

    Example:
        >>> print(Tensor([[2.0], [4.0]]).triangular_solve(Tensor([[2.0, 0.0], [9.0, 4.0]]))[0])
        [[1.]
         [1.]]
    """
    _rows_fit(square_matrices(x, "triangular_solve"), right)
    triangle = jnp.triu(x) if upper else jnp.tril(x)
    return _triangular(x, right, not upper, transpose=transpose, unit=unit), triangle


@op("MatrixInverse(adjoint=adjoint)(x)")
def matrix_inverse(x, *, adjoint=False):
    """The inverse of square matrices, flipped about their diagonal and conjugated if `adjoint`.

    Raises:
        TypeError: x holds integers.
        ValueError: x is not square.

    Example:
        >>> print(ops.MatrixInverse()(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    inverse = jnp.linalg.inv(square_matrices(x, "MatrixInverse"))
    return turned(inverse) if adjoint else inverse


@composite("Lstsq(fast=True, l2_regularizer=0.0)(matrix=x, rhs=right)")
def lstsq_primitive(x, right, fast=True, l2_regularizer=0.0):
    """`lstsq` with the settings of TensorFlow, of which MindSpore knows the defaults alone.

    Args:
        x: a matrix, [M, N].
        right: [M] or [M, K].
        fast: True, the only value.
        l2_regularizer: 0, the only value.

    Raises:
        ValueError: the shapes do not fit together, or a setting is another.

    Example:
        >>> print(ops.round(ops.Lstsq()(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]]))))
        [[2.]]
    """
    if fast is not True or l2_regularizer != 0:
        actual = f"{fast!r} and {l2_regularizer!r}"
        raise wrong(ValueError, "Lstsq: fast and l2_regularizer", "True and 0", actual)
    return lstsq(x, right)


@op("ops.lstsq(input=x, A=right)", "Tensor.lstsq(x, A=right)")
def lstsq(x, right):
    """What a matrix must be multiplied with to come nearest to `right`, in the least squares.

    Raises:
        ValueError: the shapes do not fit together.

    Example:
        >>> print(ops.round(ops.lstsq(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]]))))
        [[2.]]
    """
    inexact(x, "lstsq")
    right = right[:, None] if right.ndim == 1 else right
    _rows_fit(x, right)
    x, right = promoted(x, right)
    return jnp.linalg.pinv(x) @ right
