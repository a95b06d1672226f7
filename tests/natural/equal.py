# SPDX-License-Identifier: Apache-2.0
"""States that compare equal and are not the same; names that are not there yet."""

from __future__ import annotations

import builtins
import enum
import math
from collections import OrderedDict, namedtuple
from fractions import Fraction

import numpy as np

from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector


@program
def one_true_and_one_point_zero(jit):
    config = {"n": 1}

    @jit.step
    def step(x):
        return x * 2, repr(config["n"])

    def loop(i):
        config["n"] = (1, True, 1.0, np.float64(1.0), Fraction(1))[i // 3]
        return step(batch(i))

    return loop, lambda: None


@program
def signed_zero_in_a_config(jit):
    config = {"slope": 0.0}

    @jit.step
    def step(x):
        return x * math.copysign(1.0, config["slope"])

    def loop(i):
        config["slope"] = -0.0 if i in (5, 6, 11) else 0.0
        return step(batch(i))

    return loop, lambda: repr(config)


@program
def signed_zero_in_an_array(jit):
    slopes = np.zeros(2)

    @jit.step
    def step(x):
        return x * float(np.copysign(1.0, slopes[1]))

    def loop(i):
        slopes[1] = -0.0 if i > 6 else 0.0
        return step(batch(i))

    return loop, lambda: repr(slopes)


@program
def not_a_number_in_a_config(jit):
    best = math.nan

    @jit.step
    def step(x):
        return x if best != best else x * best

    def loop(i):
        nonlocal best
        best = 2.0 if 5 <= i < 9 else math.nan
        return step(batch(i))

    return loop, lambda: repr(best)


@program
def order_of_a_dict(jit):
    scales = {"a": 2.0, "b": 1.0}

    @jit.step
    def step(x):
        for name, scale in scales.items():
            x = x * scale + (name == "b")
        return x

    def loop(i):
        if i % 5 == 4:
            scales["a"] = scales.pop("a")
        if i == 11:
            scales["b"] = scales.pop("b")
        return step(batch(i))

    return loop, lambda: scales


@program
def list_or_tuple(jit):
    sizes = [2, 3]

    @jit.step
    def step(x):
        return x + 1, type(sizes).__name__, sizes == [2, 3]

    def loop(i):
        nonlocal sizes
        sizes = [2, 3] if i < 6 else (2, 3) if i < 11 else np.array([2, 3]).tolist()
        return step(batch(i))

    return loop, lambda: sizes


@program
def tuple_or_namedtuple(jit):
    Size = namedtuple("Size", "height width")
    size = (2, 3)

    @jit.step
    def step(x):
        return x * getattr(size, "height", 1)

    def loop(i):
        nonlocal size
        size = Size(2, 3) if i > 6 else (2, 3)
        return step(batch(i))

    return loop, lambda: size


@program
def dict_or_ordered_dict(jit):
    table = {"a": 1}

    @jit.step
    def step(x):
        return x * (2 if isinstance(table, OrderedDict) else 1)

    def loop(i):
        nonlocal table
        table = OrderedDict(a=1) if i % 6 > 3 else {"a": 1}
        return step(batch(i))

    return loop, lambda: type(table).__name__


@program
def number_or_enum(jit):
    class Level(enum.IntEnum):
        LOW = 1

    level = 1

    @jit.step
    def step(x):
        return x * int(level), str(isinstance(level, Level))

    def loop(i):
        nonlocal level
        level = Level.LOW if i > 6 else 1
        return step(batch(i))

    return loop, lambda: repr(level)


@program
def numpy_or_python_number(jit):
    scale = 1.5

    @jit.step
    def step(x):
        return x * scale, type(scale).__name__

    def loop(i):
        nonlocal scale
        scale = (1.5, np.float32(1.5), np.float64(1.5))[i // 5]
        return step(batch(i))

    return loop, lambda: None


@program
def text_of_equal_value(jit):
    name = "relu"

    @jit.step
    def step(x):
        return getattr(ops, name)(x) if isinstance(name, str) else x * 3

    def loop(i):
        nonlocal name
        name = b"relu" if i > 8 else "re" + "lu"
        return step(batch(i))

    return loop, lambda: name


@program
def equal_by_its_own_definition(jit):
    class Setting:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return isinstance(other, Setting)

        __hash__ = None

    setting = Setting(1.0)

    @jit.step
    def step(x):
        return x * setting.value

    def loop(i):
        nonlocal setting
        if i == 7:
            setting = Setting(2.0)
        if i == 10:
            setting.value = 4.0
        return step(batch(i))

    return loop, lambda: setting.value


@program
def equal_copy_and_the_old_one_changed(jit):
    config = {"layers": [1.0]}
    old = config

    @jit.step
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
        return step(batch(i))

    return loop, lambda: (config, old)


@program
def same_address_another_object(jit):
    class Option:
        def __init__(self, gain):
            self.gain = gain

    options = {"current": Option(0.0)}

    @jit.step
    def step(x):
        return x * options["current"].gain

    def loop(i):
        options.clear()
        options["current"] = Option(float(i // 4))
        return step(batch(i))

    return loop, lambda: None


@program
def lambda_at_the_same_address(jit):
    table = {}

    @jit.step
    def step(x):
        return table["f"](x)

    def loop(i):
        table.clear()
        k = i // 5
        table["f"] = (lambda x: x * 2) if k == 1 else (lambda x: x + k)
        return step(batch(i))

    return loop, lambda: None


@program
def two_names_of_one_list(jit):
    first = [1.0]
    second = first

    @jit.step
    def step(x):
        return x * (10 if first is second else 1) + second[0]

    def loop(i):
        nonlocal second
        if i == 6:
            second = [1.0]
        if i == 10:
            first[0] = second[0] = 2.0
        return step(batch(i))

    return loop, lambda: first is second


@program
def name_that_comes_later(jit):
    @jit.step
    def step(x):
        try:
            return x * LATER
        except NameError:
            return x

    def loop(i):
        nonlocal LATER
        if i == 6:
            LATER = 4.0
        if i == 10:
            del LATER
        return step(batch(i))

    LATER = None
    del LATER
    return loop, lambda: None


@program
def key_that_comes_later(jit):
    overrides = {}

    @jit.step
    def step(x):
        return x * overrides.get("scale", 1.0) if "off" not in overrides else x * 0

    def loop(i):
        if i == 5:
            overrides["scale"] = 2.0
        if i == 9:
            overrides["off"] = None
        return step(batch(i))

    return loop, lambda: overrides


@program
def attribute_that_comes_later(jit):
    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            if hasattr(self, "adapter"):
                x = self.adapter(x)
            return x * getattr(self, "gain", 1.0)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.gain = 2.0
        if i == 8:
            net.adapter = nn.ReLU()
        if i == 11:
            del net.gain
        return step(batch(i))

    return loop, lambda: None


@program
def instance_shadows_the_class(jit):
    class Config:
        gain = 1.0

    config = Config()

    @jit.step
    def step(x):
        return x * config.gain

    def loop(i):
        if i == 4:
            config.gain = 2.0
        if i == 8:
            del config.gain
        if i == 11:
            Config.gain = 3.0
        return step(batch(i))

    return loop, lambda: config.gain


@program
def subclass_overrides_later(jit):
    class Base:
        def gain(self):
            return 1.0

    class Derived(Base):
        pass

    thing = Derived()

    @jit.step
    def step(x):
        return x * thing.gain()

    def loop(i):
        if i == 5:
            Derived.gain = lambda self: 2.0
        if i == 10:
            del Derived.gain
        return step(batch(i))

    return loop, lambda: None


@program
def fallback_added_to_the_class(jit):
    class Lazy:
        pass

    lazy = Lazy()

    @jit.step
    def step(x):
        return x * getattr(lazy, "gain", 1.0)

    def loop(i):
        if i == 7:
            Lazy.__getattr__ = lambda self, name: 3.0
        return step(batch(i))

    return loop, lambda: None


@program
def builtin_shadowed(jit):
    jit.undo(setattr, builtins, "sorted", sorted)

    @jit.step
    def step(x):
        return [x * k for k in sorted([2, 1])]

    def loop(i):
        if i == 8:
            builtins.sorted = lambda values: list(values)
        return step(batch(i))

    return loop, lambda: None


@program
def whole_dict_replaced(jit):
    class Box:
        def __init__(self):
            self.gain = 1.0

    box = Box()

    @jit.step
    def step(x):
        return x * box.gain

    def loop(i):
        if i == 7:
            box.__dict__ = {"gain": 2.0}
        if i == 10:
            box.__dict__ = dict(box.__dict__, gain=5.0)
        return step(batch(i))

    return loop, lambda: box.gain


@program
def same_weights_in_another_order(jit):
    a, b = Parameter(vector(), name="a"), Parameter(vector(2.0, 1.0, 0.5), name="b")
    pair = [a, b]

    @jit.step
    def step(x):
        return x * pair[0] - pair[1]

    def loop(i):
        if i % 6 == 5:
            pair.reverse()
        return step(batch(i))

    return loop, lambda: [p.name for p in pair]


@program
def tensors_of_equal_value(jit):
    scale = Tensor(np.float32(2.0))

    @jit.step
    def step(x):
        return x * scale

    def loop(i):
        nonlocal scale
        if i == 5:
            scale = Tensor(np.float32(2.0))
        if i == 9:
            scale = Tensor(np.float64(2.0))
        return step(batch(i))

    return loop, lambda: None


@program
def shape_of_a_constant(jit):
    bias = np.zeros(3, np.float32)

    @jit.step
    def step(x):
        return x + Tensor(bias)

    def loop(i):
        nonlocal bias
        if i == 5:
            bias = bias.reshape(1, 3)
        if i == 8:
            bias = np.zeros((2, 2, 3), np.float32)
        if i == 11:
            bias = bias.astype(np.float64)
        return step(batch(i))

    return loop, lambda: bias


@program
def large_numbers_that_differ_little(jit):
    seed = 2**70

    @jit.step
    def step(x):
        return x * (seed % 7)

    def loop(i):
        nonlocal seed
        seed = 2**70 + i // 4
        return step(batch(i))

    return loop, lambda: seed


@effect_free
def rebuilt_but_equal(jit):
    config = {"scale": 2.0, "sizes": (1, 2), "name": "a"}
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x) * config["scale"] * config["sizes"][1]

    def loop(i):
        config["scale"] = float(str(2.0))
        config["name"] = "".join(["a"])
        config["sizes"] = tuple([1, 2])
        return step(batch(i))

    return loop, lambda: config
