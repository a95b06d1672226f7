# SPDX-License-Identifier: Apache-2.0
"""`python -m bench`: the same work in every framework, alternating in one run.

PyTorch and two versions of MindSpore run in virtual environments of their own under bench/.venvs,
made on the first run. Results are checked equal before anything is timed. Prints ratios with their
spread, and writes bench/results/latest.json and, with matplotlib, latest.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path

import numpy as np

from bench import page
from bench.frameworks import HERE, KINDS, Failed, Worker, started
from bench.work import WORK

ROUNDS = 15
# The first calls compile, and their results are compared.
WARM_UP = 6
# A round of one lane takes about this long at most; slow lanes get fewer calls and rounds.
SECONDS, WARM_UP_SECONDS = 0.6, 60
SLOW, SLOW_ROUNDS = 1.0, 3
# What everything is compared with; the best of PyTorch is the fastest of its lanes.
BEST = "torch's best"
BASES = ("torch eager", BEST, "onnx prediction", "jax lowerings", "mycel graph")
# What `--quick` measures: most kinds of networks, in a few rounds.
QUICK = ("chain_tanh_1M_both", "lenet", "mlp", "transformer", "lstm", "resnet18")
QUICK_ROUNDS = 5


class Differs(Exception):
    """Two frameworks do not compute the same: nothing of this work is timed."""


class Lane:
    """One variant of one framework doing one piece of work."""

    def __init__(self, worker: Worker, work: str, variant: str):
        self.worker, self.work, self.variant = worker, work, variant
        self.label = f"{worker.name} {variant}"
        first = worker.run(work, variant, WARM_UP, WARM_UP_SECONDS)
        self.results = np.array(first["results"])
        self.slow = min(first["seconds"]) > SLOW
        self.compiled = 0
        self.medians: list[float] = []

    def round(self) -> None:
        """Time some calls, unless this lane is slow and was timed often enough.

        The first is not timed, if it is fast: the process stood still, and another lane of it ran
        last, which may have left its memory so that the next call takes pages anew.
        """
        if self.slow and len(self.medians) >= SLOW_ROUNDS:
            return
        calls, untimed = WORK[self.work].calls, 0 if self.slow else 1
        found = self.worker.run(self.work, self.variant, calls, SECONDS, untimed)
        self.medians.append(float(np.median(found["seconds"])))
        self.compiled += found["compilations"]


def lanes_of(workers: list[Worker], work: str, tolerance: float = 0.0) -> list[Lane]:
    """All lanes that can do a piece of work, their results compared.

    Args:
        tolerance: how far they may differ relatively, if more than the work itself says.

    Raises:
        Differs: two of them differ.
    """
    lanes, tolerance = [], max(tolerance, WORK[work].tolerance)
    for worker in workers:
        for variant in worker.variants:
            try:
                lane = Lane(worker, work, variant)
            except Failed as failed:
                print(f"  {work}: {worker.name} {variant} cannot: {str(failed)[:200]}")
                continue
            lanes.append(lane)
            mine, reference = lane.results, lanes[0].results
            count = min(len(mine), len(reference))
            if not np.allclose(mine[:count], reference[:count], tolerance, tolerance / 10):
                raise Differs(
                    f"{work}: {lane.label} gives {mine[:3].ravel()}, not {reference[:3].ravel()}"
                )
    return lanes


def rows_of(work: str, lanes: list[Lane]) -> list[dict]:
    """Times, and ratios to the bases, as quartiles over the rounds."""
    times = {lane.label: np.array(lane.medians) for lane in lanes}
    of_torch = [seconds for label, seconds in times.items() if label.startswith("torch")]
    if of_torch:
        times[BEST] = min(of_torch, key=np.median)
    rows = []
    for lane in lanes:
        mine = times[lane.label]
        row = {"work": work, "what": lane.label, "milliseconds": float(np.median(mine) * 1e3)}
        for base in BASES:
            if base in times:
                count = min(len(mine), len(times[base]))
                ratios = mine[:count] / times[base][:count]
                row[base] = [float(q) for q in np.quantile(ratios, (0.25, 0.5, 0.75))]
        row["compiled while timed"] = lane.compiled
        rows.append(row)
    return rows


def measured(workers: list[Worker], work: str, rounds: int, tolerance: float = 0.0) -> list[dict]:
    """One piece of work in rounds in which all lanes take turns (see lanes_of)."""
    lanes = lanes_of(workers, work, tolerance)
    for _ in range(rounds):
        for lane in lanes:
            lane.round()
    return rows_of(work, lanes)


def show(work: str, rows: list[dict]) -> None:
    """Print the times and ratios of one piece of work."""
    present = [base for base in BASES if base in rows[0]]
    heads = "".join(f"   {'/ ' + base:>22s}" for base in present)
    print(f"\n{work}: median of rounds; ratios are medians of the rounds' ratios [quartiles]")
    print(f"  {'':26s} {'time':>12s}{heads}")
    for row in rows:
        cells = "".join(
            f"   {f'{row[n][1]:.2f} [{row[n][0]:.2f}, {row[n][2]:.2f}]':>22s}" for n in present
        )
        print(f"  {row['what']:26s} {row['milliseconds']:9.3f} ms{cells}", flush=True)
        if row["compiled while timed"]:
            print(f"    compiled {row['compiled while timed']} programs while it was timed")


def plot(rows: list[dict], path) -> None:
    """One group of bars for each piece of work: time over that of hand-written JAX."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No plot: install matplotlib to get one.")
        return
    base = "jax lowerings"
    rows = [row for row in rows if base in row and row["what"] != base]
    works = list(dict.fromkeys(row["work"] for row in rows))
    labels = list(dict.fromkeys(row["what"] for row in rows))
    figure = Figure(figsize=(9, 0.9 + 0.16 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for number, label in enumerate(labels):
        mine = [row for row in rows if row["what"] == label]
        heights = [works.index(row["work"]) + 0.8 * number / len(labels) for row in mine]
        low, middle, high = np.array([row[base] for row in mine]).T
        spread = (middle - low, high - middle)
        axes.barh(heights, middle, 0.8 / len(labels), label=label, xerr=spread)
    axes.set_yticks(np.arange(len(works)) + 0.4, works)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("time of a call / hand-written JAX with the same lowerings")
    axes.invert_yaxis()
    axes.legend(fontsize="small")
    figure.savefig(path)


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, help="rounds of alternating runs; 15 by default")
    parser.add_argument("--quick", action="store_true", help="a part of the work, fewer rounds")
    parser.add_argument(
        "--frameworks", default=",".join(KINDS), help=f"of {', '.join(KINDS)}; all by default"
    )
    parser.add_argument("--results", default="latest", help="name of the files that are written")
    parser.add_argument(
        "--record", action="store_true", help="write the table and charts of docs/performance.md"
    )
    options = parser.parse_args()
    wanted = options.work or list(QUICK if options.quick else WORK)
    names = options.frameworks.split(",")
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    unknown = [*set(wanted) - set(WORK), *set(names) - set(KINDS)]
    if unknown:
        parser.error(
            f"unknown: {', '.join(sorted(unknown))}; there is {', '.join([*WORK, *KINDS])}"
        )
    machine = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    print(machine)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    rows, differ = [], []
    with started(names) as workers:
        for worker in workers:
            print(f"{worker.name}: {worker.settings}")
        for work in wanted:
            try:
                found = measured(workers, work, rounds)
            except Differs as error:
                print(error, flush=True)
                differ.append(work)
                continue
            show(work, found)
            rows += found
            (results / f"{options.results}.json").write_text(json.dumps(rows, indent=1))
    plot(rows, results / f"{options.results}.svg")
    if options.record:
        settings = ", ".join(worker.settings for worker in workers)
        page.record(rows, rounds, f"{machine}: {settings}")
    if differ:
        raise SystemExit(f"not timed, since results differ: {', '.join(differ)}")


if __name__ == "__main__":
    main()
