# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.memory`: the peak of a step's memory, each in a fresh process.

After six calls, which compile, the peak is forgotten (Linux); then the highest the process gets in
five more calls, less what it had before the work was set up.
"""

from __future__ import annotations

import argparse

import numpy as np

from bench.frameworks import started
from bench.work import WORK

LANES = [("jax", "lowerings"), ("mycel", "direct"), ("mycel", "pynative"), ("mycel", "graph")]
LANES += [("torch", "eager")]
HEAVY = ["lenet", "mlp", "transformer", "bert", "lstm", "resnet18", "resnet50"]
TRIVIAL = "chain_tanh_4x4_both"


def peak(framework: str, variant: str, work: str, **settings) -> int:
    """Bytes; settings are those of a Worker."""
    with started([framework], **settings) as (worker,):
        worker.run(TRIVIAL, variant, 3, 60)
        before = worker.memory("reset")
        worker.run(work, variant, 6, 120)
        worker.memory("reset")
        worker.run(work, variant, 5, 120)
        return worker.memory("peak") - before


def main() -> None:
    """Print MiB, and ratios to hand-written JAX, as medians over the rounds."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for work in options.work or HEAVY:
        print(f"{work}: MiB of memory at the peak, and its ratio to jax lowerings", flush=True)
        found = {
            lane: np.array([peak(*lane, work) for _ in range(options.rounds)]) for lane in LANES
        }
        base = np.median(found[LANES[0]])
        for (framework, variant), bytes_used in found.items():
            middle = np.median(bytes_used)
            low, high = bytes_used.min() / base, bytes_used.max() / base
            label = f"{framework} {variant}"
            ratio = f"{middle / base:.2f} [{low:.2f}, {high:.2f}]"
            print(f"  {label:20s} {middle / 2**20:9.1f}   {ratio}", flush=True)


if __name__ == "__main__":
    main()
