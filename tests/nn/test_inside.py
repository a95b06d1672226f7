# SPDX-License-Identifier: Apache-2.0
"""Operators inside layers, on one device. Oracle: the layer before it was asked for one.

`devices_checks` has what their strategies do.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import mycel as ms
from harness import execution
from mycel import nn, ops

DRAWN = np.random.default_rng(5)


def normal(*shape):
    return ms.Tensor(DRAWN.normal(size=shape).astype(np.float32))


IDS = ms.Tensor(DRAWN.integers(0, 4, (2, 3)).astype(np.int32))
FLAT = ms.Tensor(DRAWN.integers(0, 4, 6).astype(np.int32))
X, ROWS = normal(2, 3, 4), normal(6, 4)
IMAGES, LAST = normal(2, 4, 6, 6), normal(2, 6, 6, 4)
# The names of MindSpore 2.10's attributes; inputs that the layer takes.
LAYERS = (
    (lambda: nn.Dense(4, 3, "he_normal", "ones", activation="relu"), "matmul bias_add", (X,)),
    (lambda: nn.Dense(4, 3, "he_normal", has_bias=False), "matmul", (normal(4),)),
    (lambda: nn.Embedding(4, 3), "gather expand", (IDS,)),
    (lambda: nn.Embedding(4, 3, use_one_hot=True), "one_hot array_mul", (IDS,)),
    (lambda: nn.LayerNorm((4,)), "layer_norm", (X,)),
    (lambda: nn.Dropout(p=0.5).set_train(), "dropout", (X,)),
    (lambda: nn.Conv2d(4, 2, 3, has_bias=True), "conv2d bias_add", (IMAGES,)),
    (
        lambda: nn.Conv2d(4, 2, 3, 2, "pad", 1, has_bias=True, data_format="NHWC"),
        "conv2d bias_add",
        (LAST,),
    ),
    (lambda: nn.BatchNorm2d(4).set_train(), "bn_train bn_infer", (IMAGES,)),
    (lambda: nn.BatchNorm1d(4), "bn_train bn_infer", (ROWS,)),
    (lambda: nn.MaxPool2d(2, 2), "max_pool", (IMAGES,)),
    (lambda: nn.AvgPool2d(2, 2, "same"), "avg_pool", (IMAGES,)),
    (lambda: nn.PReLU(4), "prelu", (IMAGES,)),
    *[
        (kind, name, (X,))
        for kind, name in (
            (nn.ReLU, "relu"), (nn.ReLU6, "relu6"), (nn.ELU, "elu"), (nn.CELU, "celu"),
            (nn.SeLU, "selu"), (nn.GELU, "gelu"), (nn.FastGelu, "fast_gelu"), (nn.SiLU, "silu"),
            (nn.Sigmoid, "sigmoid"), (nn.Tanh, "tanh"), (nn.Softmax, "softmax"),
            (nn.LogSoftmax, "log_softmax"), (nn.Softsign, "softsign"), (nn.HSwish, "hswish"),
            (nn.HSigmoid, "hsigmoid"), (nn.Mish, "mish"), (nn.HShrink, "hshrink"),
            (nn.SoftShrink, "softshrink"),
        )
    ],
    (
        lambda: nn.SoftmaxCrossEntropyWithLogits(reduction="mean"),
        "softmax_cross_entropy",
        (ROWS, ops.softmax(normal(6, 4))),
    ),
    (
        lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        "sparse_softmax_cross_entropy one_hot",
        (ROWS, FLAT),
    ),
    (
        lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True),
        "softmax_cross_entropy one_hot",
        (ROWS, FLAT),
    ),
)  # fmt: skip


def seen(layer, inputs, mode):
    """What a layer gives, its gradients, and the statistics that it moved."""
    with execution(mode):
        ms.set_seed(3)
        weights = ms.ParameterTuple(layer.trainable_params())
        forward = [layer(*inputs)]
        if len(weights):
            backward = ms.value_and_grad(lambda *x: (layer(*x) ** 2).sum(), None, weights)
            _, gradients = backward(*inputs)
            forward += gradients
    moved = [p for p in layer.get_parameters() if not p.requires_grad]
    return [one.asnumpy() for one in (*forward, *moved)]


@pytest.mark.parametrize("mode", ("fused", "graph"))
@pytest.mark.parametrize(("make", "names", "inputs"), LAYERS)
def test_a_layer_computes_the_same_by_steps(make, names, inputs, mode):
    layer = make()
    other = copy.deepcopy(layer)
    for name in names.split():
        operator = getattr(other, name)
        assert getattr(other, name) is operator  # what is said of it is kept
        operator.shard(((1,),))
    again = copy.deepcopy(other)
    expected = seen(layer, inputs, mode)
    for found in (seen(other, inputs, mode), seen(again, inputs, mode)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


class Steps(nn.Dense):
    """In MindSpore's style: a layer with steps of its own."""

    def construct(self, x):
        return self.bias_add(2 * self.matmul(x, self.weight), self.bias)


