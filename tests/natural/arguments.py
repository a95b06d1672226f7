# SPDX-License-Identifier: Apache-2.0
"""Arguments are the user's own objects: written into, returned, compared by identity, static."""

from __future__ import annotations

import types

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import BATCHES, batch, effect_free, linear, program, weight


@program
def hidden_state_put_into_an_argument(jit):
    net = linear(jit)

    @jit.step
    def step(x, aux):
        h = net(x)
        aux["hidden"] = h
        return ops.relu(h)

    def loop(i):
        aux = {}
        return step(batch(i), aux), aux

    return loop, lambda: None


@program
def one_aux_for_all_calls(jit):
    aux = {"calls": 0}

    @jit.step
    def step(x, aux):
        aux["calls"] += 1
        aux["last"] = x * aux["calls"]
        return aux["last"].sum()

    return (lambda i: step(batch(i), aux)), lambda: aux


@program
def key_value_pairs_appended(jit):
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(weight(), name="w")

        @jit.construct
        def construct(self, x, cache):
            k, v = ops.matmul(x, self.w), x
            cache.append((k, v))
            keys = ops.concat([pair[0] for pair in cache], 0)
            return ops.matmul(x, keys.T).sum()

    net = Block()
    step = jit.step(lambda x, cache: net(x, cache))
    cache = []

    def loop(i):
        if i % 4 == 0:
            cache.clear()
        return step(batch(i), cache)

    return loop, lambda: cache


