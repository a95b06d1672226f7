# SPDX-License-Identifier: Apache-2.0
"""Small programs as beginners and researchers write them, whose shapes or lengths keep changing.

Each is a function of MindSpore's module, or mycel in its place, and NumPy's random numbers; it
returns a number that tells whether it was the same program.
"""

from __future__ import annotations

import types
from collections.abc import Callable

import numpy as np

PROGRAMS: dict[str, Callable[..., float]] = {}


def program(function: Callable[..., float]):
    """Take a function for a program."""
    PROGRAMS[function.__name__] = function
    return function


class Tools:
    """What the programs need: Tensors and layers whose numbers NumPy draws."""

    def __init__(self, ms: types.ModuleType):
        self.ms, self.ops, self.nn, self.draw = ms, ms.ops, ms.nn, np.random.RandomState(5)

    def tensor(self, *shape: int):
        """Normal numbers."""
        return self.ms.Tensor(self.draw.standard_normal(shape).astype(np.float32))

    def dense(self, inputs: int, outputs: int):
        """A layer of such weights."""
        weight = self.tensor(outputs, inputs) * 0.3
        return self.nn.Dense(inputs, outputs, weight_init=weight, bias_init="zeros")

    def trained(self, net, loss: Callable, rate=0.01):
        """A step of SGD on the loss."""
        optimizer = self.nn.SGD(net.trainable_params(), rate)
        derivative = self.ms.value_and_grad(loss, None, optimizer.parameters)

        def step(*inputs) -> float:
            value, gradients = derivative(*inputs)
            optimizer(gradients)
            return float(value)

        return step


@program
def elements_written(t: Tools) -> float:
    table = t.ops.zeros((60, 60), t.ms.float32)
    for row in range(60):
        for column in range(60):
            table[row, column] = row * column
    return float(table.sum())


@program
def elements_read(t: Tools) -> float:
    table, total = t.tensor(50, 50), 0
    for row in range(50):
        for column in range(50):
            total += table[row, column] * 2
    return float(total)


@program
def product_by_three_loops(t: Tools) -> float:
    a, b, product = t.tensor(9, 9), t.tensor(9, 9), t.ops.zeros((9, 9), t.ms.float32)
    for i in range(9):
        for j in range(9):
            for k in range(9):
                product[i, j] += a[i, k] * b[k, j]
    return float(product.sum())


@program
def convolution_by_loops(t: Tools) -> float:
    image, kernel, made = t.tensor(22, 22), t.tensor(3, 3), t.ops.zeros((20, 20), t.ms.float32)
    for i in range(20):
        for j in range(20):
            made[i, j] = (image[i : i + 3, j : j + 3] * kernel).sum()
    return float(made.sum())


@program
def growing_list_of_rows(t: Tools) -> float:
    rows, total = t.tensor(1, 8), 0.0
    for _ in range(150):
        rows = t.ops.concat([rows, t.tensor(1, 8)], 0)
        total += float(rows.mean())
    return total


@program
def prefixes(t: Tools) -> float:
    x = t.tensor(300)
    return sum(float(x[:length].sum()) for length in range(1, 200))


@program
def rows_of_any_length(t: Tools) -> float:
    total = 0.0
    for _ in range(100):
        x = t.tensor(int(t.draw.randint(3, 60)), 8)
        total += float(t.ops.softmax(x @ x.T, -1).max())
    return total


@program
def greedy_decoding(t: Tools) -> float:
    table, mix, out, ids = t.tensor(50, 32), t.dense(32, 32), t.dense(32, 50), [1]
    for _ in range(60):
        x = table[t.ms.Tensor(ids, t.ms.int32)]
        seen = t.ops.softmax(mix(x) @ x.T / 5, -1) @ x
        ids.append(int(out(seen)[-1].argmax()))
    return float(sum(ids))


