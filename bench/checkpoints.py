# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.checkpoints`: saving and loading 1 GB of Float32, each framework in turns.

mycel and MindSpore (.ckpt and safetensors), NumPy (.npz), PyTorch (torch.save) and safetensors by
hand; beside them the same bytes written and read as they are, which is what the disk can do. A file
counts as saved when it lies on the disk (fsync). It is loaded from the memory that the system keeps
of it (`load`) and from the disk (`load anew`). What every file holds is compared by a checksum.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import tempfile

import numpy as np

from bench.checkpoint_files import WORK
from bench.frameworks import HERE, Failed, Kind, Worker, started

KINDS = {
    "numpy": Kind("checkpoints_numpy"),
    "mycel": Kind("checkpoints_mycel"),
    "torch": Kind("checkpoints_torch", ("torch==2.13.0", "numpy", "safetensors")),
    "mindspore-2.10.0": Kind(
        "checkpoints_mindspore", ("mindspore==2.10.0", "numpy<2", "safetensors")
    ),
}
BASE = "numpy plain bytes"
# One call may take as long as this before it is given up.
PATIENCE = 600


def lanes_of(workers: list[Worker], work: str) -> list[tuple[Worker, str]]:
    """The kinds of files that a framework can save and load, what they hold compared.

    Raises:
        SystemExit: two of them hold something else.
    """
    lanes, first = [], None
    for worker in workers:
        for variant in worker.variants:
            try:
                found = worker.run(work, variant, 1, PATIENCE)["results"][0]
            except Failed as failed:
                print(f"  {work}: {worker.name} {variant} cannot: {str(failed)[:200]}")
                continue
            first = first or found
            if found != first:
                raise SystemExit(f"{work}: {worker.name} {variant} holds {found}, not {first}")
            lanes.append((worker, variant))
    return lanes


def measured(work: str, lanes: list[tuple[Worker, str]], rounds: int, size: int) -> list[dict]:
    """Seconds, and ratios to plain bytes, as quartiles over rounds in which all take turns."""
    times: dict[str, list[float]] = {f"{worker.name} {variant}": [] for worker, variant in lanes}
    for _ in range(rounds):
        for worker, variant in lanes:
            found = worker.run(work, variant, 1, PATIENCE)
            times[f"{worker.name} {variant}"].append(found["seconds"][0])
    rows = []
    for label, seconds in times.items():
        row = {"work": work, "what": label, "seconds": float(np.median(seconds))}
        row["MB in a second"] = size / 1e6 / row["seconds"]
        if BASE in times:
            ratios = np.array(seconds) / np.array(times[BASE])
            row["to plain bytes"] = [float(q) for q in np.quantile(ratios, (0.25, 0.5, 0.75))]
        rows.append(row)
    return rows


def show(rows: list[dict]) -> None:
    """Print a table of one kind of work."""
    print(f"\n{rows[0]['work']}: median of rounds, and times as long as plain bytes [quartiles]")
    for row in rows:
        ratio = ""
        if "to plain bytes" in row:
            low, middle, high = row["to plain bytes"]
            ratio = f"{middle:6.2f} [{low:.2f}, {high:.2f}]"
        rate = f"{row['MB in a second']:8,.0f} MB/s"
        print(f"  {row['what']:28s} {row['seconds']:8.3f} s {rate} {ratio}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write bench/results/checkpoints.json."""
    parser = argparse.ArgumentParser(prog="python -m bench.checkpoints", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--frameworks", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--folder", help="on the disk that is meant; bench/results by default")
    options = parser.parse_args(arguments)
    names = options.frameworks.split(",")
    if unknown := sorted({*names} - KINDS.keys()):
        parser.error(f"unknown: {', '.join(unknown)}; there is {', '.join(KINDS)}")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    size, rows = options.megabytes * 1_000_000, []
    with tempfile.TemporaryDirectory(dir=options.folder or results) as folder:
        os.environ |= {"BENCH_FOLDER": folder, "BENCH_BYTES": str(size)}
        with started(names, kinds=KINDS) as workers:
            for worker in workers:
                print(f"{worker.name}: {worker.settings}")
            for work in WORK:
                lanes = lanes_of(workers, work)
                rows += measured(work, lanes, options.rounds, size)
                show(rows[-len(lanes) :])
    pathlib.Path(results / "checkpoints.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
