# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.versions COMMIT [work …]`: this tree beside an older one of mycel, in turns.

The older tree is checked out under bench/.trees. Both run the bench of this tree, each in a process
of its own, in alternating rounds of one run; their results are compared before anything is timed.
Prints, for every mode, the time of this tree over the older one's, as quartiles over the rounds.

`--python` runs this tree in another environment, as one with a newer jaxlib: `bench.versions HEAD
lstm --python ~/newer/bin/python` says whether that is slower, and ends with 1 if it is.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

from bench.__main__ import lanes_of
from bench.frameworks import HERE, Worker, started
from bench.work import WORK

VERSIONS = (
    "import jaxlib, platform; print('Python', platform.python_version(), 'jaxlib', "
    "jaxlib.__version__)"
)


def tree_of(commit: str) -> pathlib.Path:
    """The checked-out tree of a commit, made on the first run.

    Raises:
        SystemExit: Git does not know the commit.
    """
    git = ["git", "-C", str(HERE.parent)]
    # Not under a name as HEAD, which is another commit tomorrow.
    asked = [*git, "rev-parse", "--short", "--verify", f"{commit}^{{commit}}"]
    known = subprocess.run(asked, check=False, capture_output=True, text=True)
    if known.returncode:
        raise SystemExit(f"git has no commit {commit}.")
    folder = HERE / ".trees" / known.stdout.strip()
    if not folder.exists():
        add = [*git, "worktree", "add", "--detach", str(folder), known.stdout.strip()]
        subprocess.run(add, check=True, stdout=subprocess.DEVNULL)
    return folder


def compare(workers: list[Worker], work: str, rounds: int) -> float:
    """Print the times of one piece of work in both trees; the largest of the ratios."""
    lanes = lanes_of(workers, work)
    for _ in range(rounds):
        for lane in lanes:
            lane.round()
    half, largest = len(lanes) // 2, 0.0
    for old, new in zip(lanes[:half], lanes[half:], strict=True):
        count = min(len(old.medians), len(new.medians))
        ratios = np.array(new.medians[:count]) / np.array(old.medians[:count])
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        time = f"{np.median(new.medians) * 1e3:9.3f} ms"
        print(f"  {work:22s} {new.variant:9s} {time}  {middle:.3f} [{low:.3f}, {high:.3f}]")
        largest = max(largest, float(middle))
    return largest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("commit", help="the older tree")
    parser.add_argument("work", nargs="*", help=f"of {', '.join(WORK)}; all by default")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of alternating runs")
    parser.add_argument("--python", help="the interpreter of this tree, with another jaxlib")
    parser.add_argument(
        "--most", type=float, default=1.05, help="a ratio above which it ends with 1"
    )
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    print("time of this tree / of the older one: median of the rounds' ratios [quartiles]")
    for python in (sys.executable, options.python or sys.executable):
        told = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True)
        print(told.stdout.strip())
    old, new = tree_of(options.commit), HERE.parent
    with (
        started(["mycel"], tree=old) as before,
        started(["mycel"], tree=new, python=options.python) as now,
    ):
        works = options.work or WORK
        largest = max([compare([*before, *now], work, options.rounds) for work in works])
    if largest > options.most:
        raise SystemExit(f"{largest:.3f} is above {options.most}.")


if __name__ == "__main__":
    main()
