# SPDX-License-Identifier: Apache-2.0
"""Programs for `bench.silent` whose step changes nothing: what it reads is changed between calls.

See silent_programs.py for how a program is written.
"""

from __future__ import annotations

import collections
import contextvars
import dataclasses
import enum
import os
import threading
import types
from typing import NamedTuple

from bench.silent_programs import program

# -- settings ----------------------------------------------------------------------------------

GAIN = 1.0


@program
def module_constant(f):
    global GAIN
    GAIN = 1.0

    @f.jit
    def step(x):
        return x * GAIN

    def loop(i):
        global GAIN
        GAIN = 1.0 + i // 5
        return step(f.batch(i))

    return loop, lambda: GAIN


@program
def rate_set_by_the_loop(f):
    rate = 1.0

    @f.jit
    def step(w, x):
        return w - x * rate

    def loop(i):
        nonlocal rate
        rate = 1.0 / (1 + i // 3)
        return step(f.batch(i), f.batch(i + 1))

    return loop, lambda: rate


@program
def early_stop_flag(f):
    class Stopper:
        best, bad, stop = float("inf"), 0, False

        def see(self, loss):
            if loss < self.best:
                self.best, self.bad = loss, 0
            else:
                self.bad += 1
                self.stop = self.bad >= 3

    stopper = Stopper()
    losses = [4.0, 3.0, 2.5, 2.6, 2.4, 2.5, 2.5, 2.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]

    @f.jit
    def step(x):
        if stopper.stop:
            return x * 0
        return (x * stopper.best).sum() if stopper.bad else x.sum()

    def loop(i):
        out = step(f.batch(i))
        stopper.see(losses[i])
        return out

    return loop, lambda: vars(stopper)


@program
def epoch_of_the_trainer(f):
    class Trainer:
        epoch = 0

        def step(self, x):
            return x * 2 if self.epoch < 2 else x

    trainer = Trainer()
    step = f.jit(trainer.step)

    def loop(i):
        trainer.epoch = i // 4
        return step(f.batch(i))

    return loop, lambda: trainer.epoch


@program
def curriculum_by_length(f):
    length = 1

    @f.jit
    def step(x):
        return x[:, :length].sum()

    def loop(i):
        nonlocal length
        length = min(3, 1 + i // 4)
        return step(f.batch(i))

    return loop, lambda: length


@program
def weight_of_a_term(f):
    class Objective(f.Module):
        def __init__(self):
            super().__init__()
            self.beta = 0.0

        def forward(self, x):
            return x.sum() + (x * x).sum() * self.beta

    net = Objective()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        net.beta = min(1.0, i / 4)
        return step(f.batch(i))

    return loop, lambda: net.beta


@program
def counter_nobody_reads(f):
    class Trainer:
        number = 0

        def step(self, x):
            return f.tanh(x @ f.array(f.WEIGHT))

    trainer = Trainer()
    step = f.jit(trainer.step)

    def loop(i):
        trainer.number += 1
        return step(f.batch(i))

    return loop, lambda: trainer.number


@program
def fake_clock(f):
    now = 0.0

    class Timer:
        start = 0.0

        @property
        def expired(self):
            return now - self.start > 5

    timer = Timer()

    @f.jit
    def step(x):
        return x * 0 if timer.expired else x

    def loop(i):
        nonlocal now
        now = float(i)
        return step(f.batch(i))

    return loop, lambda: timer.expired


@program
def nested_config(f):
    config = {"optimizer": {"rates": [0.5, 0.25]}, "name": "a"}

    @f.jit
    def step(x):
        return x * config["optimizer"]["rates"][0]

    def loop(i):
        config["name"] += "a"
        if i in (5, 10):
            config["optimizer"]["rates"].pop(0)
            config["optimizer"]["rates"].append(0.125)
        return step(f.batch(i))

    return loop, lambda: config


@program
def namespace_config(f):
    config = types.SimpleNamespace(gain=1.0, shift=0.0)

    @f.jit
    def step(x):
        return x * config.gain + config.shift

    def loop(i):
        config.gain, config.shift = (1.0, 2.0)[i // 7], float(i == 12)
        return step(f.batch(i))

    return loop, lambda: vars(config)


@program
def dataclass_config(f):
    @dataclasses.dataclass
    class Config:
        gain: float = 1.0
        layers: list = dataclasses.field(default_factory=lambda: [2.0])

    config = Config()

    @f.jit
    def step(x):
        return x * config.gain * sum(config.layers)

    def loop(i):
        if i == 5:
            config.gain = 3.0
        if i == 9:
            config.layers.append(1.0)
        return step(f.batch(i))

    return loop, lambda: dataclasses.asdict(config)


@program
def frozen_dataclass_replaced(f):
    @dataclasses.dataclass(frozen=True)
    class Config:
        gain: float = 1.0

    config = Config()

    @f.jit
    def step(x):
        return x * config.gain

    def loop(i):
        nonlocal config
        if i % 4 == 3:
            config = dataclasses.replace(config, gain=config.gain * 0.5)
        return step(f.batch(i))

    return loop, lambda: config.gain


@program
def named_tuple_config(f):
    class Config(NamedTuple):
        gain: float
        shift: float

    config = Config(1.0, 0.5)

    @f.jit
    def step(x):
        return x * config.gain + config.shift

    def loop(i):
        nonlocal config
        config = config._replace(shift=float(i // 6))
        return step(f.batch(i))

    return loop, lambda: tuple(config)


@program
def class_attribute_as_setting(f):
    class Settings:
        gain = 1.0

    @f.jit
    def step(x):
        return x * Settings.gain

    def loop(i):
        Settings.gain = 1.0 + i // 5
        return step(f.batch(i))

    return loop, lambda: Settings.gain


@program
def settings_module(f):
    settings = types.ModuleType("settings")
    settings.gain = 1.0  # type: ignore[attr-defined]

    @f.jit
    def step(x):
        return x * settings.gain

    def loop(i):
        settings.gain = 1.0 + i // 6  # type: ignore[attr-defined]
        return step(f.batch(i))

    return loop, lambda: settings.gain


@program
def enum_mode(f):
    class Mode(enum.Enum):
        SUM, MEAN = 1, 2

    mode = Mode.SUM

    @f.jit
    def step(x):
        return x.sum() if mode is Mode.SUM else x.mean()

    def loop(i):
        nonlocal mode
        mode = Mode.MEAN if i % 5 > 2 else Mode.SUM
        return step(f.batch(i))

    return loop, lambda: mode.name


@program
def environment_flag(f):
    os.environ["SILENT_GAIN"] = "1.0"

    @f.jit
    def step(x):
        return x * float(os.environ["SILENT_GAIN"])

    def loop(i):
        os.environ["SILENT_GAIN"] = str(1.0 + i // 6)
        return step(f.batch(i))

    return loop, lambda: os.environ["SILENT_GAIN"]


@program
def chained_settings(f):
    local, defaults = {}, {"gain": 1.0}
    settings = collections.ChainMap(local, defaults)

    @f.jit
    def step(x):
        return x * settings["gain"]

    def loop(i):
        if i == 5:
            local["gain"] = 2.0
        if i == 9:
            defaults["gain"] = 7.0
        if i == 11:
            del local["gain"]
        return step(f.batch(i))

    return loop, lambda: settings["gain"]


@program
def context_variable(f):
    precision = contextvars.ContextVar("precision", default=1.0)

    @f.jit
    def step(x):
        return x * precision.get()

    def loop(i):
        if i == 6:
            precision.set(0.5)
        return step(f.batch(i))

    return loop, lambda: precision.get()


@program
def thread_local_flag(f):
    state = threading.local()

    @f.jit
    def step(x):
        return x * 2 if getattr(state, "training", False) else x

    def loop(i):
        state.training = i < 7
        return step(f.batch(i))

    return loop, lambda: state.training


@program
def property_that_computes(f):
    class Config:
        width, heads = 8, 2

        @property
        def scale(self):
            return (self.width // self.heads) ** -0.5

    config = Config()

    @f.jit
    def step(x):
        return x * config.scale

    def loop(i):
        if i == 6:
            config.heads = 8
        return step(f.batch(i))

    return loop, lambda: config.scale


@program
def attribute_by_a_hook(f):
    class Settings:
        def __init__(self, **values):
            self._values = values

        def __getattr__(self, name):
            return self._values[name]

    settings = Settings(gain=1.0)

    @f.jit
    def step(x):
        return x * settings.gain

    def loop(i):
        if i == 7:
            settings._values["gain"] = 2.0
        return step(f.batch(i))

    return loop, lambda: settings.gain


@program
def slots_set_outside(f):
    class Knob:
        __slots__ = ("value",)

    knob = Knob()

    @f.jit
    def step(x):
        return x + knob.value

    def loop(i):
        knob.value = float(i // 4)
        return step(f.batch(i))

    return loop, lambda: knob.value


@program
def raised_by_a_flag(f):
    limits = {"healthy": True}

    @f.jit
    def step(x):
        if not limits["healthy"]:
            raise RuntimeError("not healthy")
        return x * 2

    def loop(i):
        limits["healthy"] = i % 5 != 4
        return step(f.batch(i))

    return loop, lambda: limits
