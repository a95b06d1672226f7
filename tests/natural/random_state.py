# SPDX-License-Identifier: Apache-2.0
"""Random numbers, clocks and other state outside of the program's objects."""

from __future__ import annotations

import collections
import contextvars
import datetime
import decimal
import io
import itertools
import os
import random
import secrets
import tempfile
import threading
import time
import uuid

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import BATCHES, batch, effect_free, linear, program, vector


@program
def stochastic_depth(jit):
    class Residual(nn.Cell):
        def __init__(self, keep):
            super().__init__()
            self.body, self.keep = linear(jit), keep

        @jit.construct
        def construct(self, x):
            if self.training and random.random() > self.keep:
                return x
            return x + self.body(x)

    net = Residual(0.5).set_train()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.set_train(i < 10)
        return step(batch(i))

    return loop, lambda: random.random()


@program
def numpy_mask(jit):
    @jit.step
    def step(x):
        mask = np.random.rand(*x.shape) < 0.5
        return x * Tensor(mask.astype(np.float32))

    return (lambda i: step(batch(i))), lambda: None


@program
def generator_in_self(jit):
    class Augment(nn.Cell):
        def __init__(self, seed):
            super().__init__()
            self.rng = np.random.RandomState(seed)

        @jit.construct
        def construct(self, x):
            return x * float(self.rng.randint(1, 4))

    net = Augment(5)
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.rng.get_state()[2]


@program
def new_numpy_generator(jit):
    rng = np.random.default_rng(11)

    @jit.step
    def mixup(x, y):
        lam = rng.integers(0, 5) / 4
        return x * lam + y * (1 - lam)

    return (lambda i: mixup(batch(i), batch(i + 1))), lambda: None


@program
def own_random_object(jit):
    rng = random.Random(4)

    @jit.step
    def step(x):
        return x[:, rng.randrange(3)]

    return (lambda i: step(batch(i))), lambda: rng.getstate()[1][-1]


@program
def teacher_forcing(jit):
    class Decoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell, self.ratio, self.forced = linear(jit), 0.5, 0

        @jit.construct
        def construct(self, target):
            x, outs = target[0:1], []
            for t in range(2):
                x = self.cell(x)
                outs.append(x)
                if random.random() < self.ratio:
                    x = target[t : t + 1]
                    self.forced += 1
            return ops.concat(outs, 0)

    net = Decoder()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.forced


@program
def shuffled_blocks(jit):
    scales = [1.0, 2.0, 3.0]

    @jit.step
    def step(x):
        order = list(range(3))
        random.shuffle(order)
        y = x
        for k in order:
            y = y * scales[k] + 1
        return y

    return (lambda i: step(batch(i))), lambda: None


@program
def seeded_inside(jit):
    @jit.step
    def step(x):
        np.random.seed(0)
        noise = np.random.randn(2, 3).astype(np.float32)
        return x + Tensor(noise)

    return (lambda i: step(batch(i))), lambda: np.random.rand()


@program
def sampled_from_a_buffer(jit):
    buffer = collections.deque(maxlen=5)
    rng = random.Random(0)
    w = Parameter(vector(), name="w")

    @jit.step
    def step(state, reward):
        buffer.append((state, reward))
        s, r = buffer[rng.randrange(len(buffer))]
        w.set_data(w + s.sum(0) * r * 0.125)
        return w.sum()

    return (lambda i: step(batch(i), (-1.0) ** i)), lambda: (len(buffer), w)


@program
def epsilon_greedy(jit):
    class Agent:
        def __init__(self):
            self.epsilon, self.rng = 1.0, random.Random(8)
            self.q = linear(jit)

        @jit.step
        def act(self, state):
            self.epsilon = max(0.25, self.epsilon * 0.75)
            if self.rng.random() < self.epsilon:
                return self.rng.randrange(3)
            return int(self.q(state).sum(0).argmax())

    agent = Agent()
    return (lambda i: agent.act(batch(i))), lambda: agent.epsilon


@program
def operators_random_beside_python(jit):
    dropout = nn.Dropout(p=0.5).set_train()

    @jit.step
    def step(x):
        return dropout(x) * random.choice([1, 2])

    return (lambda i: step(batch(i))), lambda: None


@program
def seed_of_the_framework(jit):
    @jit.step
    def step(x):
        return ops.dropout(x + 1, p=0.5, training=True)

    def loop(i):
        if i % 5 == 0:
            ms.set_seed(i)
        return step(batch(0))

    return loop, lambda: None


@program
def time_budget(jit):
    start = time.perf_counter()
    calls = []

    @jit.step
    def step(x):
        calls.append(1)
        if time.perf_counter() - start > 3600:
            raise TimeoutError("an hour is over")
        return x * len(calls)

    return (lambda i: step(batch(i))), lambda: len(calls)


@program
def fake_clock(jit):
    now = 0.0

    def clock():
        return now

    class Timer:
        def __init__(self, clock, limit):
            self.clock, self.limit, self.start = clock, limit, clock()

        @property
        def expired(self):
            return self.clock() - self.start > self.limit

    timer = Timer(clock, 5)

    @jit.step
    def step(x):
        return x * 0 if timer.expired else x

    def loop(i):
        nonlocal now
        now = float(i)
        return step(batch(i))

    return loop, lambda: timer.expired


