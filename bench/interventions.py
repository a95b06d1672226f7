# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.interventions`: 1,000 different interventions on a stack of GPT-2's blocks.

Two equal stacks of blocks (width 768, 12 heads) are called, compiled. In one of them each call has
another edit: which block, which position, which vector, how strong, replaced or added. Rounds on
both take turns; each line is the median of the rounds' ratios, with quartiles, and what was
compiled after the first edits. Edits stand at Cells, at operators that they run, and with
gradients.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mycel as ms
from bench import cells

WIDTH = 768
# What is patched, by name: the pattern, and whether the step also takes the gradient.
EDITED = {
    "Cells": ("*", False),
    "operators": ("*:add#2", False),
    "Cells, gradient": ("*", True),
}


def stack(networks, blocks: int):
    """So many blocks, each with the same weights."""
    return ms.nn.SequentialCell(*[networks.build("bert") for _ in range(blocks)])


def step_of(net, gradient: bool):
    """A compiled step: a number, and the gradient of it by the input."""

    def forward(x):
        return (net(x) ** 2).mean()

    return ms.jit(ms.value_and_grad(forward) if gradient else forward)


def seconds(step, x, before=None) -> float:
    """The time of one step; `before` is called first, and counts."""
    start = time.perf_counter()
    if before is not None:
        before()
    result = step(x)
    float(result[0] if isinstance(result, tuple) else result)
    return time.perf_counter() - start


def edits(patched, length: int, draw):
    """A function that exchanges the edit for another one."""
    paths, latest = list(patched), []

    def exchange():
        if latest:
            del patched[latest.pop()]
        latest.append(paths[draw.randint(len(paths))])
        vector, position = draw.randn(WIDTH).astype(np.float32), draw.randint(length)
        edit = ms.debug.Edit(vector, np.s_[:, position], float(draw.rand()), draw.rand() < 0.5)
        patched[latest[0]] = edit

    return exchange


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.interventions", description=__doc__)
    parser.add_argument("--interventions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--length", type=int, default=128)
    options = parser.parse_args()
    networks, draw = cells.Networks(ms), np.random.RandomState(0)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x = ms.Tensor(draw.randn(1, options.length, WIDTH).astype(np.float32))
    calls = max(1, options.interventions // options.rounds)
    counts = ms.debug.ledger().counts
    for name, (pattern, gradient) in EDITED.items():
        net, other = stack(networks, options.blocks), stack(networks, options.blocks)
        plain, step = step_of(net, gradient), step_of(other, gradient)
        with ms.debug.patch(other, {pattern: None}) as patched:
            exchange = edits(patched, options.length, draw)
            for _ in range(6):
                seconds(plain, x)
                seconds(step, x, exchange)
            before, ratios, times = counts.compilations, [], []
            for _ in range(options.rounds):
                times.append(np.median([seconds(plain, x) for _ in range(calls)]))
                edited = np.median([seconds(step, x, exchange) for _ in range(calls)])
                ratios.append(edited / times[-1])
            compiled = counts.compilations - before
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        print(
            f"{name:16s} {np.median(times) * 1e3:9.3f} ms  with an edit / without "
            f"{middle:.3f} [{low:.3f}, {high:.3f}]  {calls * options.rounds} edits, compiled "
            f"meanwhile: {compiled}",
            flush=True,
        )


if __name__ == "__main__":
    main()
