# SPDX-License-Identifier: Apache-2.0
"""As programs look that were converted from PyTorch: optimisers by hand, modules, trackers."""

from __future__ import annotations

import collections
import copy
import math

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, mint, nn, ops
from natural.common import batch, linear, program, vector, weight


@program
def optimizer_with_a_state_dict(jit):
    class AdamW:
        def __init__(self, params, lr=0.125, betas=(0.5, 0.75), weight_decay=0.0):
            self.param_groups = [
                {"params": list(params), "lr": lr, "betas": betas, "weight_decay": weight_decay}
            ]
            self.state = collections.defaultdict(dict)

        def step(self, grads):
            for group in self.param_groups:
                b1, b2 = group["betas"]
                for k, (p, g) in enumerate(zip(group["params"], grads)):
                    state = self.state[k]
                    if not state:
                        state.update(step=0, m=ops.zeros_like(p), v=ops.zeros_like(p))
                    state["step"] += 1
                    state["m"] = b1 * state["m"] + (1 - b1) * g
                    state["v"] = b2 * state["v"] + (1 - b2) * g * g
                    bias = math.sqrt(1 - b2 ** state["step"]) / (1 - b1 ** state["step"])
                    update = state["m"] / (ops.sqrt(state["v"]) + 0.25)
                    p.set_data(p - group["lr"] * bias * update)

    net = linear(jit)
    optimizer = AdamW(net.trainable_params())
    grad_fn = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())

    @jit.step
    def train_step(x):
        loss, grads = grad_fn(x)
        optimizer.step(grads)
        return loss

    def loop(i):
        if i == 8:
            optimizer.param_groups[0]["lr"] *= 0.5
        return train_step(batch(i))

    return loop, lambda: (optimizer.state[0].get("step"), net.weight)


@program
def scheduler_step_inside(jit):
    class StepLR:
        def __init__(self, group, step_size, gamma):
            self.group, self.step_size, self.gamma, self.last = group, step_size, gamma, 0

        def step(self):
            self.last += 1
            if self.last % self.step_size == 0:
                self.group["lr"] *= self.gamma

    group = {"lr": 0.5}
    scheduler = StepLR(group, 4, 0.5)
    w = Parameter(vector(), name="w")

    @jit.step
    def train_step(x):
        w.set_data(w - group["lr"] * x.mean(0))
        scheduler.step()
        return w.sum()

    return (lambda i: train_step(batch(i))), lambda: (group, scheduler.last, w)


@program
def zero_grad_and_accumulate(jit):
    class Holder:
        def __init__(self, p):
            self.p, self.grad = p, None

        def zero_grad(self):
            self.grad = None

        def backward(self, g):
            self.grad = g if self.grad is None else self.grad + g

    net = linear(jit)
    holder = Holder(net.weight)
    grad_fn = ms.grad(lambda x: net(x).mean(), None, [net.weight])
    accumulation, it = 3, 0

    @jit.step
    def train_step(x):
        nonlocal it
        holder.backward(grad_fn(x)[0])
        it += 1
        if it % accumulation == 0:
            holder.p.set_data(holder.p - 0.25 * holder.grad)
            holder.zero_grad()
        return it

    return (lambda i: train_step(batch(i))), lambda: (it, holder.grad, net.weight)


@program
def ema_model_copy(jit):
    class EMA:
        def __init__(self, model, decay=0.5, warmup=3):
            self.model = copy.deepcopy(model)
            self.decay, self.warmup, self.updates = decay, warmup, 0

        def update(self, model):
            self.updates += 1
            if self.updates <= self.warmup:
                for mine, theirs in zip(self.model.get_parameters(), model.get_parameters()):
                    mine.set_data(theirs)
                return
            d = self.decay * (1 - math.exp(-self.updates / 2))
            for mine, theirs in zip(self.model.get_parameters(), model.get_parameters()):
                mine.set_data(mine * d + theirs * (1 - d))

    net = linear(jit)
    ema = EMA(net)

    @jit.step
    def step(x):
        net.weight.set_data(net.weight * 0.5 + 0.125)
        ema.update(net)
        return ema.model(x)

    return (lambda i: step(batch(i))), lambda: (ema.updates, ema.model.weight)