@program
def returns_its_argument(jit):
    @jit.step
    def step(x, options):
        options["seen"] = True
        return options

    def loop(i):
        options = {"k": i // 5}
        out = step(batch(i), options)
        return out is options, out

    return loop, lambda: None


@program
def returns_the_tensor_itself(jit):
    @jit.step
    def step(x):
        return x

    def loop(i):
        x = batch(i)
        return step(x) is x

    return loop, lambda: None


@program
def same_tensor_twice(jit):
    @jit.step
    def step(query, key):
        if query is key:
            return query * 2
        return query + key * 3

    def loop(i):
        x, y = batch(i), batch(i + 1)
        return step(x, x) if i % 3 else step(x, y)

    return loop, lambda: None


@program
def compared_with_a_known_tensor(jit):
    padding = Tensor(BATCHES[0])

    @jit.step
    def step(x):
        return x * 0 if x is padding else x

    return (lambda i: step(padding if i % 2 else batch(i))), lambda: None


@program
def one_list_passed_twice(jit):
    @jit.step
    def step(a, b):
        a.append(1)
        return len(b)

    def loop(i):
        xs = [0]
        return step(xs, xs), step(xs, list(xs)), xs

    return loop, lambda: None


@program
def in_place_update_of_an_argument(jit):
    @jit.step
    def step(total, x):
        total += x
        total[0] = 0.0
        return total.sum()

    total = Tensor(np.zeros((2, 3), np.float32))
    return (lambda i: step(total, batch(i))), lambda: total


@program
def results_written_into_a_list(jit):
    @jit.step
    def step(x, outs):
        for k in range(len(outs)):
            outs[k] = x * k

    def loop(i):
        outs = [None] * (2 + i // 7)
        step(batch(i), outs)
        return outs

    return loop, lambda: None


@program
def attribute_of_a_tensor(jit):
    @jit.step
    def step(x):
        return x * getattr(x, "gain", 1.0)

    def loop(i):
        x = batch(i)
        if i % 3:
            x.gain = float(i % 3)
        return step(x)

    return loop, lambda: None


@program
def attribute_set_on_a_tensor(jit):
    @jit.step
    def step(x):
        x.seen = getattr(x, "seen", 0) + 1
        x.tag = "done"
        return x * x.seen

    x = batch(0)
    return (lambda i: step(x)), lambda: (x.seen, x.tag)


@program
def tensor_subclass(jit):
    class Field(Tensor):
        units = "m"

        def scaled(self):
            return self * (2 if self.units == "m" else 3)

    @jit.step
    def step(x):
        return type(x).__name__, x.scaled() if isinstance(x, Field) else x

    def loop(i):
        if i == 9:
            Field.units = "s"
        return step(Field(BATCHES[i % 3]) if i % 4 else batch(i))

    return loop, lambda: Field.units


@program
def minus_zero(jit):
    @jit.step
    def step(x, slope):
        return x * 0 + 1 / np.float64(np.copysign(1.0, slope)), str(slope)

    return (lambda i: step(batch(i), -0.0 if i % 3 == 2 else 0.0)), lambda: None


@program
def minus_zero_for_the_operator(jit):
    @jit.step
    def step(x, slope):
        return 1.0 / (ops.relu(x) * slope)

    return (lambda i: step(batch(0), 0.0 if i % 4 < 2 else -0.0)), lambda: None


@program
def one_and_true(jit):
    @jit.step
    def step(x, flag):
        if flag is True:
            return x
        return x * flag * 3, type(flag).__name__

    return (lambda i: step(batch(i), (True, 1, 1.0)[i // 2 % 3])), lambda: None


@program
def keys_one_and_true(jit):
    @jit.step
    def step(table):
        return [f"{key!r}" for key in table], sum(table.values())

    return (lambda i: step({(1, True, 1.0)[i // 2 % 3]: batch(i)})), lambda: None


@program
def mutable_default(jit):
    @jit.step
    def step(x, seen=[]):
        seen.append(x.shape[0])
        return x * len(seen)

    return (lambda i: step(batch(i))), lambda: None


@program
def default_dict_as_memory(jit):
    def remember(x, memory={"last": None}):
        last, memory["last"] = memory["last"], x
        return x if last is None else x - last

    step = jit.step(remember)
    return (lambda i: step(batch(i))), lambda: remember.__defaults__


@program
def object_argument(jit):
    class State:
        def __init__(self):
            self.step, self.frozen = 0, False

    @jit.step
    def train(x, state):
        state.step += 1
        return x if state.frozen else x * state.step

    state = State()

    def loop(i):
        state.frozen = i > 8
        return train(batch(i), state)

    return loop, lambda: vars(state)


@effect_free(states=2)
def config_object_as_argument(jit):
    args = types.SimpleNamespace(scale=2.0, name="a", extra=list(range(20)))

    @jit.step
    def step(x, args):
        return ops.relu(x) * args.scale

    def loop(i):
        args.scale = 2.0 if i < 5 else 4.0
        return step(batch(i), args)

    return loop, lambda: args


@program
def functions_as_arguments(jit):
    @jit.step
    def step(x, fn):
        return fn(x)

    def shifted(k):
        return lambda x: x + k

    return (lambda i: step(batch(i), shifted(i // 3))), lambda: None


@program
def cells_as_arguments(jit):
    first, second = linear(jit), linear(jit, -2.0)

    @jit.step
    def step(net, x, *, train=True):
        net.set_train(train)
        return net(x), net.training

    def loop(i):
        return step(first if i % 2 else second, batch(i), train=i < 8)

    return loop, lambda: (first.training, second.training)


@program
def python_number_that_changes(jit):
    @jit.step
    def step(x, t):
        return x * t

    return (lambda i: step(batch(i), 1.0 + 0.25 * i)), lambda: None


@program
def popped_keywords(jit):
    @jit.step
    def step(x, options):
        scale = options.pop("scale", 1.0)
        return x * scale, sorted(options)

    options = {"scale": 2.0, "name": "n"}

    def loop(i):
        if i % 4 == 3:
            options["scale"] = float(i)
        return step(batch(i), options)

    return loop, lambda: options


@program
def gradient_list_filtered_in_place(jit):
    net = linear(jit)
    grad_fn = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())

    @jit.step
    def step(x, grads, limit):
        grads[:] = [g for g in grad_fn(x)]
        if limit:
            grads.clear()
        return len(grads)

    def loop(i):
        grads = []
        return step(batch(i), grads, i % 5 == 4), grads

    return loop, lambda: None


@program
def a_word_with_a_field(jit):
    class Word(str):
        gain = 2.0

    class Pair(tuple):
        gain = 2.0

    word, pair = Word("w"), Pair((1.0, 2.0))

    @jit.step
    def step(x, word, pair):
        return x * word.gain + pair.gain * pair[0]

    def loop(i):
        if i in (5, 9):
            word.gain += 1.0
        if i == 7:
            pair.gain = 3.0
        return step(batch(i), word, pair)

    return loop, lambda: None
