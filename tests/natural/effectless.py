# SPDX-License-Identifier: Apache-2.0
"""Programs without effects, with much within reach that nobody reads: these must be replayed."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import enum
import functools
import itertools
import math
import types
from collections import defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import batch, effect_free, linear, vector, weight


@effect_free
def large_vocabulary_beside_the_network(jit):
    class Tagger(nn.Cell):
        def __init__(self):
            super().__init__()
            self.vocabulary = {f"word{k}": k for k in range(5000)}
            self.inverse = {k: word for word, k in self.vocabulary.items()}
            self.body = linear(jit)

        def encode(self, words):
            return [self.vocabulary[word] for word in words]

        @jit.construct
        def construct(self, x):
            return self.body(x)

    net = Tagger()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: len(net.vocabulary)


@effect_free
def large_table_of_settings_read(jit):
    settings = {f"layer{k}.scale": 1.0 + k for k in range(5000)}
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x) * settings["layer1.scale"] + settings.get("missing", 0.5)

    return (lambda i: step(batch(i))), lambda: len(settings)


@effect_free
def layer_made_at_each_call(jit):
    class Pooling(nn.Cell):
        def __init__(self, keep=False):
            super().__init__()
            self.keep = keep

        def construct(self, x):
            return ops.mean(x, axis=1, keep_dims=self.keep)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = linear(jit)

        @jit.construct
        def construct(self, x):
            return Pooling(keep=True)(self.body(x))

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@effect_free
def large_list_indexed(jit):
    schedule = [0.5 + 0.001 * k for k in range(5000)]
    net = linear(jit)
    step = jit.step(lambda x: net(x) * schedule[7])
    return (lambda i: step(batch(i))), lambda: len(schedule)


@effect_free
def dataset_in_memory_beside_the_step(jit):
    class Trainer:
        def __init__(self):
            self.images = np.zeros((500, 28, 28), np.float32)
            self.labels = np.arange(500) % 10
            self.net = linear(jit)

        @jit.step
        def predict(self, x):
            return self.net(x)

    trainer = Trainer()
    return (lambda i: trainer.predict(batch(i))), lambda: trainer.images.shape


@effect_free
def losses_kept_by_the_loop(jit):
    net = linear(jit)
    history = []
    step = jit.step(lambda x: net(x).sum())

    def loop(i):
        loss = step(batch(i))
        history.append(loss)
        return loss

    return loop, lambda: history


@effect_free
def trainer_with_statistics(jit):
    class Trainer:
        def __init__(self):
            self.net = linear(jit)
            self.optimizer = nn.Momentum(self.net.trainable_params(), 0.125, 0.5)
            self.epoch, self.global_step, self.best = 0, 0, math.inf
            self.history, self.times = [], {}
            self.grad_fn = ms.value_and_grad(
                lambda x: self.net(x).mean(), None, self.net.trainable_params()
            )

        @jit.step
        def train_step(self, x):
            loss, grads = self.grad_fn(x)
            self.optimizer(grads)
            return loss

        def fit_one(self, i):
            loss = self.train_step(batch(i))
            self.global_step += 1
            self.epoch = self.global_step // 4
            self.history.append(float(loss))
            self.best = min(self.best, self.history[-1])
            self.times[i] = i * 0.5
            return loss

    trainer = Trainer()
    return trainer.fit_one, lambda: (trainer.epoch, trainer.global_step, trainer.net.weight)


@effect_free
def fields_of_the_network_set_from_outside(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body, self.info = linear(jit), {"epoch": 0, "loss": None}

        @jit.construct
        def construct(self, x):
            return self.body(x)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.info["epoch"] = i
        net.info["loss"] = i * 0.5
        return step(batch(i))

    return loop, lambda: net.info


@effect_free
def command_line_arguments(jit):
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--fast", action="store_true")
    args = parser.parse_args(["--fast"])
    net = linear(jit)

    @jit.step
    def step(x):
        y = net(x) * args.lr
        for width in args.widths:
            y = y + width
        return y if args.fast else ops.relu(y)

    return (lambda i: step(batch(i))), lambda: vars(args)


@effect_free
def frozen_config_everywhere(jit):
    class Kind(enum.Enum):
        RELU = "relu"
        TANH = "tanh"

    @dataclass(frozen=True)
    class Block:
        kind: Kind
        gain: float = 1.0

    @dataclass(frozen=True)
    class Config:
        blocks: tuple = (Block(Kind.RELU), Block(Kind.TANH, 0.5))
        names: tuple = dataclasses.field(default=("a", "b"))

    config = Config()
    net = linear(jit)

    @jit.step
    def step(x):
        for block in config.blocks:
            x = getattr(ops, block.kind.value)(net(x)) * block.gain
        return dict.fromkeys(config.names, x)

    return (lambda i: step(batch(i))), lambda: config


@effect_free
def helpers_of_the_standard_library(jit):
    Point = namedtuple("Point", "x y")
    net = linear(jit)

    @jit.step
    def step(x):
        pairs = list(itertools.product(range(2), repeat=2))
        points = sorted((Point(a, b) for a, b in pairs), key=lambda p: (p.y, -p.x))
        groups = defaultdict(list)
        for point in points:
            groups[point.x].append(math.sqrt(point.y + 1))
        total = functools.reduce(lambda a, b: a + b, itertools.chain(*groups.values()))
        counts = collections.Counter(p.x for p in points).most_common(1)
        return net(x) * total + counts[0][1]

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def objects_made_and_changed_inside(jit):
    class Builder:
        def __init__(self):
            self.parts, self.count = [], 0

        def add(self, part):
            self.parts.append(part)
            self.count += 1
            return self

        def build(self):
            return sum(self.parts) / self.count

    net = linear(jit)

    @jit.step
    def step(x):
        builder = Builder()
        for k in range(3):
            builder.add(net(x) * k)
        state = types.SimpleNamespace(n=0)
        for _ in range(2):
            state.n += builder.count
        return builder.build() * state.n

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def local_counter_and_nonlocal(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        count = 0

        def visit(y):
            nonlocal count
            count += 1
            return net(y) * count

        for _ in range(3):
            x = visit(x)
        return x, count

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def generators_made_inside(jit):
    net = linear(jit)

    def scales(n):
        k = 1.0
        for _ in range(n):
            yield k
            k *= 0.5

    @jit.step
    def step(x):
        total = 0
        for scale in scales(3):
            total = total + net(x) * scale
        first = next(scales(1))
        return total * first, [k for k, _ in zip(itertools.count(), range(2))]

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def weights_changed_from_outside(jit):
    net = linear(jit)
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.weight.set_data(net.weight * 0.5 + 0.25)
        return step(batch(i))

    return loop, lambda: net.weight


@effect_free
def buffer_carried_as_a_parameter(jit):
    class Average(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = Parameter(vector(0.0, 0.0, 0.0), name="mean", requires_grad=False)
            self.steps = Parameter(Tensor(0.0), name="steps", requires_grad=False)

        @jit.construct
        def construct(self, x):
            self.steps += 1
            self.mean.set_data(self.mean + (x.mean(0) - self.mean) / self.steps)
            return self.mean * 1

    net = Average()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: (net.mean, net.steps)


@effect_free
def whole_training_step(jit):
    class Net(nn.Cell):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.layers = nn.CellList([linear(jit, 0.5) for _ in range(config["depth"])])
            self.act = nn.Tanh()

        @jit.construct
        def construct(self, x):
            for k, layer in enumerate(self.layers):
                x = layer(x)
                if k % self.config["every"] == 0:
                    x = self.act(x)
            return x

    net = Net({"depth": 3, "every": 2, "comment": "unused"}).set_train()
    loss_fn = nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.125)

    def forward(x, y):
        logits = net(x)
        return loss_fn(logits, y), logits

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    @jit.step
    def step(x, y):
        (loss, _), grads = grad_fn(x, y)
        optimizer(grads)
        return loss

    return (lambda i: step(batch(i), batch(i + 1))), lambda: list(net.trainable_params())


@effect_free(states=3)
def annealed_in_three_stages(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body, self.options = linear(jit), {"temperature": 4.0}

        @jit.construct
        def construct(self, x):
            return self.body(x) / self.options["temperature"]

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.options["temperature"] = (4.0, 2.0, 1.0)[min(i // 5, 2)]
        return step(batch(i))

    return loop, lambda: net.options


@effect_free(states=2)
def a_mode_that_comes_back(jit):
    config = types.SimpleNamespace(mode="train")
    net = linear(jit)

    @jit.step
    def step(x):
        return net(x) * 2 if config.mode == "train" else net(x)

    def loop(i):
        config.mode = "train" if i % 6 < 3 else "eval"
        return step(batch(i))

    return loop, lambda: config.mode


@effect_free(states=2)
def two_networks_in_turn(jit):
    nets = {"student": linear(jit), "teacher": linear(jit, 2.0)}
    current = "student"

    @jit.step
    def step(x):
        return nets[current](x)

    def loop(i):
        nonlocal current
        current = "student" if i % 2 else "teacher"
        return step(batch(i))

    return loop, lambda: current


@effect_free(states=2)
def flag_argument(jit):
    net = linear(jit)

    @jit.step
    def step(x, training):
        return ops.relu(net(x)) if training else net(x)

    return (lambda i: step(batch(i), i % 2 == 0)), lambda: None


@effect_free
def methods_and_properties(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body, self._gain = linear(jit), 0.5

        @property
        def gain(self):
            return self._gain * self.width()

        @staticmethod
        def width():
            return 3

        @classmethod
        def label(cls):
            return cls.__name__

        @jit.construct
        def construct(self, x):
            return self.body(x) * self.gain * len(self.label())

    net = Net()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: None


@effect_free
def arguments_in_containers(jit):
    net = linear(jit)

    @jit.step
    def step(data, *, scale):
        outs = [net(x) * scale for x in data["inputs"]]
        return {"outs": outs, "first": data["inputs"][0], **{"n": len(outs)}}

    def loop(i):
        return step({"inputs": (batch(i), batch(i + 1)), "name": "batch"}, scale=0.5)

    return loop, lambda: None


@effect_free
def module_like_namespace(jit):
    functional = types.ModuleType("functional")
    functional.gelu = lambda x: x * ops.sigmoid(1.702 * x)
    functional.COUNT = 0
    net = linear(jit)

    @jit.step
    def step(x):
        return functional.gelu(net(x))

    def loop(i):
        functional.COUNT += 1
        return step(batch(i))

    return loop, lambda: functional.COUNT


@effect_free
def slice_and_shape_arithmetic(jit):
    w = Parameter(weight(), name="w")

    @jit.step
    def step(x):
        n, c = x.shape
        heads = max(1, c // 3)
        y = ops.matmul(x, w).reshape(n, heads, -1).transpose(1, 0, 2)
        half = y.shape[-1] // 2
        return ops.concat((y[..., half:], -y[..., :half]), -1)[..., ::-1]

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def cache_that_is_filled_before(jit):
    class Rotary(nn.Cell):
        def __init__(self):
            super().__init__()
            self.tables = {n: Tensor(np.arange(n, dtype=np.float32)) for n in (2, 3, 4)}

        @jit.construct
        def construct(self, x):
            n = x.shape[-1]
            if n not in self.tables:
                self.tables[n] = Tensor(np.arange(n, dtype=np.float32))
            return x + self.tables[n]

    net = Rotary()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: sorted(net.tables)


@effect_free
def registry_that_grows_elsewhere(jit):
    registry = {"relu": ops.relu, "tanh": ops.tanh}
    net = linear(jit)

    @jit.step
    def step(x):
        return registry["relu"](net(x))

    def loop(i):
        registry[f"plugin{i}"] = lambda x: x * i
        return step(batch(i))

    return loop, lambda: sorted(registry)
