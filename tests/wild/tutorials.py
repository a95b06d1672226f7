# SPDX-License-Identifier: Apache-2.0
"""Run the tutorials and guides of MindSpore's documentation, here or in MindSpore itself.

python -m tests.wild.tutorials [NAMES] [--mindspore PYTHON] [--page]

`--mindspore` runs them there. `--page` keeps what both did and writes the table of docs/wild.md.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from . import sources
from .causes import TUTORIALS as CAUSES
from .cells import cells, meaning

HERE = pathlib.Path(__file__).parent
KEPT = HERE / "tutorials.json"
PAGE = HERE.parents[1] / "docs" / "wild.md"
RUNS = sources.CACHE / "tutorials"
COMMIT = "9e844dc65dc5ef4381574e8b6ec2f93f9681f720"
# These are for several devices, for Ascend hardware or its compilers.
_OPERATIONS = "custom_program/operation"
ELSEWHERE = (
    "parallel",
    "model_infer",
    f"{_OPERATIONS}/op_custom_aot",
    f"{_OPERATIONS}/op_custom_ascendc",
    f"{_OPERATIONS}/op_custom_julia",
    f"{_OPERATIONS}/op_customopbuilder",
    "docs/features/parallel",
    "docs/faq/installation",
)
# What guides take for granted: they show parts of programs.
IMPORTS = (
    "import copy, numpy as np, mindspore, mindspore as ms, mindspore.dataset as ds; "
    "from mindspore import Callback, Tensor, context, nn, ops, set_context, GRAPH_MODE; "
    "from mindspore.dataset import vision"
)
# Fewer epochs, of fewer pictures.
SMALLER = {
    "cv/resnet50": ["num_epochs = 5=>num_epochs = 1", "batch_size = 256=>batch_size = 64"],
    "cv/ssd": ["range(60)=>range(1)", "num_epochs=60=>num_epochs=1"],
    "cv/transfer_learning": ["num_epochs = 10=>num_epochs = 1"],
    "cv/vit": ["epoch_size = 10=>epoch_size = 1"],
    "generative/cyclegan": ["epochs = 7=>epochs = 1"],
    "generative/dcgan": ["num_epochs = 10=>num_epochs = 1"],
    "generative/diffusion": [
        "epochs = 10=>epochs = 1",
        "timesteps = 200=>timesteps = 20",
        "Tensor([40])=>Tensor([4])",
        "[0, 50, 100, 150, 199]=>[0, 5, 10, 15, 19]",
    ],
    "generative/gan": ["total_epoch = 200=>total_epoch = 2", "Generator199=>Generator1"],
    "generative/pix2pix": ["epoch_num = 100=>epoch_num = 1"],
    "nlp/sentiment_analysis": ["num_epochs = 5=>num_epochs = 1"],
    "nlp/sequence_labeling": ["steps = 500=>steps = 20"],
}


def documents() -> dict[str, pathlib.Path]:
    """Each tutorial that has code cells; an English one where its code is another."""
    found: dict[str, pathlib.Path] = {}
    for prefix, folder in _folders().items():
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).with_suffix("").as_posix()
            name = prefix.removeprefix("en/") + name
            if path.suffix not in (".ipynb", ".md") or name.startswith(ELSEWHERE):
                continue
            code = [meaning(source) for source, _ in cells(path)]
            known = found.get(name)
            if known is not None:
                there = [meaning(source) for source, _ in cells(known)]
                code = code if set(code) - set(there) else []
            if code:
                found["en/" * prefix.startswith("en/") + name] = path
    return found


def _folders() -> dict[str, pathlib.Path]:
    """Where documents are, by what their names begin with: tutorials, then the other guides."""
    found = {}
    for below, prefix in (("tutorials", ""), ("docs/mindspore", "docs/")):
        root = sources.repository("mindspore-ai/docs", COMMIT, below) / below
        found[prefix], found["en/" + prefix] = root / "source_zh_cn", root / "source_en"
    return found


def one(name: str, document: pathlib.Path, mindspore: str | None, seconds: int) -> None:
    """Run one document in a folder of its own; its report stays in the cache."""
    folder = RUNS / name
    key = there(mindspore) if mindspore else "mycel"
    report = folder / f"{key}.json"
    shutil.rmtree(folder / key, ignore_errors=True)
    (folder / key).mkdir(parents=True)
    report.unlink(missing_ok=True)
    environment = dict(os.environ) | {"MPLBACKEND": "Agg", "HOME": str(folder / key)}
    environment["MYCEL_DEVICE"] = "CPU"
    words = [HERE / "cells.py", document, report, "--maker", sys.executable]
    words += ["--seconds", str(seconds)]
    words += ["--mindspore"] if mindspore else []
    words += ["--before", IMPORTS] if "docs/" in name else []
    words += ["--smaller", *SMALLER.get(name.removeprefix("en/"), ())]
    with (folder / f"{key}.log").open("w") as log:
        try:
            code: int | str = subprocess.run(
                [mindspore or sys.executable, *words], cwd=folder / key, env=environment,
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=4 * seconds,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = "time"
    rows = json.loads(report.read_text("utf-8")) if report.exists() else []
    count = len(cells(document))
    well = sum(not row["error"] for row in rows)
    print(f"{name:50} {key:16} {well:3} of {count:3}  exit code {code}", flush=True)


def there(python: str) -> str:
    """mindspore-2.10.0, say: the version that a Python has."""
    ask = "import importlib.metadata as m; print(m.version('mindspore'))"
    version = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True)
    return f"mindspore-{version.stdout.strip()}"


def results() -> dict[str, dict]:
    """For each document the number of its cells, and those that ran, here and in MindSpore."""
    found = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if not RUNS.exists():
        return found
    for name, document in documents().items():
        found.setdefault(name, {})["cells"] = len(cells(document))
        for report in (RUNS / name).glob("*.json"):
            rows = json.loads(report.read_text("utf-8"))
            found[name][report.stem] = [row["cell"] for row in rows if not row["error"]]
    return found


def table(found: dict[str, dict]) -> str:
    """One line for each document: the cells that ran, and what stopped the others."""
    lines = ["| tutorial | cells | mycel | MindSpore 2.7 | why others did not |"]
    lines.append("|---|---:|---:|---:|---|")
    alike: dict[str, list[dict]] = {}
    for name, row in found.items():
        if "mycel" not in row:
            continue
        if name.startswith(COMPARISONS):
            alike.setdefault(NAMED[SHOWN[1] in row], []).append(row)
            continue
        ran = [len(row[key]) if key in row else "" for key in SHOWN]
        counts = " | ".join(str(count) for count in (row["cells"], *ran))
        lines.append(f"| {name} | {counts} | {CAUSES.get(name, '')} |")
    for name, rows in sorted(alike.items()):
        counts = [sum(row["cells"] for row in rows)]
        counts += [sum(len(row[key]) for row in rows) for key in SHOWN if key in rows[0]]
        shown = " | ".join(map(str, [*counts, *[""] * (3 - len(counts))]))
        lines.append(f"| {COMPARISONS}/…, {len(rows)} {name} | {shown} | {CAUSES[name]} |")
    return "\n".join(lines) + "\n"


SHOWN = ("mycel", "mindspore-2.7.0")
# Pages that compare one operator with PyTorch's: one line for those that were run in MindSpore too,
# one for the others.
COMPARISONS = "docs/note/api_mapping"
NAMED = {True: "comparisons with PyTorch", False: "others, that read data"}


def missing(row: dict) -> list[int]:
    """The cells that run in a MindSpore and not here."""
    there = [ran for key, ran in row.items() if key.startswith("mindspore-")]
    runs = {cell for ran in there for cell in ran}
    return sorted(runs - set(row.get("mycel", ())))


def main() -> None:
    """Run what was asked for, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of documents' names; default, all")
    parser.add_argument("--mindspore", help="a Python that has MindSpore")
    parser.add_argument("--seconds", type=int, default=300, help="for one cell")
    parser.add_argument("--page", action="store_true", help="write tutorials.json and the table")
    options = parser.parse_args()
    if not options.page:
        for name, document in documents().items():
            if not options.names or any(name.startswith(start) for start in options.names):
                one(name, document, options.mindspore, options.seconds)
    found = results()
    if options.page:
        lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
        KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        text = PAGE.read_text("utf-8")
        PAGE.write_text(
            re.sub(r"\| tutorial \|.*\n(\|.*\n)+", lambda _: table(found), text), "utf-8"
        )
    for name, row in found.items():
        if "mycel" in row and missing(row):
            print(f"{name}: cells {missing(row)} run in MindSpore and not here")


if __name__ == "__main__":
    main()
