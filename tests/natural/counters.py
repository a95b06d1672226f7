# SPDX-License-Identifier: Apache-2.0
"""Counters, schedules in Python floats, moving averages, flags: what a training loop counts."""

from __future__ import annotations

import math

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, program, vector, weight


@program
def counter_in_the_network(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = 0

        @jit.construct
        def construct(self, x):
            self.calls += 1
            return x * self.calls

    net = Net()

    @jit.step
    def step(x):
        return net(x)

    def loop(i):
        return step(batch(i))

    return loop, lambda: net.calls


@program
def counter_nobody_multiplies_with(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")
            self.seen = 0

        @jit.construct
        def construct(self, x):
            self.seen += x.shape[0]
            return ops.matmul(x, self.w)

    net = Net()
    step = jit.step(lambda x: net(x).sum())

    def loop(i):
        return step(batch(i))

    return loop, lambda: net.seen


@program
def global_step(jit):
    global_step = 0
    net = linear(jit)

    @jit.step
    def train_step(x):
        nonlocal global_step
        global_step += 1
        out = net(x)
        if global_step % 5 == 0:
            print(f"step {global_step}")
        return out.sum()

    def loop(i):
        return train_step(batch(i))

    return loop, lambda: global_step


@program
def decayed_learning_rate(jit):
    net = linear(jit)
    lr = 0.5
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

    @jit.step
    def train_step(x):
        nonlocal lr
        loss, grads = grad_fn(x)
        for p, g in zip(net.trainable_params(), grads):
            p.set_data(p - lr * g)
        lr *= 0.5
        return loss

    def loop(i):
        return train_step(batch(i))

    return loop, lambda: (lr, net.weight)


@program
def learning_rates_by_index(jit):
    net = linear(jit)
    rates = [0.5, 0.5, 0.25, 0.25, 0.125]
    state = {"step": 0}
    grad_fn = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())

    @jit.step
    def train_step(x):
        rate = rates[min(state["step"], len(rates) - 1)]
        (g,) = grad_fn(x)
        net.weight.set_data(net.weight - g * rate)
        state["step"] += 1
        return rate

    return (lambda i: train_step(batch(i))), lambda: (state, net.weight)


@program
def warmup_then_cosine(jit):
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
    w = Parameter(vector(), name="w")

    @jit.step
    def update(g):
        w.set_data(w - g * schedule())
        return w.sum()

    return (lambda i: update(Tensor(vector(0.25, 0.5, 0.25)))), lambda: (schedule.t, w)


@program
def schedule_set_by_the_loop(jit):
    w = Parameter(vector(), name="w")
    lr = 1.0

    @jit.step
    def update(g):
        ops.assign(w, w - g * lr)
        return w * 1

    def loop(i):
        nonlocal lr
        lr = 1.0 / (1 + i // 3)
        return update(Tensor(vector()))

    return loop, lambda: w


@program
def early_stop_flag(jit):
    class Stopper:
        def __init__(self, patience):
            self.best, self.bad, self.patience, self.stop = float("inf"), 0, patience, False

        def see(self, loss):
            if loss < self.best:
                self.best, self.bad = loss, 0
            else:
                self.bad += 1
                self.stop = self.bad >= self.patience

    stopper = Stopper(3)
    losses = [4.0, 3.0, 2.5, 2.6, 2.4, 2.5, 2.5, 2.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]

    @jit.step
    def train(x):
        if stopper.stop:
            return None
        return (x * stopper.best).sum() if stopper.bad else x.sum()

    def loop(i):
        out = train(batch(0))
        stopper.see(losses[i])
        return out

    return loop, lambda: vars(stopper)


@program(rounded=True)
def best_loss_so_far(jit):
    best = {"loss": None, "step": -1}
    steps = 0

    @jit.step
    def evaluate(x):
        nonlocal steps
        loss = float((x * x).sum())
        if best["loss"] is None or loss < best["loss"]:
            best.update(loss=loss, step=steps)
        steps += 1
        return best["step"]

    return (lambda i: evaluate(batch(i) * (14 - i))), lambda: best


@program
def epoch_flag_of_the_trainer(jit):
    class Trainer:
        def __init__(self, net):
            self.net, self.epoch = net, 0

        @jit.step
        def step(self, x):
            out = self.net(x)
            return out * 2 if self.epoch < 2 else out

    trainer = Trainer(linear(jit))

    def loop(i):
        trainer.epoch = i // 4
        return trainer.step(batch(i))

    return loop, lambda: trainer.epoch


@program
def curriculum_by_length(jit):
    max_len = 1

    class Net(nn.Cell):
        @jit.construct
        def construct(self, x):
            return x[:, :max_len].sum()

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        nonlocal max_len
        max_len = min(3, 1 + i // 4)
        return step(batch(i))

    return loop, lambda: max_len


@program
def curriculum_inside(jit):
    class Curriculum(nn.Cell):
        def __init__(self, stages):
            super().__init__()
            self.stages, self.stage, self.inside = stages, 0, 0

        @jit.construct
        def construct(self, x):
            self.inside += 1
            if self.inside > 3 and self.stage < len(self.stages) - 1:
                self.stage += 1
                self.inside = 0
            return x * self.stages[self.stage]

    net = Curriculum([1.0, 0.5, 0.25])
    step = jit.step(lambda x: net(x).sum())
    return (lambda i: step(batch(i))), lambda: (net.stage, net.inside)


@program
def annealed_temperature(jit):
    class Gate(nn.Cell):
        def __init__(self):
            super().__init__()
            self.temperature = 8.0

        @jit.construct
        def construct(self, x):
            y = ops.softmax(x / self.temperature, -1)
            self.temperature = max(1.0, self.temperature * 0.5)
            return y

    net = Gate()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(0))), lambda: net.temperature


@program
def beta_warmup_outside(jit):
    class VAE(nn.Cell):
        def __init__(self):
            super().__init__()
            self.beta = 0.0

        @jit.construct
        def construct(self, x):
            return x.sum() + self.beta * (x * x).sum()

    net = VAE()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.beta = min(1.0, i / 4)
        return step(batch(0))

    return loop, lambda: net.beta


@program
def clip_factor_from_history(jit):
    history = []

    @jit.step
    def clip(g):
        limit = 2.0 if len(history) < 5 else 0.5
        history.append(limit)
        return ops.clip_by_value(g, -limit, limit)

    return (lambda i: clip(batch(i) * 4)), lambda: history


@effect_free(states=2)
def a_stage_set_once(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.frozen = False

        @jit.construct
        def construct(self, x):
            return x if self.frozen else x * 2

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.frozen = i >= 6
        return step(batch(i))

    return loop, lambda: net.frozen


@effect_free
def counter_of_the_loop_nobody_reads(jit):
    class Trainer:
        def __init__(self):
            self.net, self.step_number = linear(jit), 0

        @jit.step
        def step(self, x):
            return self.net(x)

    trainer = Trainer()

    def loop(i):
        trainer.step_number += 1
        return trainer.step(batch(i))

    return loop, lambda: trainer.step_number


@program
def stop_iteration_by_budget(jit):
    budget = 5

    @jit.step
    def step(x):
        nonlocal budget
        if budget == 0:
            raise StopIteration("budget is spent")
        budget -= 1
        return x.sum() * budget

    def loop(i):
        nonlocal budget
        if i == 9:
            budget = 3
        return step(batch(i))

    return loop, lambda: budget
