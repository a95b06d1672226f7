# SPDX-License-Identifier: Apache-2.0
"""Linear algebra with SciPy's names and arguments; of one matrix at a time.

Arguments that tell SciPy to save memory or to leave out checks (`overwrite_a`, `check_finite`)
are taken and change nothing.
"""

from __future__ import annotations

import numpy as np

from mycel.kernel.base import errors
from mycel.kernel.base.dtypes import float32, float64, int32, int64
from mycel.kernel.record.tensor import Tensor
from mycel.ops.array import diagonals
from mycel.ops.math import decompositions, linear, solving
from mycel.ops.math.arithmetic import add

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eigh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "solve_triangular",
]


def _matrix(a, square=True) -> Tensor:
    """The matrix itself, of Float32 or Float64: integers become Float64."""
    if not isinstance(a, Tensor):
        raise errors.wrong(TypeError, "A matrix", "a Tensor", type(a).__name__)
    if a.dtype not in (int32, int64, float32, float64):
        kinds = "of Int32, Int64, Float32 or Float64"
        raise errors.wrong(TypeError, "A matrix", kinds, str(a.dtype))
    if a.ndim != 2 or (square and a.shape[0] != a.shape[1]):
        kind = "a square matrix" if square else "a matrix"
        raise errors.wrong(ValueError, "The operand", kind, f"shape {a.shape}")
    return a.astype(float64) if a.dtype in (int32, int64) else a


def _right_side(a, b) -> Tensor:
    """The right side of an equation as columns."""
    if not isinstance(b, Tensor):
        raise errors.wrong(TypeError, "The right side", "a Tensor", type(b).__name__)
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        expected = f"of {a.shape[0]} rows"
        raise errors.wrong(ValueError, "The right side", expected, f"shape {b.shape}")
    return b.reshape(b.shape[0], -1).astype(a.dtype)


