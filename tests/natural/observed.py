# SPDX-License-Identifier: Apache-2.0
"""Objects that notice being looked at: whoever checks them must not be noticed."""

from __future__ import annotations

import functools
import types

import numpy as np

from mycel import nn, ops
from natural.common import batch, effect_free, linear, program


@program
def comparison_that_counts(jit):
    class Setting:
        compared = 0

        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            Setting.compared += 1
            return self.value == getattr(other, "value", None)

        def __hash__(self):
            return 1

    setting = Setting(2.0)

    @jit.step
    def step(x):
        return x * setting.value

    def loop(i):
        if i == 8:
            setting.value = 3.0
        return step(batch(i))

    return loop, lambda: Setting.compared


@program
def comparison_that_raises(jit):
    class Strict:
        gain = 1.0

        def __eq__(self, other):
            raise TypeError("compare the fields instead")

        __hash__ = object.__hash__

    config = {"strict": Strict()}

    @jit.step
    def step(x):
        return x * config["strict"].gain

    def loop(i):
        if i == 7:
            config["strict"] = Strict()
            config["strict"].gain = 2.0
        return step(batch(i))

    return loop, lambda: None


@program
def truth_that_raises(jit):
    class Mask:
        gain = 1.0

        def __bool__(self):
            raise ValueError("a mask has no truth")

        def __len__(self):
            raise ValueError("a mask has no length")

    mask = Mask()

    @jit.step
    def step(x):
        return x * mask.gain

    def loop(i):
        if i == 6:
            mask.gain = 3.0
        return step(batch(i))

    return loop, lambda: mask.gain


@program
def property_that_counts(jit):
    class Config:
        def __init__(self):
            self.reads = 0

        @property
        def gain(self):
            self.reads += 1
            return 2.0

    config = Config()

    @jit.step
    def step(x):
        return x * config.gain

    return (lambda i: step(batch(i))), lambda: config.reads


@program
def property_nobody_asks(jit):
    class Config:
        gain = 1.0

        @property
        def expensive(self):
            print("computed")
            return 1

    config = Config()

    @jit.step
    def step(x):
        return x * config.gain

    def loop(i):
        if i == 8:
            Config.gain = 2.0
        return step(batch(i))

    return loop, lambda: None


@program
def lookup_that_counts(jit):
    class Counting(dict):
        lookups = 0

        def __getitem__(self, key):
            Counting.lookups += 1
            return super().__getitem__(key)

        def get(self, key, default=None):
            Counting.lookups += 10
            return super().get(key, default)

    table = Counting(gain=1.0, other=2.0)

    @jit.step
    def step(x):
        return x * dict.__getitem__(table, "gain")

    def loop(i):
        if i == 9:
            table["gain"] = 3.0
        return step(batch(i))

    return loop, lambda: Counting.lookups


@program
def lookup_that_counts_and_is_used(jit):
    class Counting(dict):
        lookups = 0

        def __getitem__(self, key):
            self.lookups += 1
            return super().__getitem__(key)

    table = Counting(gain=1.0)

    @jit.step
    def step(x):
        return x * table["gain"] * table.lookups

    return (lambda i: step(batch(i))), lambda: table.lookups


@program
def missing_key_made(jit):
    class Table(dict):
        made = 0

        def __missing__(self, key):
            Table.made += 1
            return 3.0

    table = Table()

    @jit.step
    def step(x):
        return x * table["gain"]

    def loop(i):
        if i == 8:
            table["gain"] = 1.0
        return step(batch(i))

    return loop, lambda: Table.made


@program
def every_attribute_watched(jit):
    class Watched:
        seen = []

        def __getattribute__(self, name):
            if not name.startswith("__"):
                Watched.seen.append(name)
            return object.__getattribute__(self, name)

    watched = Watched()
    watched.gain = 2.0

    @jit.step
    def step(x):
        return x * watched.gain

    return (lambda i: step(batch(i))), lambda: len(Watched.seen)


@program
def watched_from_the_side(jit):
    class Watched:
        seen = []
        gain = 2.0

        def __getattribute__(self, name):
            Watched.seen.append(name)
            return object.__getattribute__(self, name)

    config = types.SimpleNamespace(watched=Watched(), scale=1.0)

    @jit.step
    def step(x):
        return x * config.scale if config.watched is not None else x

    def loop(i):
        if i == 7:
            config.scale = 2.0
        return step(batch(i))

    return loop, lambda: len(Watched.seen)


