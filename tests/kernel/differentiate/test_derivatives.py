# SPDX-License-Identifier: Apache-2.0
"""Derivatives of any order. Oracles: recorded MindSpore answers, finite differences, NumPy."""

from __future__ import annotations

import re

import jax.numpy as jnp
import numpy as np
import pytest

import mycel as ms
from fixtures.case import Array, decode, encode, evaluate, structure
from fixtures.load import pairs
from harness import EXECUTIONS, assert_close, execution, matches, run_everywhere
from mycel import Parameter, Tensor, ops
from mycel.kernel.spell import op

# Recorded cases that belong to later work, or where we knowingly do more than MindSpore.
LATER = ("bprop", "jac", "hessian", "vjp", "jvp", "insert_gradient_of")
MORE = {
    "grad_primitive": "a Primitive can be differentiated like any function",
    "get_grad_name": "a Parameter's name finds its gradient as well as the Parameter",
    "operation_sens_wrong_dtype": "the given gradient is converted to the output's type",
    "grad_position_too_large": "a ValueError that names the number of inputs, not a RuntimeError",
    "second_matmul": "MindSpore is wrong; finite differences say so (test_second_order_of_matmul)",
}
RECORDED = [
    pytest.param(case, answer, id=case.name)
    for case, answer in pairs("gradients")
    if not case.name.startswith(LATER) and case.name not in MORE
]


def arrays(tree) -> list[np.ndarray]:
    if isinstance(tree, Array):
        return [tree.values]
    if isinstance(tree, (tuple, list)):
        return [array for branch in tree for array in arrays(branch)]
    return []


def test_a_number_of_python_is_warned_of():
    """All gradients are zero: `test_recorded` compares them with MindSpore's."""
    text = rf"returned 3.0, a number of Python, .*{__file__}.* Return the Tensor"
    with pytest.warns(UserWarning, match=text) as told:
        ms.grad(lambda x: float(x.sum()))(ms.ops.ones(3))
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("ignore:The function that is differentiated returned")
@pytest.mark.parametrize("mode", EXECUTIONS)
@pytest.mark.parametrize(("case", "answer"), RECORDED)
def test_recorded(case, answer, mode):
    with execution(mode):
        if answer.error:
            with pytest.raises(__builtins__[answer.error]):
                evaluate(case, ms)
            return
        result = encode(evaluate(case, ms))
    assert structure(result) == answer.structure
    for mine, theirs in zip(arrays(decode(result)), arrays(answer.output), strict=True):
        assert mine.dtype == theirs.dtype
        assert_close(mine, theirs, case.name)


