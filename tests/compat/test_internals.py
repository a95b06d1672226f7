# SPDX-License-Identifier: Apache-2.0
"""Names of MindSpore's own that programs import."""

from __future__ import annotations

import importlib
import logging
import operator
import pickle

import numpy as np
import pytest

import mycel as ms
from harness import matches
from mycel import Tensor, nn, ops

X = np.array([[0.5, -1.0, 2.0]], np.float32)


class Scaled(ms._Function):
    """x · factor + y, with a reverse that says ten times as much for x and nothing for y."""

    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.save_for_backward(x)
        ctx.factor = factor
        assert ctx.needs_input_grad == (True, False, True)
        return x * factor + y

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 10 * ctx.factor * gradient * ops.ones_like(x), None, None


def test_functions_with_a_reverse_of_their_own():
    """Oracle: NumPy, and the reverse that is written."""

    def twice(x, y):
        return Scaled.apply(x, 2.0, y) * x

    matches(twice, lambda x, y: (2 * x + y) * x, X, X + 1)
    both = ms.grad(twice, (0, 1))
    matches(both, lambda x, y: (20 * x + 2 * x + y, np.zeros_like(y)), X, X + 1)


def test_functions_of_several_results():
    """Oracle: NumPy."""

    class Pair(ms._Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first + 10 * second

    def loss(x):
        a, b = Pair.apply(x)
        return a + 2 * b

    matches(ms.grad(loss), lambda x: np.full_like(x, 21), X)
    with pytest.raises(NotImplementedError, match="static forward"):
        ms._Function.apply(Tensor(X))


class Product(ms._Function):
    """The product of a pair and of a number, whose context is set up apart."""

    @staticmethod
    def forward(pair, factor):
        return pair[0] * pair[1] * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[0])
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, gradient):
        _, y = ctx.saved_tensors
        return gradient * y * ctx.factor, None, None, None


def test_functions_of_tuples_with_a_context_of_their_own():
    """Oracle: NumPy, and MindSpore 2.10: one gradient for each Tensor, more of them are None."""
    loss = lambda x, y: Product.apply((x, y), 3.0)  # noqa: E731
    matches(
        ms.grad(loss, (0, 1)), lambda x, y: (3 * np.ones_like(x) * y, np.zeros_like(y)), X, X + 1
    )

    class Few(Product):
        @staticmethod
        def backward(ctx, gradient):
            return (gradient,)

    with pytest.raises(ValueError, match=r"Few.backward returns must be 3 gradients, but 1 was"):
        ms.grad(lambda x: Few.apply((x, x), 3.0))(Tensor(X))


def test_gradients_of_results_that_nothing_depends_on():
    """Oracle: MindSpore 2.10: zeros, None on demand, zeros for what is marked."""
    seen = []

    class Several(ms._Function):
        @staticmethod
        def forward(ctx, x, as_none, mark):
            ctx.set_materialize_grads(not as_none)
            results = x * 2, x * 3
            if mark:
                ctx.mark_non_differentiable(results[1])
            return results

        @staticmethod
        def backward(ctx, first, second):
            seen.append([None if g is None else g.asnumpy().tolist() for g in (first, second)])
            return first * 2, None, None

    x = Tensor([1.0])
    for as_none, mark, used, expected in (
        (False, False, 1, [[1.0], [0.0]]),
        (True, False, 1, [[1.0], None]),
        (False, True, 2, [[1.0], [0.0]]),
        (False, False, 2, [[1.0], [1.0]]),
    ):
        ms.grad(lambda x, *a, n=used: sum(Several.apply(x, *a)[:n]))(x, as_none, mark)
        assert seen.pop() == expected


def test_gradients_of_scaled_losses():
    """Oracle: MindSpore 2.10: the gradient, or the sum of two, divided by the scale."""
    loss_scale = importlib.import_module("mycel.nn.wrap.loss_scale")
    scale, gradient = Tensor([4.0]), Tensor([2.0, 8.0])
    assert loss_scale.grad_scale(scale, gradient).asnumpy().tolist() == [0.5, 2.0]
    both = loss_scale.shard_grad_scale(scale, gradient, Tensor([2.0, 0.0]))
    assert both.asnumpy().tolist() == [1.0, 2.0]
    half = loss_scale.grad_scale(scale, gradient.astype(ms.float16))
    assert half.dtype == ms.float16


def test_types_that_are_only_named():
    """Oracle: MindSpore 2.10's words."""
    assert repr(ms.string) == "mindspore.string_" and repr(ms.qint4x2) == "mindspore.int4"
    assert str(ms.string) == "String" and ms.string == type(ms.string)()
    assert pickle.loads(pickle.dumps(ms.string)) == ms.string
    assert pickle.loads(pickle.dumps(ms.qint4x2)) is ms.qint4x2
    with pytest.raises(TypeError, match="int4"):
        Tensor([1], ms.qint4x2)
    for name in ("float8_e4m3fn", "float8_e5m2", "hifloat8"):
        kind = getattr(ms, name)
        assert repr(kind) == f"mindspore.{name}" and pickle.loads(pickle.dumps(kind)) is kind
        assert getattr(ms.common, name) is kind
        with pytest.raises(TypeError, match=f"{name} is not an element type"):
            Tensor([1.0], kind)


def test_summaries_are_given_once():
    """Oracle: MindSpore 2.10."""
    record = importlib.import_module("mycel.train.summary.summary_record")
    record._get_summary_tensor_data()
    ops.ScalarSummary()("loss", Tensor(0.25))
    ops.ScalarSummary()("loss", Tensor(0.5))
    ops.TensorSummary()("weights", Tensor([1.0, 2.0]))
    found = record._get_summary_tensor_data()
    assert {name: value.asnumpy().tolist() for name, value in found.items()} == {
        "loss[:Scalar]": 0.5,
        "weights[:Tensor]": [1.0, 2.0],
    }
    assert record._get_summary_tensor_data() == {}


@pytest.mark.parametrize("root", ["mycel", "mindspore"])
@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("nn.loss.loss._Loss", nn.LossBase),
        ("nn.wrap.cell_wrapper._VirtualDatasetCell", None),
        ("nn.layer.activation._activation", None),
        ("amp.MSContext", None),
        ("train.amp._config_level", None),
        ("dataset.ToNumpy", None),
        ("dataset.SentencePieceModel", None),
        ("dataset.core.validator_helpers.INT32_MAX", None),
        ("common.dtype.List", None),
        ("ops.DynamicShape", ops.TensorShape),
        ("ops.primitive._primexpr", ops.constexpr),
        ("ops.operations._VirtualDataset", None),
        ("_c_expression._empty_instance", None),
        ("train.merge_sliced_parameter", ms.merge_sliced_parameter),
    ],
)
def test_paths(root, path, same, caplog):
    """Oracle: where MindSpore 2.10 has these names."""
    ms.install_as_mindspore()
    place, _, name = path.rpartition(".")
    with caplog.at_level(logging.WARNING):
        found = operator.attrgetter(name)(importlib.import_module(f"{root}.{place}".rstrip(".")))
    assert found is not None and (same is None or found is same)
