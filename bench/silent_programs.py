# SPDX-License-Identifier: Apache-2.0
"""Programs for `bench.silent` whose step changes what Python holds: counters, schedules, caches.

Each is written once, for any system: `f` has the operators, and `f.jit` compiles, or does nothing.
A program gives `loop(i)`, the body of its loop, and `state()`, what Python holds at the end.
"""

# The default that is written into and the variable of a loop in a closure are what some are about.

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable

import numpy as np

CALLS = 14
PROGRAMS: dict[str, Callable] = {}


def program(build: Callable) -> Callable:
    """Enter a program in the list."""
    assert build.__name__ not in PROGRAMS, build.__name__
    PROGRAMS[build.__name__] = build
    return build


# -- counters and schedules ------------------------------------------------------------------------

GLOBAL_STEP = 0


@program
def counter_in_the_network(f):
    class Net(f.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    net = Net()

    @f.jit
    def step(x):
        return net(x)

    return lambda i: step(f.batch(i)), lambda: net.calls


@program
def counter_nobody_multiplies_with(f):
    seen = collections.Counter()

    @f.jit
    def step(x):
        seen["rows"] += x.shape[0]
        return x * 2

    return lambda i: step(f.batch(i)), lambda: seen


@program
def global_step(f):
    global GLOBAL_STEP
    GLOBAL_STEP = 0

    @f.jit
    def step(x):
        global GLOBAL_STEP
        GLOBAL_STEP += 1
        return x.sum() if GLOBAL_STEP % 5 == 0 else x.mean()

    return lambda i: step(f.batch(i)), lambda: GLOBAL_STEP


@program
def decayed_learning_rate(f):
    rate = 0.5

    def objective(w, x):
        return f.tanh(x @ w).sum()

    gradient = f.grad(objective)

    @f.jit
    def step(w, x):
        nonlocal rate
        w = w - gradient(w, x) * rate
        rate *= 0.5
        return w

    w = f.array(f.WEIGHT)

    def loop(i):
        nonlocal w
        w = step(w, f.batch(i))
        return w

    return loop, lambda: rate


@program
def learning_rates_by_index(f):
    rates, state = [0.5, 0.5, 0.25, 0.25, 0.125], {"step": 0}

    @f.jit
    def step(x):
        rate = rates[min(state["step"], len(rates) - 1)]
        state["step"] += 1
        return x * rate

    return lambda i: step(f.batch(i)), lambda: state


@program
def warmup_then_cosine(f):
    class Schedule:
        def __init__(self, warmup, total):
            self.warmup, self.total, self.t = warmup, total, 0

        def __call__(self):
            self.t += 1
            if self.t <= self.warmup:
                return self.t / self.warmup
            done = (self.t - self.warmup) / (self.total - self.warmup)
            return 0.5 * (1 + math.cos(math.pi * done))

    schedule = Schedule(4, 14)

    @f.jit
    def step(w, x):
        return w - x * schedule()

    return lambda i: step(f.batch(i), f.batch(i + 1)), lambda: schedule.t


@program
def curriculum_inside(f):
    class Curriculum(f.Module):
        def __init__(self, stages):
            super().__init__()
            self.stages, self.stage, self.inside = stages, 0, 0

        def forward(self, x):
            self.inside += 1
            if self.inside > 3 and self.stage < len(self.stages) - 1:
                self.stage, self.inside = self.stage + 1, 0
            return x * self.stages[self.stage]

    net = Curriculum([1.0, 0.5, 0.25])

    @f.jit
    def step(x):
        return net(x).sum()

    return lambda i: step(f.batch(i)), lambda: (net.stage, net.inside)


@program
def annealed_temperature(f):
    class Gate(f.Module):
        def __init__(self):
            super().__init__()
            self.temperature = 8.0

        def forward(self, x):
            y = f.tanh(x / self.temperature)
            self.temperature = max(1.0, self.temperature * 0.5)
            return y

    net = Gate()

    @f.jit
    def step(x):
        return net(x)

    return lambda i: step(f.batch(0)), lambda: net.temperature


@program
def limit_from_the_history(f):
    history = []

    @f.jit
    def step(x):
        limit = 2.0 if len(history) < 5 else 0.5
        history.append(limit)
        return f.maximum(x * 4, -x * limit)

    return lambda i: step(f.batch(i)), lambda: history


@program
def stopped_by_a_budget(f):
    budget = 5

    @f.jit
    def step(x):
        nonlocal budget
        if budget == 0:
            raise ValueError("the budget is spent")
        budget -= 1
        return x * budget

    def loop(i):
        nonlocal budget
        if i == 9:
            budget = 3
        return step(f.batch(i))

    return loop, lambda: budget


@program
def counter_that_wraps(f):
    phase = {"now": 0}

    @f.jit
    def step(x):
        phase["now"] = (phase["now"] + 1) % 3
        return x + phase["now"]

    return lambda i: step(f.batch(i)), lambda: phase


@program
def counter_that_stops(f):
    warm = 0

    @f.jit
    def step(x):
        nonlocal warm
        if warm < 4:
            warm += 1
            return x
        return x * 2

    return lambda i: step(f.batch(i)), lambda: warm


# -- training --------------------------------------------------------------------------------------


@program
def average_by_a_counter(f):
    class Average:
        def __init__(self):
            self.shadow, self.updates = f.array(np.zeros((2, 3), np.float32)), 0

        def update(self, x):
            self.updates += 1
            decay = min(0.9, (1 + self.updates) / (10 + self.updates))
            self.shadow = self.shadow * decay + x * (1 - decay)
            return self.shadow

    average = Average()

    @f.jit
    def step(x):
        return average.update(x).sum()

    return lambda i: step(f.batch(i)), lambda: (average.updates, average.shadow)


@program
def average_every_third_step(f):
    count, shadow = 0, f.array(np.zeros((2, 3), np.float32))

    @f.jit
    def step(shadow, x):
        nonlocal count
        count += 1
        return (shadow + x) * 0.5 if count % 3 == 0 else shadow

    def loop(i):
        nonlocal shadow
        shadow = step(shadow, f.batch(i))
        return shadow

    return loop, lambda: count


@program
def gradient_accumulation(f):
    def objective(w, x):
        return (x @ w).sum()

    gradient = f.grad(objective)
    w, total, seen = f.array(f.WEIGHT), f.array(np.zeros((3, 3), np.float32)), 0

    @f.jit
    def step(x):
        nonlocal w, total, seen
        total, seen = total + gradient(w, x), seen + 1
        if seen % 4 == 0:
            w, total = w - total * 0.125, total * 0
        return x.sum()

    return lambda i: step(f.batch(i)), lambda: (w, total, seen)


@program
def loss_scale_in_a_float(f):
    def objective(x, scale):
        return (x * x).sum() * scale

    gradient = f.grad(objective)
    scale, good = 4.0, 0

    @f.jit
    def step(x):
        nonlocal scale, good
        found = gradient(x, scale) / scale
        good += 1
        if good == 3:
            scale, good = scale * 2, 0
        return found * math.log2(scale)

    return lambda i: step(f.batch(i)), lambda: (scale, good)


@program
def list_of_losses(f):
    losses = []

    @f.jit
    def step(x):
        loss = (x * x).mean()
        losses.append(loss)
        return loss

    return lambda i: step(f.batch(i)), lambda: losses


@program
def list_of_loss_numbers(f):
    losses = []

    @f.jit
    def step(x):
        loss = (x * x).mean()
        losses.append(float(loss))
        return loss

    return lambda i: step(f.batch(i)), lambda: losses


@program
def best_loss_so_far(f):
    best, steps = {"loss": None, "step": -1}, 0

    @f.jit
    def step(x):
        nonlocal steps
        loss = float((x * x).sum())
        if best["loss"] is None or loss < best["loss"]:
            best.update(loss=loss, step=steps)
        steps += 1
        return x * best["step"]

    return lambda i: step(f.batch(i) * (14 - i)), lambda: best


@program
def momentum_in_a_dict(f):
    moments = {}

    @f.jit
    def step(w, g):
        moments["w"] = moments["w"] * 0.5 + g if "w" in moments else g
        return w - moments["w"] * 0.125

    return lambda i: step(f.batch(i), f.batch(i + 1)), lambda: moments


@program
def adam_with_a_python_step(f):
    class Adam:
        t = 0

        def update(self, w, m, v, g):
            self.t += 1
            m, v = m * 0.5 + g * 0.5, v * 0.75 + g * g * 0.25
            unbiased = m / (1 - 0.5**self.t)
            return w - unbiased / (f.sqrt(v / (1 - 0.75**self.t)) + 1e-3), m, v

    adam = Adam()
    step = f.jit(adam.update)
    state = [f.batch(0), f.batch(0) * 0, f.batch(0) * 0]

    def loop(i):
        state[:] = step(*state, f.batch(i))
        return state[0]

    return loop, lambda: adam.t


@program
def metric_updated_inside(f):
    class Metric:
        def __init__(self):
            self.total, self.count = 0.0, 0

        def update(self, x):
            self.total, self.count = self.total + x.sum(), self.count + x.shape[0]

    metric = Metric()

    @f.jit
    def step(x):
        metric.update(x)
        return x * 2

    return lambda i: step(f.batch(i)), lambda: (metric.total, metric.count)


# -- caches ----------------------------------------------------------------------------------------


@program
def mask_by_shape(f):
    masks = {}

    @f.jit
    def step(x):
        size = x.shape[-1]
        if size not in masks:
            masks[size] = f.array(np.tril(np.ones((size, size), np.float32)))
        return x @ masks[size]

    return lambda i: step(f.batch(i) if i % 4 else f.batch(i)[:, :2]), lambda: sorted(masks)


@program
def cache_by_id(f):
    cache, tables = {}, [np.ones(3, np.float32), np.full(3, 2.0, np.float32)]

    def which(table):
        if id(table) not in cache:
            cache[id(table)] = float(table.sum())
        return cache[id(table)]

    @f.jit
    def step(x):
        return x * which(tables[0]) + which(tables[1])

    def loop(i):
        if i == 8:
            cache.clear()
            tables[0][:] = 3.0
        return step(f.batch(i))

    return loop, lambda: len(cache)


@program
def memo_of_a_number(f):
    memo, depth = {}, 2

    def fibonacci(n):
        if n < 2:
            return 1
        if n not in memo:
            memo[n] = fibonacci(n - 1) + fibonacci(n - 2)
        return memo[n]

    @f.jit
    def step(x):
        return x * fibonacci(depth)

    def loop(i):
        nonlocal depth
        depth = i // 3 + 2
        return step(f.batch(i))

    return loop, lambda: memo


@program
def lru_cache_cleared(f):
    config = {"base": 2.0}

    @functools.lru_cache(maxsize=2)
    def scale(n):
        return config["base"] ** n

    @f.jit
    def step(x):
        return x * scale(x.shape[1])

    def loop(i):
        config["base"] = 2.0 + i // 4
        if i == 9:
            scale.cache_clear()
        return step(f.batch(i))

    return loop, lambda: config


@program
def lru_cache_that_is_warm(f):
    @functools.cache
    def scale(n):
        return n**-0.5

    scale(3)

    @f.jit
    def step(x):
        return x * scale(x.shape[1])

    return lambda i: step(f.batch(i)), lambda: None


@program
def cached_property_reset(f):
    class Config:
        base = 2.0

        @functools.cached_property
        def scale(self):
            return self.base**0.5

    config = Config()

    @f.jit
    def step(x):
        return x * config.scale

    def loop(i):
        if i == 6:
            config.base = 9.0
        if i == 9:
            del config.scale
        return step(f.batch(i))

    return loop, lambda: config.scale


@program
def key_value_cache(f):
    class Block(f.Module):
        def __init__(self):
            super().__init__()
            self.cache = []

        def forward(self, x):
            self.cache.append(x)
            return (x @ f.concat(self.cache[-4:], 0).T).sum()

    net = Block()

    @f.jit
    def step(x):
        return net(x)

    return lambda i: step(f.batch(i)), lambda: net.cache


@program
def last_input_kept(f):
    kept = {"x": f.batch(0)}

    @f.jit
    def step(x):
        change = x - kept["x"]
        kept["x"] = x
        return change

    return lambda i: step(f.batch(i)), lambda: kept


@program
def bounded_queue(f):
    queue = collections.deque([1.0], maxlen=3)

    @f.jit
    def step(x):
        queue.append(queue[-1] + len(queue))
        return x * queue[0]

    return lambda i: step(f.batch(i)), lambda: queue
