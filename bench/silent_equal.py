# SPDX-License-Identifier: Apache-2.0
"""Programs for `bench.silent` in which an equal object, a function or a layer is put in the place
of another between calls.

See silent_programs.py for how a program is written.
"""

from __future__ import annotations

import functools
import math

from bench.silent_programs import program

# -- equal, and not the same -----------------------------------------------------------------------


@program
def order_of_a_dict(f):
    scales = {"a": 2.0, "b": 1.0}

    @f.jit
    def step(x):
        for name, scale in scales.items():
            x = x * scale + (name == "b")
        return x

    def loop(i):
        if i % 5 == 4:
            scales["a"] = scales.pop("a")
        if i == 11:
            scales["b"] = scales.pop("b")
        return step(f.batch(i))

    return loop, lambda: list(scales)


@program
def list_or_tuple(f):
    sizes = [2, 3]

    @f.jit
    def step(x):
        return x + 1 if isinstance(sizes, list) else x * sizes[0]

    def loop(i):
        nonlocal sizes
        sizes = [2, 3] if i < 6 else (2, 3)
        return step(f.batch(i))

    return loop, lambda: sizes


@program
def not_a_number_at_first(f):
    best = math.nan

    @f.jit
    def step(x):
        return x if best != best else x * best

    def loop(i):
        nonlocal best
        best = 2.0 if 5 <= i < 9 else math.nan
        return step(f.batch(i))

    return loop, lambda: None


@program
def equal_by_its_own_definition(f):
    class Setting:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return isinstance(other, Setting)

        __hash__ = None  # type: ignore[assignment]

    setting = Setting(1.0)

    @f.jit
    def step(x):
        return x * setting.value

    def loop(i):
        nonlocal setting
        if i == 7:
            setting = Setting(2.0)
        if i == 10:
            setting.value = 4.0
        return step(f.batch(i))

    return loop, lambda: setting.value


@program
def equal_copy_and_the_old_one_changed(f):
    config = {"layers": [1.0]}
    old = config

    @f.jit
    def step(x):
        return x * sum(config["layers"])

    def loop(i):
        nonlocal config
        if i == 5:
            config = {"layers": [1.0]}
        if i == 7:
            old["layers"].append(5.0)
        if i == 9:
            config["layers"].append(2.0)
        return step(f.batch(i))

    return loop, lambda: (config, old)


@program
def two_names_of_one_list(f):
    first = [1.0]
    second = first

    @f.jit
    def step(x):
        return x * (10 if first is second else 1) + second[0]

    def loop(i):
        nonlocal second
        if i == 6:
            second = [1.0]
        if i == 10:
            first[0] = second[0] = 2.0
        return step(f.batch(i))

    return loop, lambda: first is second


@program
def key_that_comes_later(f):
    overrides = {}

    @f.jit
    def step(x):
        return x * 0 if "off" in overrides else x * overrides.get("scale", 1.0)

    def loop(i):
        if i == 5:
            overrides["scale"] = 2.0
        if i == 9:
            overrides["off"] = None
        return step(f.batch(i))

    return loop, lambda: overrides


@program
def attribute_that_comes_later(f):
    class Net(f.Module):
        def forward(self, x):
            if hasattr(self, "adapter"):
                x = self.adapter(x)
            return x * getattr(self, "gain", 1.0)

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        if i == 5:
            net.gain = 2.0
        if i == 8:
            net.adapter = f.tanh
        if i == 11:
            del net.gain
        return step(f.batch(i))

    return loop, lambda: hasattr(net, "gain")


@program
def instance_shadows_the_class(f):
    class Config:
        gain = 1.0

    config = Config()

    @f.jit
    def step(x):
        return x * config.gain

    def loop(i):
        if i == 4:
            config.gain = 2.0
        if i == 8:
            del config.gain
        if i == 11:
            Config.gain = 3.0
        return step(f.batch(i))

    return loop, lambda: config.gain


@program
def fallback_added_to_the_class(f):
    class Lazy:
        pass

    lazy = Lazy()

    @f.jit
    def step(x):
        return x * getattr(lazy, "gain", 1.0)

    def loop(i):
        if i == 7:
            Lazy.__getattr__ = lambda self, name: 3.0  # type: ignore[attr-defined]
        return step(f.batch(i))

    return loop, lambda: None


# -- functions, methods, layers --------------------------------------------------------------------


@program
def closures_made_in_a_loop(f):
    factor = 1
    stages = [lambda x: x * factor for _ in range(2)]

    @f.jit
    def step(x):
        return functools.reduce(lambda value, stage: stage(value), stages, x)

    def loop(i):
        nonlocal factor
        if i == 6:
            factor = 3
        if i == 10:
            stages.append(lambda x: x + 1)
        return step(f.batch(i))

    return loop, lambda: len(stages)


