# SPDX-License-Identifier: Apache-2.0
"""Writes that change nothing at most calls: the value is there already, or is put back."""

from __future__ import annotations

import contextlib
import os
import random

import numpy as np

from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, log, program, vector


@program
def dirty_flag_reset_outside(jit):
    state = {"dirty": False}

    @jit.step
    def step(x):
        state["dirty"] = True
        return ops.relu(x)

    def loop(i):
        out = step(batch(i))
        if i % 5 == 4:
            state["dirty"] = False
        return out

    return loop, lambda: state


@program
def attribute_written_and_reset(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.ran = False

        @jit.construct
        def construct(self, x):
            self.ran = True
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        out = step(batch(i))
        seen = net.ran
        if i % 4 == 3:
            net.ran = False
        return out, seen

    return loop, lambda: net.ran


@program
def global_written_and_reset(jit):
    last_shape = None

    @jit.step
    def step(x):
        nonlocal last_shape
        last_shape = x.shape
        return x + 1

    def loop(i):
        nonlocal last_shape
        out = step(batch(i))
        seen = last_shape
        if i > 5:
            last_shape = None
        return out, seen

    return loop, lambda: last_shape


@program
def class_attribute_written(jit):
    class Counter:
        mode = "idle"

    @jit.step
    def step(x):
        Counter.mode = "busy"
        return x.sum()

    def loop(i):
        out = step(batch(i))
        seen, Counter.mode = Counter.mode, "idle" if i in (6, 9) else Counter.mode
        return out, seen

    return loop, lambda: Counter.mode


@program
def set_that_has_it_already(jit):
    seen = set()

    @jit.step
    def step(x):
        seen.add(x.shape)
        return x * 1

    def loop(i):
        out = step(batch(i))
        if i == 8:
            seen.clear()
        return out

    return loop, lambda: seen


@program
def key_that_is_there_already(jit):
    table = {}

    @jit.step
    def step(x):
        table.setdefault("scale", 2.0)
        return x + 1

    def loop(i):
        out = step(batch(i))
        if i == 6:
            table.clear()
        if i == 10:
            table["scale"] = 5.0
        return out

    return loop, lambda: table


@program
def slot_of_a_list_overwritten(jit):
    slots = [0, 0]

    @jit.step
    def step(x, k):
        slots[k] = k + 1
        return x * k

    def loop(i):
        out = step(batch(i), i % 2)
        if i == 7:
            slots[:] = [9, 9]
        return out

    return loop, lambda: slots


@program
def array_slot_overwritten(jit):
    buffer = np.zeros(3)

    @jit.step
    def step(x):
        buffer[1] = 4.0
        return x - 1

    def loop(i):
        out = step(batch(i))
        if i % 6 == 5:
            buffer.fill(0)
        return out

    return loop, lambda: buffer


@program
def environment_written(jit):
    @jit.step
    def step(x):
        os.environ["NATURAL_STAGE"] = "step"
        return x * 3

    def loop(i):
        out = step(batch(i))
        if i == 7:
            os.environ["NATURAL_STAGE"] = "loop"
        return out

    return loop, lambda: os.environ["NATURAL_STAGE"]


@program
def function_field_written(jit):
    @jit.step
    def step(x):
        helper.last = "step"
        return helper(x)

    def helper(x):
        return x + 2

    def loop(i):
        out = step(batch(i))
        if i == 6:
            helper.last = "loop"
        return out

    return loop, lambda: helper.last


@program
def level_of_the_logger_set_inside(jit):
    @jit.step
    def step(x):
        log.setLevel("INFO")
        return x * 2

    def loop(i):
        out = step(batch(i))
        log.info("after %d", i)
        if i > 6:
            log.setLevel("ERROR")
        return out

    return loop, lambda: log.level


@program
def gradients_switched_inside(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        net.weight.requires_grad = False
        return net(x)

    def loop(i):
        out = step(batch(i))
        seen = net.weight.requires_grad
        if i % 4 == 3:
            net.weight.requires_grad = True
        return out, seen

    return loop, lambda: net.weight.requires_grad


@program
def training_set_inside(jit):
    net = nn.SequentialCell(linear(jit), nn.ReLU())

    @jit.step
    def step(x):
        net.set_train(False)
        return net(x)

    def loop(i):
        out = step(batch(i))
        seen = net.training, net[0].training
        net.set_train(i % 5 == 4)
        return out, seen

    return loop, lambda: net.training


@program
def attribute_removed_inside(jit):
    class Box:
        pass

    box = Box()

    @jit.step
    def step(x):
        if hasattr(box, "extra"):
            x = x * box.extra
            del box.extra
        return x

    def loop(i):
        if i % 4 == 3:
            box.extra = float(i)
        return step(batch(i))

    return loop, lambda: vars(box)


@program
def pushed_and_popped(jit):
    stack = [1.0]

    @contextlib.contextmanager
    def scope(value):
        stack.append(value)
        try:
            yield
        finally:
            stack.pop()

    def scaled(x):
        return x * stack[-1]

    @jit.step
    def step(x):
        with scope(stack[-1] * 2):
            y = scaled(x)
        return y + scaled(x)

    def loop(i):
        if i == 7:
            stack[0] = 0.5
        return step(batch(i))

    return loop, lambda: stack


@program
def changed_and_put_back(jit):
    config = {"scale": 1.0}

    @jit.step
    def step(x):
        before = config["scale"]
        config["scale"] = before + 1
        y = x * config["scale"]
        config["scale"] = before
        return y

    def loop(i):
        if i == 6:
            config["scale"] = 3.0
        return step(batch(i))

    return loop, lambda: config


@program
def two_values_swapped(jit):
    pair = [1.0, 2.0]

    @jit.step
    def step(x):
        pair[0], pair[1] = pair[1], pair[0]
        return x * pair[0]

    return (lambda i: step(batch(i))), lambda: pair


@program
def counter_that_wraps(jit):
    phase = 0

    @jit.step
    def step(x):
        nonlocal phase
        phase = (phase + 1) % 2
        return x * (phase + 1)

    return (lambda i: step(batch(i))), lambda: phase


@program
def counter_that_stops(jit):
    warm = 0

    @jit.step
    def step(x):
        nonlocal warm
        if warm < 3:
            warm += 1
        return x * warm

    def loop(i):
        nonlocal warm
        if i == 9:
            warm = 1
        return step(batch(i))

    return loop, lambda: warm


@program
def equal_object_stored_anew(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.sizes = None

        @jit.construct
        def construct(self, x):
            self.sizes = [x.shape[0], x.shape[1]]
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))
    kept = []

    def loop(i):
        out = step(batch(i))
        kept.append(net.sizes)
        net.sizes.append(i)
        return out, len(net.sizes), len({id(sizes) for sizes in kept})

    return loop, lambda: net.sizes


@program
def list_emptied_that_was_empty(jit):
    pending = []

    @jit.step
    def step(x):
        count = len(pending)
        pending.clear()
        return x * (count + 1)

    def loop(i):
        if i % 5 == 4:
            pending.extend([1, 2])
        return step(batch(i))

    return loop, lambda: pending


@program
def written_only_on_a_branch(jit):
    best = {"value": 0.0}

    @jit.step
    def step(x, score):
        if score > best["value"]:
            best["value"] = score
            return x * 2
        return x

    scores = [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]

    def loop(i):
        if i == 9:
            best["value"] = 0.0
        return step(batch(i), scores[i % 6])

    return loop, lambda: best


@program
def weights_written_back_alike(jit):
    net = linear(jit)
    saved = {"weight": net.weight.asnumpy().copy()}

    @jit.step
    def step(x):
        net.weight.set_data(Tensor(saved["weight"]))
        return net(x)

    def loop(i):
        out = step(batch(i))
        if i == 6:
            saved["weight"] = saved["weight"] * 2
        if i == 10:
            saved["weight"][0] = 0.0
        return out

    return loop, lambda: net.weight


@program
def parameter_kept_under_another_name(jit):
    class Box:
        p = Parameter(vector(), name="p")

    box = Box()

    @jit.step
    def step(x):
        box.alias = Box.p
        return x * box.alias

    def loop(i):
        out = step(batch(i))
        if i == 7:
            box.alias = None
        if i == 9:
            Box.p = Parameter(vector(2.0, 2.0, 2.0), name="q")
        return out, box.alias is Box.p

    return loop, lambda: None


@program
def generator_reseeded_inside(jit):
    rng = random.Random(3)

    @jit.step
    def step(x):
        rng.seed(5)
        return x * 2

    def loop(i):
        return step(batch(i)), rng.random() if i % 5 == 4 else None

    return loop, lambda: rng.getstate()[1][-1]


@program
def global_generators_reseeded_inside(jit):
    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            random.seed(1)
            np.random.seed(2)
            return x + 1

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        return step(batch(i)), (random.random(), np.random.rand()) if i % 4 == 3 else None

    return loop, lambda: None


@effect_free
def only_local_writes(jit):
    template = {"scale": 2.0, "shift": 1.0}
    net = linear(jit)

    @jit.step
    def step(x):
        config = dict(template)
        config["scale"] *= 2
        config.pop("shift")
        rows = [0] * 3
        rows[1] = config["scale"]
        return net(x) * rows[1]

    return (lambda i: step(batch(i))), lambda: template
