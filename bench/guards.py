# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.guards`: what it costs that Graph mode looks at Python's state.

`guards`: one comparison of all that a training step read, in microseconds, and the replayed step
with it over the same step without. `swin_tiny` is the one of mindcv, and left out where that is not
installed. `recording`: a step that is recorded at every call over the same step in PyNative.
`counting`: a step of LeNet-5 that adds 1 to an attribute, so that it is never replayed, over the
step without it in Graph mode; recordings become rare, as they do for a user.

Steps take turns within a round, in one process; medians over the rounds, with the quartiles.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import timeit
import warnings
from collections.abc import Callable

import numpy as np

import mycel as ms
from bench import in_mycel
from bench.overhead import microseconds
from bench.work import CLASSES, RECIPES, batch
from mycel import Tensor, nn
from mycel.compat import alias
from mycel.kernel.execute import graph
from mycel.kernel.prove.cases import Case

SWIN = "swin_tiny"
CALLS = {"lenet": 100, "mlp": 50, "resnet50": 2, SWIN: 1}


def network_and_batch(work: str):
    """A network, an input and classes."""
    if work != SWIN:
        return in_mycel.networks.build(work), *map(Tensor, batch(work))
    alias.install_as_mindspore()
    from mindcv.models import create_model  # type: ignore[import-not-found]

    draw = np.random.RandomState(1)
    x = Tensor(draw.randn(1, 3, 224, 224).astype(np.float32))
    return create_model(SWIN, num_classes=CLASSES), x, Tensor(np.array([1], np.int32))


class Trainer:
    """Training as users write it; `steps` counts its calls, if it does."""

    def __init__(self, net, work: str, counts: bool = False):
        rate = RECIPES[work].rate if work in RECIPES else 1e-3
        self.net, self.counts, self.steps = net, counts, 0
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
        self.derivative = ms.value_and_grad(self.loss, None, self.optimizer.parameters)

    def loss(self, x, y):
        return self.criterion(self.net(x), y)

    def step(self, x, y):
        if self.counts:
            self.steps += 1
        loss, gradients = self.derivative(x, y)
        self.optimizer(gradients)
        return loss


def in_turns(lanes: list[Callable], rounds: int, calls: int) -> list[list[float]]:
    """Microseconds of a call of each lane, of each round."""
    for lane in lanes:
        microseconds(lane, 6)
    return [[microseconds(lane, calls) for lane in lanes] for _ in range(rounds)]


def guards(work: str, rounds: int) -> tuple[int, int, float, np.ndarray]:
    """How many sources and Cells are looked at, the microseconds of that, and the step with over
    without."""
    net, x, y = network_and_batch(work)
    net.set_train(True)
    step = ms.jit(Trainer(net, work).step)
    for _ in range(4):
        step(x, y)
    case = step.memories[0].cases[0]
    hold, number = Case.hold, 20000
    alone = min(timeit.repeat(case.hold, number=number, repeat=9)) / number * 1e6

    def without():
        Case.hold = lambda case: True
        try:
            return step(x, y)
        finally:
            Case.hold = hold

    replays = ms.debug.ledger().counts.replays
    times = np.array(in_turns([lambda: step(x, y), without], rounds, CALLS[work]))
    assert ms.debug.ledger().counts.replays - replays == 2 * (6 + rounds * CALLS[work])
    return len(case.guards.sources), len(case.cells), alone, times[:, 0] / times[:, 1]


def recording(work: str, rounds: int) -> np.ndarray:
    """A step that is recorded at every call, over the same step in PyNative."""
    patience, graph.PATIENCE = graph.PATIENCE, sys.maxsize
    most, graph.MOST_KEYS = graph.MOST_KEYS, sys.maxsize
    try:
        trainers = [Trainer(in_mycel.networks.build(work), work, counts=True) for _ in range(2)]
        x, y = map(Tensor, batch(work))
        step = ms.jit(trainers[0].step)
        counts = ms.debug.ledger().counts
        before = counts.captures
        lanes = [lambda: step(x, y), lambda: trainers[1].step(x, y)]
        times = np.array(in_turns(lanes, rounds, 20))
        assert counts.captures - before == 6 + rounds * 20, "it was not recorded at every call"
        assert trainers[0].steps == trainers[1].steps
    finally:
        graph.PATIENCE, graph.MOST_KEYS = patience, most
    return times[:, 0] / times[:, 1]


def counting(rounds: int) -> np.ndarray:
    """LeNet-5 with a counter, never replayed, over LeNet-5 in Graph mode."""
    x, y = map(Tensor, batch("lenet"))
    trainers = [Trainer(in_mycel.networks.build("lenet"), "lenet", counts=n == 0) for n in range(2)]
    steps = [ms.jit(trainer.step) for trainer in trainers]
    times = np.array(in_turns([lambda s=s: s(x, y) for s in steps], rounds, 100))
    assert trainers[0].steps == 6 + rounds * 100
    return times[:, 0] / times[:, 1]


def told(found) -> str:
    low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
    return f"{middle:6.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.guards", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    # That some are never replayed is what this is about.
    warnings.simplefilter("ignore")
    print("guards: microseconds, and the step with over without: median [quartiles]")
    for work in ("lenet", "resnet50", SWIN):
        if work == SWIN and importlib.util.find_spec("mindcv") is None:
            print(f"  {work:10s} left out: mindcv is not installed")
            continue
        sources, cells, alone, ratios = guards(work, rounds)
        what = f"{sources:4d} sources, {cells:4d} Cells, {alone:6.2f} µs"
        print(f"  {work:10s} {what}  {told(ratios)}", flush=True)
    version = ".".join(map(str, sys.version_info[:2]))
    print(f"recorded at every call over PyNative, Python {version}")
    for work in ("lenet", "mlp", "resnet50"):
        print(f"  {work:10s} {told(recording(work, rounds if work != 'resnet50' else 3))}")
    print("a step that counts its calls over one in Graph mode")
    print(f"  {'lenet':10s} {told(counting(rounds))}")


if __name__ == "__main__":
    main()