@program
def clock_patched(jit):
    # One that nobody else asks while a program is compiled.
    jit.undo(setattr, time, "process_time", time.process_time)
    ticks = itertools.count()
    time.process_time = lambda: float(next(ticks))

    @jit.step
    def step(x):
        return x * time.process_time()

    return (lambda i: step(batch(i))), lambda: None


@program
def measured_times(jit):
    times = []

    @jit.step
    def step(x):
        begin = time.monotonic()
        y = ops.relu(x)
        times.append(time.monotonic() - begin >= 0)
        return y

    return (lambda i: step(batch(i))), lambda: times


@program
def run_identifiers(jit):
    runs = {}

    @jit.step
    def step(x):
        runs[uuid.uuid4().hex] = x.shape
        return x + len(runs)

    return (lambda i: step(batch(i))), lambda: len(runs)


@program
def names_from_secrets(jit):
    names = set()

    @jit.step
    def step(x):
        names.add(secrets.token_hex(8))
        return x * len(names)

    return (lambda i: step(batch(i))), lambda: len(names)


@program
def date_in_a_record(jit):
    records = []

    @jit.step
    def step(x):
        records.append(datetime.datetime.now().year > 2000)
        return x.sum()

    return (lambda i: step(batch(i))), lambda: records


@program
def endless_cycle(jit):
    factors = itertools.cycle([1.0, 2.0, 4.0])

    @jit.step
    def step(x):
        return x * next(factors)

    return (lambda i: step(batch(i))), lambda: None


@program
def counter_object(jit):
    ids = itertools.count(start=3, step=2)

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            return x + next(ids)

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@program
def iterator_over_a_list(jit):
    batches = iter([BATCHES[k % 3] for k in range(10)])

    @jit.step
    def step():
        return Tensor(next(batches)).sum()

    return (lambda i: step()), lambda: None


@program
def loader_by_a_generator(jit):
    def loader():
        for epoch in range(4):
            for k in range(3):
                yield Tensor(BATCHES[k] * (epoch + 1))

    data = loader()

    @jit.step
    def step():
        try:
            return next(data).sum()
        except StopIteration:
            return None

    return (lambda i: step()), lambda: None


@program
def generator_that_is_sent_to(jit):
    def controller():
        rate = 1.0
        while True:
            error = yield rate
            rate = rate * 0.5 if error > 2 else rate + 0.25

    control = controller()
    next(control)

    @jit.step
    def step(x, error):
        return x * control.send(error)

    return (lambda i: step(batch(i), i % 4)), lambda: None


@program
def generator_over_changing_list(jit):
    stages = [1.0, 2.0]

    @jit.step
    def step(x):
        for stage in (s * 0.5 for s in stages if s):
            x = x * stage
        return x

    def loop(i):
        if i % 6 == 5:
            stages.append(float(i))
        return step(batch(i))

    return loop, lambda: stages


@program
def context_variable(jit):
    precision = contextvars.ContextVar("precision", default=1.0)

    @jit.step
    def step(x):
        return x * precision.get()

    def loop(i):
        if i == 6:
            precision.set(0.5)
        return step(batch(i))

    return loop, lambda: precision.get()


@program
def thread_local_flag(jit):
    state = threading.local()
    state.training = True

    @jit.step
    def step(x):
        return x * 2 if getattr(state, "training", False) else x

    def loop(i):
        state.training = i < 7
        return step(batch(i))

    return loop, lambda: state.training


@program
def lock_and_counter(jit):
    lock, count = threading.Lock(), 0

    @jit.step
    def step(x):
        nonlocal count
        with lock:
            count += 1
            return x * count

    return (lambda i: step(batch(i))), lambda: (count, lock.locked())


@program
def decimal_context(jit):
    @jit.step
    def step(x):
        third = decimal.Decimal(1) / decimal.Decimal(3)
        return x * float(third)

    def loop(i):
        with decimal.localcontext() as context:
            context.prec = 2 if i < 6 else 1 if i < 10 else 28
            return step(batch(1))

    return loop, lambda: None


@program
def numbers_from_a_file(jit):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "scale.txt")
    jit.undo(os.rmdir, folder)
    jit.undo(os.remove, path)

    def write(text):
        with open(path, "w") as file:
            file.write(text)

    write("1.0")

    @jit.step
    def step(x):
        with open(path) as file:
            return x * float(file.read())

    def loop(i):
        if i % 5 == 4:
            write(str(float(i)))
        return step(batch(i))

    return loop, lambda: None


@program
def lines_written_to_memory(jit):
    report = io.StringIO()

    @jit.step
    def step(x):
        report.write(f"{x.shape}\n")
        return x.sum()

    return (lambda i: step(batch(i))), lambda: report.getvalue().count("\n")


@program
def lines_read_from_memory(jit):
    lines = io.StringIO("1\n2\n3\n4\n5\n")

    @jit.step
    def step(x):
        line = lines.readline()
        return x * int(line) if line else x * 0

    return (lambda i: step(batch(i))), lambda: lines.tell()


@effect_free
def random_object_that_is_not_used(jit):
    rng = random.Random(1)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = linear(jit)

        @jit.construct
        def construct(self, x):
            return self.body(x) + rng.random() if self.training else self.body(x)

    net = Net().set_train(False)
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None
