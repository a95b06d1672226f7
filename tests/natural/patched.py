# SPDX-License-Identifier: Apache-2.0
"""Methods, functions, classes and fields that are patched while a program runs."""

from __future__ import annotations

import types

from mycel import nn, ops
from natural.common import batch, program


@program
def attribute_set_through_the_dict(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gain = 1.0

        @jit.construct
        def construct(self, x):
            return x * self.gain

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net.__dict__["gain"] = 3.0
        if i == 10:
            vars(net).update(gain=5.0)
        return step(batch(i))

    return loop, lambda: net.gain


@program
def attribute_set_without_setattr(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gain = 1.0

        @jit.construct
        def construct(self, x):
            return x * self.gain

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 4:
            object.__setattr__(net, "gain", net.gain + 1)
        return step(batch(i))

    return loop, lambda: net.gain


@program
def method_patched_on_the_instance(jit):
    class Net(nn.Cell):
        def activate(self, x):
            return ops.relu(x)

        @jit.construct
        def construct(self, x):
            return self.activate(x)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net.activate = types.MethodType(lambda self, x: ops.tanh(x), net)
        return step(batch(i))

    return loop, lambda: None


@program
def method_patched_on_the_class(jit):
    class Net(nn.Cell):
        def activate(self, x):
            return ops.relu(x)

        @jit.construct
        def construct(self, x):
            return self.activate(x)

    net = Net()
    step = jit.step(lambda x: net(x))
    original = Net.activate

    def loop(i):
        if i == 5:
            Net.activate = lambda self, x: original(self, x) * 2
        if i == 10:
            Net.activate = original
        return step(batch(i))

    return loop, lambda: None


@program
def construct_replaced_on_the_class(jit):
    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            return x + 1

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            Net.construct = lambda self, x: x * 2
        return step(batch(i))

    return loop, lambda: None


@program
def library_layer_patched(jit):
    original = nn.ReLU.construct
    jit.undo(setattr, nn.ReLU, "construct", original)
    net = nn.ReLU()

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        if i == 7:
            nn.ReLU.construct = lambda self, x: original(self, x) + 1
        return step(batch(i))

    return loop, lambda: None


@program
def operator_patched_in_the_module(jit):
    original = ops.relu
    jit.undo(setattr, ops, "relu", original)

    @jit.step
    def step(x):
        return ops.relu(x)

    def loop(i):
        if i == 6:
            ops.relu = lambda x: original(x) * 0.5
        if i == 11:
            ops.relu = original
        return step(batch(i))

    return loop, lambda: None


@program
def function_rebound(jit):
    def activation(x):
        return ops.relu(x)

    @jit.step
    def step(x):
        return activation(x)

    def loop(i):
        nonlocal activation
        if i == 8:
            activation = ops.tanh
        return step(batch(i))

    return loop, lambda: None


@program
def code_of_a_function_replaced(jit):
    def scale(x):
        return x * 2

    @jit.step
    def step(x):
        return scale(x)

    def loop(i):
        if i == 7:
            scale.__code__ = (lambda x: x * 3).__code__
        return step(batch(i))

    return loop, lambda: None


@program
def default_of_a_function_replaced(jit):
    def scale(x, by=2.0, *, shift=0.0):
        return x * by + shift

    @jit.step
    def step(x):
        return scale(x)

    def loop(i):
        if i == 5:
            scale.__defaults__ = (3.0,)
        if i == 10:
            scale.__kwdefaults__["shift"] = 1.0
        return step(batch(i))

    return loop, lambda: scale.__defaults__


@program
def class_of_an_object_replaced(jit):
    class Calm:
        def factor(self):
            return 1.0

    class Wild(Calm):
        def factor(self):
            return 4.0

    policy = Calm()

    @jit.step
    def step(x):
        return x * policy.factor()

    def loop(i):
        if i == 7:
            policy.__class__ = Wild
        return step(batch(i))

    return loop, lambda: type(policy).__name__
