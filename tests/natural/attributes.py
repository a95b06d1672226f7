# SPDX-License-Identifier: Apache-2.0
"""Settings behind properties, descriptors, slots and __getattr__."""

from __future__ import annotations

from mycel import nn, ops
from natural.common import batch, program


@program
def property_with_a_setter(jit):
    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self._rate = 0.5

        @property
        def rate(self):
            return self._rate

        @rate.setter
        def rate(self, value):
            if not 0 <= value <= 1:
                raise ValueError(f"rate must lie in [0, 1], not {value}")
            self._rate = value

        @jit.construct
        def construct(self, x):
            return x * (1 - self.rate)

    net = Layer()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.rate = i / 10
        return step(batch(i))

    return loop, lambda: net.rate


@program
def property_that_computes(jit):
    class Config:
        width, heads = 8, 2

        @property
        def head_dim(self):
            return self.width // self.heads

        @property
        def scale(self):
            return self.head_dim**-0.5

    cfg = Config()

    @jit.step
    def attend(x):
        return ops.softmax(x * cfg.scale, -1)

    def loop(i):
        if i == 6:
            cfg.heads = 8
        return attend(batch(i))

    return loop, lambda: cfg.scale


@program
def attribute_by_getattr_hook(jit):
    class AttrDict(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name, value):
            self[name] = value

    cfg = AttrDict(lr=0.5, optim=AttrDict(beta=0.5))

    @jit.step
    def step(x):
        return x * cfg.lr * cfg.optim.beta

    def loop(i):
        cfg.lr = 0.5 ** (i // 4)
        if i == 9:
            cfg.optim.beta = 1.0
        return step(batch(i))

    return loop, lambda: cfg


@program
def proxy_with_getattr(jit):
    class Settings:
        def __init__(self, **values):
            self._values = values

        def __getattr__(self, name):
            return self._values[name]

    settings = Settings(gain=1.0)

    @jit.step
    def step(x):
        return x * settings.gain

    def loop(i):
        if i == 7:
            settings._values["gain"] = 2.0
        return step(batch(i))

    return loop, lambda: settings._values


@program
def slots(jit):
    class State:
        __slots__ = ("hits", "phase")

        def __init__(self):
            self.phase, self.hits = "warm", 0

    state = State()

    @jit.step
    def step(x):
        state.hits += 1
        if state.hits == 5:
            state.phase = "hot"
        return x * 2 if state.phase == "hot" else x

    return (lambda i: step(batch(i))), lambda: (state.phase, state.hits)


@program
def slots_set_outside(jit):
    class Knob:
        __slots__ = ["value"]

    knob = Knob()

    @jit.step
    def step(x):
        return x + knob.value

    def loop(i):
        knob.value = float(i // 4)
        return step(batch(i))

    return loop, lambda: knob.value


@program
def descriptor(jit):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name, 1.0)

        def __set__(self, instance, value):
            setattr(instance, self.name, abs(value))

    class Hyper:
        rate = Positive()

    hyper = Hyper()

    @jit.step
    def step(x):
        hyper.rate = hyper.rate * -0.5
        return x * hyper.rate

    return (lambda i: step(batch(i))), lambda: vars(hyper)
