# SPDX-License-Identifier: Apache-2.0
"""Registries, observers, visitors, callbacks, state machines."""

from __future__ import annotations

import functools

from mycel import nn, ops
from natural.common import batch, linear, program


@program
def registry_by_decorator(jit):
    REGISTRY = {}

    def register(name):
        def add(cls):
            REGISTRY[name] = cls
            return cls

        return add

    @register("relu")
    class Relu:
        def __call__(self, x):
            return ops.relu(x)

    @jit.step
    def step(x, name):
        return REGISTRY[name]()(x)

    def loop(i):
        if i == 6:

            @register("relu")
            class Leaky:
                def __call__(self, x):
                    return x * 0.5

        return step(batch(i), "relu")

    return loop, lambda: sorted(REGISTRY)


@program
def plugins_by_init_subclass(jit):
    class Plugin:
        found = []

        def __init_subclass__(cls, order=0, **kwargs):
            super().__init_subclass__(**kwargs)
            Plugin.found.append((order, cls))

    class Double(Plugin, order=1):
        @staticmethod
        def apply(x):
            return x * 2

    @jit.step
    def step(x):
        for _, plugin in sorted(Plugin.found, key=lambda pair: pair[0]):
            x = plugin.apply(x)
        return x

    def loop(i):
        if i == 8:

            class Shift(Plugin, order=0):
                @classmethod
                def apply(cls, x):
                    return x + 1

        return step(batch(i))

    return loop, lambda: len(Plugin.found)


@program
def singleton(jit):
    class Config:
        _instance = None

        def __new__(cls):
            if cls._instance is None:
                cls._instance = super().__new__(cls)
                cls._instance.scale = 1.0
            return cls._instance

    @jit.step
    def step(x):
        return x * Config().scale

    def loop(i):
        if i % 5 == 4:
            Config().scale += 1
        return step(batch(i))

    return loop, lambda: Config().scale


@program
def dispatch_table(jit):
    def double(x):
        return x * 2

    table = {"double": double, "half": lambda x: x * 0.5}

    @jit.step
    def step(x, op):
        return table.get(op, lambda x: x)(x)

    def loop(i):
        if i == 6:
            table["double"] = lambda x: x + x + 1
        if i == 9:
            table["other"] = ops.relu
        return step(batch(i), ("double", "half", "other")[i % 3])

    return loop, lambda: sorted(table)


@program
def state_machine(jit):
    class Machine:
        transitions = {"idle": "warm", "warm": "run", "run": "idle"}

        def __init__(self):
            self.state, self.ticks = "idle", 0

        def tick(self):
            self.ticks += 1
            if self.ticks % 2 == 0:
                self.state = self.transitions[self.state]
            return getattr(self, f"on_{self.state}")

        def on_idle(self, x):
            return x * 0

        def on_warm(self, x):
            return x

        def on_run(self, x):
            return x * 2

    machine = Machine()

    @jit.step
    def step(x):
        return machine.tick()(x)

    return (lambda i: step(batch(i))), lambda: vars(machine)


@program
def observers(jit):
    class Subject:
        def __init__(self):
            self._observers = []

        def attach(self, observer):
            self._observers.append(observer)

        def notify(self, **event):
            for observer in self._observers:
                observer(**event)

    seen, subject = [], Subject()
    subject.attach(lambda **event: seen.append(sorted(event)))

    @jit.step
    def step(x):
        y = x * len(seen)
        subject.notify(loss=y.sum(), step=len(seen))
        return y

    def loop(i):
        if i == 5:
            subject.attach(lambda loss, step: seen.append(step))
        return step(batch(i))

    return loop, lambda: seen


@program
def visitor(jit):
    class Const:
        def __init__(self, value):
            self.value = value

    class Add:
        def __init__(self, a, b):
            self.a, self.b = a, b

    class Evaluate:
        def __init__(self, x):
            self.x, self.visited = x, 0

        def visit(self, node):
            self.visited += 1
            return getattr(self, "visit_" + type(node).__name__)(node)

        def visit_Const(self, node):
            return self.x * node.value

        def visit_Add(self, node):
            return self.visit(node.a) + self.visit(node.b)

    tree = Add(Const(1.0), Const(2.0))

    @jit.step
    def step(x):
        evaluate = Evaluate(x)
        return evaluate.visit(tree), evaluate.visited

    def loop(i):
        if i == 6:
            tree.b = Add(Const(3.0), Const(4.0))
        if i == 10:
            tree.a.value = -1.0
        return step(batch(i))

    return loop, lambda: tree.a.value


@program
def callbacks(jit):
    class Callback:
        def on_batch_end(self, trainer): ...

    class Decay(Callback):
        def on_batch_end(self, trainer):
            trainer.rate *= 0.5

    class Stop(Callback):
        def on_batch_end(self, trainer):
            if trainer.rate < 0.125:
                trainer.stopped = True

    class Trainer:
        def __init__(self, callbacks):
            self.rate, self.stopped, self.callbacks = 1.0, False, callbacks

        def step(self, x):
            if self.stopped:
                return "stopped"
            y = x * self.rate
            for callback in self.callbacks:
                callback.on_batch_end(self)
            return y

    trainer = Trainer([Decay(), Stop()])
    step = jit.step(trainer.step)
    return (lambda i: step(batch(i))), lambda: (trainer.rate, trainer.stopped)


@program
def class_decorator_with_cache(jit):
    def memoised(cls):
        cache = {}

        @functools.wraps(cls, updated=())
        def make(*args):
            if args not in cache:
                cache[args] = cls(*args)
            return cache[args]

        make.cache = cache
        return make

    @memoised
    class Gain:
        def __init__(self, k):
            self.k, self.uses = k, 0

        def __call__(self, x):
            self.uses += 1
            return x * self.k * self.uses

    @jit.step
    def step(x, k):
        return Gain(k)(x)

    return (lambda i: step(batch(i), i % 2)), lambda: len(Gain.cache)


@program
def cell_made_by_a_factory(jit):
    made = []

    def block(width):
        cell = nn.SequentialCell(linear(jit), nn.ReLU())
        made.append(width)
        return cell

    class Lazy(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = None

        @jit.construct
        def construct(self, x):
            if self.body is None:
                self.body = block(x.shape[-1])
            return self.body(x)

    net = Lazy()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 8:
            net.body = None
        return step(batch(i))

    return loop, lambda: made
