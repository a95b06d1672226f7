# SPDX-License-Identifier: Apache-2.0
"""Derivatives through `_pynative_executor`, and Parameters that are a program's own kind of Tensor.
Oracles: `value_and_grad`, and derivatives by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
from mycel import nn, ops
from mycel.compat.executor import ParamInfo, pynative_executor


class Weight(ms.Tensor):
    """As libraries write it: a Tensor that is no `mindspore.Parameter`."""

    def __init__(self, data):
        super().__init__(data)
        self.param_info = ParamInfo()
        self.grad = None


def taken(function, operation, weights, position, *inputs):
    """What the executor says of one call."""
    pynative_executor.new_graph(function, *inputs)
    output = function(*inputs)
    pynative_executor.end_graph(function, output, *inputs)
    return output, pynative_executor.grad(function, operation, weights, position, *inputs)


def test_weights_of_a_network():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 1))
    x = ms.Tensor(np.linspace(-1, 1, 6).reshape(2, 3), ms.float32)
    weights = net.trainable_params()
    by_list = ops.GradOperation(get_by_list=True)
    loss, found = taken(lambda x: net(x).sum(), by_list, weights, None, x)
    expected = ms.value_and_grad(lambda x: net(x).sum(), None, weights)(x)
    np.testing.assert_allclose(loss.asnumpy(), expected[0].asnumpy(), rtol=1e-6)
    for here, there in zip(found, expected[1], strict=True):
        np.testing.assert_allclose(here.asnumpy(), there.asnumpy(), rtol=1e-6)
    assert not pynative_executor.requires_grad()


def test_tensors_of_another_kind_are_weights_and_the_function_runs_once():
    weight, runs = Weight([2.0, 3.0]), []

    def forward(x):
        runs.append(None)
        return (weight * weight * x).sum()

    x = ms.Tensor([1.0, 10.0])
    by_list = ops.GradOperation(get_by_list=True)
    loss, (gradient,) = taken(forward, by_list, [weight], None, x)
    assert float(loss) == 94.0 and len(runs) == 1
    np.testing.assert_array_equal(gradient.asnumpy(), [4.0, 60.0])
    assert pynative_executor()[0] is gradient


def test_inputs_and_sensitivities():
    x, y, sens = ms.Tensor([2.0]), ms.Tensor([5.0]), ms.Tensor([10.0])
    everything = ops.GradOperation(get_all=True, sens_param=True)
    pynative_executor.new_graph(None, x, y)
    product = x * y
    pynative_executor.end_graph(None, product, x, y)
    found = pynative_executor.grad(None, everything, None, None, x, y, sens)
    assert [each.asnumpy().item() for each in found] == [50.0, 20.0]
    _, one = taken(lambda x, y: x * y, ops.GradOperation(), None, 1, x, y)
    assert one.asnumpy().item() == 2.0


def test_what_is_out_of_order_is_told():
    pynative_executor.clear_res()
    with pytest.raises(
        RuntimeError, match=r"end_graph \(at .*test_executor.py:\d+\) needs new_graph"
    ):
        pynative_executor.end_graph(None, None)
    with pytest.raises(RuntimeError, match="value_and_grad"):
        pynative_executor.grad(None, ops.GradOperation(), None, None)
    # What an exception has left open is forgotten.
    pynative_executor.new_graph(None)
    assert pynative_executor.requires_grad()
    pynative_executor.clear_res()
    assert not pynative_executor.requires_grad()
