# SPDX-License-Identifier: Apache-2.0
"""`mycel.scipy`: linear algebra and minimisation with SciPy's names."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import mycel as ms
from harness import assert_close, matches, run_everywhere
from mycel import Tensor, ops
from mycel.scipy import linalg, optimize
from support.recorded_operators import gradients_by_differences

A = np.array([[0.5, 1.0, 4.0], [-1.0, 3.0, 0.25], [5.0, -2.0, 0.5]])
POSITIVE = A @ A.T
B = np.array([1.0, -2.0, 0.5])
COLUMNS = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "lu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_of_a_matrix(name, dtype):
    # Oracle: SciPy; integers give Float64, as in MindSpore.
    a = (POSITIVE if name == "cholesky" else A).round().astype(dtype)
    wanted = np.float64 if dtype == np.int32 else dtype
    found = getattr(linalg, name)(Tensor(a))
    expected = getattr(scipy.linalg, name)(a.astype(np.float64))
    expected = tuple(e.astype(wanted) for e in expected) if name == "lu" else wanted(expected)
    found = tuple(f.asnumpy() for f in found) if name == "lu" else found.asnumpy()
    assert_close(found, expected, name)


CALLS = {
    "cholesky_lower": lambda m, a: m.cholesky(a @ a.T, lower=True),
    "cho_solve": lambda m, a: m.cho_solve(m.cho_factor(a @ a.T), a[:, :2]),
    "cho_solve_lower": lambda m, a: m.cho_solve(m.cho_factor(a @ a.T, lower=True), a[0]),
    "lu_permuted": lambda m, a: m.lu(a[:, :2], permute_l=True),
    "lu_solve": lambda m, a: m.lu_solve(m.lu_factor(a), a[:, :2]),
    "lu_solve_turned": lambda m, a: m.lu_solve(m.lu_factor(a), a[0], trans=1),
    "triangular": lambda m, a: m.solve_triangular(a, a[:, :2]),
    "triangular_turned": lambda m, a: m.solve_triangular(
        a, a[0], trans="T", lower=True, unit_diagonal=True
    ),
    "eigenvalues": lambda m, a: m.eigh(a @ a.T, eigvals_only=True),
    "eigenvalues_upper": lambda m, a: m.eigh(a + 5, lower=False, eigvals_only=True),
    "eigenvalues_of_pair": lambda m, a: m.eigh(a + a.T, a @ a.T, eigvals_only=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    # Oracle: SciPy; gradients by finite differences.
    call = CALLS[name]
    matches(lambda a: call(linalg, a), lambda a: call(scipy.linalg, a), A)

    def total(a):
        found = call(linalg, a)
        return sum((f * f).sum() for f in (found if isinstance(found, tuple) else (found,)))

    expected = gradients_by_differences(total, (A,))[0]
    for execution_name, actual in run_everywhere(ms.grad(total), A).items():
        assert_close(actual, expected, execution_name, "float32")


def test_eigenvectors():
    # Oracle: what they are: their signs are free.
    def put_together(a, b):
        values, vectors = linalg.eigh(a, b)
        return ops.matmul(a, vectors), ops.matmul(b, vectors) * values

    for left, right in run_everywhere(put_together, A + A.T, POSITIVE).values():
        assert_close(left, right, "pair")
    values, vectors = linalg.eigh(Tensor(POSITIVE), eigvals=(1, 2))
    assert_close(values.asnumpy(), scipy.linalg.eigh(POSITIVE)[0][1:], "values")
    assert vectors.shape == (3, 2)


def test_lu_factor_and_block_diag():
    # Oracle: SciPy; pivots are Int32.
    packed, pivots = linalg.lu_factor(Tensor(A))
    expected = scipy.linalg.lu_factor(A)
    assert_close([packed.asnumpy(), pivots.asnumpy()], [expected[0], expected[1]], "lu")
    found = linalg.block_diag(Tensor(2.0), Tensor([[1.0, 2.0]]), Tensor([3.0])).asnumpy()
    assert_close(found, scipy.linalg.block_diag(2, [[1, 2]], [3]).astype(np.float32), "blocks")


def test_bad_operands():
    # Oracle: the kinds of errors of MindSpore 2.10.
    with pytest.raises(TypeError, match="must be a Tensor, but ndarray was given"):
        linalg.inv(A)
    with pytest.raises(TypeError, match="Float32 or Float64, but Float16 was given"):
        linalg.det(Tensor(A.astype(np.float16)))
    with pytest.raises(ValueError, match="a square matrix, but shape"):
        linalg.inv(Tensor(A[:2]))
    with pytest.raises(ValueError, match="must be of 3 rows, but shape"):
        linalg.solve_triangular(Tensor(A), Tensor(B[:2]))
    with pytest.raises(ValueError, match="trans must be"):
        linalg.solve_triangular(Tensor(A), Tensor(B), trans=3)
    assert linalg.solve_triangular(Tensor([[2]]), Tensor([4.0])).dtype == ms.float32


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2).sum() + 100 * ((x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "LBFGS"])
def test_minimize(method):
    # Oracle: the minimum is at ones.
    start = Tensor(np.array([-1.2, 1.0, 0.5]))
    found = optimize.minimize(rosenbrock, start, method=method, options={"gtol": 1e-6})
    assert found.success and found.status == 0
    np.testing.assert_allclose(found.x.asnumpy(), 1, atol=1e-4)
    assert found.x.dtype == ms.float64
    assert (found.hess_inv is None) == (method == "LBFGS")
    with pytest.raises(ValueError, match="method must be 'BFGS' or 'LBFGS'"):
        optimize.minimize(rosenbrock, start, method="Newton")
    with pytest.raises(ValueError, match="bounds must be left out"):
        optimize.minimize(rosenbrock, start, bounds=[(0, 1)])


def test_minimize_with_arguments():
    # Oracle: by hand.
    found = optimize.minimize(lambda x, y: ((x - y) ** 2).sum(), Tensor([0.0]), (Tensor([3.0]),))
    assert_close(found.x.asnumpy(), np.array([3], np.float32), "x")


def test_line_search():
    # Oracle: SciPy, with the gradient by hand.
    start, direction = np.array([-1.0, 0.5]), np.array([2.0, 0.1])
    found = optimize.line_search(lambda x: ((x - 1.5) ** 2).sum(), Tensor(start), Tensor(direction))
    expected = scipy.optimize.line_search(
        lambda x: ((x - 1.5) ** 2).sum(), lambda x: 2 * (x - 1.5), start, direction
    )
    np.testing.assert_allclose([found.a_k, found.f_k], [expected[0], expected[3]])
    assert not found.failed
    uphill = optimize.line_search(lambda x: (x * x).sum(), Tensor([1.0]), Tensor([1.0]))
    assert uphill.failed and uphill.status == 1


def test_assignment():
    # Oracle: SciPy; -1 for rows without a column.
    costs = np.array([[4.0, 1, 3], [2, 0, 5], [3, 2, 2]])
    for maximize in (False, True):
        found = [part.asnumpy() for part in optimize.linear_sum_assignment(Tensor(costs), maximize)]
        assert_close(found, scipy.optimize.linear_sum_assignment(costs, maximize), "assignment")
    rows, columns = optimize.linear_sum_assignment(Tensor(costs), False, Tensor(2))
    assert rows.asnumpy().tolist() == [0, 1, -1] and columns.asnumpy().tolist() == [1, 0, -1]


@pytest.mark.parametrize("module", [linalg, optimize], ids=["linalg", "optimize"])
def test_examples_do_what_they_say(module):
    found = doctest.testmod(
        module,
        extraglobs={"ms": ms, "ops": ops, "Tensor": Tensor},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert found.failed == 0 and found.attempted > 5
