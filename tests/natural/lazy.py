# SPDX-License-Identifier: Apache-2.0
"""Things that happen once, at first, later, or by a plan: building on demand, self-replacement."""

from __future__ import annotations

import functools
import types

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector, weight


@program
def built_at_the_first_call(jit):
    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            if not hasattr(self, "w"):
                self.w = Parameter(weight(), name="w")
            return ops.matmul(x, self.w)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 8:
            net.w = Parameter(weight(2.0), name="w")
        return step(batch(i))

    return loop, lambda: net.w


@program
def method_that_replaces_itself(jit):
    class Model:
        def __init__(self):
            self.run = self._first

        def _first(self, x):
            self.run = self._later
            return x * 0

        def _later(self, x):
            return x * 2

    model = Model()
    step = jit.step(lambda x: model.run(x))

    def loop(i):
        if i == 9:
            model.run = model._first
        return step(batch(i))

    return loop, lambda: model.run.__name__


@program
def warm_up_calls(jit):
    class Warm(nn.Cell):
        def __init__(self):
            super().__init__()
            self.left = 4

        @jit.construct
        def construct(self, x):
            if self.left:
                self.left -= 1
                return x * 0
            return x + 1

    net = Warm()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 10:
            net.left = 1
        return step(batch(i))

    return loop, lambda: net.left


@program
def initialised_from_the_data(jit):
    class ActNorm(nn.Cell):
        def __init__(self):
            super().__init__()
            self.ready = False
            self.shift = Parameter(vector(0.0, 0.0, 0.0), name="shift")

        @jit.construct
        def construct(self, x):
            if not self.ready:
                self.shift.set_data(-x.mean(0))
                self.ready = True
            return x + self.shift

    net = ActNorm()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 7:
            net.ready = False
        return step(batch(i))

    return loop, lambda: (net.ready, net.shift)


@program
def queue_of_stages(jit):
    stages = [lambda x: x * 2, lambda x: x + 1, lambda x: -x]

    @jit.step
    def step(x):
        if len(stages) > 1:
            return stages.pop(0)(x)
        return stages[0](x)

    def loop(i):
        if i == 9:
            stages.insert(0, ops.relu)
        return step(batch(i))

    return loop, lambda: len(stages)


@program
def milestones_consumed(jit):
    milestones, state = [2, 5, 9], {"step": 0, "rate": 1.0}

    @jit.step
    def step(x):
        if milestones and state["step"] == milestones[0]:
            milestones.pop(0)
            state["rate"] *= 0.5
        state["step"] += 1
        return x * state["rate"]

    return (lambda i: step(batch(i))), lambda: (milestones, state)


@program
def milestones_against_the_loop(jit):
    class Schedule:
        def __init__(self, milestones):
            self.milestones, self.epoch = milestones, 0

        @property
        def rate(self):
            return 0.5 ** sum(self.epoch >= m for m in self.milestones)

    schedule = Schedule((4, 9))

    @jit.step
    def step(x):
        return x * schedule.rate

    def loop(i):
        schedule.epoch = i
        return step(batch(i))

    return loop, lambda: schedule.epoch


