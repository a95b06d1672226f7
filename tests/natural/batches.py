# SPDX-License-Identifier: Apache-2.0
"""Batches and results in containers of every kind."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import numpy as np

from mycel import Tensor, mutable, ops
from natural.common import BATCHES, batch, linear, program, vector


@program
def batch_as_a_dict(jit):
    net = linear(jit)

    @jit.step
    def step(batch):
        out = net(batch["x"])
        if "mask" in batch:
            out = out * batch["mask"]
        return {"logits": out, "n": batch["n"]}

    def loop(i):
        data = {"x": batch(i), "n": 2}
        if i % 4 > 1:
            data["mask"] = Tensor(vector())
        return step(data)

    return loop, lambda: None


@program
def batch_as_a_namedtuple(jit):
    Batch = namedtuple("Batch", "image label")

    @jit.step
    def step(b):
        return b._replace(label=b.label + 1), b.image.sum()

    return (lambda i: step(Batch(batch(i), i // 6))), lambda: None


@program
def batch_as_a_dataclass(jit):
    @dataclass
    class Batch:
        x: Tensor
        scale: float = 1.0
        out: object = None

    @jit.step
    def step(b):
        b.out = b.x * b.scale
        return b

    def loop(i):
        b = Batch(batch(i), 1.0 + i // 5)
        return step(b) is b, b

    return loop, lambda: None


@program
def outputs_as_a_dataclass(jit):
    @dataclass
    class Output:
        loss: Tensor
        hidden: tuple = ()
        extra: dict = dataclasses.field(default_factory=dict)

    @jit.step
    def step(x):
        return Output(x.sum(), (x, x * 2), {"n": x.shape[0]})

    return (lambda i: step(batch(i))), lambda: None


@program
def outputs_in_a_default_dict(jit):
    @jit.step
    def step(x):
        out = defaultdict(list)
        for name, y in (("a", x), ("b", x * 2), ("a", x + 1)):
            out[name].append(y)
        return out

    return (lambda i: step(batch(i))), lambda: None


@program
def counter_argument(jit):
    @jit.step
    def step(x, counts):
        counts.update(["step", "step"])
        return x * counts["step"]

    counts = Counter()
    return (lambda i: step(batch(i), counts)), lambda: counts


@program
def deque_argument(jit):
    @jit.step
    def step(x, window):
        window.append(x.sum())
        return sum(window)

    window = deque(maxlen=2)
    return (lambda i: step(batch(i), window)), lambda: window


@program
def ordered_and_plain_dicts(jit):
    @jit.step
    def step(features):
        kind = type(features).__name__
        return kind, [name for name in features], sum(features.values())

    def loop(i):
        pairs = [("b", batch(i)), ("a", batch(i + 1))]
        return step(OrderedDict(pairs) if i % 2 else dict(reversed(pairs)))

    return loop, lambda: None


@program
def refilled_batch_buffer(jit):
    buffer = np.zeros((2, 3), np.float32)

    @jit.step
    def step(data):
        return Tensor(data).sum(0)

    def loop(i):
        buffer[...] = BATCHES[i % 3]
        return step(buffer)

    return loop, lambda: buffer


@program
def array_written_by_the_callee(jit):
    @jit.step
    def step(x, out):
        np.add(out, 1, out=out)
        return x * out[0]

    out = np.zeros(3, np.float32)
    return (lambda i: step(batch(i), out)), lambda: out


@program
def mask_argument_changed(jit):
    mask = np.array([True, True, True])

    @jit.step
    def step(x, mask):
        return x * Tensor(mask.astype(np.float32)) if not mask.all() else x

    def loop(i):
        mask[i % 3] = i % 4 != 3
        return step(batch(i), mask)

    return loop, lambda: mask


@program
def set_of_layers(jit):
    @jit.step
    def step(x, active):
        if "double" in active:
            x = x * 2
        if "shift" in active:
            x = x + 1
        return x

    active = {"double"}

    def loop(i):
        if i == 5:
            active.add("shift")
        if i == 10:
            active.discard("double")
        return step(batch(i), active)

    return loop, lambda: active


@program
def star_arguments(jit):
    @jit.step
    def step(*xs, scale=1.0, **named):
        total = sum(xs) * scale
        for name in sorted(named):
            total = total + named[name]
        return total

    def loop(i):
        xs = [batch(i + k) for k in range(1 + i % 2)]
        extra = {"bias": 1.0} if i % 3 == 0 else {"shift": 0.5, "bias": 2.0}
        return step(*xs, scale=0.5 * (1 + i // 7), **extra)

    return loop, lambda: None


@program
def none_or_tensor(jit):
    @jit.step
    def step(x, mask=None):
        return x if mask is None else ops.masked_fill(x, mask, -1.0)

    def loop(i):
        return step(batch(i), Tensor(BATCHES[1] > 0) if i % 3 == 1 else None)

    return loop, lambda: None


@program
def last_batch_is_smaller(jit):
    net = linear(jit)
    sizes = []

    @jit.step
    def step(x):
        sizes.append(x.shape[0])
        return net(x).mean()

    return (lambda i: step(batch(i) if i % 5 else batch(i)[:1])), lambda: sizes


@program
def mutable_length(jit):
    @jit.step
    def step(xs):
        return sum(xs) / len(xs)

    return (lambda i: step(mutable([batch(k) for k in range(1 + i % 3)]))), lambda: None
