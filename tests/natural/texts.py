# SPDX-License-Identifier: Apache-2.0
"""What a program reads through text, code and the library's C functions."""

from __future__ import annotations

import importlib
import json
import pickle
import re
import string
import sys
import types

from mycel import ops
from natural.common import Box, after, batch, program


@program
def text_formatted_from_an_object(jit):
    config = Box(act="relu", gain=1)

    @jit.step
    def step(x):
        name, gain = "{c.act}:{c.gain}".format(c=config).split(":")
        return getattr(ops, name)(x) * int(gain)

    def loop(i):
        after(i, 5, lambda: setattr(config, "gain", 2))
        after(i, 9, lambda: setattr(config, "act", "tanh"))
        return step(batch(i))

    return loop, lambda: vars(config)


@program
def percent_formatting(jit):
    config = {"gain": 1}

    @jit.step
    def step(x):
        return x * int("%(gain)d" % config)

    def loop(i):
        after(i, 6, lambda: config.update(gain=4))
        return step(batch(i))

    return loop, lambda: config


@program
def template_of_text(jit):
    values = {"k": "2"}
    template = string.Template("$k")

    @jit.step
    def step(x):
        return x * int(template.substitute(values))

    def loop(i):
        after(i, 8, lambda: values.update(k="5"))
        return step(batch(i))

    return loop, lambda: None


@program
def evaluated_text(jit):
    config = {"gain": 1.0}

    @jit.step
    def step(x):
        return x * eval("c['gain'] + 1", {"c": config})

    def loop(i):
        after(i, 6, lambda: config.update(gain=2.0))
        return step(batch(i))

    return loop, lambda: None


@program
def executed_text(jit):
    code = "y = x * 2"

    @jit.step
    def step(x):
        names = {"x": x}
        exec(code, names)
        return names["y"]

    def loop(i):
        nonlocal code
        if i == 7:
            code = "y = x + 2"
        return step(batch(i))

    return loop, lambda: code


@program
def rule_compiled_from_text(jit):
    rules = {"scale": compile("k * 2", "<rule>", "eval")}

    @jit.step
    def step(x):
        return x * eval(rules["scale"], {"k": 2})

    def loop(i):
        if i == 8:
            rules["scale"] = compile("k * 3", "<rule>", "eval")
        return step(batch(i))

    return loop, lambda: None


@program
def pickled_inside(jit):
    config = {"gain": 1.0}

    @jit.step
    def step(x):
        return x * pickle.loads(pickle.dumps(config))["gain"]

    def loop(i):
        after(i, 8, lambda: config.update(gain=3.0))
        return step(batch(i))

    return loop, lambda: None


@program
def dumped_as_text(jit):
    config = {"layers": [{"n": 1}]}

    @jit.step
    def step(x):
        return x * len(json.dumps(config))

    def loop(i):
        after(i, 5, lambda: config["layers"].append({"n": 2}))
        return step(batch(i))

    return loop, lambda: None


@program
def expression_replaced(jit):
    pattern = re.compile(r"\d+")

    @jit.step
    def step(x):
        return x * len(pattern.findall("a1b22c333"))

    def loop(i):
        nonlocal pattern
        if i == 7:
            pattern = re.compile(r"\d")
        return step(batch(i))

    return loop, lambda: pattern.pattern


@program
def module_by_name(jit):
    module = types.ModuleType("natural_plugin")
    module.gain = 1.0
    sys.modules["natural_plugin"] = module
    jit.undo(sys.modules.pop, "natural_plugin")

    @jit.step
    def step(x):
        return x * importlib.import_module("natural_plugin").gain

    def loop(i):
        after(i, 6, lambda: setattr(module, "gain", 2.0))
        return step(batch(i))

    return loop, lambda: None


@program
def imported_inside(jit):
    module = types.ModuleType("natural_settings")
    module.GAIN = 1.0
    sys.modules["natural_settings"] = module
    jit.undo(sys.modules.pop, "natural_settings")

    @jit.step
    def step(x):
        from natural_settings import GAIN

        return x * GAIN

    def loop(i):
        after(i, 8, lambda: setattr(module, "GAIN", 4.0))
        return step(batch(i))

    return loop, lambda: None
