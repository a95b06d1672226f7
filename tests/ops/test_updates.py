# SPDX-License-Identifier: Apache-2.0
"""Operators that change Parameters in place: recorded answers, types, compiled calls, errors."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, Tensor, ops
from mycel.ops.update import rules
from support import recorded_cells as recorded

W, G = np.array([1.0, -2.0], np.float32), np.array([0.5, -1.0], np.float32)


@pytest.mark.parametrize(
    ("case", "answer"), recorded.named("composites", "update_"), ids=recorded.case_name
)
def test_recorded_updates(case, answer):
    """The oracle is MindSpore: the Parameters after one call."""
    recorded.check(case, answer)


def parameters(*values, dtype=np.float32):
    return [Parameter(np.asarray(v, dtype), name=f"p{n}") for n, v in enumerate(values)]


def adagrad_kept(w, a, g):
    ops.ApplyAdagrad(update_slots=False)(w, a, 0.1, g)


def momentum_scaled(w, a, g):
    ops.ApplyMomentum(gradient_scale=2.0)(w, a, 0.1, g, 0.9)


def momentum_fused(w, a, g):
    ops.FusedWeightScaleApplyMomentum()(0.5, 2.0, w, a, 0.1, g, 0.9)


def ftrl(w, a, g):
    linear = Parameter(Tensor(a.asnumpy()), name="linear")
    ops.ApplyFtrl()(w, a, linear, g, 0.1, 0.25, 0.5, -0.5)


def dual(w, a, g):
    sums = Parameter(Tensor(a.asnumpy()), name="sums")
    ops.ApplyAdagradDA()(w, sums, a, g, 0.1, 0.25, 0.5, 2)


def ftrl_oracle(w, a, g):
    s = a + g * g
    z = a + g - (np.sqrt(s) - np.sqrt(a)) / 0.1 * w
    chosen = (np.sign(z) * 0.25 - z) / (np.sqrt(s) / 0.1 + 1)
    return np.where(np.abs(z) > 0.25, chosen, 0), s


def dual_oracle(w, a, g):
    s, q = a + g, a + g * g
    cut = np.sign(s) * np.maximum(np.abs(s) - 0.5, 0)
    return -0.1 * cut / (0.5 * 2 * 0.1 + np.sqrt(q)), q


# What MindSpore's CPU kernels leave out or get wrong (see mindspore_faults.md), against NumPy.
ORACLES = {
    adagrad_kept: lambda w, a, g: (w - 0.1 * g / np.sqrt(a), a),
    momentum_scaled: lambda w, a, g: (w - 0.1 * (0.9 * a + 2 * g), 0.9 * a + 2 * g),
    momentum_fused: lambda w, a, g: (
        w - 0.1 * (0.9 * a + 2 * (g + 0.5 * w)),
        0.9 * a + 2 * (g + 0.5 * w),
    ),
    ftrl: ftrl_oracle,
    dual: dual_oracle,
}


@pytest.mark.parametrize("function", ORACLES, ids=lambda function: function.__name__)
def test_against_numpy(function):
    start = np.array([0.25, 0.5], np.float32)
    expected = [value.astype(np.float32) for value in ORACLES[function](W, start, G)]
    for name in EXECUTIONS:
        with execution(name):
            w, a = parameters(W, start)
            function(w, a, Tensor(G))
            assert_close([w.asnumpy(), a.asnumpy()], expected, name)


def test_in_a_compiled_call():
    """Replays change the Parameters as the first calls do; the oracle is NumPy."""
    w, m = parameters(W, 0 * W)
    update = ops.ApplyMomentum()

    @ms.jit
    def step(gradient):
        made = update(w, m, 0.1, gradient, 0.5)
        ops.assign_sub(w, ops.ones_like(w))
        return made

    value, moment = W, 0 * W
    before = ms.debug.ledger().counts.replays
    for _ in range(5):
        made = step(Tensor(G))
        moment = 0.5 * moment + G
        value = value - 0.1 * moment
        np.testing.assert_allclose(made.asnumpy(), value, 1e-5, 1e-6)
        value = value - 1
        np.testing.assert_allclose(w.asnumpy(), value, 1e-5, 1e-6)
    assert ms.debug.ledger().counts.replays > before


def test_rates_are_not_rounded_to_half_precision():
    """A Float16 Parameter, a rate that Float16 does not have; the oracle is Float32."""
    (w,) = parameters([0.0], dtype=np.float16)
    ops.ApplyGradientDescent()(w, 1.0002, Tensor([2048.0], ms.float16))
    assert w.dtype is ms.float16
    assert w.asnumpy() == np.float16(np.float32(-1.0002) * 2048)


def test_settings_of_one_element():
    """Rates may be Tensors of shape (1,), also for a Parameter without dimensions."""
    (w,) = parameters(1.0)
    ops.ApplyGradientDescent()(w, Tensor([0.5]), Tensor(1.0))
    assert w.shape == () and float(w) == 0.5


def test_what_is_returned_does_not_follow_the_parameter():
    (w,) = parameters(W)
    made = ops.assign_add(w, Tensor(G))
    ops.assign_add(w, Tensor(G))
    assert not isinstance(made, Parameter)
    np.testing.assert_allclose(made.asnumpy(), W + G)
    np.testing.assert_allclose(w.asnumpy(), W + 2 * G)


ERRORS = {
    "ops.assign_add(3, g)": (TypeError, "assign_add: variable must be a Parameter or a Tensor"),
    "ops.assign_sub(w, ops.ones(3))": (ValueError, "assign_sub: value must be of shape (2,), but"),
    "ops.SGD(0.5, nesterov=True)(w, g, 0.1, w, 0.9, w)": (ValueError, "dampening must be 0 with"),
    "ops.ApplyGradientDescent()(1.0, 0.1, g)": (TypeError, "What is updated must be a Parameter"),
}


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    kind, text = ERRORS[source]
    (w,) = parameters(W)
    with pytest.raises(kind) as raised:
        eval(source, {"ops": ops, "w": w, "g": Tensor(G)})
    assert text in str(raised.value)


def centered(g):
    return g - g.mean(1, keepdims=True)


@pytest.mark.parametrize("execution_name", EXECUTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_rule_prepares_the_gradient_and_keeps_element_types(execution_name, dtype):
    """The oracle is NumPy: decay, then centred, then scaled; the formula alone has none of them."""
    w, m = np.array([[1.0, -2.0]], dtype), np.array([[0.5, 0.25]], dtype)
    g, wide = np.array([[2.0, 4.0]], dtype), np.float32
    with execution(execution_name):
        arrays = [Tensor(x) for x in (w, m, g)]
        made = rules.momentum(*arrays, 0.5, 0.75, 0.25, 2.0, centralize=True)
        plain = rules.momentum(*arrays, 0.5, 0.75)
        decayed = rules.lamb(arrays[0], arrays[1], arrays[1], arrays[2], 0.5, 1, 0.5, 0.5, 1.0, 0.5)
    prepared = centered(g.astype(wide) + 0.25 * w.astype(wide)) * 2
    velocity = 0.75 * m.astype(wide) + prepared
    for found, wanted in zip(made, (w - 0.5 * velocity, velocity), strict=True):
        assert found.dtype.numpy == dtype
        np.testing.assert_array_equal(found.asnumpy(), wanted.astype(dtype))
    formula = rules.momentum.formula(w.astype(wide), m.astype(wide), g.astype(wide), 0.5, 0.75)
    for found, wanted in zip(plain, formula, strict=True):
        np.testing.assert_array_equal(found.asnumpy(), np.asarray(wanted).astype(dtype))
    # A formula that names the decay gets it itself: the moments do not see it.
    np.testing.assert_array_equal(decayed[1].asnumpy(), (0.5 * m + 0.5 * g).astype(dtype))
