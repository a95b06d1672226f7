# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.data`: rows in a second of five pipelines, in mycel and beside it.

The same files are read with two workers by mycel, MindSpore 2.10's engine in C++, PyTorch's
DataLoader with torchvision, and grain by hand, alternating in one run. MindSpore and PyTorch run in
environments of their own under bench/.venvs, made on the first run. What is seen is compared before
anything is timed.
"""

from __future__ import annotations

import argparse
import json
import os

import numpy as np

from bench.data_files import WORK, write
from bench.frameworks import HERE, Failed, Kind, Worker
from mycel.mindrecord import FileWriter

KINDS = {
    "mycel": Kind("data_mycel"),
    "mindspore-2.10.0": Kind("data_mindspore", ("mindspore==2.10.0", "numpy<2", "pillow")),
    "torch": Kind("data_torch", ("torch==2.13.0", "torchvision", "numpy", "pillow")),
    "grain": Kind("data_grain"),
}
VARIANT = "2 workers"


def lanes_of(workers: list[Worker], work: str) -> list[Worker]:
    """The frameworks that can do a piece of work, after an epoch whose contents are compared."""
    lanes, first = [], None
    for worker in workers:
        try:
            found = np.array(worker.run(work, VARIANT, 1, 600)["results"][0])
        except Failed as failed:
            print(f"  {work}: {worker.name} cannot: {str(failed)[:200]}")
            continue
        first = found if first is None else first
        if not np.allclose(found, first, 1e-3):
            raise SystemExit(f"{work}: {worker.name} sees {found}, not {first}")
        lanes.append(worker)
    return lanes


def measured(work: str, lanes: list[Worker], rounds: int) -> list[dict]:
    """Rows in a second, as medians over rounds in which all alternate, and their quartiles."""
    times: dict[str, list[float]] = {worker.name: [] for worker in lanes}
    for _ in range(rounds):
        for worker in lanes:
            times[worker.name] += worker.run(work, VARIANT, 1, 600)["seconds"]
    rows = WORK[work].rows
    rates = {name: rows / np.array(seconds) for name, seconds in times.items()}
    best = max((np.median(rate) for name, rate in rates.items() if name != "mycel"), default=np.nan)
    return [
        {
            "work": work,
            "what": name,
            "rows in a second": [float(q) for q in np.quantile(rate, (0.25, 0.5, 0.75))],
            "to the best other": float(np.median(rate) / best),
        }
        for name, rate in rates.items()
    ]


def show(work: str, found: list[dict]) -> None:
    """Print what was measured of one pipeline."""
    print(f"\n{work}: {WORK[work].about}; rows in a second [quartiles], to the best but mycel")
    for row in found:
        low, middle, high = row["rows in a second"]
        spread = f"{middle:10.0f} [{low:.0f}, {high:.0f}]"
        print(f"  {row['what']:18s} {spread:32s} {row['to the best other']:.2f}", flush=True)


def main() -> None:
    """Measure, print, and write bench/results/data.json."""
    parser = argparse.ArgumentParser(prog="python -m bench.data", description=__doc__)
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--frameworks", default=",".join(KINDS), help=f"of {', '.join(KINDS)}; all by default"
    )
    options = parser.parse_args()
    names = options.frameworks.split(",")
    unknown = sorted({*options.work} - WORK.keys() | {*names} - KINDS.keys())
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there is {', '.join([*WORK, *KINDS])}")
    results = HERE / "results"
    write(results / "data", FileWriter)
    os.environ["BENCH_DATA"] = str(results / "data")
    workers = [Worker(name, kinds=KINDS) for name in names]
    for worker in workers:
        print(f"{worker.name}: {worker.settings}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    rows = []
    for work in options.work or WORK:
        found = measured(work, lanes_of(workers, work), options.rounds)
        show(work, found)
        rows += found
    for worker in workers:
        worker.end()
    (results / "data.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
