# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.versions COMMIT [work …]`: this tree beside an older one of mycel, in turns.

The older tree is checked out under bench/.trees. Both run the bench of this tree, each in a process
of its own, in alternating rounds of one run; their results are compared before anything is timed.
Prints, for every mode, the time of this tree over the older one's, as quartiles over the rounds.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess

import numpy as np

from bench.__main__ import lanes_of
from bench.frameworks import HERE, Worker, started
from bench.work import WORK


def tree_of(commit: str) -> pathlib.Path:
    """The checked-out tree of a commit, made on the first run.

    Raises:
        SystemExit: Git does not know the commit.
    """
    folder = HERE / ".trees" / commit
    if not folder.exists():
        git = ["git", "-C", str(HERE.parent), "worktree", "add", "--detach", str(folder), commit]
        if subprocess.run(git, check=False, stdout=subprocess.DEVNULL).returncode:
            raise SystemExit(f"git has no commit {commit}.")
    return folder


def compare(workers: list[Worker], work: str, rounds: int) -> None:
    """Print the times of one piece of work in both trees."""
    lanes = lanes_of(workers, work)
    for _ in range(rounds):
        for lane in lanes:
            lane.round()
    half = len(lanes) // 2
    for old, new in zip(lanes[:half], lanes[half:], strict=True):
        count = min(len(old.medians), len(new.medians))
        ratios = np.array(new.medians[:count]) / np.array(old.medians[:count])
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        time = f"{np.median(new.medians) * 1e3:9.3f} ms"
        print(f"  {work:22s} {new.variant:9s} {time}  {middle:.3f} [{low:.3f}, {high:.3f}]")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("commit", help="the older tree")
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of alternating runs")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    print("time of this tree / of the older one: median of the rounds' ratios [quartiles]")
    old, new = tree_of(options.commit), HERE.parent
    with started(["mycel"], tree=old) as before, started(["mycel"], tree=new) as now:
        for work in options.work or WORK:
            compare([*before, *now], work, options.rounds)


if __name__ == "__main__":
    main()