def block_diag(*arrs):
    """Matrices along the diagonal of zeros; vectors are rows.

    Source: MindSpore's `scipy.linalg.block_diag`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.block_diag(Tensor([[1.0]]), Tensor([[2.0, 3.0]])))
        [[1. 0. 0.]
         [0. 2. 3.]]
    """
    return diagonals.block_diag(*arrs)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of a matrix.

    Raises:
        TypeError: a is not a Tensor, or of another type.
        ValueError: a is no square matrix.

    Source: MindSpore's `scipy.linalg.inv`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        [[0.5  0.  ]
         [0.   0.25]]
    """
    del overwrite_a, check_finite
    return decompositions.inverse(_matrix(a))


def det(a, overwrite_a=False, check_finite=True):
    """The determinant of a matrix.

    Source: MindSpore's `scipy.linalg.det`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.det(Tensor([[2.0, 0.0], [0.0, 4.0]])))
        8.0
    """
    del overwrite_a, check_finite
    return decompositions.det(_matrix(a))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangular factor of a positive definite matrix: U with a = Uᵀ · U, or L = Uᵀ.

    Source: MindSpore's `scipy.linalg.cholesky`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]])))
        [[2. 0.]
         [0. 3.]]
    """
    del overwrite_a, check_finite
    return decompositions.cholesky(_matrix(a), not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """What `cho_solve` needs: the triangular factor, and which triangle it is.

    Source: MindSpore's `scipy.linalg.cho_factor`.

    Example:
        >>> from mycel.scipy import linalg
        >>> linalg.cho_factor(Tensor([[4.0]]))[1]
        False
    """
    del overwrite_a, check_finite
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of equations with a matrix given by `cho_factor`.

    Source: MindSpore's `scipy.linalg.cho_solve`.

    Example:
        >>> from mycel.scipy import linalg
        >>> factor = linalg.cho_factor(Tensor([[4.0, 0.0], [0.0, 9.0]]))
        >>> print(linalg.cho_solve(factor, Tensor([8.0, 9.0])))
        [2. 1.]
    """
    del overwrite_b, check_finite
    factor, lower = c_and_lower
    factor = _matrix(factor)
    return solving.cholesky_solve(_right_side(factor, b), factor, not lower).reshape(b.shape)


def eigh(
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    turbo=True,
    eigvals=None,
    type=1,
    check_finite=True,
):
    """The eigenvalues of a symmetric matrix in order, and its eigenvectors as columns.

    Args:
        b: a positive definite matrix: the eigenvalues w are those of a · v = w · b · v.
        lower: which triangle is read.
        eigvals_only: without the eigenvectors.
        eigvals: the first and the last one wanted, by their number.
        type: 1; another kind of equation with `b` is not there.

    Raises:
        ValueError: another type.

    Source: MindSpore's `scipy.linalg.eigh`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.eigh(Tensor([[3.0, 0.0], [0.0, 2.0]]), eigvals_only=True))
        [2. 3.]
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if type != 1:
        raise errors.wrong(ValueError, "type", "1", repr(type))
    a, factor = _matrix(a), None
    if b is not None:
        lower_triangle = a.tril() if lower else a.triu().T
        a = add(lower_triangle, lower_triangle.tril(-1).T)
        factor = decompositions.cholesky(_matrix(b))
        half = solving.matrix_triangular_solve(factor, a)
        a = solving.matrix_triangular_solve(factor, half.T)
    if eigvals_only:
        values, columns = decompositions.eigh(a, lower, False), None
    else:
        values, columns = decompositions.eigh(a, lower)
        if factor is not None:
            columns = solving.matrix_triangular_solve(factor, columns, True, True)
    if eigvals is not None:
        chosen = slice(eigvals[0], eigvals[1] + 1)
        values, columns = values[chosen], columns if columns is None else columns[:, chosen]
    return values if columns is None else (values, columns)


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """P, L and U, whose product is the matrix: an order of rows and two triangles.

    Args:
        permute_l: gives P · L and U.

    Source: MindSpore's `scipy.linalg.lu`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.lu(Tensor([[0.0, 2.0], [4.0, 0.0]]))[2])
        [[4. 0.]
         [0. 2.]]
    """
    del overwrite_a, check_finite
    packed, pivots = decompositions.lu_decomposition(_matrix(a, square=False))
    order, lower, upper = decompositions.lu_unpack(packed, pivots + 1)
    return (linear.matmul(order, lower), upper) if permute_l else (order, lower, upper)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """What `lu_solve` needs: both triangles in one matrix, and the rows that were exchanged.

    Source: MindSpore's `scipy.linalg.lu_factor`.

    Example:
        >>> from mycel.scipy import linalg
        >>> print(linalg.lu_factor(Tensor([[0.0, 2.0], [4.0, 0.0]]))[1])
        [1 1]
    """
    del overwrite_a, check_finite
    return decompositions.lu_decomposition(_matrix(a))


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of equations with a matrix given by `lu_factor`.

    Args:
        trans: 1 and 2 stand for the matrix with its dimensions exchanged.

    Raises:
        ValueError: another `trans`.

    Source: MindSpore's `scipy.linalg.lu_solve`.

    Example:
        >>> from mycel.scipy import linalg
        >>> factor = linalg.lu_factor(Tensor([[0.0, 2.0], [4.0, 0.0]]))
        >>> print(linalg.lu_solve(factor, Tensor([2.0, 8.0])))
        [2. 1.]
    """
    del overwrite_b, check_finite
    packed, pivots = lu_and_piv
    packed = _matrix(packed)
    columns = _right_side(packed, b)
    if not _turned(trans):
        return solving.lu_solve(columns, packed, pivots + 1).reshape(b.shape)
    order, lower, upper = decompositions.lu_unpack(packed, pivots + 1)
    half = solving.matrix_triangular_solve(upper.T, columns)
    half = solving.matrix_triangular_solve(lower, half, True, True)
    return linear.matmul(order, half).reshape(b.shape)


def _turned(trans) -> bool:
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise errors.wrong(ValueError, "trans", "0, 1, 2, 'N', 'T' or 'C'", repr(trans))
    return trans not in (0, "N")


def solve_triangular(
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    debug=None,
    check_finite=True,
):
    """The solution of equations with a triangular matrix; the other triangle is not read.

    Args:
        trans: 1, 2, 'T' and 'C' stand for the matrix with its dimensions exchanged.
        lower: which triangle is read.
        unit_diagonal: ones stand for the diagonal.

    Raises:
        ValueError: another `trans`, or shapes that do not fit.

    Source: MindSpore's `scipy.linalg.solve_triangular`.

    Example:
        >>> from mycel.scipy import linalg
        >>> a = Tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> print(linalg.solve_triangular(a, Tensor([2.0, 4.0])))
        [1. 1.]
    """
    del overwrite_b, debug, check_finite
    # Unlike in the other functions, integers become Float32 here in MindSpore.
    whole = isinstance(a, Tensor) and a.dtype in (int32, int64)
    a = _matrix(a.astype(float32) if whole else a)
    solution = solving.triangular_solve(
        _right_side(a, b), a, not lower, _turned(trans), bool(unit_diagonal)
    )
    return solution[0].reshape(b.shape)


# What each of LAPACK's drivers says beside the solution: residuals, rank, singular values.
DRIVERS = {
    "gels": (True, False, False),
    "gelsy": (False, True, False),
    "gelss": (True, True, True),
    "gelsd": (True, True, True),
}


def lstsq(A, B, rcond=None, driver=None):
    """The X for which A · X comes nearest to B, in the least squares; the shortest of several.

    Args:
        A: [M, N], Float32 or Float64; integers become Float64.
        B: [M] or [M, K].
        rcond: no effect: singular values count as 0 below the greatest times the rounding error.
        driver: 'gels', 'gelsy' (None, the default), 'gelss' or 'gelsd'. All compute the same; by it
            goes what is said beside the solution.

    Returns:
        The solution, [N] or [N, K]; with 'gels', 'gelss' and 'gelsd' where M exceeds N the squared
        distance of each column; the rank, but for 'gels'; with 'gelss' and 'gelsd' the singular
        values. What a driver does not say is an empty Tensor.

    Raises:
        ValueError: the shapes do not fit together, or the driver is unknown.

    Source: MindSpore's `scipy.linalg.lstsq`.

    Example:
        >>> from mycel.scipy import linalg
        >>> solution, residual, rank, values = linalg.lstsq(
        ...     Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 4.0]))
        >>> print(solution, rank)
        [1. 1.] 2
    """
    del rcond
    if driver is not None and driver not in DRIVERS:
        raise errors.wrong(ValueError, "lstsq: driver", ", ".join(map(repr, DRIVERS)), repr(driver))
    A = _matrix(A, square=False)
    right = _right_side(A, B)
    found = solving.lstsq(A, right)
    values = decompositions.svd(A, False, False)
    empty = values[:0]
    far, rank, singular = DRIVERS[driver or "gelsy"]
    far = far and A.shape[0] > A.shape[1]
    distances = ((linear.matmul(A, found) - right) ** 2).sum(0)
    tiny = float(np.finfo(A.dtype.numpy).eps) * max(A.shape)
    return (
        found.reshape(-1) if B.ndim == 1 else found,
        distances if far else empty,
        (values > values.max() * tiny).sum() if rank else empty,
        values if singular else empty,
    )
