# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.first`: import and first LeNet step in fresh processes, cold and warm cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

LANES = [("jax", "lowerings"), ("mycel", "pynative"), ("mycel", "graph")]
ROUNDS = 5


def measure(framework: str, variant: str) -> None:
    """In a fresh process: seconds of the import beyond JAX's own, and of the first step."""
    import jax.numpy  # noqa: F401 - what every framework here needs

    start = time.perf_counter()
    if framework == "mycel":
        from bench import in_mycel as module
    else:
        from bench import in_jax as module
    imported = time.perf_counter() - start
    once = module.make("lenet", variant)
    start = time.perf_counter()
    once()
    print(json.dumps([imported, time.perf_counter() - start]))


def run(framework: str, variant: str, cache: str) -> list[float]:
    """One fresh process with this folder as the cache of compiled programs."""
    command = [sys.executable, "-m", "bench.first", framework, variant]
    environment = os.environ | {"MYCEL_CACHE": cache}
    # An installed package has its bytecode: where that may not be kept, all sources are compiled.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def main() -> None:
    """Alternate the lanes; print medians and quartiles."""
    rows: dict[str, list] = {}
    for _ in range(ROUNDS):
        for framework, variant in LANES:
            with tempfile.TemporaryDirectory() as cache:
                for label in ("cold", "warm"):
                    found = run(framework, variant, cache)
                    rows.setdefault(f"{framework} {variant}, {label}", []).append(found)
    print(f"{'':24s} {'import':>20s} {'first step':>24s}   (seconds, median [quartiles])")
    for label, found in rows.items():
        cells = []
        for column in np.array(found).T:
            low, middle, high = np.quantile(column, (0.25, 0.5, 0.75))
            cells.append(f"{middle:.2f} [{low:.2f}, {high:.2f}]")
        print(f"{label:24s} {cells[0]:>20s} {cells[1]:>24s}")


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) > 1 else main()