@program
def closure_with_two_faces(f):
    def accumulator(total):
        def add(number):
            nonlocal total
            total += number

        return add, lambda: total

    add, get = accumulator(1.0)

    @f.jit
    def step(x):
        return x * get()

    def loop(i):
        if i % 4 == 3:
            add(0.5)
        return step(f.batch(i))

    return loop, lambda: get()


@program
def partial_with_new_keywords(f):
    def scale(x, by, shift=0.0):
        return x * by + shift

    current = functools.partial(scale, by=2.0)

    @f.jit
    def step(x):
        return current(x)

    def loop(i):
        nonlocal current
        if i == 5:
            current.keywords["by"] = 3.0
        if i == 9:
            current = functools.partial(current, shift=1.0)
        return step(f.batch(i))

    return loop, lambda: current.keywords


@program
def field_of_a_function(f):
    def scale(x):
        return x * scale.factor

    scale.factor = 1.0

    @f.jit
    def step(x):
        return scale(x)

    def loop(i):
        if i in (4, 8):
            scale.factor *= 0.5
        return step(f.batch(i))

    return loop, lambda: scale.factor


@program
def dispatch_table(f):
    table = {"act": f.tanh}

    @f.jit
    def step(x):
        return table["act"](x)

    def loop(i):
        if i == 5:
            table["act"] = f.relu
        if i == 9:
            table["act"] = lambda x: x * i
        return step(f.batch(i))

    return loop, lambda: None


@program
def function_rebound(f):
    def act(x):
        return x * 2

    @f.jit
    def step(x):
        return act(x)

    def loop(i):
        nonlocal act
        if i == 6:
            act = f.tanh
        return step(f.batch(i))

    return loop, lambda: None


@program
def method_patched_on_the_class(f):
    class Net(f.Module):
        def forward(self, x):
            return self.body(x)

        def body(self, x):
            return x * 2

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        if i == 6:
            Net.body = lambda self, x: x * 3
        if i == 10:
            net.body = lambda x: x * 4
        return step(f.batch(i))

    return loop, lambda: None


@program
def code_and_default_replaced(f):
    def scale(x, by=2.0):
        return x * by

    @f.jit
    def step(x):
        return scale(x)

    def loop(i):
        if i == 5:
            scale.__defaults__ = (3.0,)
        if i == 9:
            scale.__code__ = (lambda x, by: x + by).__code__
        return step(f.batch(i))

    return loop, lambda: None


@program
def class_of_an_object_replaced(f):
    class Warm:
        def gain(self):
            return 1.0

    class Hot:
        def gain(self):
            return 2.0

    stage = Warm()

    @f.jit
    def step(x):
        return x * stage.gain()

    def loop(i):
        stage.__class__ = Hot if i % 6 > 3 else Warm  # type: ignore[assignment]
        return step(f.batch(i))

    return loop, lambda: type(stage).__name__


@program
def layer_replaced(f):
    class Scale(f.Module):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def forward(self, x):
            return x * self.by

    class Net(f.Module):
        def __init__(self):
            super().__init__()
            self.body = Scale(2.0)

        def forward(self, x):
            return self.body(x)

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        if i == 5:
            net.body = Scale(3.0)
        if i == 9:
            net.body.by = 4.0
        return step(f.batch(i))

    return loop, lambda: net.body.by


@program
def layers_in_a_plain_list(f):
    layers = [f.tanh]

    @f.jit
    def step(x):
        for layer in layers:
            x = layer(x)
        return x

    def loop(i):
        if i in (4, 8):
            layers.append(f.relu if i == 4 else f.exp)
        if i == 11:
            layers.reverse()
        return step(f.batch(i))

    return loop, lambda: len(layers)


@program
def training_and_prediction_in_turn(f):
    class Net(f.Module):
        def forward(self, x):
            return x * 0.5 if self.training else x

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        net.train(i % 4 != 3)
        return step(f.batch(i))

    return loop, lambda: net.training


@program
def weights_replaced_outside(f):
    class Net(f.Module):
        def __init__(self):
            super().__init__()
            self.weight = f.array(f.WEIGHT)

        def forward(self, x):
            return x @ self.weight

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        out = step(f.batch(i))
        net.weight = net.weight * 0.5
        return out

    return loop, lambda: net.weight


@program
def weights_as_arguments(f):
    def objective(w, x):
        return f.tanh(x @ w).sum()

    gradient = f.grad(objective)

    @f.jit
    def step(w, x):
        return w - gradient(w, x) * 0.125

    w = f.array(f.WEIGHT)

    def loop(i):
        nonlocal w
        w = step(w, f.batch(i))
        return w

    return loop, lambda: None
