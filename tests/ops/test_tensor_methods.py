# SPDX-License-Identifier: Apache-2.0
"""Members of Tensor and of Primitive that few programs call."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import assert_close, matches
from mycel import Parameter, Tensor, mint, nn, ops
from support.recorded_operators import agrees, cases

# An argument that is not allowed is a ValueError here.
OTHER_ERROR = {"inplace_place": ValueError, "soft_shrink_bad": ValueError}
X = np.array([[3, 1, 2], [6, 5, 4]], np.float32)
MANY = (400, 50)


@pytest.mark.parametrize(("case", "recorded"), list(cases("tensor_methods")))
def test_as_recorded(case, recorded):
    # Oracle: MindSpore 2.10.
    agrees(case, recorded, OTHER_ERROR.get(case.name))


def test_smallest_without_a_kernel():
    # Oracle: NumPy; MindSpore 2.10 has no CPU kernel.
    matches(
        lambda x: (x.kthvalue(2), x.kthvalue(k=1, dim=0, keepdim=True)),
        lambda x: (
            (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]),
            (x.min(0, keepdims=True), x.argmin(0)[None]),
        ),
        X,
    )
    with pytest.raises(ValueError, match="k must lie within"):
        Tensor(X).kthvalue(4)


def test_gradients_of_replaced_rows():
    # Oracle: the rule, row for row; MindSpore 2.10 answers zeros for all.
    def updated(x, rows):
        return ms.grad(lambda x, rows: (x.inplace_update(rows, (1,)) * 3).sum(), (0, 1))(x, rows)

    def added(x, rows):
        return ms.grad(lambda x, rows: (ops.inplace_sub(x, rows, 1) * 3).sum(), (0, 1))(x, rows)

    kept, ones = np.float32([[3, 3, 3], [0, 0, 0]]), np.ones((1, 3), np.float32)
    matches(updated, lambda x, rows: (kept, 3 * ones), X, ones)
    matches(added, lambda x, rows: (np.full((2, 3), 3, "f"), -3 * ones), X, ones)


def test_gradients_of_an_element_and_of_a_size():
    # Oracle: the rule; what is replaced or cut off has no part in the result.
    matches(
        lambda x: ms.grad(lambda x: (x.itemset(0, 7.0) * 3).sum() + x.resize(2, 2).sum())(x),
        lambda x: np.float32([[1, 4, 4], [4, 3, 3]]),
        X,
    )
    assert Tensor(X).itemset((0, 1), Tensor(7.0)).tolist() == [[3, 7, 2], [6, 5, 4]]


# What is drawn, its middle and the distances from it within which half of the numbers lie,
# by the formulas of the distributions. MindSpore 2.10 has no CPU kernel for `uniform`, and its
# `log_normal` does not depend on its arguments.
DRAWN = {
    "uniform(from_=2, to=4)": (3, 2.5, 3.5),
    "uniform(2.0, 4.0, ms.Generator().manual_seed(3))": (3, 2.5, 3.5),
    "cauchy(median=1.0, sigma=2.0)": (1, -1, 3),
    "log_normal(mean=0.5, std=0.25)": tuple(np.exp(0.5 + 0.25 * n) for n in (0, -0.6745, 0.6745)),
}


@pytest.mark.parametrize("call", DRAWN)
def test_drawn_like_a_tensor(call):
    # Oracle: quartiles of the distribution. Numbers repeat after a seed, the Tensor is left alone.
    x = Tensor(np.zeros(MANY, np.float32))
    ms.set_seed(5)
    found = eval(f"x.{call}", {"x": x, "ms": ms}).asnumpy()
    assert found.dtype == np.float32 and found.shape == MANY
    assert not x.asnumpy().any()
    middle, low, high = DRAWN[call]
    for share, expected in ((0.5, middle), (0.25, low), (0.75, high)):
        assert abs(np.quantile(found, share) - expected) < 0.03 * (high - low), share
    ms.set_seed(5)
    assert np.array_equal(eval(f"x.{call}", {"x": x, "ms": ms}).asnumpy(), found)


def test_drawn_anew_in_compiled_calls():
    # Oracle: inequality.
    draw = ms.jit(lambda x: (x.uniform().sum(), x.cauchy().sum(), x.log_normal().sum()))
    seen = [tuple(n.item() for n in draw(Tensor(X))) for _ in range(5)]
    assert all(len(set(numbers)) == 5 for numbers in zip(*seen, strict=True))


ERRORS = {
    "Tensor([1, 2]).uniform()": TypeError,
    "Tensor([1, 2]).cauchy()": TypeError,
    "Tensor([1, 2]).log_normal()": TypeError,
    "Tensor([1.0]).log_normal(0.0, -1.0)": ValueError,
    "Tensor([1.0]).uniform(2, 1)": RuntimeError,
    "Tensor([1.0]).assign_value(3)": TypeError,
    "Tensor([1.0]).resize(-1, 2)": ValueError,
    "Tensor([1.0]).to_()": ValueError,
    "Tensor([1.0]).to_('elsewhere')": ValueError,
    "Tensor.convert_bytes_to_tensor(bytes(3), (1,), ms.float32)": ValueError,
    "Tensor([1.0]).slice_scatter(Tensor([1.0]), 1)": ValueError,
    "Tensor(1.0).inplace_update(Tensor([1.0]), 0)": ValueError,
    "ops.Add().init_prim_io_names('x', ['y'])": TypeError,
}


@pytest.mark.parametrize("call", ERRORS)
def test_errors(call):
    # Oracle: our documents; MindSpore 2.10 raises another error, ends the process or accepts it.
    with pytest.raises(ERRORS[call]):
        eval(call, {"Tensor": Tensor, "ms": ms, "ops": ops})


def test_bytes_there_and_back():
    # Oracle: NumPy's `tobytes`; MindSpore's `convert_bytes_to_tensor` answers no Tensor.
    for x in (Tensor(X), Tensor([1.5, -2.5], ms.bfloat16), Tensor(3, ms.int16), Tensor([True])):
        assert x.get_bytes() == x.asnumpy().tobytes()
        back = Tensor.convert_bytes_to_tensor(x.get_bytes(), x.shape, x.dtype)
        assert (back.dtype, back.tolist()) == (x.dtype, x.tolist())


def test_turned_memory_is_laid_out_anew():
    # Oracle: NumPy, of a copy in C order; MindSpore shares the memory and answers [1, 3].
    x = Tensor(X)
    turned = np.ascontiguousarray(X.T)
    assert x.T.stride() == [step // 4 for step in turned.strides]
    assert x[1:].storage_offset() == 0


def test_a_value_assigned_in_a_compiled_call():
    # Oracle: the sum; another shape is seen by what was remembered.
    total = Tensor([0.0])
    step = ms.jit(lambda x: total.assign_value(total + x))
    for _ in range(5):
        step(Tensor([2.0]))
    assert total.tolist() == [10.0]
    double = ms.jit(lambda: total * 2)
    for values in ([1.0], [1.0, 2.0], [3]):
        total.assign_value(Tensor(values))
        for _ in range(4):
            assert double().tolist() == [2 * n for n in values]


def test_waiting_changes_nothing():
    # Oracle: the same function without it.
    def waited(x):
        y = x * 2
        y.data_sync()
        y.wait_pipeline()
        y.data_sync(False)
        return y + 1

    matches(waited, lambda x: x * 2 + 1, X)
    slope = ms.grad(lambda x: waited(x).sum())(Tensor(X))
    assert_close(slope.asnumpy(), np.full_like(X, 2))


def test_hooks_within_a_derivative():
    # Oracle: the list that was registered.
    seen = []

    def hook(gradient):
        return gradient * 2

    def loss(x):
        y = x * 3
        y.register_hook(hook)
        seen.append(y.hooks())
        return y.sum()

    assert ms.grad(loss)(Tensor([1.0])).tolist() == [6.0]
    assert seen == [[hook]]


def test_places_have_no_effect_on_values():
    # Oracle: the values; a Tensor lies on the device of the context.
    x = Tensor(X)
    assert x.to_("CPU") is x and x.to_(device="cpu", non_blocking=True) is x
    moved = x.move_to("CPU")
    moved.zero_()
    assert_close(x.asnumpy(), X)


def test_shared_spelling():
    # Oracle: the functions of the same name, with answers of their own.
    x = Tensor(X)
    assert mint.select(x, 1, 0).tolist() == x.select(Tensor(1), Tensor(0)).tolist()
    capsule = x.to_dlpack()
    assert Tensor.from_dlpack(capsule).tolist() == ms.from_dlpack(X).tolist()


def test_settings_of_one_device():
    # Oracle: MindSpore 2.10, whose defaults these are; what is set is kept.
    w = Parameter(Tensor([1.0]), name="w", layerwise_parallel=True, parallel_optimizer=False)
    assert (w.layerwise_parallel, w.parallel_optimizer) == (True, False)
    assert (Parameter.layerwise_parallel, Parameter.parallel_optimizer) == (False, True)
    optimizer = nn.Momentum([w], 0.1, 0.9)
    assert optimizer.unique is True
    optimizer.unique = False
    assert optimizer.unique is False
