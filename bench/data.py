# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.data`: rows in a second of five pipelines, in mycel and beside it.

The same files are read with two workers by mycel, MindSpore 2.10's engine in C++, PyTorch's
DataLoader with torchvision, and grain by hand, alternating in one run. MindSpore and PyTorch run in
environments of their own under bench/.venvs, made on the first run. What is seen is compared before
anything is timed. Processor time (of all threads and processes) says the same on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import textwrap

import numpy as np

from bench.data_files import WORK, write
from bench.frameworks import HERE, Failed, Kind, Worker, started
from mycel.mindrecord import FileWriter

KINDS = {
    "mycel": Kind("data_mycel"),
    "mindspore-2.10.0": Kind("data_mindspore", ("mindspore==2.10.0", "numpy<2", "pillow")),
    "torch": Kind("data_torch", ("torch==2.14.1", "torchvision==0.29.1", "numpy", "pillow")),
    "grain": Kind("data_grain"),
}
TITLES = {"mycel": "mycel", "mindspore-2.10.0": "MindSpore", "torch": "PyTorch", "grain": "grain"}
VARIANT = "2 workers"
LEAST = "least processor time of the others to this"
PAGE = HERE.parent / "docs" / "data.md"
BEGIN, END = "<!-- `python -m bench.data --record` writes this -->", "<!-- as far as here -->"
# Why mycel is behind where it is; written below the table if it is.
REASONS = {
    "images": "MindSpore decodes only the rectangle that is cut out of each JPEG. Pillow, which "
    "decodes for mycel, grain and PyTorch, decodes the whole picture, which alone takes two "
    "thirds of the processor time of all of MindSpore's pipeline.",
}


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


def measured(work: str, lanes: list[Worker], rounds: int, seconds: float) -> list[dict]:
    """Rows in a second, as medians over rounds in which all alternate, and their quartiles."""
    rates: dict[str, list[float]] = {worker.name: [] for worker in lanes}
    costs: dict[str, list[float]] = {worker.name: [] for worker in lanes}
    for _ in range(rounds):
        for worker in lanes:
            found = worker.run(work, VARIANT, 1000, seconds)
            rows = WORK[work].rows * len(found["seconds"])
            rates[worker.name].append(rows / sum(found["seconds"]))
            costs[worker.name].append(found["processor"] / rows)
    others = [name for name in rates if name != "mycel"]
    best = max((np.median(rates[name]) for name in others), default=np.nan)
    least = min((np.median(costs[name]) for name in others), default=np.nan)
    return [
        {
            "work": work,
            "what": name,
            "rows in a second": [float(q) for q in np.quantile(rates[name], (0.25, 0.5, 0.75))],
            "to the best other": float(np.median(rates[name]) / best),
            "processor seconds for 1,000 rows": 1000 * float(np.median(costs[name])),
            LEAST: float(least / np.median(costs[name])),
        }
        for name in rates
    ]


def show(work: str, found: list[dict]) -> None:
    """Print what was measured of one pipeline."""
    print(f"\n{work}: {WORK[work].about}")
    print("  rows in a second [quartiles], to the best but mycel; processor seconds for 1,000 rows")
    for row in found:
        low, middle, high = row["rows in a second"]
        spread = f"{middle:10,.0f} [{low:,.0f}, {high:,.0f}]"
        used = row["processor seconds for 1,000 rows"]
        rates = f"{row['to the best other']:6.2f}   {used:.4f} s {row[LEAST]:6.2f}"
        print(f"  {row['what']:18s} {spread:34s} {rates}", flush=True)


def table_of(rows: list[dict], conditions: str) -> str:
    """What was measured as a table in Markdown, and why mycel is behind where it is."""
    lines = [
        conditions,
        "",
        f"| pipeline | {' | '.join(TITLES.values())} | to the best | processor time |",
        f"|---|{'---:|' * (len(TITLES) + 2)}",
    ]
    behind: list[str] = []
    for work in dict.fromkeys(row["work"] for row in rows):
        here = {row["what"]: row for row in rows if row["work"] == work}
        own = here["mycel"]
        cells = [f"{here[n]['rows in a second'][1]:,.0f}" if n in here else "" for n in TITLES]
        ratios = [f"{own[key]:.2f}" for key in ("to the best other", LEAST)]
        lines.append(f"| {WORK[work].about} | {' | '.join([*cells, *ratios])} |")
        if own["to the best other"] < 1 and work in REASONS:
            behind += ["", *textwrap.wrap(f"{WORK[work].about}: {REASONS[work]}", 100)]
    return "\n".join([*lines, *behind])


def record(rows: list[dict], page: pathlib.Path, conditions: str) -> None:
    """Write the table into the page of documentation, in the place of the one before."""
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the table: {BEGIN} … {END}")
    table = table_of(rows, conditions)
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", "utf-8")


def options_of() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.data", description=__doc__)
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a lane in a round")
    parser.add_argument(
        "--frameworks", default=",".join(KINDS), help=f"of {', '.join(KINDS)}; all by default"
    )
    parser.add_argument("--record", action="store_true", help=f"write the table into {PAGE.name}")
    options = parser.parse_args()
    options.names = options.frameworks.split(",")
    unknown = sorted({*options.work} - WORK.keys() | {*options.names} - KINDS.keys())
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there is {', '.join([*WORK, *KINDS])}")
    if options.record and (options.work or set(options.names) != KINDS.keys()):
        parser.error("--record needs all pipelines and all frameworks")
    return options


def main() -> None:
    """Measure, print, and write bench/results/data.json."""
    options = options_of()
    results = HERE / "results"
    write(results / "data", FileWriter)
    os.environ["BENCH_DATA"] = str(results / "data")
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    print(load)
    rows = []
    with started(options.names, kinds=KINDS) as workers:
        for worker in workers:
            print(f"{worker.name}: {worker.settings}")
        for work in options.work or WORK:
            lanes = lanes_of(workers, work)
            found = measured(work, lanes, options.rounds, options.seconds)
            show(work, found)
            rows += found
    (results / "data.json").write_text(json.dumps(rows, indent=1))
    if options.record:
        versions = ", ".join(worker.settings for worker in workers)
        record(rows, PAGE, f"Measured in {options.rounds} rounds on {load}: {versions}.")


if __name__ == "__main__":
    main()
