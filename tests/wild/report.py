# SPDX-License-Identifier: Apache-2.0
"""Write what the runs left in the cache as a table: python -m tests.wild.report [FILE]."""

from __future__ import annotations

import json
import pathlib
import sys

from .programs import PROGRAMS
from .run import RUNS, STAGES

WORDS = {True: "yes", False: "**no**", None: ""}


def table() -> str:
    """One line for each program: its stages, and what stopped the first that did not end well."""
    lines = [f"| program | {' | '.join(STAGES)} | what stopped it |"]
    lines.append("|---" * (len(STAGES) + 2) + "|")
    for name in PROGRAMS:
        file = RUNS / name / "report.json"
        found = json.loads(file.read_text("utf-8")) if file.exists() else {}
        cells = [cell(found.get(stage)) for stage in STAGES]
        causes = [
            f"{stage}: {found[stage]['cause']}"
            for stage in STAGES
            if found.get(stage, {}).get("ok") is False
        ]
        cause = (causes or [""])[0].replace(f"{RUNS}/", "").replace("|", "/")[:160]
        lines.append(f"| {name} | {' | '.join(cells)} | {cause} |")
    return "\n".join(lines) + "\n"


def cell(answer: dict | None) -> str:
    """yes, no, nothing where it was not run; with how far the answers are apart."""
    if answer is None:
        return ""
    apart = f" ({answer['apart']:.0e})" if "apart" in answer else ""
    return WORDS[answer["ok"]] + apart


if __name__ == "__main__":
    text = table()
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_text(text, "utf-8")
    else:
        print(text)
