# SPDX-License-Identifier: Apache-2.0
"""Programs for `bench.silent` about NumPy arrays that Python changes, and about arguments.

See silent_programs.py for how a program is written.
"""

from __future__ import annotations

import math

import numpy as np

from bench.silent_programs import program


@program
def mask_changed_by_the_loop(f):
    mask = np.ones(3, np.float32)

    @f.jit
    def step(x):
        return x * f.array(mask)

    def loop(i):
        mask[i % 3] = 1.0 - mask[i % 3]
        return step(f.batch(i))

    return loop, lambda: mask


@program
def view_of_another_array(f):
    table = np.zeros((3, 3), np.float32)
    row = table[1]

    @f.jit
    def step(x):
        return x + f.array(row)

    def loop(i):
        if i in (5, 8):
            table[:, 2] += 1
        return step(f.batch(i))

    return loop, lambda: row


@program
def shape_of_a_constant(f):
    bias = np.zeros(3, np.float32)

    @f.jit
    def step(x):
        return x + f.array(bias)

    def loop(i):
        nonlocal bias
        if i in (5, 8):
            bias = np.ones((1, 3), np.float32) if i == 5 else np.zeros((2, 2, 3), np.float32)
        return step(f.batch(i))

    return loop, lambda: bias


@program
def threshold_from_an_array(f):
    scores = np.arange(4.0)

    @f.jit
    def step(x):
        return x * float(scores.max())

    def loop(i):
        scores[i % 4] += 1.0
        return step(f.batch(i))

    return loop, lambda: scores


@program
def refilled_buffer_as_argument(f):
    buffer = np.zeros((2, 3), np.float32)

    @f.jit
    def step(x, buffer):
        return x + f.array(buffer)

    def loop(i):
        buffer[:] = f.BATCHES[i % 3] * (1 + i // 5)
        return step(f.batch(i), buffer)

    return loop, lambda: buffer


@program
def zero_and_minus_zero(f):

    @f.jit
    def step(x, slope):
        return 1.0 / (f.relu(x) * slope)

    return lambda i: step(f.batch(0), 0.0 if i % 4 < 2 else -0.0), lambda: None


@program
def minus_zero_in_a_config(f):
    config = {"slope": 0.0}

    @f.jit
    def step(x):
        return x * math.copysign(1.0, config["slope"])

    def loop(i):
        config["slope"] = -0.0 if i in (5, 6, 11) else 0.0
        return step(f.batch(i))

    return loop, lambda: repr(config)


@program
def number_as_argument(f):

    @f.jit
    def step(x, rate):
        return x * rate

    return lambda i: step(f.batch(i), 1.0 / (1 + i)), lambda: None


@program
def mode_as_argument(f):

    def step(x, mode):
        return x.sum() if mode == "sum" else x.mean()

    step = f.jit(step, static=("mode",))
    return lambda i: step(f.batch(i), mode="sum" if i % 3 else "mean"), lambda: None


@program
def one_and_true(f):

    def step(x, flag):
        return x if flag is True else x * flag * 3

    step = f.jit(step, static=("flag",))
    return lambda i: step(f.batch(i), flag=(True, 1)[i // 2 % 2]), lambda: None


@program
def config_as_argument(f):
    class Config:
        gain = 1.0

    config = Config()

    def step(x, config):
        return x * config.gain

    step = f.jit(step, static=("config",))

    def loop(i):
        config.gain = 1.0 + i // 5
        return step(f.batch(i), config=config)

    return loop, lambda: config.gain


@program
def batch_as_a_dict(f):

    @f.jit
    def step(batch):
        return batch["x"] * batch.get("weight", 1.0)

    def loop(i):
        batch = {"x": f.batch(i)}
        if i % 4 == 3:
            batch["weight"] = 0.5
        return step(batch)

    return loop, lambda: None


@program
def last_batch_is_smaller(f):

    @f.jit
    def step(x):
        return (x @ f.array(f.WEIGHT)).mean()

    return lambda i: step(f.batch(i)[:1] if i % 5 == 4 else f.batch(i)), lambda: None
