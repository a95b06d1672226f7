# SPDX-License-Identifier: Apache-2.0
"""Caches, memos, registries of results: by shape, by id, by key, bounded, weak."""

from __future__ import annotations

import functools
import hashlib
import struct
import weakref
from array import array
from collections import Counter, OrderedDict, deque

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import BATCHES, batch, effect_free, program, vector, weight


@program
def mask_by_shape(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.masks = {}

        def mask(self, n):
            if n not in self.masks:
                self.masks[n] = Tensor(np.tril(np.ones((n, n), np.float32)))
            return self.masks[n]

        @jit.construct
        def construct(self, x):
            return ops.matmul(x, self.mask(x.shape[-1]))

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        x = batch(i)
        return step(x if i % 4 else x[:, :2])

    return loop, lambda: sorted(net.masks)


@program
def cache_by_id(jit):
    cache = {}
    tables = [vector(), vector(2.0, 2.0, 2.0)]

    @jit.step
    def step(x, which):
        table = tables[which]
        if id(table) not in cache:
            cache[id(table)] = Tensor(table)
        return x * cache[id(table)]

    def loop(i):
        if i == 8:
            cache.clear()
            tables[0][:] = 3.0
        return step(batch(i), i % 2)

    return loop, lambda: len(cache)


@program
def memo_of_a_number(jit):
    memo = {}

    def fib(n):
        if n < 2:
            return 1
        if n not in memo:
            memo[n] = fib(n - 1) + fib(n - 2)
        return memo[n]

    @jit.step
    def step(x, n):
        return x * fib(n)

    return (lambda i: step(batch(i), i // 3 + 2)), lambda: memo


@program
def lru_cache_of_a_table(jit):
    built = []

    @functools.lru_cache(maxsize=2)
    def table(n):
        built.append(n)
        return Tensor(np.arange(n, dtype=np.float32))

    @jit.step
    def step(x):
        return x + table(x.shape[1])

    def loop(i):
        if i == 7:
            table.cache_clear()
        return step(batch(i)[:, : 2 + i % 2])

    return loop, lambda: (built, table.cache_info())


@effect_free
def lru_cache_that_is_warm(jit):
    @functools.cache
    def scale(n):
        return n**-0.5

    scale(3)

    @jit.step
    def step(x):
        return x * scale(x.shape[1])

    return (lambda i: step(batch(i))), lambda: None


@program
def lru_cache_whose_hits_are_shown(jit):
    @functools.lru_cache(maxsize=4)
    def scale(n):
        return n**-0.5

    @jit.step
    def step(x):
        return x * scale(x.shape[1])

    def loop(i):
        if i == 9:
            scale.cache_clear()
        return step(batch(i))

    return loop, lambda: scale.cache_info()


@program
def lru_cache_that_is_filled_again(jit):
    config = {"base": 2.0}

    @functools.lru_cache(maxsize=8)
    def scale(n):
        return config["base"] ** n

    @jit.step
    def step(x):
        return x * scale(x.shape[1])

    def loop(i):
        if i in (5, 10):
            config["base"] += 1.0
            scale.cache_clear()
        return step(batch(i))

    return loop, lambda: scale.cache_info()


@program
def cache_without_bounds_that_is_filled_again(jit):
    config = {"base": 2.0}

    @functools.cache
    def scale(n):
        return config["base"] ** n

    @jit.step
    def step(x):
        return x * scale(x.shape[1])

    def loop(i):
        if i in (5, 10):
            config["base"] += 1.0
            scale.cache_clear()
        return step(batch(i))

    return loop, lambda: scale.cache_info()


@program
def settings_made_once(jit):
    class Settings:
        gain = 2.0

    @functools.lru_cache(maxsize=None)
    def settings(name):
        made = Settings()
        made.sizes = [1.0, 2.0]
        return made

    settings("train")

    @jit.step
    def step(x):
        return x * settings("train").gain + sum(settings("train").sizes)

    def loop(i):
        if i == 5:
            settings("train").gain = 3.0
        if i == 10:
            settings("train").sizes[0] = -1.0
        return step(batch(i))

    return loop, lambda: settings.cache_info()


@program
def a_list_that_a_bounded_cache_returns(jit):
    @functools.lru_cache(maxsize=4)
    def sizes(n):
        return [1.0, float(n)]

    sizes(3)

    @jit.step
    def step(x):
        return x * sizes(3)[1] + sum(sizes(3))

    def loop(i):
        if i in (5, 10):
            sizes(3)[1] += 1.0
        return step(batch(i))

    return loop, lambda: sizes.cache_info()


@program
def cached_property_reset(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.base = 2.0

        @functools.cached_property
        def table(self):
            return [self.base * k for k in range(3)]

        @jit.construct
        def construct(self, x):
            return x * sum(self.table)

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i == 6:
            net.base = 5.0
        if i == 9:
            net.__dict__.pop("table", None)
        return step(batch(i))

    return loop, lambda: net.__dict__.get("table")


@program
def key_value_cache_in_self(jit):
    class Attention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.keys = None

        def reset(self):
            self.keys = None

        @jit.construct
        def construct(self, x):
            self.keys = x if self.keys is None else ops.concat((self.keys, x), 0)
            return ops.matmul(x, self.keys.T)

    net = Attention()
    step = jit.step(lambda x: net(x))

    def loop(i):
        if i % 5 == 0:
            net.reset()
        return step(batch(i))

    return loop, lambda: net.keys


@program
def rotary_table_that_grows(jit):
    class Rotary:
        def __init__(self):
            self.length, self.table = 0, None

        def __call__(self, n):
            if n > self.length:
                self.length = n
                self.table = Tensor(np.cos(np.arange(n, dtype=np.float32)))
            return self.table[:n]

    rotary = Rotary()

    @jit.step
    def step(x):
        return x * rotary(x.shape[1])

    return (lambda i: step(batch(i)[:, : 1 + (i * 2) % 3])), lambda: (rotary.length, rotary.table)


@program
def last_input_kept(jit):
    class Delta(nn.Cell):
        def __init__(self):
            super().__init__()
            self.last = None

        @jit.construct
        def construct(self, x):
            out = x if self.last is None else x - self.last
            self.last = x
            return out

    net = Delta()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.last


@program
def maps_kept_for_plots(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.maps = []

        @jit.construct
        def construct(self, x):
            a = ops.softmax(x, -1)
            self.maps.append(a)
            return a

    net = Net()
    step = jit.step(lambda x: net(x))

    def loop(i):
        out = step(batch(i))
        if i == 8:
            net.maps.clear()
        return out

    return loop, lambda: net.maps


@program
def bounded_queue_of_means(jit):
    recent = deque(maxlen=3)

    @jit.step
    def step(x):
        recent.append(x.mean())
        return sum(recent) / len(recent)

    return (lambda i: step(batch(i))), lambda: recent


@program
def moco_queue(jit):
    queue = deque([Tensor(np.zeros((2, 3), np.float32))] * 2, maxlen=2)

    @jit.step
    def step(x):
        scores = [ops.matmul(x, old.T) for old in queue]
        queue.appendleft(x * 0.5)
        return scores

    return (lambda i: step(batch(i))), lambda: queue


@program
def counter_of_labels(jit):
    seen = Counter()

    @jit.step
    def step(x, label):
        seen[label] += 1
        rarest = min(seen.values())
        return x * (seen[label] / rarest)

    return (lambda i: step(batch(i), "aabab"[i % 5])), lambda: seen


@program
def least_recently_used(jit):
    class LRU(OrderedDict):
        def get(self, key, make):
            if key in self:
                self.move_to_end(key)
                return self[key]
            value = self[key] = make()
            if len(self) > 2:
                self.popitem(last=False)
            return value

    cache = LRU()

    @jit.step
    def step(x, key):
        return x + cache.get(key, lambda: key * 2)

    return (lambda i: step(batch(i), (i * i) % 4)), lambda: list(cache.items())


@program
def weak_registry(jit):
    class Hook:
        def __init__(self, gain):
            self.gain = gain

    registry = weakref.WeakValueDictionary()
    strong = [Hook(2.0), Hook(3.0)]
    registry["a"], registry["b"] = strong

    @jit.step
    def step(x):
        for hook in registry.values():
            x = x * hook.gain
        return x

    def loop(i):
        if i == 6:
            strong.pop()
        if i == 10:
            strong[0].gain = 1.0
        return step(batch(i))

    return loop, lambda: sorted(registry)


@program
def weakly_known_owner(jit):
    class Trainer:
        scale = 1.0

    trainer = Trainer()
    owner = weakref.ref(trainer)

    @jit.step
    def step(x):
        found = owner()
        return x if found is None else x * found.scale

    def loop(i):
        nonlocal trainer
        if i == 4:
            trainer.scale = 2.0
        if i == 9:
            trainer = None
        return step(batch(i))

    return loop, lambda: owner() is None


@program
def weakly_keyed_state(jit):
    steps = weakref.WeakKeyDictionary()
    nets = [nn.ReLU(), nn.Tanh()]

    @jit.step
    def step(x, k):
        net = nets[k]
        steps[net] = steps.get(net, 0) + 1
        return net(x) * steps[net]

    return (lambda i: step(batch(i), i % 2)), lambda: [steps.get(net) for net in nets]


@program
def statistics_buffer(jit):
    class Normalise(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = Parameter(vector(0.0, 0.0, 0.0), name="mean", requires_grad=False)
            self.updates = 0

        @jit.construct
        def construct(self, x):
            if self.training:
                self.updates += 1
                rate = 1 / self.updates
                ops.assign(self.mean, self.mean * (1 - rate) + x.mean(0) * rate)
            return x - self.mean

    net = Normalise()
    step = jit.step(lambda x: net(x))

    def loop(i):
        net.set_train(i % 3 != 2)
        return step(batch(i))

    return loop, lambda: (net.updates, net.mean)


@program
def header_in_bytes(jit):
    header = bytearray(struct.pack("<if", 2, 0.5))

    @jit.step
    def step(x):
        times, gain = struct.unpack("<if", header)
        for _ in range(times):
            x = x * gain
        return x

    def loop(i):
        if i % 6 == 5:
            struct.pack_into("<f", header, 4, 2.0 / i)
        return step(batch(i))

    return loop, lambda: header


@program
def plain_array_of_weights(jit):
    weights = array("d", [1.0, 0.5])

    @jit.step
    def step(x):
        return x * weights[0] + weights[1]

    def loop(i):
        weights[i % 2] += 0.25 if i > 6 else 0
        return step(batch(i))

    return loop, lambda: weights.tolist()


@program
def buffer_through_a_view(jit):
    memory = bytearray(4)
    view = memoryview(memory)

    @jit.step
    def step(x):
        return x + view[0] + memory[3]

    def loop(i):
        view[3] = i // 5
        return step(batch(i))

    return loop, lambda: bytes(memory)


@program
def digest_of_the_config(jit):
    config = {"seed": 1}

    @jit.step
    def step(x):
        digest = hashlib.sha256(repr(sorted(config.items())).encode()).digest()
        return x * (digest[0] % 4)

    def loop(i):
        config["seed"] = i // 4
        return step(batch(i))

    return loop, lambda: config


@program
def batch_cache_by_index(jit):
    loaded = {}

    def load(index):
        if index not in loaded:
            loaded[index] = Tensor(BATCHES[index])
        return loaded[index]

    @jit.step
    def step(index):
        return load(index).sum()

    return (lambda i: step(i % 3)), lambda: sorted(loaded)


@program
def compiled_variants(jit):
    variants = {}

    def variant(training):
        if training not in variants:

            def forward(x):
                return ops.relu(x) if training else x

            variants[training] = jit.step(forward)
        return variants[training]

    return (lambda i: variant(i % 4 < 2)(batch(i))), lambda: list(variants)


@effect_free
def lookup_in_a_large_table(jit):
    vocabulary = {f"token{k}": k for k in range(5000)}

    @jit.step
    def step(x):
        return x * vocabulary["token2"]

    return (lambda i: step(batch(i))), lambda: len(vocabulary)


@effect_free
def big_array_that_is_read(jit):
    table = np.arange(200_000, dtype=np.float32).reshape(-1, 4)

    @jit.step
    def step(x):
        return x * float(table[7, 2])

    return (lambda i: step(batch(i))), lambda: table.shape


@program
def big_array_written_once(jit):
    table = np.zeros((500, 100), np.float32)

    @jit.step
    def step(x):
        return x + float(table[3, 3])

    def loop(i):
        if i == 9:
            table[3, 3] = 5.0
        return step(batch(i))

    return loop, lambda: table.sum()


@effect_free
def gradient_function_kept(jit):
    w = Parameter(weight(), name="w")
    functions = {}

    def gradient_of(name):
        if name not in functions:
            functions[name] = ms.grad(lambda x: ops.matmul(x, w).sum(), None, [w])
        return functions[name]

    gradient_of("loss")

    @jit.step
    def step(x):
        return gradient_of("loss")(x)

    return (lambda i: step(batch(i))), lambda: list(functions)