@program
def length_and_iteration_that_count(jit):
    class Stages:
        def __init__(self, *values):
            self.values, self.walks = values, 0

        def __iter__(self):
            self.walks += 1
            return iter(self.values)

    stages = Stages(1.0, 2.0)

    @jit.step
    def step(x):
        return x * sum(stages) + stages.walks

    return (lambda i: step(batch(i))), lambda: stages.walks


@program
def text_that_counts(jit):
    class Named:
        shown = 0

        def __repr__(self):
            Named.shown += 1
            return "named"

    named = Named()

    @jit.step
    def step(x):
        return x * 2 if named is not None else x

    return (lambda i: step(batch(i))), lambda: Named.shown


@program
def hash_that_counts(jit):
    class Key:
        hashed = 0

        def __hash__(self):
            Key.hashed += 1
            return 5

    key = Key()
    table = {key: 2.0}

    @jit.step
    def step(x):
        return x * table[key]

    def loop(i):
        if i == 7:
            table[key] = 1.0
        return step(batch(i))

    return loop, lambda: Key.hashed


@program
def lazy_attribute_of_a_class(jit):
    class Lazy:
        built = 0

        def __get__(self, instance, owner):
            Lazy.built += 1
            return 2.0

    class Config:
        gain = Lazy()
        scale = 1.0

    config = Config()

    @jit.step
    def step(x):
        return x * config.scale

    def loop(i):
        if i == 9:
            config.scale = 4.0
        return step(batch(i))

    return loop, lambda: Lazy.built


@program
def finalised_when_dropped(jit):
    dropped = []

    class Option:
        def __init__(self, gain):
            self.gain = gain

        def __del__(self):
            dropped.append(self.gain)

    options = [Option(1.0)]

    @jit.step
    def step(x):
        return x * options[0].gain

    def loop(i):
        out = step(batch(i))
        if i % 5 == 4:
            options[0] = Option(float(i))
        return out

    return loop, lambda: dropped


@program
def made_and_dropped_inside(jit):
    dropped = []

    class Scope:
        def __del__(self):
            dropped.append("gone")

    @jit.step
    def step(x):
        scope = Scope()
        y = x * 2
        del scope
        return y

    return (lambda i: step(batch(i))), lambda: dropped


@program
def array_like_object(jit):
    class Table:
        asked = 0

        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            Table.asked += 1
            return np.asarray(self.values, dtype)

    table = Table([1.0, 2.0, 3.0])

    @jit.step
    def step(x):
        return x * float(np.asarray(table)[1])

    def loop(i):
        if i == 8:
            table.values[1] = 5.0
        return step(batch(i))

    return loop, lambda: Table.asked


@program
def setter_that_counts(jit):
    class Knob:
        def __init__(self):
            self.writes, self._value = 0, 1.0

        @property
        def value(self):
            return self._value

        @value.setter
        def value(self, value):
            self.writes += 1
            self._value = value

    knob = Knob()

    @jit.step
    def step(x):
        knob.value = 2.0
        return x * knob.value

    return (lambda i: step(batch(i))), lambda: knob.writes


@program
def cell_that_watches_itself(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.__dict__["touched"] = []

        def __setattr__(self, name, value):
            self.__dict__.setdefault("touched", []).append(name)
            super().__setattr__(name, value)

        @jit.construct
        def construct(self, x):
            self.last = x.shape
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.touched.count("last")


@program
def wrapped_operator_that_counts(jit):
    counts = {"relu": 0}

    def traced(name, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    relu = traced("relu", ops.relu)

    @jit.step
    def step(x):
        return relu(x)

    return (lambda i: step(batch(i))), lambda: counts


@effect_free
def watchers_that_are_never_asked(jit):
    class Watched:
        def __getattr__(self, name):
            raise AssertionError(f"somebody asked for {name}")

        def __eq__(self, other):
            raise AssertionError("somebody compared")

        __hash__ = object.__hash__

    net = linear(jit)
    watched = Watched()
    config = {"scale": 2.0, "watched": watched}

    @jit.step
    def step(x):
        return net(x) * config["scale"]

    return (lambda i: step(batch(i))), lambda: None
