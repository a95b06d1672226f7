# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.debuggability`: what one can see of compiled code, in five frameworks.

Fifteen behaviours (behaviours.py), each a program for every framework (in_*.py), written as one who
knows it would, with what its documents offer and at most some fifteen lines of one's own. A
program gives facts; one rule judges those of all. Each runs in a process of its own, with a limit
of time; where it crashes, hangs or finds no way, that is its result.

Environments that are not there are made, with the versions below, under bench/.venvs. A cost is the
time of the step with what is asked over that of the plain step of the same framework. --record
writes the table to docs/debugging.md, and rules and reasons to bench/debuggability/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from bench.debuggability.behaviours import BEHAVIOURS
from bench.frameworks import HERE, Kind, python_of

KINDS = {
    "mycel": Kind("mycel"),
    "torch": Kind("torch", ("torch==2.13.0", "numpy", "setuptools")),
    "jax": Kind("jax", ("jax==0.10.2", "flax==0.12.8", "optax", "flatbuffers")),
    "nnsight": Kind("nnsight", ("nnsight==0.8.1", "torch==2.13.0", "numpy")),
    "mindspore": Kind("mindspore", ("mindspore==2.10.0", "numpy<2")),
}
DOCUMENT = HERE.parent / "docs" / "debugging.md"
BEGIN, END = "<!-- bench.debuggability -->", "<!-- end -->"
DETAILS = pathlib.Path(__file__).parent / "results.md"
RESULTS = HERE / "results" / "debuggability.json"
PASSED, FAILED, OTHER = "pass", "fail", "does not apply"
SHOWN = {PASSED: "pass", FAILED: "**fail**", OTHER: "n/a"}


def interpreter(name: str, environments: list[str]) -> str:
    """The Python of a framework: one that is named, one in a folder, or one that is made."""
    for place in environments:
        named, _, path = place.partition("=")
        if path and named == name:
            return path
        found = pathlib.Path(place) / name / "bin" / "python"
        if not path and found.exists():
            return str(found)
    return python_of(f"debuggability-{name}", {f"debuggability-{name}": KINDS[name]})


def run(name: str, behaviour: str, python: str, rounds: int, limit: float) -> dict:
    """The facts of one program, and how they are judged."""
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    program = [python, "-m", "bench.debuggability.worker", KINDS[name].module, behaviour]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [*program, str(rounds)], cwd=folder, env=environment, timeout=limit, check=False,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return verdict(behaviour, {"error": f"no answer within {limit:g} s"})
    try:
        facts = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = " ".join(done.stderr.split())[-200:]
        facts = {"error": f"the process ended with {done.returncode}: {last}"}
    return verdict(behaviour, facts)


def verdict(behaviour: str, facts: dict) -> dict:
    """A row of the results."""
    row = {
        "behaviour": behaviour, "result": FAILED, "cost": facts.get("cost"),
        "note": facts.get("note", ""), "version": facts.get("version", ""),
    }  # fmt: skip
    if "NotApplicable" in facts:
        return row | {"result": OTHER, "note": facts["NotApplicable"]}
    if "NoWay" in facts:
        return row | {"reason": f"no way found: {facts['NoWay']}"}
    if "error" in facts:
        return row | {"reason": facts["error"]}
    reason = BEHAVIOURS[behaviour].judge(facts)
    return row | ({"result": PASSED} if reason is None else {"reason": reason})


def told(row: dict) -> str:
    """A row in one line."""
    cost = "" if row["cost"] is None else f" {row['cost']:.2f} x"
    words = "; ".join(filter(None, [row.get("reason"), row["note"]]))
    return f"{row['result']}{cost}" + (f": {words}" if words else "")


def versions(results: dict[str, list[dict]]) -> list[str]:
    """What each framework calls itself; its name where no program answered."""
    return [
        next((row["version"] for row in rows if row["version"]), name)
        for name, rows in results.items()
    ]


