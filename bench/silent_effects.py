# SPDX-License-Identifier: Apache-2.0
"""Programs for `bench.silent` whose step draws, counts, writes or keeps by other ways.

See silent_programs.py for how a program is written.
"""

# The default that is written into is what one of them is about.
# ruff: noqa: B006

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import random

import numpy as np

from bench.silent_programs import program

# -- made by Python at every call ------------------------------------------------------------------


@program
def stochastic_depth(f):

    @f.jit
    def step(x):
        return x * 2 if random.random() > 0.5 else x

    return lambda i: step(f.batch(i)), lambda: random.random()


@program
def numpy_mask(f):
    @f.jit
    def step(x):
        mask = np.random.rand(2, 3) < 0.5
        return x * f.array(mask.astype(np.float32))

    return lambda i: step(f.batch(i)), lambda: None


@program
def generator_in_the_network(f):
    class Augment(f.Module):
        def __init__(self):
            super().__init__()
            self.draw = np.random.RandomState(5)

        def forward(self, x):
            return x * float(self.draw.randint(1, 4))

    net = Augment()

    @f.jit
    def step(x):
        return net(x)

    return lambda i: step(f.batch(i)), lambda: net.draw.randint(100)


@program
def own_random_object(f):
    draw = random.Random(4)

    @f.jit
    def step(x):
        return x * draw.randrange(1, 4)

    return lambda i: step(f.batch(i)), lambda: draw.random()


@program
def shuffled_blocks(f):
    @f.jit
    def step(x):
        order = [1.0, 2.0, 3.0]
        random.shuffle(order)
        for scale in order:
            x = x * scale + 1
        return x

    return lambda i: step(f.batch(i)), lambda: None


@program
def endless_cycle(f):
    factors = itertools.cycle([1.0, 2.0, 4.0])

    @f.jit
    def step(x):
        return x * next(factors)

    return lambda i: step(f.batch(i)), lambda: next(factors)


@program
def counter_object(f):
    numbers = itertools.count(start=3, step=2)

    @f.jit
    def step(x):
        return x + next(numbers)

    return lambda i: step(f.batch(i)), lambda: next(numbers)


@program
def loader_by_a_generator(f):
    def loader():
        for epoch in range(2):
            for index in range(3):
                yield f.BATCHES[index] * (epoch + 1)

    data = loader()

    @f.jit
    def step(x):
        try:
            return x + f.array(next(data))
        except StopIteration:
            return x

    return lambda i: step(f.batch(i)), lambda: None


@program
def generator_that_is_sent_to(f):
    def controller():
        rate = 1.0
        while True:
            error = yield rate
            rate = rate * 0.5 if error > 2 else rate + 0.25

    control, error = controller(), 0
    next(control)

    @f.jit
    def step(x):
        return x * control.send(error)

    def loop(i):
        nonlocal error
        error = i % 4
        return step(f.batch(i))

    return loop, lambda: control.send(0)


@program
def lines_written_to_memory(f):
    report = io.StringIO()

    @f.jit
    def step(x):
        report.write(f"{x.shape[0]}\n")
        return x.sum()

    return lambda i: step(f.batch(i)), lambda: report.getvalue().count("\n")


# -- closures, objects, context managers -----------------------------------------------------------


@program
def closure_that_counts(f):
    def make_counter():
        count = 0

        def counter():
            nonlocal count
            count += 1
            return count

        return counter

    tick = make_counter()

    @f.jit
    def step(x):
        return x * tick()

    return lambda i: step(f.batch(i)), lambda: tick()


@program
def counted_by_a_decorator(f):
    def counted(function):
        @functools.wraps(function)
        def wrapper(*args):
            wrapper.calls += 1  # type: ignore[attr-defined]
            return function(*args)

        wrapper.calls = 0  # type: ignore[attr-defined]
        return wrapper

    @counted
    def double(x):
        return x * 2

    @f.jit
    def step(x):
        return double(double(x)) * double.calls

    return lambda i: step(f.batch(i)), lambda: double.calls


@program
def mutable_default(f):
    @f.jit
    def step(x, seen=[]):
        seen.append(1)
        return x * len(seen)

    return lambda i: step(f.batch(i)), lambda: None


@program
def descriptor_written_inside(f):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name, 1.0)

        def __set__(self, instance, value):
            setattr(instance, self.name, abs(value))

    class Settings:
        rate = Positive()

    settings = Settings()

    @f.jit
    def step(x):
        settings.rate = settings.rate * -0.5  # type: ignore[operator]
        return x * settings.rate

    return lambda i: step(f.batch(i)), lambda: vars(settings)


