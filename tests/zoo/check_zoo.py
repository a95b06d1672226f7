# SPDX-License-Identifier: Apache-2.0
"""Check every architecture of the model zoo mindcv; can be interrupted and continued.

    pip install --no-deps mindcv==0.3.0; pip install pyyaml tqdm    # beside mycel
    pip install --no-deps --target FOLDER mindcv==0.3.0 pyyaml tqdm # what real MindSpore imports
    python tests/zoo/check_zoo.py --mindspore /path/to/mindspore/python --mindcv FOLDER \\
        --out results.jsonl --document docs/zoo.md

Three stages, each architecture in a process of its own, the smallest of every family first:
`names` builds all and compares names, shapes and types of parameters with those recorded in
`names.json`; `forward` lets real MindSpore save weights and outputs, and compares ours; `train`
predicts and takes training steps in both modes. Every result is one line of the file at once; what
has a line is not done again. Without --mindspore the stage `forward` is left out.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from table import write_document

HERE = Path(__file__).parent
NAMES = HERE / "names.json"


class Results:
    """One JSON line for each stage of each architecture; the last one counts."""

    def __init__(self, path: Path, retry: bool = False):
        self.path = path
        self.retry = retry
        self.rows: dict[tuple[str, str], dict] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            self.rows[row["stage"], row["name"]] = row

    def add(self, stage: str, row: dict) -> None:
        """Write one line and tell it."""
        row = {"stage": stage, **row}
        self.rows[stage, row["name"]] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row)[:200], flush=True)

    def lacks(self, stage: str, name: str) -> bool:
        """Whether this stage has no line for the architecture, or an error to be tried again."""
        row = self.rows.get((stage, name))
        return row is None or (self.retry and "error" in row)


def main() -> None:
    """Run the stages that were asked for, then write the document."""
    options = parse()
    results = Results(options.out, options.retry)
    ends = time.monotonic() + options.minutes * 60
    if options.record_names:
        record_names(options)
    recorded = json.loads(NAMES.read_text())
    chosen = [name for name in recorded if fnmatch.fnmatch(name, options.only)]
    if "names" in options.stages:
        check_names(results, chosen, recorded, options)
    builds = [name for name in chosen if "error" not in recorded[name]]
    if "forward" in options.stages and options.mindspore:
        for name in family_by_family(builds, recorded):
            if results.lacks("forward", name) and time.monotonic() < ends:
                results.add("forward", forward(name, options))
    if "train" in options.stages:
        for name in family_by_family(builds, recorded):
            if results.lacks("train", name) and time.monotonic() < ends:
                command = [sys.executable, HERE / "under_mycel.py", "train", name]
                results.add("train", one_row(command, name, options))
    if options.document:
        write_document(options.document, recorded, results.rows)


def parse() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="results, one JSON line each")
    parser.add_argument("--mindspore", help="the Python of real MindSpore (2.7.0 is fast enough)")
    parser.add_argument("--mindcv", help="a folder with mindcv, yaml and tqdm for that Python")
    parser.add_argument("--stages", default="names,forward,train", help="some of these")
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one process")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin nothing new after them")
    parser.add_argument("--document", type=Path, help="write the table of all results here")
    parser.add_argument("--retry", action="store_true", help="do again what ended in an error")
    parser.add_argument("--record-names", action="store_true", help="write names.json anew")
    return parser.parse_args()


def family_by_family(names, recorded):
    """The smallest architecture of every family, then the second of every family, and so on."""
    families = defaultdict(list)
    for name in sorted(names, key=lambda name: recorded[name]["weights"]):
        families[recorded[name]["family"]].append(name)
    rank = {name: n for members in families.values() for n, name in enumerate(members)}
    return sorted(names, key=lambda name: (rank[name], recorded[name]["weights"]))


def record_names(options) -> None:
    """Write `names.json` from real MindSpore."""
    rows = lines(*run([options.mindspore, HERE / "under_mindspore.py", "names"], options, 1e5))
    facts = {row.pop("name"): row for row in rows}
    NAMES.write_text(
        "{\n" + ",\n".join(f'"{name}": {json.dumps(row)}' for name, row in facts.items()) + "\n}\n"
    )


def check_names(results: Results, chosen, recorded, options) -> None:
    """Build all that have no line yet, in one process, and compare with what is recorded."""
    left = [name for name in chosen if results.lacks("names", name)]
    if not left:
        return
    command = [sys.executable, HERE / "under_mycel.py", "names", *left]
    for row in lines(*run(command, options, 1e5)):
        same = all(row.get(key) == value for key, value in recorded[row["name"]].items())
        results.add("names", {"name": row["name"], "builds": "digest" in row, "equal": same})


def forward(name: str, options) -> dict:
    """What real MindSpore computes and how far ours is from it."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = [options.mindspore, HERE / "under_mindspore.py", "forward", folder, name]
        row = one_row(theirs, name, options)
        if "error" in row:
            return {"name": name, "error_of_mindspore": row["error"]}
        ours = [sys.executable, HERE / "under_mycel.py", "forward", folder, name]
        return one_row(ours, name, options)


def one_row(command, name: str, options) -> dict:
    """The one line that a process prints, or what went wrong with it."""
    rows = lines(*run(command, options, options.limit))
    return rows[0] if rows else {"name": name, "error": "no result"}


def run(command, options, limit: float) -> tuple[str, str]:
    """What a process printed, and its errors, within the limit of time."""
    # With a fixed threshold glibc gives large arrays back, a fifth of the memory in training.
    memory = {"MALLOC_MMAP_THRESHOLD_": str(1 << 22)}
    environment = {"OMP_NUM_THREADS": "1"} | memory | dict(os.environ)
    if command[0] == options.mindspore and options.mindcv:
        environment["PYTHONPATH"] = options.mindcv
    try:
        done = subprocess.run(
            list(map(str, command)),
            env=environment,
            cwd=tempfile.gettempdir(),
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return json.dumps({"name": command[-1], "error": f"more than {limit:.0f} s"}), ""
    return done.stdout, done.stderr


def lines(printed: str, errors: str) -> list[dict]:
    """The JSON lines among what was printed; the end of the errors is shown if there are none."""
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith('{"name"')]
    if not rows:
        print(errors[-2000:], file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
