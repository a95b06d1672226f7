# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.loops`: small programs whose shapes keep changing, in mycel and MindSpore.

Each runs in PyNative in a fresh process, with nothing on disk, twice: *first* is with all that is
compiled, *again* is the same program once more (with other numbers, and so other lengths). Their
results are compared before a time counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from bench.frameworks import HERE, python_of
from bench.loop_programs import PROGRAMS, Tools

FRAMEWORKS = {"mycel": "mycel", "mindspore": "mindspore-2.10.0"}
RUNS = ("first", "again")


def play(framework: str, name: str) -> None:
    """In a process of its own: print the results of both runs, and their seconds."""
    ms = __import__(framework)
    tools, results, seconds = Tools(ms), [], []
    float(ms.Tensor([1.0]).sum())
    for _ in RUNS:
        start = time.perf_counter()
        results.append(PROGRAMS[name](tools))
        seconds.append(time.perf_counter() - start)
    print(json.dumps([results, seconds]))


def measured(framework: str, name: str, rounds: int) -> tuple[list[float], list[list[float]]]:
    """The results of a program, and by run its seconds in each round.

    Raises:
        SystemExit: it failed.
    """
    command = [python_of(FRAMEWORKS[framework]), "-m", "bench.loops", "--play", framework, name]
    environment = os.environ | {"MYCEL_CACHE": "off", "MYCEL_PROGRESS": "off"}
    results, seconds = [], []
    for _ in range(rounds):
        done = subprocess.run(
            command, env=environment, cwd=HERE.parent, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{name} failed in {framework}:\n{done.stderr[-2000:]}")
        results, taken = json.loads(done.stdout.strip().splitlines()[-1])
        seconds.append(taken)
    return results, [list(run) for run in zip(*seconds, strict=True)]


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--play", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.play:
        play(*asked.play)
        return
    for name in asked.programs:
        if name not in PROGRAMS:
            parser.error(f"{name} is none of {', '.join(PROGRAMS)}")
    heads = [f"{who} {run}" for run in RUNS for who in ("mycel", "MindSpore")]
    print("| program |", " | ".join([*heads[:2], "ratio", *heads[2:], "ratio"]), "|")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in asked.programs or PROGRAMS:
        found = {framework: measured(framework, name, asked.rounds) for framework in FRAMEWORKS}
        ours, theirs = found["mycel"], found["mindspore"]
        for mine, other in zip(ours[0], theirs[0], strict=True):
            if abs(mine - other) > 1e-3 * max(1.0, abs(other)):
                print(f"{name}: the results differ: {ours[0]}, {theirs[0]}", file=sys.stderr)
        cells = []
        for mine, other in zip(ours[1], theirs[1], strict=True):
            mine, other = statistics.median(mine), statistics.median(other)
            cells += [f"{mine:.2f}", f"{other:.2f}", f"{mine / other:.2f}"]
        print(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
