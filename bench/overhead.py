# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.overhead`: what replaying costs beyond the executable.

Steps of 24 and 300 small Parameters: microseconds of a replayed call less those
of its bare executable on the same arrays; less those of a loop by hand in plain JAX that gives the
executable its own results; and what Python takes of a call alone, where the executable is replaced
by a function that has its results ready. What recording costs, `bench.guards` measures.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mycel as ms
from mycel import Parameter, Tensor, nn


class Small(nn.Cell):
    """So many Parameters of four numbers each."""

    def __init__(self, count: int):
        super().__init__()
        self.parts = ms.ParameterTuple(
            Parameter(np.full(4, 1.0 + n, np.float32), name=f"p{n}") for n in range(count)
        )

    def construct(self, x):
        return sum((part * x).sum() for part in self.parts)


def microseconds(call, calls: int) -> float:
    """Of one call, the last one waited for."""
    start = time.perf_counter()
    for _ in range(calls):
        made = call()
    np.asarray(made)
    return (time.perf_counter() - start) / calls * 1e6


def replay(count: int, rounds: int, calls: int) -> list[list[float]]:
    """Microseconds of a replay beyond its executable, beyond a loop by hand, and of Python alone,
    of each round."""
    net = Small(count)
    optimizer = nn.Momentum(net.trainable_params(), 1e-6, 0.9)
    derivative = ms.value_and_grad(net, None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = derivative(x)
        optimizer(gradients)
        return loss

    x = Tensor(np.ones(4, np.float32))
    for _ in range(6):
        step(x)
    (memory,) = step.memories
    given, executable = memory.store.inputs([x]), memory.executable
    results = executable(given)
    assigned = places_of_assigned(memory)
    state = list(given)

    def by_hand():
        made = executable.function(*state)
        for place, index in assigned:
            state[place] = made[index]
        return made[memory.result_index]

    beyond, by_loop, alone = [], [], []
    for _ in range(rounds):
        whole = microseconds(lambda: step(x), calls)
        beyond.append(whole - microseconds(lambda: executable.function(*given)[0], calls))
        by_loop.append(whole - microseconds(by_hand, calls))
        memory.executable = lambda arrays: results.copy()
        alone.append(microseconds(lambda: step(x), calls))
        memory.executable = executable
    return [beyond, by_loop, alone]


def places_of_assigned(memory) -> list[tuple[int, int]]:
    """Inputs of a remembered call that are assigned, and the results that they get."""
    places = {id(what.handle): n for n, what in enumerate(memory.used) if hasattr(what, "handle")}
    assigned = [(target.handle, memory.order[number]) for target, number in memory.bindings]
    return [(places[id(handle)], index) for handle, index in assigned]


def main() -> None:
    """Print medians and quartiles."""
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    print("microseconds of a replay, median [quartiles]")
    for count in (24, 300):
        names = "beyond its executable", "beyond a loop by hand", "Python alone"
        for name, found in zip(names, replay(count, options.rounds, 100), strict=True):
            low, middle, high = np.quantile(found, (0.25, 0.5, 0.75))
            text = f"{middle:6.1f} [{low:.1f}, {high:.1f}]"
            print(f"  {count:4d} Parameters, {name:22s} {text}", flush=True)


if __name__ == "__main__":
    main()
