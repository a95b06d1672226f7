# SPDX-License-Identifier: Apache-2.0
"""Configuration objects of every make, read in the network and changed by the loop."""

from __future__ import annotations

import argparse
import copy
import dataclasses
import enum
import json
import os
import types
from collections import ChainMap, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

from mycel import Parameter, nn, ops
from natural.common import batch, effect_free, linear, program, weight


@program
def config_dict(jit):
    config = {"act": "relu", "scale": 1.0}

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            y = ops.relu(x) if config["act"] == "relu" else ops.tanh(x)
            return y * config["scale"]

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 4:
            config["scale"] = 2.0
        if i == 8:
            config.update(act="tanh")
        return step(batch(i))

    return loop, lambda: config


@program
def nested_config(jit):
    cfg = {"model": {"head": {"bias": 0.0}}, "name": "run"}

    @jit.step
    def step(x):
        return x + cfg["model"]["head"]["bias"]

    def loop(i):
        cfg["model"]["head"]["bias"] = i // 5
        return step(batch(i))

    return loop, lambda: cfg


@program
def namespace_config(jit):
    args = argparse.Namespace(alpha=0.5, use_bias=False)
    net = linear(jit)

    @jit.step
    def step(x):
        out = net(x) * args.alpha
        return out + 1 if args.use_bias else out

    def loop(i):
        args.use_bias = 5 <= i < 10
        return step(batch(i))

    return loop, lambda: vars(args)


@program
def simple_namespace_changed_inside(jit):
    cfg = types.SimpleNamespace(t=8.0)

    @jit.step
    def step(x):
        cfg.t *= 0.5
        return x * cfg.t

    return (lambda i: step(batch(i))), lambda: cfg


@program
def dataclass_config(jit):
    @dataclass
    class Config:
        eps: float = 0.5
        layers: list = dataclasses.field(default_factory=lambda: [1, 2])

    cfg = Config()

    @jit.step
    def step(x):
        for factor in cfg.layers:
            x = x * factor + cfg.eps
        return x

    def loop(i):
        if i == 3:
            cfg.eps = 0.25
        if i == 9:
            cfg.layers.append(3)
        return step(batch(i))

    return loop, lambda: cfg


@program
def frozen_dataclass_replaced(jit):
    @dataclass(frozen=True)
    class Config:
        rate: float
        depth: int = 1

    class Net(nn.Cell):
        def __init__(self, config):
            super().__init__()
            self.config = config

        @jit.construct
        def construct(self, x):
            for _ in range(self.config.depth):
                x = x * self.config.rate
            return x

    net = Net(Config(0.5))
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i in (5, 10):
            net.config = dataclasses.replace(net.config, depth=net.config.depth + 1)
        return step(batch(i))

    return loop, lambda: net.config


@program
def class_attribute_as_setting(jit):
    class Settings:
        scale = 1.0
        debug = False

    @jit.step
    def step(x):
        if Settings.debug:
            print("shape", x.shape)
        return x * Settings.scale

    def loop(i):
        Settings.scale = 1.0 if i < 7 else 3.0
        Settings.debug = i == 12
        return step(batch(i))

    return loop, lambda: (Settings.scale, Settings.debug)


@program
def class_attribute_of_the_network(jit):
    class Net(nn.Cell):
        temperature = 1.0

        @jit.construct
        def construct(self, x):
            return x / self.temperature

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            Net.temperature = 2.0
        if i == 10:
            net.temperature = 4.0
        return step(batch(i))

    return loop, lambda: Net.temperature


@program
def module_constant(jit):
    SCALE = 1.0
    USE_RELU = True

    def activation(x):
        return ops.relu(x) if USE_RELU else x

    @jit.step
    def step(x):
        return activation(x) * SCALE

    def loop(i):
        nonlocal SCALE, USE_RELU
        if i == 5:
            SCALE = 0.5
        if i == 10:
            USE_RELU = False
        return step(batch(i))

    return loop, lambda: (SCALE, USE_RELU)


@program
def settings_module(jit):
    settings = types.ModuleType("settings")
    settings.GAIN = 1.0
    settings.flags = {"double": False}

    @jit.step
    def step(x):
        y = x * settings.GAIN
        return y * 2 if settings.flags["double"] else y

    def loop(i):
        settings.GAIN = 1.0 + i // 6
        settings.flags["double"] = i >= 10
        return step(batch(i))

    return loop, lambda: (settings.GAIN, settings.flags)


@program
def enum_mode(jit):
    class Mode(enum.Enum):
        WARM = 1
        FULL = 2

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mode = Mode.WARM

        @jit.construct
        def construct(self, x):
            if self.mode is Mode.WARM:
                return x
            return x * x

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.mode = Mode.FULL if i >= 6 else Mode.WARM
        return step(batch(i))

    return loop, lambda: net.mode