@program
def register_buffer_by_hand(jit):
    class Module(nn.Cell):
        def __init__(self):
            super().__init__()
            self._buffers_seen = {}

        def buffer(self, name, value):
            self._buffers_seen[name] = value

        def __getattr__(self, name):
            buffers = self.__dict__.get("_buffers_seen", {})
            if name in buffers:
                return buffers[name]
            return super().__getattr__(name)

    class Net(Module):
        def __init__(self):
            super().__init__()
            self.buffer("offset", Tensor(vector()))

        @jit.construct
        def construct(self, x):
            return x + self.offset

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net.buffer("offset", Tensor(vector(2.0, 2.0, 2.0)))
        return step(batch(i))

    return loop, lambda: net.offset


@program
def forward_alias(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p, self.history = 0.5, collections.deque(maxlen=2)

        def forward(self, x):
            self.history.append(x.shape)
            return mint.nn.functional.relu(x) * self.p

        @jit.construct
        def construct(self, *args, **kwargs):
            return self.forward(*args, **kwargs)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 7:
            net.p = 2.0
        return step(batch(i))

    return loop, lambda: net.history


@program
def no_grad_flag(jit):
    class Mode:
        enabled = True

        def __enter__(self):
            self.before, Mode.enabled = Mode.enabled, False

        def __exit__(self, *error):
            Mode.enabled = self.before

    net = linear(jit)

    @jit.step
    def step(x):
        with Mode():
            target = net(x) * (2 if Mode.enabled else 1)
        return net(x) - target if Mode.enabled else target

    def loop(i):
        if i % 5 == 4:
            with Mode():
                return step(batch(i))
        return step(batch(i))

    return loop, lambda: Mode.enabled


@program
def detached_running_loss(jit):
    net = linear(jit)
    running = {"loss": 0.0, "n": 0}

    @jit.step
    def step(x):
        loss = net(x).mean()
        running["loss"] += loss.item()
        running["n"] += 1
        if running["n"] % 4 == 0:
            print(f"[{running['n']:3d}] loss: {running['loss'] / 4:.3f}")
            running["loss"] = 0.0
        return loss

    return (lambda i: step(batch(i))), lambda: running["n"]


@program
def checkpoint_of_the_best(jit):
    net = linear(jit)
    best = {"loss": math.inf, "weights": None, "step": -1}
    n = 0

    @jit.step
    def step(x):
        nonlocal n
        loss = (net(x) ** 2).mean().item()
        if loss < best["loss"]:
            weights = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
            best.update(loss=loss, weights=weights, step=n)
        n += 1
        return loss

    def loop(i):
        net.weight.set_data(net.weight * (0.5 if i < 5 else 2.0))
        return step(batch(0))

    return loop, lambda: (best["step"], best["weights"], n)


@program
def replay_buffer_of_arrays(jit):
    class Replay:
        def __init__(self, size):
            self.states = np.zeros((size, 3), np.float32)
            self.position, self.full = 0, False

        def push(self, state):
            self.states[self.position] = state
            self.position = (self.position + 1) % len(self.states)
            self.full = self.full or self.position == 0

        def sample(self):
            return Tensor(self.states if self.full else self.states[: self.position])

    replay = Replay(4)

    @jit.step
    def step(x):
        replay.push(x.asnumpy()[0])
        return replay.sample().mean(0)

    return (lambda i: step(batch(i))), lambda: (replay.position, replay.full)


@program
def layer_drop_by_a_list(jit):
    layers = [linear(jit), linear(jit, 0.5), linear(jit, 2.0)]
    active = [True] * 3

    @jit.step
    def step(x):
        for on, layer in zip(active, layers):
            x = x + layer(x) if on else x
        return x

    def loop(i):
        active[i // 3 % 3] = not active[i // 3 % 3] if i % 3 == 2 else active[i // 3 % 3]
        return step(batch(i))

    return loop, lambda: active


@program
def gradient_penalty_every_other(jit):
    net = linear(jit)
    it = iter(range(100))
    penalty = ms.grad(lambda x: (net(x) ** 2).sum())

    @jit.step
    def step(x):
        loss = net(x).mean()
        if next(it) % 2:
            loss = loss + (penalty(x) ** 2).mean()
        return loss

    return (lambda i: step(batch(i))), lambda: None


@program
def greedy_generation_with_a_cache(jit):
    class Decoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = Parameter(weight(), name="table")

        @jit.construct
        def construct(self, token, past):
            h = self.table[token : token + 1]
            past.setdefault("h", []).append(h)
            return sum(past["h"])

    net = Decoder()
    step = jit.step(lambda token, past: net(token, past))
    past, tokens = {}, [0]

    def loop(i):
        if i % 5 == 0:
            past.clear()
        scores = step(tokens[-1], past)
        tokens.append(int(scores.argmax()))
        return scores

    return loop, lambda: (tokens, past)


@program
def contrastive_temperature_learned_in_python(jit):
    temperature = 1.0

    @jit.step
    def step(a, b):
        nonlocal temperature
        scores = ops.matmul(a, b.T) / temperature
        if float(scores.max()) > 0.5:
            temperature = min(4.0, temperature * 2)
        else:
            temperature = max(0.5, temperature / 2)
        return scores

    return (lambda i: step(batch(i), batch(i + 1))), lambda: temperature


@program
def module_dict_switched(jit):
    class Router(nn.Cell):
        def __init__(self):
            super().__init__()
            self.experts = nn.CellDict({"a": linear(jit), "b": linear(jit, -1.0)})
            self.route, self.used = "a", collections.Counter()

        @jit.construct
        def construct(self, x):
            self.used[self.route] += 1
            return self.experts[self.route](x)

    net = Router()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.route = "ab"[i % 2]
        return step(batch(i))

    return loop, lambda: net.used


@program
def swa_by_an_epoch(jit):
    net = linear(jit)
    swa, epoch = {"n": 0, "weight": None}, 0

    @jit.step
    def end_of_epoch():
        if epoch >= 4:
            w = net.weight * 1
            n = swa["n"]
            swa["weight"] = w if n == 0 else (swa["weight"] * n + w) / (n + 1)
            swa["n"] = n + 1
        return swa["n"]

    def loop(i):
        nonlocal epoch
        epoch = i
        net.weight.set_data(net.weight * 0.5)
        return end_of_epoch()

    return loop, lambda: swa


@program
def label_smoothing_schedule(jit):
    class Loss:
        def __init__(self):
            self.smoothing = 0.0

        def __call__(self, logits, labels):
            onehot = ops.one_hot(labels, 3, Tensor(1.0), Tensor(0.0))
            onehot = onehot * (1 - self.smoothing) + self.smoothing / 3
            return -(onehot * ops.log_softmax(logits, -1)).sum(-1).mean()

    criterion = Loss()

    @jit.step
    def step(x, y):
        return criterion(x, y)

    def loop(i):
        criterion.smoothing = round(0.125 * (i // 4), 3)
        return step(batch(i), Tensor(np.array([i % 3, 0]), ms.int32))

    return loop, lambda: criterion.smoothing


@program
def dropout_rate_schedule(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(p=0.5)

        @jit.construct
        def construct(self, x):
            return self.drop(x)

    net = Net().set_train()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 5:
            net.drop.p = 0.25
        if i == 10:
            net.drop = nn.Dropout(p=0.75).set_train()
        return step(batch(i) + 4)

    return loop, lambda: None


@program
def spectral_iterations(jit):
    class Spectral(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.u = Parameter(weight(), name="w"), Tensor(vector(1.0, 0.0, 0.0))
            self.iterations = 1

        @jit.construct
        def construct(self, x):
            u = self.u
            for _ in range(self.iterations):
                v = ops.matmul(self.w.T, u)
                v = v / (ops.sqrt((v * v).sum()) + 1e-3)
                u = ops.matmul(self.w, v)
            self.u = ops.stop_gradient(u)
            return ops.matmul(x, self.w) / (ops.sqrt((u * u).sum()) + 1)

    net = Spectral()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.iterations = 1 + i // 7
        return step(batch(i))

    return loop, lambda: net.u
