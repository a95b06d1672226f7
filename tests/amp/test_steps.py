# SPDX-License-Identifier: Apache-2.0
"""Steps of training with scaled losses, written by programs. Oracle: the same step in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from harness import EXECUTIONS, assert_close, execution
from mycel import Parameter, ParameterTuple, Tensor, nn, ops

ROWS = [[1.0, 1.0], [1.0, 2.0], [np.inf, 1.0], [1.0, 2.0], [np.nan, 1.0], [2.0, 1.0], [1.0, 1.0]]
TARGET = np.array([2.0, 0.0], np.float32)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")

    def construct(self, x, y):
        return ((self.w * x - y) ** 2).mean()


def by_hand(window):
    """Weights and scales behind each step: what overflows is left out, and halves the scale."""
    w, scale, fine, path = np.array([1.0, 2.0], np.float32), 8.0, 0, []
    for row in ROWS:
        x = np.array(row, np.float32)
        if np.isfinite(x).all():
            w = w - np.float32(0.1) * (w * x - TARGET) * x
            fine += 1
            if fine == window:
                scale, fine = scale * 2, 0
        else:
            scale, fine = max(scale / 2, 1.0), 0
        path.append((w, scale))
    return path


def check(path, window, name):
    for (w, scale), (expected, wanted) in zip(path, by_hand(window), strict=True):
        assert_close(w, expected, name)
        assert scale == wanted, name


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_function_with_a_dynamic_scaler(name):
    """The step of MindSpore's own documents; its `if` is a guard, which overflow misses."""
    with execution(name):
        net, path = Net(), []
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        scaler = ms.amp.DynamicLossScaler(8.0, 2, 2)
        forward = ms.value_and_grad(
            lambda x, y: scaler.scale(net(x, y)), None, net.trainable_params()
        )

        def step(x, y):
            loss, gradients = forward(x, y)
            gradients = scaler.unscale(gradients)
            finite = ms.amp.all_finite(gradients)
            if finite:
                optimizer(gradients)
            scaler.adjust(finite)
            return scaler.unscale(loss)

        called = ms.jit(step) if name == "graph" else step
        for row in ROWS:
            called(Tensor(np.array(row, np.float32)), Tensor(TARGET))
            path.append((net.w.asnumpy(), float(scaler.scale_value)))
    check(path, 2, name)


class OwnStep(nn.TrainOneStepWithLossScaleCell):
    """A step as programs write it, with the attributes they find in the base."""

    def construct(self, *inputs):
        loss = self.network(*inputs)
        scale = self.scale_sense
        status, scale = self.start_overflow_check(loss, scale)
        filled = ops.ones_like(loss) * ops.cast(scale, loss.dtype)
        gradients = self.grad(self.network, self.weights)(*inputs, filled)
        unscale = ops.partial(lambda s, g: g * ops.cast(ops.Reciprocal()(s), g.dtype), scale)
        gradients = self.hyper_map(unscale, gradients)
        gradients = self.grad_reducer(gradients)
        condition = self.get_overflow_status(status, gradients)
        overflow = self.process_loss_scale(condition)
        if not overflow:
            self.optimizer(gradients)
        return loss, condition, scale


@pytest.mark.parametrize("kind", [OwnStep, nn.TrainOneStepWithLossScaleCell])
@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_cell_with_a_dynamic_scale(name, kind):
    with execution(name):
        net, path = Net(), []
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        step = kind(net, optimizer, nn.DynamicLossScaleUpdateCell(8.0, 2, 3))
        for row in ROWS:
            x = np.array(row, np.float32)
            _, overflow, _ = step(Tensor(x), Tensor(TARGET))
            assert bool(overflow) is not bool(np.isfinite(x).all())
            path.append((net.w.asnumpy(), float(step.scale_sense)))
        if kind is not OwnStep and name == "graph":
            assert ms.debug.ledger().counts.misses == 0
    check(path, 3, name)


def test_trees_are_scaled_as_they_are():
    scaler = ms.amp.StaticLossScaler(4)
    kept = ParameterTuple([Parameter(Tensor([8.0]), name="kept")])
    assert scaler.unscale(kept)[0].asnumpy() == [2.0]
    nested = scaler.scale({"a": [Tensor([1.0]), 3], "b": (Tensor(2, ms.int32),)})
    assert nested["a"][0].asnumpy() == [4.0]
    assert nested["a"][1] == 3
    assert nested["b"][0].dtype is ms.int32
    assert scaler.adjust(Tensor(True)) is False


def test_levels_keep_what_programs_use():
    """Parameters, their names and attributes of the Cells that were put into others."""
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), nn.ReLU())
    names = [p.name for p in net.get_parameters()]
    made = ms.amp.auto_mixed_precision(net, "O1", ms.bfloat16)
    assert made is net
    assert [p.name for p in net.get_parameters()] == names
    assert net[0].weight.dtype is ms.float32
    assert net[0].out_channels == 3
    assert not hasattr(net[0], "bprop")
    seen = []
    net[0].register_forward_hook(lambda c, i, o: seen.append((i[0].dtype, o.dtype)))
    net(ops.ones((4, 2)))
    assert seen == [(ms.float32, ms.float32)]
    # Oracle: MindSpore 2.10: no Cell around another one.
    assert list(net.state_dict())[:2] == ["0.weight", "0.bias"] and type(net[0]) is nn.Dense


def test_a_type_that_the_program_chose_stays_at_o1():
    inner = nn.Dense(2, 2).to_float(ms.float32)
    net = ms.amp.auto_mixed_precision(nn.SequentialCell(inner, nn.Dense(2, 2)), "O1")
    assert net[0] is inner
    assert net[1].fp16 and net(ops.ones((1, 2))).dtype is ms.float32


@pytest.mark.parametrize("name", EXECUTIONS)
def test_gradients_arrive_in_the_types_of_the_parameters(name):
    with execution(name):
        net = nn.SequentialCell(nn.Dense(2, 2, "ones"), nn.BatchNorm1d(2)).set_train()
        net = ms.amp.auto_mixed_precision(net, "O2")
        x = Tensor(np.array([[1.0, 2.0], [0.5, 0.25]], np.float32))
        gradients = ms.grad(lambda x: (net(x) ** 3).sum(), None, net.trainable_params())(x)
        assert [g.dtype for g in gradients] == [ms.float32] * 4
        assert all(np.isfinite(g.asnumpy()).all() for g in gradients)


def test_the_level_auto_says_why_not():
    with pytest.raises(ValueError, match=r"'auto', a type for each operator, is not there"):
        ms.amp.auto_mixed_precision(nn.ReLU(), "auto")


def test_a_boost_level_is_noted_once(caplog):
    """Oracle: the text that every setting without effect is noted with; 'O0' asks for nothing."""
    net = nn.Dense(2, 1)
    for level in ("O0", "O1", "O2", "O2"):
        ms.amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.1), boost_level=level)
        ms.Model(net, boost_level=level)
    assert sorted(record.getMessage() for record in caplog.records) == [
        f"{called}(boost_level='{level}') has no effect here"
        for called in ("Model", "build_train_network")
        for level in ("O1", "O2")
    ]
    with pytest.raises(ValueError, match="Model: boost_level"):
        ms.Model(net, boost_level="O4")
