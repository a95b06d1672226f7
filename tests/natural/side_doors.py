# SPDX-License-Identifier: Apache-2.0
"""State that is reached by a way beside the usual one: classes without fields, super, threads."""

from __future__ import annotations

import decimal
import operator
import threading
from typing import NamedTuple

from mycel import nn
from natural.common import after, batch, effect_free, program


@program
def property_of_a_named_tuple_that_counts(jit):
    asked = []

    class Range(NamedTuple):
        low: float = 1.0

        @property
        def half(self):
            asked.append(self.low)
            return self.low / 2

    given = Range()

    @jit.step
    def step(x):
        return x * given.half

    return lambda i: (step(batch(i)), len(asked)), lambda: asked


@effect_free(states=3)
def class_of_a_named_tuple(jit):
    class Rate(NamedTuple):
        start: float = 1.0
        decay = 0.5

        @property
        def now(self):
            return self.start * self.decay

    rate = Rate()

    @jit.step
    def step(x):
        return x * rate.now

    def loop(i):
        after(i, 5, lambda: setattr(Rate, "decay", 0.25))
        after(i, 9, lambda: setattr(Rate, "now", property(lambda rate: rate.start)))
        return step(batch(i))

    return loop, lambda: None


@effect_free(states=2)
def class_attributes_of_texts_and_lists_without_fields(jit):
    class Name(str):
        __slots__ = ()
        gain = 1.0

    class Layers(list):
        __slots__ = ()
        scale = 1.0

    name, layers = Name("a"), Layers([1.0])

    @jit.step
    def step(x):
        return x * name.gain * layers.scale

    def loop(i):
        after(i, 6, lambda: (setattr(Name, "gain", 3.0), setattr(Layers, "scale", 0.5)))
        return step(batch(i))

    return loop, lambda: None


@effect_free(states=2)
def attribute_of_a_method(jit):
    class Net(nn.Cell):
        def act(self, x):
            return x * 2

        act.scale = 1.0

        def construct(self, x):
            return self.act(x) * self.act.scale

    net = Net()

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        after(i, 6, lambda: setattr(Net.act, "scale", 3.0))
        return step(batch(i))

    return loop, lambda: None


@effect_free(states=2)
def super_in_functions_within(jit):
    class Base:
        rate = 1.0

    class Derived(Base):
        def rates(self):
            above = super()
            inner = [super(Derived, self).rate for _ in range(2)]
            return inner[1], (lambda: super(Derived, self).rate)(), above.rate, super().rate

    made = Derived()

    @jit.step
    def step(x):
        first, *others = made.rates()
        return x * first + sum(others) + getattr(super(Derived, made), "rate")  # noqa: B009

    def loop(i):
        after(i, 6, lambda: setattr(Base, "rate", 2.0))
        return step(batch(i))

    return loop, lambda: None


@effect_free(states=2)
def caller_of_a_method(jit):
    class Source:
        def gain(self):
            return 1.0

    source, gain = Source(), operator.methodcaller("gain")

    @jit.step
    def step(x):
        return x * gain(source)

    def loop(i):
        after(i, 6, lambda: setattr(source, "gain", lambda: 5.0))
        return step(batch(i))

    return loop, lambda: None


@program
def thread_that_calls(jit):
    main = threading.get_ident()

    @jit.step
    def step(x):
        return x * (2.0 if threading.get_ident() == main else 3.0)

    def loop(i):
        if i < 8:
            return step(batch(i))
        made = []
        thread = threading.Thread(target=lambda: made.append(step(batch(i))))
        thread.start()
        thread.join()
        return made[0]

    return loop, lambda: None


@effect_free(states=2)
def method_of_a_metaclass(jit):
    class Counted(type):
        def __len__(cls):
            return 1

    class Blocks(metaclass=Counted):
        pass

    @jit.step
    def step(x):
        return x * len(Blocks)

    def loop(i):
        after(i, 6, lambda: setattr(Counted, "__len__", lambda cls: 4))
        return step(batch(i))

    return loop, lambda: None


@program
def context_of_decimals_in_a_variable(jit):
    context = decimal.Context(prec=3)

    @jit.step
    def step(x):
        return x * float(context.divide(decimal.Decimal(1), decimal.Decimal(3)))

    def loop(i):
        after(i, 6, lambda: setattr(context, "prec", 6))
        return step(batch(i))

    return loop, lambda: None
