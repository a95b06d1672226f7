# SPDX-License-Identifier: Apache-2.0
"""What is kept of a training: averages, optimisers, scales, losses."""

from __future__ import annotations

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, linear, program, vector, weight


@program
def average_by_a_counter(jit):
    class EMA:
        def __init__(self, params):
            self.params = params
            self.shadow = [p.clone() for p in params]
            self.num_updates = 0

        def update(self):
            self.num_updates += 1
            decay = min(0.5, (1 + self.num_updates) / (10 + self.num_updates))
            for s, p in zip(self.shadow, self.params):
                s.set_data(s * decay + p * (1 - decay))

    net = linear(jit)
    ema = EMA(list(net.trainable_params()))

    @jit.step
    def step(x):
        net.weight.set_data(net.weight * 0.5)
        ema.update()
        return net(x)

    return (lambda i: step(batch(i))), lambda: (ema.num_updates, ema.shadow)


@program
def average_every_third_step(jit):
    average = Parameter(vector(0.0, 0.0, 0.0), name="average")
    steps = [0]

    @jit.step
    def step(x):
        steps[0] += 1
        if steps[0] % 3 == 0:
            average.set_data(average * 0.5 + x.sum(0) * 0.5)
        return x.sum()

    return (lambda i: step(batch(i))), lambda: (steps, average)


@program
def gradient_accumulation(jit):
    net = linear(jit)
    sums = [Parameter(weight(0.0), name="sum")]
    grad_fn = ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())
    optimizer = nn.SGD(net.trainable_params(), 0.5)
    micro = 0

    @jit.step
    def train(x):
        nonlocal micro
        loss, grads = grad_fn(x)
        sums[0].set_data(sums[0] + grads[0])
        micro += 1
        if micro == 4:
            optimizer((sums[0] / 4,))
            sums[0].set_data(ops.zeros_like(sums[0]))
            micro = 0
        return loss

    return (lambda i: train(batch(i))), lambda: (micro, sums, net.weight)


@program
def accumulation_by_argument(jit):
    net = linear(jit)
    total = Parameter(weight(0.0), name="total")
    grad_fn = ms.grad(lambda x: net(x).mean(), None, net.trainable_params())

    @jit.step
    def train(x, last):
        total.set_data(total + grad_fn(x)[0])
        if last:
            net.weight.set_data(net.weight - total)
            total.set_data(total * 0)
        return net.weight.sum()

    return (lambda i: train(batch(i), i % 4 == 3)), lambda: (total, net.weight)


@program
def loss_scale_in_a_float(jit):
    class Scaler:
        scale, good = 8.0, 0

        def step(self, finite):
            if not finite:
                self.scale /= 2
                self.good = 0
            else:
                self.good += 1
                if self.good == 3:
                    self.scale *= 2
                    self.good = 0

    net, scaler = linear(jit), Scaler()
    grad_fn = ms.grad(lambda x: net(x).sum() * scaler.scale, None, net.trainable_params())

    @jit.step
    def train(x):
        (g,) = grad_fn(x)
        g = g / scaler.scale
        scaler.step(bool(ops.isfinite(g).all()))
        return g

    return (lambda i: train(batch(i))), lambda: (scaler.scale, scaler.good)


@program
def loss_scale_that_overflows(jit):
    scale = 4.0
    skipped = 0

    @jit.step
    def train(x, bad):
        nonlocal scale, skipped
        loss = (x * scale).sum()
        if bad:
            loss = loss / 0.0
        if not bool(ops.isfinite(loss)):
            scale *= 0.5
            skipped += 1
            return None
        return loss / scale

    return (lambda i: train(batch(0), i % 5 == 4)), lambda: (scale, skipped)


@program
def list_of_losses(jit):
    net = linear(jit)
    losses = []

    @jit.step
    def step(x):
        loss = net(x).sum()
        losses.append(loss)
        return loss

    return (lambda i: step(batch(i))), lambda: losses


@program(rounded=True)
def list_of_loss_numbers(jit):
    net = linear(jit)
    losses = []

    @jit.step
    def step(x):
        loss = net(x).sum()
        losses.append(loss.asnumpy().item())
        return loss

    return (lambda i: step(batch(i))), lambda: losses


@program
def running_mean_of_losses(jit):
    class AverageMeter:
        def __init__(self):
            self.reset()

        def reset(self):
            self.sum, self.count = 0.0, 0

        def update(self, value, n=1):
            self.sum = self.sum + value * n
            self.count += n

        @property
        def avg(self):
            return self.sum / max(self.count, 1)

    meter = AverageMeter()

    @jit.step
    def step(x):
        meter.update(x.mean(), len(x))
        return meter.avg

    def loop(i):
        if i == 7:
            meter.reset()
        return step(batch(i))

    return loop, lambda: (meter.sum, meter.count)


@program
def adam_with_a_python_step(jit):
    class Adam:
        def __init__(self, p):
            self.p, self.t = p, 0
            self.m = Parameter(p * 0, name="m")
            self.v = Parameter(p * 0, name="v")

        def step(self, g):
            self.t += 1
            self.m.set_data(0.5 * self.m + 0.5 * g)
            self.v.set_data(0.75 * self.v + 0.25 * g * g)
            m = self.m / (1 - 0.5**self.t)
            v = self.v / (1 - 0.75**self.t)
            self.p.set_data(self.p - 0.1 * m / (ops.sqrt(v) + 1e-3))

    adam = Adam(Parameter(vector(), name="p"))

    @jit.step
    def train(x):
        adam.step((x * adam.p).sum(0))
        return adam.p.sum()

    return (lambda i: train(batch(i))), lambda: (adam.t, adam.p, adam.m)


@program
def momentum_in_a_dict(jit):
    w = Parameter(vector(), name="w")
    state = {}

    @jit.step
    def train(g):
        if "velocity" not in state:
            state["velocity"] = ops.zeros_like(g)
        state["velocity"] = state["velocity"] * 0.5 + g
        w.set_data(w - state["velocity"] * 0.25)
        return w.sum()

    return (lambda i: train(Tensor(vector()))), lambda: (state, w)


@program
def lookahead_every_fourth(jit):
    fast = Parameter(vector(), name="fast")
    slow = fast.clone()
    k = 0

    @jit.step
    def train(g):
        nonlocal k
        fast.set_data(fast - g * 0.25)
        k = (k + 1) % 4
        if not k:
            slow.set_data(slow + 0.5 * (fast - slow))
            fast.set_data(slow)
        return fast.sum()

    return (lambda i: train(Tensor(vector()))), lambda: (k, fast, slow)


@program
def average_of_the_last_weights(jit):
    w = Parameter(vector(), name="w")
    snapshots = []

    @jit.step
    def train(g):
        w.set_data(w - g * 0.5)
        snapshots.append(w.clone())
        if len(snapshots) > 3:
            snapshots.pop(0)
        return sum(snapshots) / len(snapshots)

    return (lambda i: train(Tensor(vector()))), lambda: snapshots
