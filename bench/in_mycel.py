# SPDX-License-Identifier: Apache-2.0
"""The work in mycel: PyNative direct, PyNative fused, and Graph."""

from __future__ import annotations

import mycel as ms
from bench import work
from mycel import Tensor, nn, ops

VARIANTS = ("direct", "pynative", "graph")


class LeNet(nn.Cell):
    """LeNet-5 with the weights of `work`."""

    def __init__(self, weights):
        super().__init__()
        given = {name: Tensor(array) for name, array in weights.items()}
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init=given["conv1"])
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init=given["conv2"])
        self.fc1 = nn.Dense(400, 120, weight_init=given["fc1"], bias_init=given["b1"])
        self.fc2 = nn.Dense(120, 84, weight_init=given["fc2"], bias_init=given["b2"])
        self.fc3 = nn.Dense(84, 10, weight_init=given["fc3"], bias_init=given["b3"])
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def _mode(variant: str) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=variant == "direct")


def lenet(variant: str):
    """One training step with Momentum; returns the loss."""
    _mode(variant)
    net = LeNet(work.lenet_weights())
    net.set_train()
    optimizer = nn.Momentum(net.trainable_params(), work.RATE, work.MOMENTUM)
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    derivative = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())
    x, y = map(Tensor, work.lenet_batch())

    def step(x, y):
        loss, gradients = derivative(x, y)
        optimizer(gradients)
        return loss

    run = ms.jit(step) if variant == "graph" else step

    def once():
        _mode(variant)
        return float(run(x, y).asnumpy())

    return once


def chain_forward(variant: str):
    """40 operators on 4 x 4."""
    _mode(variant)
    x, y = map(Tensor, work.chain_inputs())

    def function(x, y):
        return work.chain(x, y, ops.tanh)

    run = ms.jit(function) if variant == "graph" else function

    def once():
        _mode(variant)
        return run(x, y).asnumpy()

    return once


def chain_both(variant: str):
    """40 operators on 4 x 4, forward and backward."""
    _mode(variant)
    x, y = map(Tensor, work.chain_inputs())
    function = ms.grad(lambda x, y: work.chain(x, y, ops.tanh))
    run = ms.jit(function) if variant == "graph" else function

    def once():
        _mode(variant)
        return run(x, y).asnumpy()

    return once


def settings() -> str:
    """What is measured with."""
    import jax

    return f"mycel {ms.__version__}, jax {jax.__version__}"