def numeric_gradient(function, x, step=1e-4):
    """Central differences of a scalar function of a float64 array."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        plus, minus = x.copy(), x.copy()
        plus[index] += step
        minus[index] -= step
        gradient[index] = (function(plus) - function(minus)) / (2 * step)
    return gradient


DRAW = np.random.RandomState(4)
SMOOTH = {
    "polynomial": lambda x: (x * x * x - x * 2.0 + 1.0).sum(),
    "quotient": lambda x: (1.0 / (x * x + 1.5)).sum(),
    "transcendental": lambda x: (ops.exp(x * 0.3) * ops.tanh(x) + ops.sin(x)).sum(),
    "matmul": lambda x: (ops.matmul(x, x) * x).sum(),
    "softmax": lambda x: (ops.softmax(x, -1) * x).sum(),
    "reductions": lambda x: (x.mean(0) * x.sum(1)).sum() + (x * x).prod(),
    "indexing": lambda x: (x[1:, ::2] * x[:-1, 0:2]).sum() + x[0, 0] * x[2, 2],
    "broadcast": lambda x: (x * x[0] - x[:, 1:2]).sum() * x[1, 1],
}


@pytest.mark.parametrize("name", SMOOTH)
def test_first_order(name):
    x = DRAW.randn(3, 3)

    def value(array):
        return float(SMOOTH[name](Tensor(array)).asnumpy())

    expected = numeric_gradient(value, x)
    for mode, actual in run_everywhere(ms.grad(SMOOTH[name]), x).items():
        np.testing.assert_allclose(actual, expected, 1e-6, 1e-6, err_msg=mode)


@pytest.mark.parametrize("name", SMOOTH)
def test_second_order(name):
    x = DRAW.randn(3, 3)
    weight = DRAW.randn(3, 3)

    def directional(tensor):
        return (ms.grad(SMOOTH[name])(tensor) * Tensor(weight)).sum()

    expected = numeric_gradient(lambda array: float(directional(Tensor(array)).asnumpy()), x)
    for mode, actual in run_everywhere(ms.grad(directional), x).items():
        np.testing.assert_allclose(actual, expected, 1e-5, 1e-5, err_msg=mode)


def test_second_order_of_matmul_where_mindspore_is_wrong():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])

    def inner(array):
        return numeric_gradient(lambda a: ((a @ a) * a).sum(), array).sum()

    expected = numeric_gradient(inner, x, 1e-3)
    function = ms.grad(ms.grad(lambda x: ((x @ x) * x).sum()))
    for actual in run_everywhere(function, x).values():
        np.testing.assert_allclose(actual, expected, 1e-4)


def test_third_order_and_mixed_nesting():
    x, y = np.float64(0.7), np.float64(-1.3)

    def function(x, y):
        inner = ms.grad(lambda y: y * y * y * x)(y)  # 3 y² x
        return ms.grad(ms.grad(lambda x: inner * x * x))(x) * y  # x-derivatives see inner as data

    matches(function, lambda x, y: np.float64(2 * 3 * y * y * x * y), x, y)
    triple = ms.grad(ms.grad(ms.grad(lambda x: x * x * x * x)))
    matches(triple, lambda x: np.float64(24 * x), x)


def test_perturbations_do_not_mix():
    def function(x):
        return x * ms.grad(lambda y: x * y)(x)  # x · d(xy)/dy = x²

    matches(ms.grad(function), lambda x: np.float64(2 * x), np.float64(3.0))


def test_weights_in_nested_derivatives():
    w = Parameter(Tensor(np.float64(2.0)), name="w")

    def inner(x):
        return ms.grad(lambda x: x * x * w * w)(x)  # 2 x w²

    matches(ms.grad(inner, None, w), lambda x: np.float64(4 * x * 2.0), np.float64(3.0))


def test_a_parameter_assigned_inside_is_differentiated_where_it_was_read():
    state = Parameter(Tensor([1.0, 1.0]), name="state", requires_grad=False)
    w = Parameter(Tensor([2.0, 3.0]), name="w")

    def function(x):
        state.set_data(state * 0.5 + x * w)
        return (state * w).sum()

    def oracle(x):
        # (s/2 + x w) w  ->  s/2 + 2 x w, with s as it was before this call
        return before * 0.5 + 2 * x * np.array([2.0, 3.0], np.float32)

    x = np.array([1.0, -1.0], np.float32)
    derivative = ms.grad(function, None, w)
    for mode in EXECUTIONS:
        with execution(mode):
            for _ in range(4):
                before = state.asnumpy()
                assert_close(derivative(Tensor(x)).asnumpy(), oracle(x), mode)
                assert_close(state.asnumpy(), before * 0.5 + x * w.asnumpy(), mode)


def test_trees_and_numbers_as_inputs():
    def function(pair, factor, nothing):
        assert nothing is None
        return (pair["a"] * pair["b"][0]).sum() * factor

    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    for mode in EXECUTIONS:
        with execution(mode):
            gradients = ms.grad(function, (0, 1))({"a": a, "b": [b]}, 2.0, None)
        assert_close(gradients[0]["a"].asnumpy(), np.float32([6, 8]), mode)
        assert_close(gradients[0]["b"][0].asnumpy(), np.float32([2, 4]), mode)
        assert_close(gradients[1].asnumpy(), np.float32(11), mode)


def test_integers_have_integer_gradients():
    def function(x, y):
        return x * y + x * x

    x, y = np.int32([3, -2]), np.int32([5, 7])
    derivative = ms.grad(function, (0, 1))
    for results in run_everywhere(derivative, x, y).values():
        for actual, expected in zip(results, (y + 2 * x, x), strict=True):
            assert actual.dtype == np.int32
            np.testing.assert_array_equal(actual, expected)


def test_an_index_gets_no_gradient_and_a_real_input_its_own():
    def function(x, i):
        return (ops.gather(x, i, 0) * 2.0).sum()

    x, i = np.float32([1, 2, 3]), np.int32([0, 2, 2])
    for gx, gi in run_everywhere(ms.grad(function, (0, 1)), x, i).values():
        np.testing.assert_array_equal(gx, np.float32([2, 0, 4]))
        np.testing.assert_array_equal(gi, np.int32([0, 0, 0]))
        assert gi.dtype == np.int32


def test_unused_inputs_get_zeros():
    results = run_everywhere(
        ms.grad(lambda x, y: x * 2, (0, 1)), np.float32([1, 2]), np.float16([3, 4])
    )
    for _, unused in results.values():
        np.testing.assert_array_equal(unused, np.zeros(2, np.float16))
        assert unused.dtype == np.float16


def test_stop_gradient():
    matches(
        ms.grad(lambda x: (x * ops.stop_gradient(x * x)).sum()),
        lambda x: x * x,
        np.float32([2, 3]),
    )


def test_hooks_on_tensors_and_parameters():
    w = Parameter(Tensor([2.0]), name="w")
    seen = []
    handle = w.register_hook(lambda gradient: seen.append(float(gradient.sum())))
    doubled = Tensor([1.0])
    doubled.register_hook(lambda gradient: gradient * 2)
    derivative = ms.grad(lambda x: (x * w * 3.0).sum(), 0, w)
    for mode in EXECUTIONS:
        with execution(mode):
            seen.clear()
            for _ in range(3):
                gx, gw = derivative(doubled)
                assert (float(gx.sum()), float(gw.sum())) == (12.0, 3.0)
            assert seen == [3.0, 3.0, 3.0], mode
    handle.remove()
    handle.remove()
    derivative(doubled)
    assert seen == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: ms.grad(3), TypeError, "a function or a Cell"),
        (lambda: ms.grad(lambda x: x, None), ValueError, "Nothing to differentiate by"),
        (lambda: ms.grad(lambda x: x, 1)(Tensor(1.0)), ValueError, "one of the 1 inputs"),
        (lambda: ms.grad(lambda x: x, 0, [1.0])(Tensor(1.0)), TypeError, "a Parameter"),
        (lambda: ms.grad(lambda x: "no")(Tensor(1.0)), TypeError, "Only Tensors"),
        (lambda: ms.value_and_grad(lambda x: x, has_aux=True)(Tensor(1.0)), ValueError, "has_aux"),
        (lambda: ops.GradOperation(get_all=1), TypeError, "get_all must be True or False"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@op()
def pick_for_tests(x, i):
    """x at the positions i."""
    return jnp.take_along_axis(x, i, 0)


def test_an_operator_that_indexes_keeps_the_gradient_of_its_real_input():
    derivative = ms.grad(lambda x, i: (pick_for_tests(x, i) * 3.0).sum(), (0, 1))
    for gx, gi in run_everywhere(derivative, np.float32([1, 2]), np.int32([1])).values():
        np.testing.assert_array_equal(gx, np.float32([0, 3]))
        np.testing.assert_array_equal(gi, np.int32([0]))


@pytest.mark.parametrize("mode", ["fused", "graph"])
def test_integers_beside_others_of_their_type(mode):
    """Products and stacks, which want one element type. Oracle: arithmetic, as MindSpore 2.10."""
    x, y = (
        ms.Tensor([[1, 2, 3], [4, 5, 6]], ms.int32),
        ms.Tensor([[1, 0], [2, 1], [0, 3]], ms.int32),
    )
    with execution(mode):
        by_x = ms.grad(lambda x, y: ops.matmul(x, y).sum())(x, y)
        by_both = ms.grad(lambda x, y: (x @ y).sum(), (0, 1))(x, y)
        stacked = ms.grad(lambda x: ops.stack([x, y.T]).sum())(x)
    assert by_x.dtype == ms.int32
    for found in (by_x, by_both[0]):
        np.testing.assert_array_equal(found.asnumpy(), [[1, 3, 3], [1, 3, 3]])
    np.testing.assert_array_equal(by_both[1].asnumpy(), [[5, 5], [7, 7], [9, 9]])
    np.testing.assert_array_equal(stacked.asnumpy(), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("function", "has_aux", "kind", "text"),
    [
        (lambda x: None, False, TypeError, r"returned None at {}\. Is its `return` missing\?$"),
        (lambda x: "a", False, TypeError, r"the function returned str at {}\.$"),
        (lambda x: x, True, ValueError, r"\(loss, aux\), but it returned Tensor at {}\.$"),
    ],
)
def test_what_cannot_be_differentiated_names_the_line(function, has_aux, kind, text):
    derivative = ms.grad(function, has_aux=has_aux)
    with pytest.raises(kind, match=text.format(re.escape(__file__) + r":\d+")) as caught:
        derivative(ms.Tensor(1.0))
    assert f"{__file__}:{caught.traceback[0].lineno + 1}" in str(caught.value)
