# SPDX-License-Identifier: Apache-2.0
"""Functions that few programs call; and that every public name is called in some test."""

from __future__ import annotations

import inspect
import itertools
import logging
import operator
import pathlib
import re

import numpy as np
import pytest
import scipy.special

import mycel as ms
from fixtures import cases as families
from harness import as_numpy, assert_close, matches
from mycel import Parameter, Tensor, ops
from support.recorded_operators import agrees, cases

X = np.array([[0.3, -0.8, 0.5], [-0.25, 0.9, 0.1]], np.float32)
Y = np.array([[0.6, 0.8, 0.2], [0.5, 0.4, 0.7]], np.float32)
ROWS = np.array([[1], [0]], np.int32)
CSR = np.array([0, 2, 3], np.int32), np.array([0, 2, 1], np.int32), np.float32([1, 2, 3])


@pytest.mark.parametrize(("case", "recorded"), list(cases("rare_functions")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded)


def by_windows(x, rows, columns, reduce, more):
    """NumPy's reduction of each window."""
    spans = itertools.pairwise(rows), list(itertools.pairwise(columns))
    made = [
        np.stack([reduce(x[:, a : b + more, c : d + more], (1, 2)) for c, d in spans[1]], 1)
        for a, b in spans[0]
    ]
    return np.stack(made, 1)


@pytest.mark.parametrize("pseudo", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize(
    ("kind", "reduce"), [(ops.FractionalMaxPool, np.max), (ops.FractionalAvgPool, np.mean)]
)
def test_windows_of_uneven_sizes(kind, reduce, overlapping, pseudo):
    # Oracle: the rule for the sizes of windows, and NumPy for what is in them.
    x = np.random.default_rng(0).normal(size=(2, 11, 9, 3)).astype(np.float32)
    seen = set()
    for seed in range(1, 7):
        settings = {"pseudo_random": pseudo, "overlapping": overlapping, "seed": seed}
        settings["deterministic"] = seed > 3
        pool = kind([1.0, 1.7, 2.2, 1.0], **settings)
        found, rows, columns = as_numpy(pool(Tensor(x)))
        for ends, length, count in ((rows, 11, 6), (columns, 9, 4)):
            assert ends[0] == 0 and ends[-1] == length and len(ends) == count + 1
            assert set(np.diff(ends)) <= {length // count, length // count + 1}
        assert_close(found, by_windows(x, rows, columns, reduce, int(overlapping)))
        seen.add((*rows, *columns))
        again = as_numpy(pool(Tensor(x)))
        same = (again[1] == rows).all() and (again[2] == columns).all()
        assert same or not settings["deterministic"]
    assert len(seen) > 2


def test_wrong_arguments_of_pooling_and_logarithms():
    # Oracle: MindSpore's document.
    images = ops.ones((1, 4, 4, 1))
    for ratio in ([1.0, 2.0, 2.0], [2.0, 2.0, 2.0, 1.0], [1.0, 0.5, 2.0, 1.0]):
        with pytest.raises(ValueError, match="pooling_ratio"):
            ops.FractionalMaxPool(ratio)(images)
    with pytest.raises(TypeError, match="float32"):
        ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0])(images.astype(ms.float16))
    with pytest.raises(ValueError, match="kernel_type"):
        ops.ScaleAndTranslate("sinc")(images, Tensor([2, 2]), ops.ones(2), ops.ones(2))
    with pytest.raises(TypeError, match="Complex64"):
        ops.MatrixLogarithm()(ops.ones((2, 2)))


def test_python_functions():
    # Oracle: Python; MindSpore 2.10 has these in its compiler only.
    assert ops.bool_and(True, False) is False and ops.bool_or(True, False) is True
    assert ops.bool_not(True) is False and ops.bool_eq(True, True) is True
    assert ops.scalar_ne(7, 3) is True
    assert ops.string_concat("a", "b") == "ab" and ops.string_eq("a", "a") is True
    assert ops.dict_setitem({"a": 1}, "b", 2) == {"a": 1, "b": 2}
    assert ops.list_setitem([1, 2], 0, 5) == [5, 2]
    assert ops.make_dict(("a", "b"), (1, 2)) == {"a": 1, "b": 2}
    assert ops.make_list(1, 2) == [1, 2]
    assert ops.make_slice(1, 5, 2) == slice(1, 5, 2)
    assert ops.scalar_to_array(2.5).asnumpy() == 2.5


def test_functions_without_a_kernel():
    # Oracle: NumPy and SciPy.
    x, y = Tensor(X), Tensor(Y)
    found = ops.accumulate_n([x, y, x])
    assert_close(found.asnumpy(), X + Y + X)
    share = scipy.special.softmax(X, 1)
    loss, slope = ops.softmax_cross_entropy_with_logits(x, y)
    assert_close(loss.asnumpy(), -(Y * np.log(share)).sum(1))
    assert_close(slope.asnumpy(), share - Y)
    found = ops.sparse_softmax_cross_entropy_with_logits(x, Tensor([2, 0]))
    assert_close(found.asnumpy(), np.float32(-np.log(share[[0, 1], [2, 0]]).mean()))
    rows = Tensor(ROWS)
    assert_close(x.tensor_scatter_div(rows, y).asnumpy(), X / Y[::-1])
    assert_close(x.tensor_scatter_mul(rows, y).asnumpy(), X * Y[::-1])


def test_laplace_distribution():
    # Oracle: the moments of the distribution.
    ms.set_seed(5)
    drawn = ops.standard_laplace((200, 200)).asnumpy()
    assert drawn.shape == (200, 200)
    assert abs(drawn.mean()) < 0.03
    assert abs(drawn.var() - 2) < 0.1


def test_members_of_numpy():
    # Oracle: NumPy, and the names of its types.
    assert np.isposinf(ms.numpy.PINF)
    names = [name.rstrip("_") for name in ms.numpy.numeric_types]
    assert all(np.issubdtype(np.dtype(name), np.number) or name == "bool" for name in names)


def test_a_name_of_its_own():
    # Oracle: a Parameter without a name is called "Parameter".
    assert Parameter(Tensor([1.0])).is_unnamed
    assert not Parameter(Tensor([1.0]), name="own").is_unnamed


def test_sparse_products_without_a_kernel():
    # Oracle: NumPy.
    t = ms.CSRTensor(*map(Tensor, CSR), (2, 3))
    stored = Y[[0, 0, 1], CSR[1]]
    assert_close(ops.csr_mul(t, Tensor(Y)).values.asnumpy(), CSR[2] * stored)
    assert_close(ops.csr_div(t, Tensor(Y)).values.asnumpy(), CSR[2] / stored)
    assert_close(ops.csr_reduce_sum(t, 1).asnumpy(), np.float32([[3], [3]]))
    made = ops.make_row_tensor(Tensor([1]), Tensor([[5.0, 6.0]]), (3, 2))
    assert made.dense_shape == (3, 2)
    assert made.values.asnumpy().tolist() == [[5, 6]]


def test_generated_names_of_mint():
    # Oracle: NumPy; MindSpore 2.10 has no CPU kernels for them.
    x, y = Tensor(X), Tensor(Y)
    found = (
        *(ops.add_ext(x, y, alpha=2), ops.sub_ext(x, y, alpha=2), ops.matmul_ext(x, y.T)),
        *(ops.bmm_ext(x[None], y.T[None]), ops.chunk_ext(x, 3, 1)[2], ops.cumsum_ext(x, 1)),
        *(ops.mean_ext(x, 1), ops.prod_ext(x), ops.sort_ext(x)[0], ops.stack_ext((x, y), 1)),
        *(ops.sum_ext(x, 1, True), ops.topk_ext(x, 1)[0], ms.mint.npu_gelu(x)),
        *(ops.baddbmm_ext(x[None], (x @ y.T)[None], y[None], alpha=2), ops.diff_ext(x)),
        *(ops.einsum_ext("ij,kj->ik", x, y), ops.float_power_ext(y, 2), ops.isnan_ext(x / 0 * 0)),
        *(ops.mse_loss_ext(x, y), ops.adaptive_avg_pool2d_ext(x[None], (1, 1))),
        ops.bernoulli_ext(ops.ones_like(x)),
    )
    expected = (
        *(X + 2 * Y, X - 2 * Y, X @ Y.T, (X @ Y.T)[None], X[:, 2:], X.cumsum(1), X.mean(1)),
        *(X.prod(), np.sort(X, 1), np.stack((X, Y), 1), X.sum(1, keepdims=True)),
        *(X.max(1, keepdims=True), X * scipy.special.ndtr(X)),
        *((X + 2 * X @ Y.T @ Y)[None], np.diff(X), X @ Y.T, Y.astype(np.float64) ** 2),
        *(np.ones(X.shape, bool), ((X - Y) ** 2).mean(), X.mean().reshape(1, 1, 1)),
        np.ones_like(X),
    )
    assert_close(as_numpy(found), expected)


def test_functions_that_draw_or_run_on_ascend_only():
    # Oracle: NumPy.
    x = Tensor(X)
    sloped = ops.rrelu(x, 0.5, 0.75).asnumpy()
    assert (sloped[X > 0] == X[X > 0]).all()
    assert ((sloped / X)[X < 0] >= 0.5).all() and ((sloped / X)[X < 0] < 0.75).all()
    assert len(set((sloped / X)[X < 0])) > 1
    with pytest.raises(ValueError, match=r"rrelu: lower must be at most upper=0\.25"):
        ops.rrelu(x, 0.5, 0.25)
    matches(ops.view_as, lambda x, y: x.reshape(y.shape), X, Y.reshape(3, 2))
    p = Parameter(x, name="p")
    for found in (ops.inplace_index_add(p, Tensor([0, 0]), Tensor(Y), 0), p):
        assert_close(found.asnumpy(), X + np.stack((Y.sum(0), 0 * Y[0])))
    mask = X > 0
    expected = X.copy()
    expected[mask] = Y.ravel()[: mask.sum()]
    matches(lambda x, y: ops.MaskedScatter()(x, x > 0, y), lambda *_: expected, X, Y)


def test_jet_and_derivative_say_what_does_not_fit():
    # Oracle: the texts.
    x = Tensor(X)
    with pytest.raises(TypeError, match="both Tensors or both tuples"):
        ops.jet(ops.sin, x, (x,))
    with pytest.raises(ValueError, match="jet: series"):
        ops.jet(ops.sin, x, Tensor(Y.T))
    with pytest.raises(TypeError, match="jet: series must be of the type Float32"):
        ops.jet(ops.sin, x, Tensor(X.astype(np.float64)))
    with pytest.raises(ValueError, match="of one number of orders"):
        ops.jet(ops.mul, (x, x), (x, Tensor(np.stack((X, X)))))
    with pytest.raises(ValueError, match="derivative: order must be at least 1"):
        ops.derivative(ops.sin, x, 0)
    with pytest.raises(TypeError, match="derivative: order must be an integer"):
        ops.derivative(ops.sin, x, 1.0)


def test_higher_derivatives_in_both_modes():
    # Oracle: the derivatives of x³ as formulas.
    def orders(x):
        return ops.jet(lambda x: x * x * x, x, ops.stack((x * 0 + 1, x * 0, x * 0)))

    def formulas(x):
        return x**3, np.stack((3 * x**2, 6 * x, np.full_like(x, 6)))

    matches(orders, formulas, X)


def test_rotation_of_query_and_key():
    # Oracle: `ApplyRotaryPosEmb`, which is compared with NumPy.
    x = Tensor(np.float32(np.arange(16)).reshape(1, 2, 8))
    angles = np.float32(np.arange(16)).reshape(4, 4) * 0.3
    given = x, x + 1, Tensor(np.cos(angles)), Tensor(np.sin(angles)), Tensor(np.int32([1]))
    expected = as_numpy(ops.ApplyRotaryPosEmb()(*given))
    assert_close(as_numpy(ops.apply_rotary_pos_emb_(*given)), expected)


def test_attention_function():
    # Oracle: `nn.MultiheadAttention`, whose answers MindSpore recorded.
    net = ms.nn.MultiheadAttention(4, 2)
    x = Tensor(np.sin(np.arange(24, dtype=np.float32)).reshape(3, 2, 4))
    expected = net(x, x, x)
    weights = (net.in_proj_weight, net.in_proj_bias)
    found = ops.multi_head_attention_forward(
        x, x, x, 4, 2, *weights, None, None, False, 0.0, net.out_proj.weight, net.out_proj.bias,
        training=False, k_is_v=True, q_is_k=True,
    )  # fmt: skip
    assert_close(as_numpy(found), as_numpy(expected))


# -- that all names are called -----------------------------------------------------------------

# Namespaces, as they are written in a program.
SPACES = (
    *("ops", "mint", "mint.nn", "mint.nn.functional", "mint.linalg", "mint.special"),
    *("numpy", "Tensor", "Parameter"),
)
WORD = re.compile(r"[A-Za-z_]\w*")
# These list names without calling them.
LISTS = ("signatures.py", "mint_names.py")


def public(space):
    found = operator.attrgetter(space)(ms)
    # Some members of classes only say why they are not there.
    names = [name for name in dir(found) if not name.startswith("_") and hasattr(found, name)]
    return {name for name in names if not inspect.ismodule(getattr(found, name))}


def test_every_public_name_is_in_a_test(caplog):
    # A coarse check: the name stands in a recorded case or in the source of a test.
    caplog.set_level(logging.ERROR, "mycel")
    folder = pathlib.Path(__file__).parents[1]
    words = set()
    for path in folder.rglob("*.py"):
        if path.name not in LISTS:
            words.update(WORD.findall(path.read_text()))
    for name in (*families.NAMES, "mint", "mint_functions", "in_place"):
        for case in families.family(name):
            words.update(WORD.findall(f"{case.expression} {case.program}"))
    assert {space: public(space) - words for space in SPACES} == {space: set() for space in SPACES}