@program
def lazy_property_by_hand(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self._table, self.n = None, 3

        @property
        def table(self):
            if self._table is None:
                self._table = Tensor(np.arange(self.n, dtype=np.float32))
            return self._table

        @jit.construct
        def construct(self, x):
            return x + self.table

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net._table = None
        if i == 9:
            net._table = Tensor(vector())
        return step(batch(i))

    return loop, lambda: net.table


@program
def deferred_actions(jit):
    pending = []

    @jit.step
    def step(x):
        for action in pending:
            x = action(x)
        pending.clear()
        return x

    def loop(i):
        if i % 3 == 2:
            pending.append(lambda x, k=i: x * k)
        return step(batch(i))

    return loop, lambda: len(pending)


@program
def scheduled_freezing(jit):
    net = nn.SequentialCell(linear(jit), linear(jit, 0.5))
    plan = {4: 0, 8: 1}
    number = 0

    @jit.step
    def step(x):
        nonlocal number
        if number in plan:
            for p in net[plan[number]].get_parameters():
                p.requires_grad = False
        number += 1
        params = net.trainable_params()
        return ms.grad(lambda x: net(x).sum(), None, params)(x) if params else None

    return (lambda i: step(batch(i))), lambda: (
        number,
        [p.requires_grad for p in net.get_parameters()],
    )


@program
def switched_once_by_a_value(jit):
    state = {"phase": "search"}

    @jit.step
    def step(x):
        if state["phase"] == "search" and float(x.sum()) > 2.5:
            state["phase"] = "refine"
        return x * (1 if state["phase"] == "search" else 0.5)

    def loop(i):
        if i == 8:
            state["phase"] = "search"
        return step(batch(i))

    return loop, lambda: state


@program
def growing_context(jit):
    context = []

    @jit.step
    def step(x):
        context.append(x[:1])
        return ops.concat(context, 0).sum(0)

    def loop(i):
        if i % 3 == 2:
            context.clear()
        return step(batch(i))

    return loop, lambda: len(context)


@program
def pruned_after_some_calls(jit):
    class Prune(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.age = Parameter(weight(), name="w"), 0
            self.mask = None

        @jit.construct
        def construct(self, x):
            self.age += 1
            if self.age == 5:
                self.mask = (ops.abs(self.w) > 0.3).astype(ms.float32)
            w = self.w if self.mask is None else self.w * self.mask
            return ops.matmul(x, w)

    net = Prune()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: (net.age, net.mask)


@program
def unrolled_longer_and_longer(jit):
    class Unroll(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner, self.steps = linear(jit, 0.25), 1

        def grow(self):
            self.steps += 1

        @jit.construct
        def construct(self, x):
            for _ in range(self.steps):
                x = self.inner(x) + x
            return x

    net = Unroll()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 4 == 3:
            net.grow()
        return step(batch(i))

    return loop, lambda: net.steps


@program
def experts_taken_in_turn(jit):
    class Rotate(nn.Cell):
        def __init__(self):
            super().__init__()
            self.experts = nn.CellList([linear(jit, float(k)) for k in (1, 2, 3)])
            self.turn = 0

        @jit.construct
        def construct(self, x):
            y = self.experts[self.turn](x)
            self.turn = (self.turn + 1) % len(self.experts)
            return y

    net = Rotate()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.turn


@program
def path_of_a_search(jit):
    class Choice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.path = nn.ReLU(), nn.Tanh(), []

        @jit.construct
        def construct(self, x):
            name = "ab"[len(self.path) % 2]
            self.path.append(name)
            return getattr(self, name)(x)

    net = Choice()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 7:
            net.path.append("skip")
        return step(batch(i))

    return loop, lambda: net.path


@program
def config_of_the_parent(jit):
    class Child(nn.Cell):
        def __init__(self, parent):
            super().__init__()
            self.__dict__["parent"] = parent

        @jit.construct
        def construct(self, x):
            return x * self.parent.settings["gain"]

    class Parent(nn.Cell):
        def __init__(self):
            super().__init__()
            self.settings = {"gain": 1.0}
            self.child = Child(self)

        @jit.construct
        def construct(self, x):
            return self.child(x) + 1

    net = Parent()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 4:
            net.settings["gain"] += 0.5
        return step(batch(i))

    return loop, lambda: net.settings


@program
def statistics_of_a_child(jit):
    class Probe(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0

        @jit.construct
        def construct(self, x):
            self.count += 1
            return x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.probes = nn.CellList([Probe(), Probe()])

        @jit.construct
        def construct(self, x):
            x = self.probes[0](self.probes[0](x))
            return self.probes[1](x) * self.probes[0].count

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: [probe.count for probe in net.probes]


@program
def cell_called_and_also_read(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body, self.stats = linear(jit), types.SimpleNamespace(calls=0, last=None)

        @jit.construct
        def construct(self, x):
            self.stats.calls += 1
            self.stats.last = self.body(x)
            return self.stats.last

    net = Net()

    @jit.step
    def step(x):
        y = net(x)
        return y * net.stats.calls, net.stats.last is y

    return (lambda i: step(batch(i))), lambda: net.stats.calls


@program
def decorated_construct(jit):
    totals = {"calls": 0}

    def profiled(function):
        @functools.wraps(function)
        def wrapper(self, *args):
            totals["calls"] += 1
            wrapper.last = len(args)
            return function(self, *args)

        return wrapper

    class Net(nn.Cell):
        @jit.construct
        @profiled
        def construct(self, x):
            return x * 2

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: totals


@effect_free
def stages_decided_by_constants(jit):
    class Net(nn.Cell):
        stages = (("relu", 1), ("tanh", 2))

        def __init__(self):
            super().__init__()
            self.bodies = nn.CellList([linear(jit), linear(jit, 0.5)])
            self.table = {"relu": nn.ReLU(), "tanh": nn.Tanh()}

        @jit.construct
        def construct(self, x):
            for (name, times), body in zip(self.stages, self.bodies):
                for _ in range(times):
                    x = self.table[name](body(x))
            return x

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None
