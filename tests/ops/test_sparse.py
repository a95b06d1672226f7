# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import mycel as ms
from check_cell import check_cell
from harness import assert_close, execution, matches, run_everywhere
from mycel import COOTensor, CSRTensor, RowTensor, Tensor, nn, ops
from support.recorded_operators import agrees, cases, gradients_by_differences

PLACES = np.array([[0, 1], [1, 2], [1, 0]])
VALUES = np.array([1.5, -2.0, 3.0])
RIGHT = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
POINTERS, COLUMNS = np.array([0, 1, 3]), np.array([1, 0, 2])


@pytest.mark.parametrize(("case", "recorded"), list(cases("sparse")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def dense(values, places=PLACES):
    made = np.zeros((2, 3))
    np.add.at(made, tuple(places.T), values)
    return made


def test_they_pass_through_compiled_functions_and_derivatives():
    # Oracle: NumPy, and finite differences.
    def scaled(x: COOTensor, factor):
        return x.with_values(x.values * factor)

    compiled, before = ms.jit(scaled), ms.debug.ledger().counts.replays
    for step in range(4):
        x = COOTensor(Tensor(PLACES), Tensor(VALUES + step), (2, 3))
        made = compiled(x, Tensor(2.0, ms.float64))
        assert type(made) is COOTensor
        assert made.shape == (2, 3)
        assert_close(made.to_dense().asnumpy(), dense(2 * (VALUES + step)), "scaled")
    assert ms.debug.ledger().counts.replays > before

    def squared(x: COOTensor):
        y = x.to_dense()
        return (y * y).sum()

    for name in ("direct", "fused", "graph"):
        with execution(name):
            x = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
            slope = ms.grad(squared)(x)
            assert_close(slope.values.asnumpy(), 2 * VALUES, name)


FUNCTIONS = {
    "dense_of_rows": lambda v: CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), v, (2, 3)).to_dense(),
    "mm": lambda v: CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), v, (2, 3)).mm(Tensor(RIGHT)),
    "sum": lambda v: CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), v, (2, 3)).sum(1),
    "softmax": lambda v: (
        ops.csr_softmax(CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), v, (2, 3)), ms.float64).values
    ),
    "sum_of_two": lambda v: (
        (
            COOTensor(Tensor(PLACES), v, (2, 3))
            + COOTensor(Tensor(PLACES[::-1].copy()), v * v, (2, 3))
        ).values
    ),
    "turned": lambda v: ops.csr_mm(
        CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), v, (2, 3)),
        Tensor(RIGHT[:2]),
        trans_a=True,
        trans_b=True,
    ),
    "rows": lambda v: RowTensor(Tensor([1, 0, 1]), v.reshape(3, 1), (3, 1)).to_dense(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_by_values(name):
    # Oracle: finite differences.
    function = FUNCTIONS[name]

    def squared(v):
        y = function(v)
        return (y * y).sum()

    expected = gradients_by_differences(squared, (VALUES,))[0]
    for execution_name, actual in run_everywhere(ms.grad(squared), VALUES).items():
        assert_close(actual, expected, execution_name, "float32")


def test_products_of_sparse_matrices():
    # Oracle: SciPy.
    left = scipy.sparse.csr_matrix((VALUES, COLUMNS, POINTERS), (2, 3))
    x = CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), Tensor(VALUES), (2, 3))
    y = Tensor(RIGHT).to_csr()
    assert_close(x.mm(y).to_dense().asnumpy(), (left @ RIGHT), "sparse")
    assert_close(ops.csr_mm(y, y, trans_b=True).to_dense().asnumpy(), RIGHT @ RIGHT.T, "turned")
    assert_close((x - x * 2).to_dense().asnumpy(), -left.toarray(), "difference")
    assert_close((-x / 2).to_dense().asnumpy(), -left.toarray() / 2, "half")
    assert_close((2 * x.to_coo()).to_dense().asnumpy(), 2 * left.toarray(), "twice")


def test_small_sums_are_left_out():
    # Oracle: by hand.
    x = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
    y = COOTensor(Tensor(PLACES), Tensor([-1.4, 0.0, 1.0], ms.float64), (2, 3))
    made = ops.coo_add(x, y, Tensor(0.5))
    assert made.indices.asnumpy().tolist() == [[1, 0], [1, 2]]
    assert made.values.asnumpy().tolist() == [4, -2]
    assert (x - x).values.asnumpy().tolist() == [0, 0, 0]


class Multiply(nn.Cell):
    """The layer with the places and the shape of one matrix."""

    def __init__(self):
        super().__init__()
        self.multiply = nn.SparseTensorDenseMatmul()

    def construct(self, values, right):
        return self.multiply(Tensor(PLACES), values, (2, 3), right)


