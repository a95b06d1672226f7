# SPDX-License-Identifier: Apache-2.0
"""Functions that few programs call; and that every public name is called in some test."""

from __future__ import annotations

import inspect
import logging
import operator
import pathlib
import re

import numpy as np
import pytest
import scipy.special

import mycel as ms
from fixtures import cases as families
from harness import as_numpy, assert_close
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
    )
    expected = (
        *(X + 2 * Y, X - 2 * Y, X @ Y.T, (X @ Y.T)[None], X[:, 2:], X.cumsum(1), X.mean(1)),
        *(X.prod(), np.sort(X, 1), np.stack((X, Y), 1), X.sum(1, keepdims=True)),
        *(X.max(1, keepdims=True), X * scipy.special.ndtr(X)),
    )
    assert_close(as_numpy(found), expected)


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