@program
def property_that_counts(f):
    class Watched:
        asked = 0

        @property
        def gain(self):
            self.asked += 1
            return 2.0

    watched = Watched()

    @f.jit
    def step(x):
        return x * watched.gain

    return lambda i: step(f.batch(i)), lambda: watched.asked


@program
def context_manager_that_counts(f):
    entered = []

    @contextlib.contextmanager
    def section(name):
        entered.append(name)
        yield len(entered)
        entered.append("end")

    @f.jit
    def step(x):
        with section("step") as number:
            return x * number

    return lambda i: step(f.batch(i)), lambda: entered


@program
def temporary_setting(f):
    config = {"scale": 1.0}

    @contextlib.contextmanager
    def using(scale):
        before, config["scale"] = config["scale"], scale
        yield
        config["scale"] = before

    @f.jit
    def step(x):
        with using(2.0):
            y = x * config["scale"]
        return y + config["scale"]

    def loop(i):
        if i == 8:
            config["scale"] = 5.0
        return step(f.batch(i))

    return loop, lambda: config


@program
def pushed_and_popped(f):
    stack = [1.0]

    @f.jit
    def step(x):
        stack.append(stack[-1] * 2)
        y = x * stack[-1]
        stack.pop()
        return y

    def loop(i):
        if i == 7:
            stack.append(3.0)
        return step(f.batch(i))

    return loop, lambda: stack


@program
def mask_changed_by_the_step(f):
    mask, column = np.ones(3, np.float32), 0

    @f.jit
    def step(x):
        nonlocal column
        mask[:] = 1
        mask[column] = 0
        column = (column + 1) % 3
        return x * f.array(mask)

    return lambda i: step(f.batch(i)), lambda: (mask, column)


@program
def history_in_an_array(f):
    history, at = np.zeros(4), [0]

    @f.jit
    def step(x):
        history[at[0] % 4] = at[0]
        at[0] += 1
        return x * float(history.max())

    return lambda i: step(f.batch(i)), lambda: (history, at)


@program
def argument_written_into(f):
    @f.jit
    def step(x, options):
        options["seen"] = options["seen"] + 1
        return x * options["seen"]

    options = {"seen": 0}
    return lambda i: step(f.batch(i), options), lambda: options


@program
def list_argument_appended_to(f):
    @f.jit
    def step(x, kept):
        kept.append(x * 2)
        return x

    def loop(i):
        kept = []
        step(f.batch(i), kept)
        return len(kept)

    return loop, lambda: None


@program
def built_at_the_first_call(f):
    class Lazy(f.Module):
        def __init__(self):
            super().__init__()
            self.scale = None

        def forward(self, x):
            if self.scale is None:
                self.scale = float(x.shape[-1])
            return x * self.scale

    net = Lazy()

    @f.jit
    def step(x):
        return net(x)

    def loop(i):
        if i == 8:
            net.scale = None
        return step(f.batch(i) if i < 8 else f.batch(i)[:, :2])

    return loop, lambda: net.scale


@program
def method_that_replaces_itself(f):
    class Start:
        def run(self, x):
            self.run = self.later
            return x

        def later(self, x):
            return x * 3

    start = Start()

    @f.jit
    def step(x):
        return start.run(x)

    return lambda i: step(f.batch(i)), lambda: "run" in vars(start)


@program
def milestones_consumed(f):
    milestones, count, rate = [3, 6, 9], 0, 1.0

    @f.jit
    def step(x):
        nonlocal count, rate
        count += 1
        if milestones and count >= milestones[0]:
            milestones.pop(0)
            rate *= 0.5
        return x * rate

    return lambda i: step(f.batch(i)), lambda: (milestones, rate)


@program
def observers(f):
    class Subject:
        def __init__(self):
            self.observers, self.value = [], 0

        def set(self, value):
            self.value = value
            for observer in self.observers:
                observer(value)

    subject, seen = Subject(), []
    subject.observers.append(seen.append)

    @f.jit
    def step(x):
        subject.set(subject.value + 1)
        return x * seen[-1]

    return lambda i: step(f.batch(i)), lambda: seen


@program
def state_machine(f):
    after, state = {"warm": "hot", "hot": "cold", "cold": "warm"}, "warm"

    @f.jit
    def step(x):
        nonlocal state
        state = after[state]
        return x * len(state) if state != "cold" else x

    return lambda i: step(f.batch(i)), lambda: state