@program
def cache_of_keys(t: Tools) -> float:
    mix, keys, x = t.dense(32, 32), t.tensor(1, 32), t.tensor(1, 32)
    for _ in range(100):
        keys = t.ops.concat([keys, mix(x)], 0)
        x = t.ops.softmax(x @ keys.T, -1) @ keys
    return float(x.sum())


@program
def recurrent_by_hand(t: Tools) -> float:
    mix, total = t.dense(24, 16), 0.0
    for _ in range(20):
        state = t.ops.zeros((2, 16), t.ms.float32)
        for _ in range(int(t.draw.randint(3, 30))):
            state = t.ops.tanh(mix(t.ops.concat([state, t.tensor(2, 8)], 1)))
        total += float(state.sum())
    return total


@program
def recurrent_by_hand_trained(t: Tools) -> float:
    mix = t.dense(24, 16)

    def loss(inputs):
        state = t.ops.zeros((2, 16), t.ms.float32)
        for x in inputs:
            state = t.ops.tanh(mix(t.ops.concat([state, x], 1)))
        return (state**2).mean()

    step = t.trained(mix, loss)
    lengths = t.draw.randint(3, 25, 15)
    return sum(step([t.tensor(2, 8) for _ in range(length)]) for length in lengths)


@program
def trees_trained(t: Tools) -> float:
    mix = t.dense(16, 8)

    def drawn(depth: int):
        if not depth or t.draw.rand() < 0.2:
            return t.tensor(1, 8)
        return drawn(depth - 1), drawn(depth - 1)

    def value(tree):
        if not isinstance(tree, tuple):
            return tree
        return t.ops.tanh(mix(t.ops.concat([value(tree[0]), value(tree[1])], 1)))

    total = 0.0
    for _ in range(12):
        tree = drawn(4)
        total += t.trained(mix, lambda _, tree=tree: (value(tree) ** 2).sum())(t.tensor(1))
    return total


@program
def attention_over_any_length_trained(t: Tools) -> float:
    net = t.nn.SequentialCell(t.dense(32, 32), t.dense(32, 32))

    def loss(x):
        return (t.ops.softmax(net[0](x) @ x.T / 5, -1) @ net[1](x)).pow(2).mean()

    step = t.trained(net, loss)
    return sum(step(t.tensor(length, 32)) for length in t.draw.randint(5, 40, 20).tolist())


@program
def widths_tried(t: Tools) -> float:
    total = 0.0
    for width in range(4, 44, 4):
        net = t.nn.SequentialCell(t.dense(8, width), t.nn.ReLU(), t.dense(width, 1))
        step, x = t.trained(net, lambda x, net=net: (net(x) ** 2).mean()), t.tensor(16, 8)
        total += sum(step(x) for _ in range(10))
    return total


@program
def graphs_of_any_size_trained(t: Tools) -> float:
    mix = t.dense(8, 8)

    def loss(x, origin, goal):
        sums = t.ops.tensor_scatter_add(t.ops.zeros_like(x), goal.expand_dims(1), mix(x[origin]))
        return (t.ops.relu(sums) ** 2).mean()

    step, total = t.trained(mix, loss), 0.0
    for _ in range(20):
        nodes, edges = int(t.draw.randint(5, 20)), int(t.draw.randint(10, 60))
        ends = [t.ms.Tensor(t.draw.randint(0, nodes, edges), t.ms.int32) for _ in range(2)]
        total += step(t.tensor(nodes, 8), *ends)
    return total


@program
def one_sample_at_a_time(t: Tools) -> float:
    step_net = t.dense(4, 1)
    step = t.trained(step_net, lambda x: (step_net(x) ** 2).sum())
    return sum(step(t.tensor(1, 4)) for _ in range(100))


@program
def images_of_any_size_trained(t: Tools) -> float:
    net = t.nn.Conv2d(3, 8, 3, weight_init=t.tensor(8, 3, 3, 3) * 0.1)
    step = t.trained(net, lambda x: net(x).pow(2).mean())
    return sum(step(t.tensor(2, 3, 16 + 2 * (n % 8), 16 + n)) for n in range(16))
