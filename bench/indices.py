# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.indices`: what looking at indices costs a training step.

LeNet-5 and ResNet-18 with class numbers, and an encoder block of BERT behind a table of words and
one of positions, in PyNative and in Graph mode. Each step gets new numbers. `check_indices` is on
and off in turns, in one process; each line has the median over the rounds of on / off, with the
quartiles, and the fastest round with over the fastest without, which says more on a busy machine.
`read`: the loss is looked at after each step; `not read`: only after the last of a
round. `made`: the step computes its numbers itself, so that the flag of its program is waited for.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mycel as ms
from bench import cells
from bench.work import BLOCKS, CLASSES, MOMENTUM, RECIPES, batch
from mycel import Tensor, nn, ops

WORDS, LENGTH, SENTENCES = 30522, 128, 8
# Batches that take turns, so that nothing is known of the numbers of a step.
BATCHES = 16


class Reader(nn.Cell):
    """Words and their positions looked up, an encoder block, and two classes for each word."""

    def __init__(self, block):
        super().__init__()
        width = BLOCKS["bert"][0]
        self.words = nn.Embedding(WORDS, width)
        self.positions = nn.Embedding(LENGTH, width)
        self.block = block
        self.head = nn.Dense(width, 2)
        self.places = Tensor(np.arange(LENGTH, dtype=np.int32))

    def construct(self, words):
        return self.head(self.block(self.words(words) + self.positions(self.places)))


class Step:
    """A step of training, and batches for it."""

    def __init__(self, name: str, compiled: bool, made: bool):
        net = cells.Networks(ms).build(name)
        draw = np.random.RandomState(3)
        if name == "bert":
            net = Reader(net)
            shape, most = (SENTENCES, LENGTH), 2
            inputs = [draw.randint(0, WORDS, shape).astype(np.int32) for _ in range(BATCHES)]
        else:
            shape, most = RECIPES[name].inputs[:1], CLASSES
            inputs = [batch(name)[0]] * BATCHES
        self.data = [(x, draw.randint(0, most, shape).astype(np.int32)) for x in inputs]
        net.set_train(True)
        optimizer = nn.Momentum(net.trainable_params(), 1e-3, MOMENTUM)

        def loss_of(x, labels):
            labels = labels * 1 if made else labels
            return ops.cross_entropy(net(x).reshape(labels.size, -1), labels.reshape(-1))

        derivative = ms.value_and_grad(loss_of, None, optimizer.parameters)

        def step(x, labels):
            loss, gradients = derivative(x, labels)
            optimizer(gradients)
            return loss

        self.step = ms.jit(step) if compiled else step

    def seconds(self, calls: int, read: bool) -> float:
        """Of one step."""
        start = time.perf_counter()
        for call in range(calls):
            x, labels = self.data[call % BATCHES]
            loss = self.step(Tensor(x), Tensor(labels))
            if read:
                loss.asnumpy()
        loss.asnumpy()
        return (time.perf_counter() - start) / calls


# Until a step is replayed again after the switch.
WARM_UP = 4


def measure(name: str, compiled: bool, made: bool, calls: int, rounds: int) -> None:
    """Print one line for steps that are read and one for those that are not."""
    step = Step(name, compiled, made)
    times: dict[tuple, list[float]] = {}
    for number in range(rounds):
        for checked in ((True, False), (False, True))[number % 2]:
            ms.set_context(check_indices=checked)
            step.seconds(WARM_UP, True)
            for read in (True, False):
                times.setdefault((checked, read), []).append(step.seconds(calls, read))
    what = f"{name}{' made' if made else ''}, {'graph' if compiled else 'pynative'}"
    for read in (True, False):
        on, off = np.array(times[True, read]), np.array(times[False, read])
        low, middle, high = np.quantile(on / off, (0.25, 0.5, 0.75))
        print(
            f"{what:24s} {'read' if read else 'not read':9s} {np.median(off) * 1e3:9.3f} ms"
            f"   on / off {middle:.3f} [{low:.3f}, {high:.3f}], fastest {on.min() / off.min():.3f}",
            flush=True,
        )


def main() -> None:
    """All networks in both modes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("networks", nargs="*", default=["lenet", "resnet18", "bert"])
    chosen = arguments.parse_args()
    calls = {"lenet": 40, "resnet18": 3, "bert": 2}
    for name in chosen.networks:
        for compiled in (True, False):
            for made in (False, True) if name == "lenet" else (False,):
                measure(name, compiled, made, calls[name], chosen.rounds)


if __name__ == "__main__":
    main()
