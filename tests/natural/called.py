# SPDX-License-Identifier: Apache-2.0
"""What is written in C, called under other names, through partials, descriptors and `super()`."""

from __future__ import annotations

import functools
import heapq
import io
import operator
import pickle
import random
import types
import warnings
from builtins import getattr as ask
from builtins import hasattr as has
from builtins import setattr as put
from builtins import vars as all_of

import numpy as np

from mycel import Parameter, Tensor, nn
from natural.common import batch, program, vector, weight


@program
def methods_kept_under_a_name(jit):
    history, options, numbers = [], {"gain": 1.0}, np.zeros(3)
    push, get, fill, text = history.append, options.get, numbers.fill, io.StringIO()
    write = text.write

    @jit.step
    def step(x):
        push(1)
        write("a")
        fill(len(history))
        return x * get("gain")

    def loop(i):
        if i in (5, 9):
            options["gain"] += 1
        if i % 3 == 0:
            history.clear()
        return step(batch(i))

    return loop, lambda: (list(history), text.getvalue(), numbers.sum())


@program
def a_generator_kept_as_a_method(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.draw = random.Random(0).random
            self.w = Parameter(weight(), name="w")

        @jit.construct
        def construct(self, x):
            return x @ self.w if self.draw() < 0.5 else x

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@program
def an_iterator_kept_as_a_method(jit):
    following = iter(range(100)).__next__
    step = jit.step(lambda x: x * following())
    return (lambda i: step(batch(i))), lambda: None


@program
def partials_of_functions_in_c(jit):
    heap, values, options = [5], [1.0, 2.0], types.SimpleNamespace(gain=1.0)
    add = functools.partial(heapq.heappush, heap)
    total = functools.partial(sum, values)
    gain = functools.partial(getattr, options)

    @jit.step
    def step(x):
        add(len(heap))
        return x * total() * gain("gain")

    def loop(i):
        if i in (4, 8):
            values[0] += 1
        if i in (6, 10):
            options.gain += 1
        return step(batch(i))

    return loop, lambda: list(heap)


@program
def fields_by_name_under_other_names(jit):
    config = types.SimpleNamespace(gain=1.0, done=False)

    @jit.step
    def step(x):
        put(config, "done", True)
        gain = ask(config, "gain") + all_of(config)["gain"]
        return x * gain if not has(config, "adapter") else x * config.adapter

    def loop(i):
        config.done = i % 2 == 0
        if i in (4, 7):
            config.gain += 1
        if i == 10:
            config.adapter = 3.0
        return step(batch(i))

    return loop, lambda: config.done


@program
def fields_past_the_class(jit):
    net = nn.ReLU()
    module = types.ModuleType("settings")
    module.gain = 1.0

    class Kept:
        pass

    set_module = module.__setattr__

    @jit.step
    def step(x):
        object.__setattr__(net, "last", 5)
        type.__setattr__(Kept, "last", 6)
        set_module("last", 7)
        object.__setattr__(*[net, "other", 8])
        return x * module.__dict__["gain"] * module.__getattribute__("gain")

    def loop(i):
        net.last = net.other = Kept.last = module.last = i
        if i in (5, 9):
            module.gain += 1
        return step(batch(i))

    return loop, lambda: (net.last, net.other, Kept.last, module.last)


@program
def dictionaries_with_attributes(jit):
    class Config(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    config = Config(gain=1.0, done=False)

    @jit.step
    def step(x):
        config.done = True
        return x * config.gain

    def loop(i):
        config["done"] = False
        if i in (4, 8):
            config["gain"] += 1
        return step(batch(i))

    return loop, lambda: config["done"]


@program
def a_dictionary_with_attributes_is_passed(jit):
    class Config(dict):
        def __getattr__(self, name):
            return self[name]

    step = jit.step(lambda x, config: x * config.gain)
    return (lambda i: step(batch(i), Config(gain=1.0 + i // 4))), lambda: None


@program
def super_of_a_class_in_c(jit):
    class History(list):
        def append(self, value):
            super().append(value)

    class Doubled(dict):
        def __getitem__(self, name):
            return super().__getitem__(name) * 2

    class Kept:
        def put(self, name, value):
            super().__setattr__(name, value)

    history, doubled, kept = History(), Doubled(gain=1.0), Kept()

    @jit.step
    def step(x):
        history.append(1)
        kept.put("done", True)
        return x * doubled["gain"]

    def loop(i):
        history.clear()
        kept.done = False
        if i in (5, 9):
            doubled["gain"] += 1
        return step(batch(i))

    return loop, lambda: (len(history), kept.done)


@program
def properties_in_c(jit):
    class Settings:
        gain = property(operator.attrgetter("config.gain"))

        def __init__(self):
            self.config = types.SimpleNamespace(gain=1.0)

    class Table(dict):
        bias = property(operator.itemgetter("bias"))

    store = {"scale": 2.0}
    Settings.scale = property(functools.partial(lambda where, _: where["scale"], store))
    settings, table = Settings(), Table(bias=0.5)
    step = jit.step(lambda x: x * settings.gain + table.bias + settings.scale)

    def loop(i):
        if i in (3, 6):
            settings.config.gain += 1
        if i in (4, 8):
            table["bias"] += 1
        if i == 10:
            store["scale"] = 3.0
        return step(batch(i))

    return loop, lambda: None


@program
def descriptors_by_hand(jit):
    class Slotted:
        __slots__ = ("gain", "last")

    kept = Slotted()
    kept.gain = 1.0
    read = Slotted.gain.__get__

    @jit.step
    def step(x):
        Slotted.last.__set__(kept, 5)
        return x * read(kept)

    def loop(i):
        kept.last = 0
        if i in (4, 8):
            kept.gain += 1
        return step(batch(i))

    return loop, lambda: kept.last


@program
def compared_and_written_in_c(jit):
    first, second = types.SimpleNamespace(gain=1), types.SimpleNamespace(gain=1)
    error = ValueError("a")

    @jit.step
    def step(x):
        x = x * 2 if first == second else x * 3
        return x * len(f"{first}") * len(str(error)) * len(pickle.dumps([first]))

    def loop(i):
        if i == 4:
            second.gain = 100
        if i == 7:
            first.gain = 1000
        if i == 10:
            error.args = ("abc",)
        return step(batch(i))

    return loop, lambda: None


@program
def subclasses_of_numbers_with_fields(jit):
    class Scale(float):
        __slots__ = ("gain",)

    class Draws(random.Random):
        def random(self):
            return self.level

    scale, draws = Scale(2.0), Draws()
    scale.gain, draws.level = 1.0, 0.5
    step = jit.step(lambda x: x * scale * scale.gain + draws.uniform(1, 3))

    def loop(i):
        if i in (4, 8):
            scale.gain += 1
        if i == 6:
            draws.level = 0.75
        return step(batch(i))

    return loop, lambda: None


@program
def containers_in_tuples_in_containers(jit):
    bounds = [("a", [1.0, 2.0]), ("b", [3.0, 4.0])]
    table = {"k": (np.ones(3, np.float32), [5.0])}

    @jit.step
    def step(x):
        for _, (low, high) in bounds:
            x = x * low + high
        arrays, _ = table["k"]
        total = sum(map(sum, map(operator.itemgetter(1), bounds)))
        return x + Tensor(arrays) * total + len(str(table))

    def loop(i):
        if i in (4, 8):
            bounds[0][1][1] += 1
        if i == 6:
            table["k"][0][1] = 7
        if i == 10:
            table["k"][1].append(6.0)
        return step(batch(i))

    return loop, lambda: None


@program
def variables_of_closures_by_hand(jit):
    def counter():
        count, gain = 0, 1.0
        return (lambda: (count, gain)), None

    read, _ = counter()
    count, gain = read.__closure__

    @jit.step
    def step(x):
        count.cell_contents = 5
        return x * gain.cell_contents

    def loop(i):
        count.cell_contents = 0
        if i in (4, 8):
            gain.cell_contents += 1
        return step(batch(i))

    return loop, lambda: count.cell_contents


@program
def filters_of_warnings(jit):
    def loop(i):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            result = step(batch(i))
            return result, warnings.filters[0][0]

    @jit.step
    def step(x):
        warnings.simplefilter("ignore")
        return x * 2

    return loop, lambda: None


@program
def classes_that_count_how_they_are_asked(jit):
    asked = []

    class Meta(type):
        def __getattr__(cls, name):
            asked.append(name)
            raise AttributeError(name)

    class Kept(metaclass=Meta):
        pass

    class Walked(list):
        def __iter__(self):
            asked.append("iter")
            return list.__iter__(self)

    kept, walked = Kept(), Walked([1.0])

    @jit.step
    def step(x):
        holder = [kept, walked]
        return x * walked[0] * len(holder)

    def loop(i):
        if i in (4, 8):
            walked[0] += 1
        return step(batch(i))

    return loop, lambda: list(asked)


@program
def a_template_is_filled(jit):
    import string

    options = {"gain": "2"}
    step = jit.step(lambda x: x * float(string.Template("$gain").substitute(options)))

    def loop(i):
        if i in (4, 8):
            options["gain"] = str(i)
        return step(Tensor(vector(i)))

    return loop, lambda: None
