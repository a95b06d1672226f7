# SPDX-License-Identifier: Apache-2.0
"""Helpers of `boost`. Oracle: what MindSpore 2.10 answered to the same lines, and NumPy."""

from __future__ import annotations

import doctest
import logging

import numpy as np
import pytest

import mycel as ms
from mycel import nn
from mycel.train import boost


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, group=2, has_bias=True)
        self.plain = nn.Conv2d(4, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        self.dense = nn.Dense(3, 2)


ALL = [
    "conv.weight", "conv.bias", "plain.weight", "bn.gamma", "bn.beta", "dense.weight", "dense.bias",
]  # fmt: skip


def described(groups):
    """The settings of each group, and the names of its Parameters."""
    known = []
    for group in groups:
        parameters = group.get("params", group.get("order_params"))
        rest = {k: v for k, v in group.items() if k not in ("params", "order_params")}
        known.append((rest, [parameter.name for parameter in parameters]))
    return known


@pytest.fixture
def net():
    made = Net()
    assert [parameter.name for parameter in made.trainable_params()] == ALL
    return made


def test_groups_are_divided_by_what_is_centralized(net):
    weights = net.trainable_params()
    groups = [
        {"params": weights[:4], "weight_decay": 0.01},
        {"params": weights[4:]},
        {"order_params": weights},
    ]
    process = boost.OptimizerProcess(nn.Momentum(groups, 0.1, 0.9))
    process.add_grad_centralization(net)
    assert described(process.origin_params) == [
        ({"weight_decay": 0.01, "grad_centralization": True}, ["plain.weight"]),
        ({"weight_decay": 0.01}, ["conv.weight", "conv.bias", "bn.gamma"]),
        ({"grad_centralization": True}, ["dense.weight"]),
        ({}, ["bn.beta", "dense.bias"]),
        ({}, ALL),
    ]


def test_parameters_without_groups_are_not_divided(net, caplog):
    process = boost.OptimizerProcess(nn.Momentum(net.trainable_params(), 0.1, 0.9))
    with caplog.at_level(logging.WARNING):
        process.add_grad_centralization(net)
    assert [parameter.name for parameter in process.origin_params] == ALL
    assert type(process.generate_new_optimizer()) is nn.Momentum


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("lars", [False, True])
def test_the_new_optimiser_centralizes(mode, lars):
    """Oracle: NumPy: each row of the gradient less its mean; LARS then scales by norms."""
    ms.set_context(mode=mode)
    net = nn.Dense(3, 2)
    optimizer = nn.SGD([{"params": net.trainable_params()}], 0.5)
    process = boost.OptimizerProcess(nn.LARS(optimizer) if lars else optimizer)
    process.add_grad_centralization(net)
    made = process.generate_new_optimizer()
    assert type(made) is (nn.LARS if lars else nn.SGD)
    before = net.weight.asnumpy()
    gradient = np.array([[1.0, 2.0, 6.0], [0.0, -1.0, 1.0]], np.float32)
    made((ms.Tensor(gradient), ms.Tensor([0.0, 0.0])))
    moved = before - net.weight.asnumpy()
    if not lars:
        np.testing.assert_allclose(moved, 0.5 * (gradient - gradient.mean(1, keepdims=True)), 1e-5)
    np.testing.assert_allclose(moved.sum(1), 0, atol=1e-5)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_parameters_are_numbered_by_group(net):
    weights = net.trainable_params()
    numbered = boost.ParameterProcess().assign_parameter_group(weights)
    assert [parameter.comm_fusion for parameter in numbered] == [1, 1, 1, 2, 2, 2, 2]
    numbered = boost.ParameterProcess().assign_parameter_group(weights, [1, 3])
    assert [parameter.comm_fusion for parameter in numbered] == [1, 2, 2, 3, 3, 3, 3]
    assert boost.ParameterProcess().assign_parameter_group([]) == []


def test_other_parameters_are_divided_alike(net):
    weights = net.trainable_params()
    divided = boost.ParameterProcess.generate_group_params
    origin = [{"params": weights[:2], "weight_decay": 0.01}, {"params": weights[2:4]}]
    assert described(divided(weights[1:], origin)) == [
        ({"weight_decay": 0.01}, ["conv.bias"]),
        ({}, ["plain.weight", "bn.gamma"]),
        ({"weight_decay": 0.01}, ["bn.beta", "dense.weight", "dense.bias"]),
    ]
    assert described(divided(weights[1:], weights)) == [({}, ALL[1:])]
    for nothing, kind in (([], ValueError), (None, ValueError), ([3], TypeError)):
        with pytest.raises(kind, match="origin_params must be"):
            divided(weights, nothing)


def test_levels_are_accepted_and_explained(net, caplog):
    optimizer = nn.SGD(net.trainable_params())
    with caplog.at_level(logging.WARNING):
        made = boost.AutoBoost("O2", {"boost": {"mode": "auto"}})
    assert "AutoBoost(boost_level='O2') has no effect here" in caplog.text
    assert made.network_auto_process_train(net, optimizer) == (net, optimizer)
    assert made.network_auto_process_eval(net) is net
    with pytest.raises(ValueError, match="AutoBoost: boost_level must be"):
        boost.AutoBoost("O9")


def test_what_is_no_optimiser():
    with pytest.raises(TypeError, match="keeps what it was made with"):
        boost.OptimizerProcess(nn.ReLU())


def test_examples():
    outcome = doctest.testmod(boost, extraglobs={"nn": nn, "ms": ms})
    assert outcome.attempted and not outcome.failed