def test_layers():
    # Oracle: SciPy.
    check_cell(Multiply, VALUES, RIGHT, names={}, oracle=lambda _, v, right: dense(v) @ right)
    matches(lambda v: nn.SparseToDense()(COOTensor(Tensor(PLACES), v, (2, 3))), dense, VALUES)
    with pytest.raises(TypeError, match="must be a COOTensor, but Tensor was given"):
        nn.SparseToDense()(Tensor(VALUES))


def test_bad_parts():
    # Oracle: the kinds of errors of MindSpore 2.10.
    with pytest.raises(ValueError, match="values must be of shape"):
        RowTensor(Tensor([1]), Tensor([1.0]), (3, 2))
    with pytest.raises(TypeError, match="values must be a Tensor, but list was given"):
        CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), [1.0, 2.0, 3.0], (2, 3))
    with pytest.raises(ValueError, match="must be of two dimensions, with 2 rows"):
        CSRTensor(Tensor(POINTERS), Tensor(COLUMNS), Tensor(VALUES), (3, 3))
    with pytest.raises(ValueError, match=r"must be \(2, 3\), but \(3, 3\)"):
        COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3)).add(
            COOTensor(Tensor(PLACES), Tensor(VALUES), (3, 3)), 0
        )
    with pytest.raises(ValueError, match="A sparse Tensor must be a matrix"):
        Tensor(VALUES).to_coo()


@pytest.mark.parametrize("shape", [(2, 3), (2, 1), (1, 3), (3,), (1,)])
@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_a_dense_factor_repeats_to_the_whole(kind, shape):
    # Oracle: NumPy. Public programs scale the rows of a CSRTensor with a column.
    factor = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    made = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
    made = made.to_csr() if kind == "csr" else made
    other = Tensor(factor)
    assert_close((made * other).to_dense(), dense(VALUES) * factor)
    assert_close((made / other).to_dense(), dense(VALUES) / factor)

    slope = ms.grad(lambda other: (made * other).values.sum())(other)
    spread = np.broadcast_to(factor, (2, 3))
    lengths = [n for n, m in enumerate((1,) * (2 - factor.ndim) + shape) if m != spread.shape[n]]
    wanted = dense(VALUES).sum(axis=tuple(lengths), keepdims=True).reshape(shape)
    assert_close(slope, wanted)


def test_a_dense_factor_that_does_not_repeat():
    made = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
    with pytest.raises(ValueError, match=r"of shape \(2, 3\), or lengths 1 in it"):
        made * Tensor([[1.0, 2.0]])


def test_the_element_type_of_a_sparse_tensor():
    # Oracle: MindSpore 2.7 and 2.10, whose `ops.dtype` takes them.
    made = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
    assert ops.dtype(made) == ops.dtype(made.to_csr()) == ops.dtype(made.values)


@pytest.mark.parametrize("kind", ["COO", "CSR"])
def test_a_dense_one_on_the_left_leaves_the_result_to_the_sparse_one(kind):
    # Oracle: NumPy with the dense matrix, as MindSpore 2.10 gives for COO; the other mode.
    x = COOTensor(Tensor(PLACES), Tensor(VALUES), (2, 3))
    if kind == "CSR":
        x = x.to_csr()
    left, expected = np.arange(6.0).reshape(2, 3), dense(VALUES)

    def work(tensor):
        made = [(tensor * x).to_dense()]
        if kind == "COO":
            made += [tensor + x, tensor - x, x - tensor]
        return made

    numpys = [left * expected, left + expected, left - expected, expected - left]
    compiled = ms.jit(work)
    for each in (work, compiled, compiled, compiled):
        for result, wanted in zip(each(Tensor(left)), numpys, strict=False):
            assert_close(result.asnumpy(), wanted, kind)
    assert_close((left * x).to_dense().asnumpy(), left * expected, "an array")
    for wrong in (lambda: Tensor(left) / x, lambda: 2 / x, lambda: ops.exp(x), lambda: Tensor(x)):
        with pytest.raises(TypeError, match=f"{kind}Tensor"):
            wrong()


def test_a_sparse_tensor_is_not_multiplied_as_a_tuple_is():
    # Oracle: Python's own error for classes without the operator.
    row = RowTensor(Tensor([1]), Tensor([[5, 6, 7]]), (2, 3))
    for wrong in (lambda: 2 * row, lambda: row * 2, lambda: Tensor(2) * row, lambda: row + (1,)):
        with pytest.raises(TypeError):
            wrong()