def table(results: dict[str, list[dict]]) -> str:
    """The table in Markdown."""
    width = len(results)
    lines = [f"| | {' | '.join(versions(results))} |", "|---" * (width + 1) + "|"]
    for number, (key, behaviour) in enumerate(BEHAVIOURS.items(), 1):
        cells = []
        for rows in results.values():
            row = next((row for row in rows if row["behaviour"] == key), None)
            cost = "" if row is None or row["cost"] is None else f", {row['cost']:.2f}"
            cells.append("not run" if row is None else SHOWN[row["result"]] + cost)
        lines.append(f"| {number}. {behaviour.text} | {' | '.join(cells)} |")
    passed = [sum(row["result"] == PASSED for row in rows) for rows in results.values()]
    return "\n".join([*lines, f"| passed of {len(BEHAVIOURS)} | {' | '.join(map(str, passed))} |"])


def details(results: dict[str, list[dict]]) -> str:
    """Each rule, and what each framework did, in Markdown."""
    lines = []
    for number, (key, behaviour) in enumerate(BEHAVIOURS.items(), 1):
        lines += [f"## {number}. {behaviour.text}", "", behaviour.rule, ""]
        for version, rows in zip(versions(results), results.values(), strict=True):
            lines += [f"- {version}: {clean(told(row))}" for row in rows if row["behaviour"] == key]
        lines.append("")
    return "\n".join(lines)


def clean(text: str) -> str:
    """A text for a document: without folders of this machine and signs that mean something."""
    text = re.sub(r"(/[\w.+-]+)+/", "", text)
    return textwrap.shorten(text.replace("|", "\\|").replace("<", "&lt;"), 400)


def record(results: dict[str, list[dict]], rounds: int) -> None:
    """Write the table into the document, and the rest beside the programs."""
    before, rest = DOCUMENT.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    made = f"`python -m bench.debuggability --rounds {rounds}`, {os.cpu_count()} cores:"
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{made}\n\n{table(results)}\n\n{END}{after}", "utf-8")
    head = f"# Rules and results\n\nWritten by {made.rstrip(':')}.\n\n{table(results)}\n\n"
    DETAILS.write_text(head + details(results), "utf-8")


def keep(name: str, row: dict) -> None:
    """Write a row into the file of results, in place of an older one."""
    RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    others = [one for one in kept.get(name, []) if one["behaviour"] != row["behaviour"]]
    kept[name] = sorted([*others, row], key=lambda one: list(BEHAVIOURS).index(one["behaviour"]))
    ordered = {name: kept[name] for name in KINDS if name in kept}
    RESULTS.write_text(json.dumps(ordered, indent=1), "utf-8")


def compare(names: list[str], behaviours: list[str], options) -> None:
    """Run the programs of frameworks; print and keep the results as they come."""
    for name in names:
        python, passed = interpreter(name, options.environments), 0
        print(f"{name}: {python}", flush=True)
        for behaviour in behaviours:
            row = run(name, behaviour, python, options.rounds, options.limit)
            keep(name, row)
            passed += row["result"] == PASSED
            print(f"  {behaviour}: {told(row)}", flush=True)
        print(f"  passed: {passed} of {len(behaviours)}")


def main() -> None:
    """Run, print, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.debuggability", description=__doc__)
    parser.add_argument("--only", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    parser.add_argument("--behaviours", default=",".join(BEHAVIOURS), help="all by default")
    parser.add_argument(
        "--environments", action="append", default=[], metavar="FOLDER | NAME=PYTHON",
        help="a folder with NAME/bin/python, or the interpreter of one framework; repeatable",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=15, help="of a measurement; 5: times count")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one program")
    parser.add_argument("--record", action="store_true", help="write the documents")
    parser.add_argument(
        "--from-results", action="store_true", help="run nothing: what was found before"
    )
    options = parser.parse_args()
    names, behaviours = options.only.split(","), options.behaviours.split(",")
    unknown = [*set(names) - set(KINDS), *set(behaviours) - set(BEHAVIOURS)]
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not options.from_results:
        compare(names, behaviours, options)
    if options.record:
        record(json.loads(RESULTS.read_text("utf-8")), options.rounds)


if __name__ == "__main__":
    sys.exit(main())