@program
def flag_enum(jit):
    class Do(enum.Flag):
        NOTHING = 0
        SHIFT = enum.auto()
        SCALE = enum.auto()

    what = [Do.NOTHING]

    @jit.step
    def step(x):
        if Do.SHIFT in what[0]:
            x = x + 1
        if Do.SCALE in what[0]:
            x = x * 2
        return x

    def loop(i):
        what[0] = (Do.NOTHING, Do.SHIFT, Do.SHIFT | Do.SCALE)[i // 5]
        return step(batch(i))

    return loop, lambda: what


@program
def namedtuple_config(jit):
    Config = namedtuple("Config", "scale shift")
    config = Config(1.0, 0.0)

    @jit.step
    def step(x):
        scale, shift = config
        return x * scale + shift

    def loop(i):
        nonlocal config
        if i % 5 == 4:
            config = config._replace(shift=config.shift + 1)
        return step(batch(i))

    return loop, lambda: config


@program
def environment_flag(jit):
    @jit.step
    def step(x):
        if os.environ.get("NATURAL_DEBUG", "0") == "1":
            return x * 0
        return x * int(os.environ.get("NATURAL_SCALE", "1"))

    def loop(i):
        if i == 5:
            os.environ["NATURAL_SCALE"] = "3"
        if i == 10:
            os.environ["NATURAL_DEBUG"] = "1"
        return step(batch(i))

    return loop, lambda: os.getenv("NATURAL_SCALE")


@program
def json_round_trip(jit):
    text = json.dumps({"widths": [1, 2], "act": "relu"})

    @jit.step
    def step(x):
        config = json.loads(text)
        for width in config["widths"]:
            x = getattr(ops, config["act"])(x * width)
        return x

    def loop(i):
        nonlocal text
        if i == 6:
            config = json.loads(text)
            config["widths"].append(4)
            text = json.dumps(config)
        return step(batch(i))

    return loop, lambda: text


@program
def copied_config(jit):
    base = {"drop": 0.0, "dims": [3]}
    local = copy.deepcopy(base)

    @jit.step
    def step(x):
        mine = copy.copy(local)
        mine["drop"] += 0.5
        return x * (1 - mine["drop"]) * len(mine["dims"])

    def loop(i):
        if i == 8:
            local["dims"].append(3)
            base["dims"].append(7)
        return step(batch(i))

    return loop, lambda: (base, local)


@program
def chained_settings(jit):
    defaults, user = {"p": 1.0, "q": 2.0}, {}
    settings = ChainMap(user, defaults)

    @jit.step
    def step(x):
        return x * settings["p"] + settings["q"]

    def loop(i):
        if i == 5:
            user["q"] = 0.0
        if i == 10:
            defaults["p"] = 0.5
        return step(batch(i))

    return loop, lambda: dict(settings)


@program
def default_dict_that_grows(jit):
    visits = defaultdict(int)

    @jit.step
    def step(x, task):
        visits[task] += 1
        return x / visits[task]

    return (lambda i: step(batch(0), "ab"[i % 2])), lambda: visits


@program
def ordered_stages(jit):
    stages = OrderedDict(double=lambda x: x * 2, shift=lambda x: x + 1)

    @jit.step
    def step(x):
        for stage in stages.values():
            x = stage(x)
        return x

    def loop(i):
        if i == 7:
            stages.move_to_end("double")
        return step(batch(i))

    return loop, lambda: list(stages)


@program
def mode_string(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")
            self.mode = "encode"

        @jit.construct
        def construct(self, x):
            match self.mode:
                case "encode":
                    return ops.matmul(x, self.w)
                case "decode":
                    return ops.matmul(x, self.w.T)
                case other:
                    raise ValueError(f"no mode {other!r}")

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.mode = ("encode", "decode", "dream")[i // 5]
        return step(batch(i))

    return loop, lambda: net.mode


@effect_free(states=2)
def config_dict_in_two_phases(jit):
    config = {"alpha": 1.0, "name": "first", "layers": [1, 2, 3]}

    @jit.step
    def step(x):
        return x * config["alpha"]

    def loop(i):
        if i == 6:
            config["alpha"] = 0.5
        return step(batch(i))

    return loop, lambda: config


@effect_free
def config_fields_nobody_reads(jit):
    config = types.SimpleNamespace(alpha=0.5, epoch=0, best=None, history=[])
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x) * config.alpha

    def loop(i):
        config.epoch = i
        config.history.append(i * 0.5)
        out = step(batch(i))
        config.best = i
        return out

    return loop, lambda: config