def test_subclasses_with_steps_of_their_own_call_them():
    step = ms.jit(Steps(4, 3, "ones", "ones"))
    expected = 2 * ROWS.asnumpy().sum(1, keepdims=True) + np.ones(3)
    for _ in range(4):
        np.testing.assert_allclose(step(ROWS).asnumpy(), expected, rtol=1e-5)
    replays = ms.debug.ledger().counts.replays
    step(ROWS).asnumpy()
    assert ms.debug.ledger().counts.replays == replays + 1


def test_an_operator_is_made_when_it_is_asked_for():
    layer = nn.Dense(2, 1)
    assert "matmul" not in vars(layer) and "construct" not in vars(layer)
    assert str(layer.matmul) == "Prim[MatMul]<transpose_a=False, transpose_b=True>"
    layer.matmul.shard(((1, 1), (1, 1)))
    assert layer.matmul.in_strategy == ((1, 1), (1, 1))


def test_both_a_strategy_of_the_cell_and_of_its_operator():
    layer = nn.Dense(4, 3, "ones", "ones")
    layer.shard(((1, 1),))
    layer.matmul.shard(((1, 1), (1, 1)))
    layer.shard(((1, 1),))
    expected = ROWS.asnumpy().sum(1, keepdims=True) + np.ones(3)
    np.testing.assert_allclose(layer(ROWS).asnumpy(), expected, rtol=1e-5)


class StepByStep(nn.Dense):
    def construct(self, x):
        shape = self.shape_op(x)
        y = self.bias_add(self.matmul(self.reshape(x, (-1, shape[-1])), self.weight), self.bias)
        return self.reshape(y, (*shape[:-1], -1))


class Lines(nn.Conv1d):
    def construct(self, x):
        y = self.bias_add(self.conv2d(self.expand_dims(x, 2), self.weight), self.bias)
        return self.squeeze(y)


class Rows(nn.Embedding):
    def construct(self, ids):
        flat = self.reshape_flat(ids, self.shp_flat)
        return self.reshape(self.gather(self.embedding_table, flat, 0), (*self.get_shp(ids), -1))


class Distance(nn.LossBase):
    def construct(self, logits, labels):
        x = self.cast(ops.abs(logits - labels), ms.float32)
        return self.reduce_mean(x) if self.average and self.reduce else self.reduce_sum(x)


WRITTEN_ANEW = (
    (StepByStep(4, 3), nn.Dense, (X,)),
    (Lines(3, 2, 2, has_bias=True), nn.Conv1d, (X,)),
    (Rows(4, 3), nn.Embedding, (IDS,)),
    (Distance(), nn.L1Loss, (X, 2 * X)),
)


@pytest.mark.parametrize("mode", ["fused", "graph"])
@pytest.mark.parametrize(
    "layer, theirs, inputs", WRITTEN_ANEW, ids=lambda x: getattr(x, "__name__", "")
)
def test_subclasses_compute_with_what_mindspores_layers_keep(layer, theirs, inputs, mode):
    """The oracle is the layer itself."""
    with execution(mode):
        expected = (
            theirs.construct(layer, *inputs) if theirs is not nn.L1Loss else theirs()(*inputs)
        )
        np.testing.assert_allclose(layer(*inputs).asnumpy(), expected.asnumpy(), rtol=1e-6)
