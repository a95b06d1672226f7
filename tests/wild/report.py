# SPDX-License-Identifier: Apache-2.0
"""How far each program comes: python -m tests.wild.report [--keep] [--page].

Prints the table and how many programs reach their last stage. `--keep` writes what runs left in the
cache into results.json, `--page` writes the table and the count into docs/wild.md.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re

from .causes import CAUSES, LEFT_OUT
from .programs import PROGRAMS, Program
from .run import RUNS, STAGES

HERE = pathlib.Path(__file__).parent
KEPT = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "wild.md"
SHOWN = STAGES[1:]
WORDS = {True: "yes", False: "**no**", None: ""}
SCRIPTS = ("trains", "evaluates", "predicts")


def scripts(program: Program) -> list[str]:
    """The stages that are the program's own scripts; the last of them is its last stage."""
    commands = program.train, program.evaluate, program.predict
    return [stage for stage, words in zip(SCRIPTS, commands, strict=True) if words]


def results() -> dict[str, dict]:
    """What was found of each program: what is kept, and over it what this machine's runs left."""
    found = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for name in PROGRAMS:
        file = RUNS / name / "report.json"
        newer = json.loads(file.read_text("utf-8")) if file.exists() else {}
        for stage, answer in newer.items():
            if answer["ok"] is not None:
                kept = {key: answer[key] for key in ("ok", "apart") if key in answer}
                found.setdefault(name, {})[stage] = kept
    return {name: found.get(name, {}) for name in PROGRAMS}


def reaches(name: str, found: dict) -> bool:
    """Whether every script of a program ran to its end, up to the last."""
    return all(found.get(stage, {}).get("ok") for stage in scripts(PROGRAMS[name]))


def table(found: dict[str, dict]) -> str:
    """One line for each program: its stages, and in plain words what stopped it."""
    lines = [f"| program | {' | '.join(SHOWN)} | last stage | what stopped it |"]
    lines.append("|---" * (len(SHOWN) + 3) + "|")
    for name, answers in found.items():
        cells = [cell(name, stage, answers.get(stage)) for stage in SHOWN]
        reached = "yes" if reaches(name, answers) else "**no**"
        cause = CAUSES.get(name, "" if reached == "yes" else "not known yet")
        lines.append(f"| {name} | {' | '.join(cells)} | {reached} | {cause} |")
    return "\n".join(lines) + "\n"


def cell(name: str, stage: str, answer: dict | None) -> str:
    """yes or no, and how far the answers are apart; a dash where the program has no such script."""
    if stage in SCRIPTS and stage not in scripts(PROGRAMS[name]):
        return "-"
    if answer is None:
        return ""
    apart = f" ({answer['apart']:.0e})" if "apart" in answer else ""
    return WORDS[answer["ok"]] + apart


def count(found: dict[str, dict]) -> str:
    """How many programs reach their last stage, in words."""
    reached = sum(reaches(name, answers) for name, answers in found.items())
    tried = len(found) + len(LEFT_OUT)
    return (
        f"{reached} of {len(found)} programs reach their last stage; counting those that are left "
        f"out, {reached} of {tried}."
    )


def left_out() -> str:
    """One line for each program that was tried and is not in the table."""
    lines = [f"| {name} | {why} |" for name, why in LEFT_OUT.items()]
    return "\n".join(["| program | why |", "|---|---|", *lines]) + "\n"


def main() -> None:
    """Print the table and the count; keep them where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write results.json")
    parser.add_argument("--page", action="store_true", help="write the table of docs/wild.md")
    options = parser.parse_args()
    found = results()
    print(table(found))
    print(count(found))
    if options.keep:
        lines = [f"{json.dumps(name)}: {json.dumps(answers)}" for name, answers in found.items()]
        KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    if options.page:
        text = PAGE.read_text("utf-8")
        new = f"**{count(found)}**\n\n{table(found)}"
        text = re.sub(r"\*\*\d+ of \d+ programs.*?\n\n(\|.*\n)+", lambda _: new, text)
        text = re.sub(r"\| program \| why \|\n(\|.*\n)+", lambda _: left_out(), text)
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
