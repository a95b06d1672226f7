# SPDX-License-Identifier: Apache-2.0
"""`python -m bench`: alternate the frameworks, check the results equal, print ratios with spread.

PyTorch runs in a virtual environment of its own under bench/.venvs, made on the first run.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import venv

import numpy as np

HERE = pathlib.Path(__file__).parent
TORCH = "torch==2.13.0"
WORK = {"chain_forward": 200, "chain_both": 100, "lenet": 30}
# The first calls compile; then a result may differ by this much between frameworks.
WARM_UP = 6
RELATIVE = 2e-4


class Framework:
    """One worker process."""

    def __init__(self, name: str, python: str):
        self.name = name
        self.process = subprocess.Popen(
            [python, "-m", "bench.worker", name],
            cwd=HERE.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        hello = self._answer()
        self.variants, self.settings = hello["variants"], hello["settings"]

    def run(self, work: str, variant: str, calls: int) -> dict:
        """So many calls of one piece of work."""
        request = {"work": work, "variant": variant, "calls": calls}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The worker of {self.name} ended; its error is above.")
        return json.loads(line)


def torch_python() -> str:
    """The Python of PyTorch's own environment, made if it is not there."""
    folder = HERE / ".venvs" / "torch"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", TORCH, "numpy"], check=True)
    return str(python)


def measure(frameworks, work: str, rounds: int) -> dict[str, np.ndarray]:
    """Median seconds of each round by framework and variant, alternating."""
    lanes = [(f, variant) for f in frameworks for variant in f.variants]
    first = {}
    for framework, variant in lanes:
        label = f"{framework.name} {variant}"
        first[label] = framework.run(work, variant, WARM_UP)["results"]
    check(work, first)
    times: dict[str, list[float]] = {label: [] for label in first}
    for _ in range(rounds):
        for framework, variant in lanes:
            seconds = framework.run(work, variant, WORK[work])["seconds"]
            times[f"{framework.name} {variant}"].append(float(np.median(seconds)))
    return {label: np.array(found) for label, found in times.items()}


def check(work: str, results: dict) -> None:
    """Every framework must compute the same: the losses of the first steps, or the array."""
    reference = np.array(next(iter(results.values())))
    for label, found in results.items():
        if not np.allclose(np.array(found), reference, RELATIVE, 1e-5):
            raise SystemExit(f"{work}: {label} gives {found[:3]}, not {reference[:3].tolist()}")


def table(work: str, times: dict[str, np.ndarray], base: str, limit: str) -> list[dict]:
    """Print the times of one piece of work as ratios to PyTorch and to hand-written JAX."""
    print(f"\n{work}: median of rounds; ratios are medians of the rounds' ratios [quartiles]")
    print(f"  {'':20s} {'time':>10s}   {'/ ' + base:>22s}   {'/ ' + limit:>22s}")
    rows = []
    for label, found in times.items():
        row = {"work": work, "what": label, "milliseconds": float(np.median(found) * 1e3)}
        for name in (base, limit):
            ratios = found / times[name]
            row[name] = [float(q) for q in np.quantile(ratios, (0.25, 0.5, 0.75))]
        cells = [f"{row[n][1]:8.2f} [{row[n][0]:.2f}, {row[n][2]:.2f}]" for n in (base, limit)]
        print(f"  {label:20s} {row['milliseconds']:7.3f} ms   {cells[0]:>22s}   {cells[1]:>22s}")
        rows.append(row)
    return rows


def main() -> None:
    """Measure, print, and write bench/results/latest.json."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of alternating runs")
    parser.add_argument("--torch", default=None, help="a Python that has PyTorch")
    options = parser.parse_args()
    wanted = options.work or list(WORK)
    unknown = set(wanted) - set(WORK)
    if unknown:
        parser.error(f"unknown work {', '.join(sorted(unknown))}; there is {', '.join(WORK)}")
    frameworks = [
        Framework("mycel", sys.executable),
        Framework("jax", sys.executable),
        Framework("torch", options.torch or torch_python()),
    ]
    for framework in frameworks:
        print(f"{framework.name}: {framework.settings}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    rows = []
    for work in wanted:
        times = measure(frameworks, work, options.rounds)
        rows += table(work, times, "torch eager", "jax lowerings")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "latest.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
