# SPDX-License-Identifier: Apache-2.0
"""Decompositions, equations, bands of diagonals, products over batches."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import scipy.linalg

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, mint, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

A = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, -2.0, 5.0]])
TALL = np.array([[2.0, 1.0], [-1.0, 0.5], [0.25, 4.0]])
RIGHT = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
PIVOTS = Tensor([2, 3, 3], ms.int32)


@pytest.mark.parametrize(("case", "recorded"), list(cases("linear_algebra")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def positive(x):
    return ops.matmul(x, x.swapaxes(-1, -2))


# What MindSpore has no derivative of, or a wrong one: functions that do not depend on free signs.
DIFFERENTIABLE = {
    "qr": (lambda x: ops.qr(x)[1].abs(), TALL),
    "qr_complete_square": (lambda x: ops.qr(x, "complete")[1].abs(), A),
    "svd_vectors": (lambda x: ops.matmul(ops.svd(x)[1].abs(), ops.svd(x)[2].abs()), TALL),
    "svd_values": (lambda x: ops.svd(x, compute_uv=False), TALL),
    "cholesky": (lambda x: ops.cholesky(positive(x)), A),
    "cholesky_upper": (lambda x: ops.cholesky(positive(x), upper=True), A),
    "cholesky_inverse": (lambda x: ops.cholesky_inverse(x.tril()), A),
    "cholesky_inverse_upper": (lambda x: ops.cholesky_inverse(x.triu(), upper=True), A),
    "cholesky_solve": (lambda x: ops.cholesky_solve(Tensor(RIGHT), x.tril()), A),
    "eigvals": (lambda x: ops.eigvals(positive(x)).real().sort()[0], A),
    "lu_solve": (lambda x: ops.lu_solve(Tensor(RIGHT), x, PIVOTS), A),
    "lu_unpack": (lambda x: sum(part.sum() for part in ops.lu_unpack(x, PIVOTS)), A),
    "matrix_exp": (lambda x: ops.matrix_exp(x / 4), A),
    "matrix_inverse_adjoint": (lambda x: ops.MatrixInverse(adjoint=True)(x), A),
    "pinv": (ops.pinv, TALL),
    "pinv_tolerance": (lambda x: ops.pinv(x, atol=3.0), TALL),
    "lstsq": (lambda x: ops.lstsq(x, Tensor(RIGHT)), TALL),
    "orgqr": (lambda x: ops.orgqr(x, Tensor([1.2, 0.8], ms.float64)), TALL),
    "ormqr": (
        lambda x: ops.ormqr(x, Tensor([1.2, 0.8], ms.float64), Tensor(RIGHT), transpose=True),
        TALL,
    ),
    "nuclear_norm": (lambda x: ops.NuclearNorm()(x), A),
    "triangular_solve": (lambda x: Tensor(RIGHT).triangular_solve(x, transpose=True)[0], A),
    "fill_diagonal": (lambda x: x.fill_diagonal(2.0) * x, TALL),
    "vander": (ops.vander, A[0]),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    # Oracle: finite differences in Float64.
    function, x = DIFFERENTIABLE[name]

    def squared(x):
        y = function(x)
        return (y * y).sum()

    expected = gradients_by_differences(squared, (x,))[0]
    for execution_name, actual in run_everywhere(ms.grad(squared), x).items():
        assert_close(actual, expected, execution_name, "float32")


def test_eigenvectors():
    # Oracle: what they are: their sizes and angles are free.
    def both(x):
        values, vectors = ops.eig(x)
        return ops.matmul(x.astype(ms.complex128), vectors), vectors * values

    for left, right in run_everywhere(both, A).values():
        assert_close(left, right, "eig")
    values = ops.eigvals(Tensor(A)).asnumpy()
    assert_close(np.sort_complex(values), np.sort_complex(np.linalg.eigvals(A)), "eigvals")
    assert [part.shape for part in ops.Eig(compute_v=True)(Tensor(A))] == [(3,), (3, 3)]


def test_exponential_and_reflections():
    # Oracle: SciPy and NumPy; MindSpore's CPU has no kernels for them.
    matches(ops.matrix_exp, scipy.linalg.expm, A / 4)
    packed, scales = (part.asnumpy() for part in ops.geqrf(Tensor(TALL)))
    # `geqrf` is one of LAPACK's names.
    expected = scipy.linalg.lapack.dgeqrf(TALL)[:2]
    assert_close([packed, scales], expected, "geqrf")
    whole = scipy.linalg.qr(TALL)[0]
    matches(lambda x, t: ops.ormqr(x, t, Tensor(RIGHT)), lambda *_: whole @ RIGHT, packed, scales)
    matches(
        lambda x, t: ops.ormqr(x, t, Tensor(RIGHT.T.copy()), False, True),
        lambda *_: RIGHT.T @ whole.T,
        packed,
        scales,
    )
    matches(lambda x, t: ops.orgqr(x, t), lambda *_: whole[:, :2], packed, scales)


def test_complex_matrices():
    # Oracle: NumPy and SciPy.
    z = A + 1j * A[::-1]
    right = RIGHT + 1j * RIGHT[::-1]
    positive = z @ z.conj().T
    matches(lambda z: ops.cholesky(z), np.linalg.cholesky, positive)
    matches(
        lambda z, b: ops.cholesky_solve(b, ops.cholesky(z, upper=True), upper=True),
        np.linalg.solve,
        positive,
        right,
    )
    adjoint = lambda z, b: np.linalg.solve(z.conj().T, b)  # noqa: E731
    matches(lambda z, b: ops.matrix_solve(z, b, adjoint=True), adjoint, z, right)
    matches(lambda z: ops.pinv(z), np.linalg.pinv, right)
    matches(lambda z: ops.adjoint(z), lambda z: z.conj().T, right)
    matches(lambda z, w: ops.vecdot(z, w), lambda z, w: (z.conj() * w).sum(-1), z, z + 1)
    assert_close(Tensor(right).H.asnumpy(), right.conj().T, "H")
    assert_close(Tensor(z[None]).mH.asnumpy(), z.conj().T[None], "mH")
    s, u, v = ops.svd(Tensor(right))
    assert_close(((u * s) @ v.H).asnumpy(), right, "svd")


def test_covariance():
    # Oracle: NumPy.
    matches(lambda x: ops.cov(x), np.cov, A)
    matches(lambda x: ops.cov(x), np.cov, A[0])
    counts, weights = np.array([1, 3, 2]), np.array([0.5, 2.0, 1.0])
    matches(
        lambda x: ops.cov(x, correction=2, fweights=Tensor(counts), aweights=Tensor(weights)),
        lambda x: np.cov(x, ddof=2, fweights=counts, aweights=weights),
        A,
    )


def test_bad_operands():
    # Oracle: the kinds of errors of MindSpore 2.10.
    with pytest.raises(ValueError, match="needs square matrices, but the shape is"):
        ops.logdet(Tensor(TALL))
    with pytest.raises(TypeError, match="needs real or complex numbers"):
        ops.pinv(Tensor([[1, 2]]))
    for function in (ops.inverse, ops.det, ops.slogdet, ops.cholesky, ops.MatrixInverse()):
        for dtype in (np.int32, np.float16):
            with pytest.raises(TypeError, match="needs real or complex numbers"):
                function(Tensor(A.astype(dtype)))
    with pytest.raises(ValueError, match="does not fit matrices"):
        ops.matrix_solve(Tensor(A), Tensor(TALL.T.copy()))
    with pytest.raises(ValueError, match="Two batches of one size"):
        ops.batch_dot(Tensor(A), Tensor(TALL.T.copy()))
    with pytest.raises(ValueError, match="has no diagonal"):
        ops.matrix_diag_part(Tensor(TALL), 5, 0.0)
    with pytest.raises(ValueError, match="align must be one of"):
        ops.matrix_set_diag(Tensor(TALL), Tensor([1.0, 2.0]), align="LEFT")
    with pytest.raises(ValueError, match="use mH"):
        print(Tensor(A[None]).H)


SHAPES = [  # of two batches, and whether ops.bmm takes them, and whether mint.bmm does
    (((2, 3, 4), (2, 4, 5)), True, True),
    (((2, 2, 3, 4), (2, 2, 4, 5)), True, False),
    (((3, 4), (4, 5)), True, False),
    (((2, 3), (2, 3, 4)), False, False),
    (((1, 3, 4), (2, 4, 5)), False, False),
    (((1, 2, 3, 4), (2, 2, 4, 5)), False, False),
    (((2, 3, 4), (4, 5)), False, False),
    (((2, 2, 3, 4), (2, 4, 5)), False, False),
]


@pytest.mark.parametrize(("shapes", "taken", "by_mint"), SHAPES)
def test_batches_are_not_broadcast(shapes, taken, by_mint):
    # Oracle: MindSpore 2.10, for the values NumPy; ops.BatchMatMul broadcasts as on an Ascend.
    x, y = (np.arange(math.prod(s), dtype=np.float32).reshape(s) for s in shapes)
    products = [(ops.bmm, taken), (lambda x, y: x.bmm(y), taken), (mint.bmm, by_mint)]
    sums = [(ops.baddbmm, taken), (lambda z, x, y: z.baddbmm(x, y), taken), (mint.baddbmm, by_mint)]
    products += [(functools.partial(f, Tensor(0.0)), accepts) for f, accepts in sums]
    for function, accepts in products:
        if accepts:
            matches(function, np.matmul, x, y)
        else:
            with pytest.raises(ValueError, match=r"differ|dimensions"):
                function(Tensor(x), Tensor(y))
