# SPDX-License-Identifier: Apache-2.0
"""What moves the counters that a replay compares first. Oracle: the list in the documentation of
modes; and a step that changes nothing moves nothing.
"""

from __future__ import annotations

import pytest

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from mycel.kernel.base.structure import structure


def counters() -> tuple[int, int, int]:
    return structure.changes, structure.flags, structure.tensor_hooks


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = nn.Dense(2, 2)
        self.scale = Parameter(Tensor([1.0, 2.0]), name="scale")

    def construct(self, x):
        return self.inner(x) * self.scale


CHANGES = {
    "an attribute": lambda net: setattr(net, "rate", 0.5),
    "an attribute of a member": lambda net: setattr(net.inner, "rate", 0.5),
    "an attribute that goes": lambda net: delattr(net, "scale"),
    "a member": lambda net: setattr(net, "inner", nn.ReLU()),
    "training": lambda net: net.set_train(),
    "a hook of a Cell": lambda net: net.inner.register_forward_hook(lambda *_: None),
    "a pre-hook of a Cell": lambda net: net.register_forward_pre_hook(lambda *_: None),
    "a backward hook": lambda net: net.register_backward_hook(lambda *_: None),
    "whether a gradient is wanted": lambda net: setattr(net.scale, "requires_grad", False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_counted_and_seen_by_the_next_call(name):
    net = Net()
    step = ms.jit(net)
    x = Tensor([[1.0, -1.0]])
    for _ in range(4):
        step(x)
    before = counters()
    CHANGES[name](net)
    assert counters()[0] > before[0]
    if name != "an attribute that goes":
        assert (step(x).asnumpy() == net.construct(x).asnumpy()).all()


def test_a_hook_of_a_tensor_is_counted_when_it_comes_and_when_it_goes():
    weight = Parameter(Tensor([1.0]), name="weight")
    before = structure.tensor_hooks
    handle = weight.register_hook(lambda grad: None)
    assert structure.tensor_hooks == before + 1
    handle.remove()
    assert structure.tensor_hooks == before + 2
    handle.remove()
    assert structure.tensor_hooks == before + 2, "nothing is removed twice"


def test_a_step_that_changes_nothing_moves_nothing():
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    def step(x):
        value, gradients = gradient(x)
        optimizer(gradients)
        ops.assign(net.scale, net.scale * 2)
        return value

    step = ms.jit(step)
    x = Tensor([[1.0, -1.0]])
    for _ in range(4):
        step(x)
    before, replays = counters(), ms.debug.ledger().counts.replays
    step(x)
    assert ms.debug.ledger().counts.replays == replays + 1
    assert counters() == before
