# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays and Tensors that Python fills, masks and looks into."""

from __future__ import annotations

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn, ops
from natural.common import BATCHES, batch, effect_free, linear, program, vector, weight


@program
def mask_changed_by_the_loop(jit):
    mask = np.ones(3, np.float32)

    @jit.step
    def step(x):
        return x * Tensor(mask)

    def loop(i):
        mask[i % 3] = 1.0 - mask[i % 3]
        return step(batch(i))

    return loop, lambda: mask


@program
def mask_changed_by_the_step(jit):
    class DropColumns(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mask, self.column = np.ones(3, np.float32), 0

        @jit.construct
        def construct(self, x):
            self.mask[:] = 1
            self.mask[self.column] = 0
            self.column = (self.column + 1) % 3
            return x * Tensor(self.mask)

    net = DropColumns()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: (net.mask, net.column)


@program
def array_set_once(jit):
    offsets = np.zeros(3, np.float32)

    @jit.step
    def step(x):
        return x + Tensor(offsets)

    def loop(i):
        if i == 9:
            offsets[1] = 7.0
        return step(batch(i))

    return loop, lambda: offsets


@program
def view_of_another_array(jit):
    table = np.zeros((3, 3), np.float32)
    row = table[1]

    @jit.step
    def step(x):
        return x + Tensor(row)

    def loop(i):
        if i in (5, 8):
            table[:, 2] += 1
        return step(batch(i))

    return loop, lambda: row


@program
def histogram_in_numpy(jit):
    counts = np.zeros(4, np.int64)

    @jit.step
    def step(x):
        np.add.at(counts, np.array([0, x.shape[0]]), 1)
        return x * int(counts[0])

    return (lambda i: step(batch(i))), lambda: counts


@program
def confusion_matrix(jit):
    matrix = np.zeros((3, 3), np.int64)
    net = linear(jit)

    @jit.step
    def step(x, labels):
        guess = net(x).argmax(1).asnumpy()
        for t, p in zip(labels, guess):
            matrix[t, p] += 1
        return matrix.trace() / matrix.sum()

    return (lambda i: step(batch(i), [i % 3, 1])), lambda: matrix


@program(rounded=True)
def history_in_an_array(jit):
    history = np.zeros(14, np.float64)
    position = 0

    @jit.step
    def step(x):
        nonlocal position
        history[position] = float(x.sum())
        position += 1
        return history[:position].mean()

    return (lambda i: step(batch(i))), lambda: (history, position)


@program
def grown_by_concatenation(jit):
    seen = np.zeros((0, 3), np.float32)

    @jit.step
    def step(x):
        nonlocal seen
        seen = np.concatenate([seen, x.asnumpy()])[-4:]
        return x - Tensor(seen.mean(0))

    return (lambda i: step(batch(i))), lambda: seen


@program
def class_weights_from_counts(jit):
    counts = np.array([1.0, 1.0, 2.0])

    def weights():
        return Tensor((counts.sum() / counts).astype(np.float32))

    @jit.step
    def step(x):
        return (x * weights()).sum(1)

    def loop(i):
        if i % 5 == 4:
            counts[i % 3] *= 2
        return step(batch(i))

    return loop, lambda: counts


@program
def anchors_by_level(jit):
    class Anchors:
        def __init__(self):
            self.levels = {3: np.array([1.0, 2.0]), 4: np.array([4.0])}

        def __call__(self, level):
            return [float(size) for size in self.levels[level]]

    anchors = Anchors()

    @jit.step
    def step(x):
        return [x * size for level in anchors.levels for size in anchors(level)]

    def loop(i):
        if i == 6:
            anchors.levels[4][0] = 8.0
        if i == 10:
            anchors.levels[5] = np.array([16.0])
        return step(batch(i))

    return loop, lambda: anchors.levels


@program
def structured_array(jit):
    table = np.zeros(2, dtype=[("scale", "f4"), ("on", "?")])
    table["scale"] = 1.0

    @jit.step
    def step(x):
        for row in table:
            x = x * float(row["scale"]) + float(row["on"])
        return x

    def loop(i):
        table["on"][i % 2] = i > 5
        return step(batch(i))

    return loop, lambda: table.tolist()


@program
def array_of_objects(jit):
    stages = np.array([None, None], dtype=object)
    stages[0], stages[1] = (lambda x: x), nn.ReLU()

    @jit.step
    def step(x):
        for stage in stages:
            x = stage(x)
        return x

    def loop(i):
        if i == 7:
            stages[0] = nn.Tanh()
        return step(batch(i))

    return loop, lambda: len(stages)


@program
def zero_dimensional_array(jit):
    rate = np.array(0.5)

    @jit.step
    def step(x):
        return x * rate.item()

    def loop(i):
        if i % 4 == 3:
            rate[...] = rate * 0.5
        return step(batch(i))

    return loop, lambda: rate


@program
def numpy_numbers(jit):
    state = {"scale": np.float32(1.0), "n": np.int64(0)}

    @jit.step
    def step(x):
        state["n"] += 1
        state["scale"] *= np.float32(0.5)
        return x * state["scale"] + state["n"]

    return (lambda i: step(batch(i))), lambda: state


@program
def in_place_on_a_parameter(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        net.weight[0] = 0.0
        net.weight += 0.25
        return net(x)

    return (lambda i: step(batch(i))), lambda: net.weight


@program
def parameter_changed_by_the_loop(jit):
    net = linear(jit)
    scale = Tensor(np.float32(1.0))

    @jit.step
    def step(x):
        return net(x) * scale

    def loop(i):
        nonlocal scale
        if i % 4 == 3:
            net.weight[i % 3] = float(i)
        if i == 6:
            scale = Tensor(np.float32(3.0))
        return step(batch(i))

    return loop, lambda: net.weight


@program
def tensor_appended_then_stacked(jit):
    steps = []

    @jit.step
    def step(x):
        steps.append(x[0])
        if len(steps) == 3:
            out = ops.stack(steps).sum(0)
            steps.clear()
            return out
        return x[0]

    return (lambda i: step(batch(i))), lambda: steps


@program
def decision_on_a_value(jit):
    hits = {"big": 0, "small": 0}

    @jit.step
    def step(x):
        if x.sum() > 0.5:
            hits["big"] += 1
            return x * hits["big"]
        hits["small"] += 1
        return x - hits["small"]

    return (lambda i: step(batch(i))), lambda: hits


@program
def plateau_on_a_value(jit):
    class Plateau:
        def __init__(self):
            self.rate, self.best, self.wait = 1.0, 1e9, 0

        def step(self, loss):
            if loss < self.best:
                self.best, self.wait = loss, 0
            else:
                self.wait += 1
                if self.wait >= 2:
                    self.rate, self.wait = self.rate * 0.5, 0

    plateau = Plateau()

    @jit.step
    def step(x):
        loss = (x * x).sum()
        plateau.step(loss.asnumpy().item())
        return loss * plateau.rate

    return (lambda i: step(batch(i))), lambda: (plateau.rate, plateau.wait)


@program
def beam_search(jit):
    table = [[0.0, 1.0, 0.5], [2.0, 0.25, 0.0], [0.5, 0.5, 3.0]]

    @jit.step
    def step(x, width):
        beams = [([0], 0.0)]
        for _ in range(2):
            grown = [(s + [k], v + table[s[-1]][k]) for s, v in beams for k in range(3)]
            beams = sorted(grown, key=lambda beam: (-beam[1], beam[0]))[:width]
        return beams, x * beams[0][1]

    def loop(i):
        if i == 7:
            table[0][2] = 9.0
        return step(batch(i), 1 + i % 2)

    return loop, lambda: table


@program
def threshold_from_a_percentile(jit):
    seen = []

    @jit.step
    def step(x):
        seen.append(float(x.sum()))
        limit = float(np.percentile(seen, 50))
        return x * (x > limit)

    return (lambda i: step(batch(i))), lambda: len(seen)


@program
def data_made_inside(jit):
    @jit.step
    def step(x):
        mask = Tensor(np.tri(3, dtype=np.float32))
        ids = Tensor([0, 2], ms.int32)
        return ops.matmul(x, mask)[:, ids]

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def constant_array_in_the_config(jit):
    class Normalise(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = np.array([0.5, 0.25, 0.0], np.float32)
            self.std = [1.0, 2.0, 4.0]

        @jit.construct
        def construct(self, x):
            x = ops.relu(x)
            return [x[:, k] * (1 / self.std[k]) - float(self.mean[k]) for k in range(3)]

    net = Normalise()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.mean


@effect_free
def local_lists_and_arrays(jit):
    net = linear(jit)

    @jit.step
    def step(x):
        outs, weights = [], {}
        numbers = np.zeros(3)
        for k in range(3):
            numbers[k] = k * 0.5
            weights[k] = float(numbers[k])
            outs.append(net(x) * weights[k])
        outs.reverse()
        return outs

    return (lambda i: step(batch(i))), lambda: None


@effect_free
def loader_array_beside_the_step(jit):
    data = np.stack(BATCHES)
    order = np.arange(3)
    w = Parameter(weight(), name="w")

    @jit.step
    def step(x):
        return ops.matmul(x, w)

    def loop(i):
        if i % 3 == 0:
            order[:] = np.roll(order, 1)
        return step(Tensor(data[order[i % 3]]))

    return loop, lambda: order


@program
def embedding_by_python_ids(jit):
    table = Parameter(weight(), name="table")
    vocabulary = {}

    @jit.step
    def step(words):
        ids = [vocabulary.setdefault(word, len(vocabulary) % 3) for word in words.split()]
        return table[Tensor(ids, ms.int32)]

    texts = ["a b", "b a", "c a", "a b", "d b"]
    return (lambda i: step(texts[i % 5])), lambda: vocabulary


@program
def positions_kept_as_a_tensor(jit):
    class Decoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.pos = Parameter(Tensor(0, ms.int32), name="pos", requires_grad=False)
            self.limit = 5

        @jit.construct
        def construct(self, x):
            self.pos += 1
            if int(self.pos) >= self.limit:
                self.pos.set_data(Tensor(0, ms.int32))
                return x * 0
            return x * self.pos

    net = Decoder()
    step = jit.step(lambda x: net(x))
    return (lambda i: step(batch(i))), lambda: net.pos


@program
def gradient_norms_collected(jit):
    net = linear(jit)
    norms = {}
    grad_fn = ms.grad(lambda x: (net(x) * net(x)).sum(), None, net.trainable_params())

    @jit.step
    def step(x):
        grads = grad_fn(x)
        for p, g in zip(net.trainable_params(), grads):
            norms.setdefault(p.name, []).append((g * g).sum())
        return grads

    return (lambda i: step(batch(i))), lambda: norms


@program
def view_vector_of_the_state(jit):
    state = np.zeros(2, np.float32)
    history = [vector()]

    @jit.step
    def step(x):
        state[0], state[1] = state[1], state[0] + 1
        history.append(history[-1] * np.float32(0.5))
        return x * float(state[1]) + Tensor(history[-2])

    return (lambda i: step(batch(i))), lambda: (state, history)
