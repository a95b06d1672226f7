# SPDX-License-Identifier: Apache-2.0
"""The page of results, `docs/zoo.md`, written from the lines of `check_zoo.py`."""

from __future__ import annotations

import re
from pathlib import Path

from facts import MIXED, ONE_IMAGE, apart

TEXT = """\
# The model zoo

[mindcv](https://pypi.org/project/mindcv/) 0.3.0 from the package index runs on mycel unmodified:
`import mindcv` after `mycel.install_as_mindspore()`, or a program with `mycel run`. This page is
written by `tests/zoo/check_zoo.py`. It builds every architecture, compares the names, shapes and
types of its parameters with those under real MindSpore 2.7.0, compares its outputs for weights that
MindSpore saved, and trains it in both modes.

```sh
pip install --no-deps mindcv==0.3.0 && pip install pyyaml tqdm      # beside mycel
/path/to/mindspore/python -m pip install --no-deps --target zoo mindcv==0.3.0 pyyaml tqdm
python tests/zoo/check_zoo.py --mindspore /path/to/mindspore/python --mindcv zoo \\
    --out results.jsonl --document docs/zoo.md
```

It can be interrupted, and goes on where it stopped. All networks have 10 classes, batches of two
images of random numbers, and the smallest of several sizes at which they compute anything.

**Of the {all} registered architectures:** {names}
{forward}
{train}

- *size*: of the images; where training needs larger ones than prediction, both.
- *names*: names in the network and in checkpoints, shapes and types, compared as one digest.
- *difference*: the largest difference of an output from MindSpore's, divided by the largest output;
  the larger of the two modes. Parameters that begin as constants are moved by noise first, so that
  no scale of zero hides a part of a network.
- *PyNative*, *Graph*: the loss of the third of three training steps (`TrainOneStepCell`, Momentum);
  in Graph mode the third call is the first that is replayed.
- *modes*: the largest difference of a loss between the modes, divided by the loss.
- A dash: not run.

| architecture | parameters | weights | names | size | difference | PyNative | Graph | modes |
|---|---|---|---|---|---|---|---|---|
{rows}
{remarks}"""


def write_document(path: Path, recorded: dict, rows: dict) -> None:
    """Write the page: what was run, and nothing else."""
    stages = {
        stage: {name: row for (of, name), row in rows.items() if of == stage and name in recorded}
        for stage in ("names", "forward", "train")
    }
    remarks: list[str] = []
    lines = [
        line(name, facts, {stage: rows.get(name, {}) for stage, rows in stages.items()}, remarks)
        for name, facts in sorted(recorded.items())
    ]
    page = TEXT.format(
        all=len(recorded),
        names=told_names(recorded, stages["names"]),
        forward=told_forward(recorded, stages["forward"]),
        train=told_train(stages["train"]),
        rows="\n".join(lines),
        remarks="\n" + "\n".join(remarks) + "\n" if remarks else "",
    )
    path.write_text(page)


def told_names(recorded: dict, rows: dict) -> str:
    """How many build, and with equal names."""
    built = sum(row["builds"] for row in rows.values())
    equal = sum(row["builds"] and row["equal"] for row in rows.values())
    neither = [n for n, row in rows.items() if not row["builds"] and "error" in recorded[n]]
    text = f"{built} build, {equal} of them with names, shapes and types equal to MindSpore's."
    if neither:
        listed = ", ".join(f"`{name}`" for name in neither)
        text += f"\n{len(neither)} build under neither, with the same error: {listed}."
    return text


def told_forward(recorded: dict, rows: dict) -> str:
    """How many outputs agree, of how many families."""
    compared = {name: difference(row) for name, row in rows.items() if "pynative" in row}
    close = [name for name, far in compared.items() if far <= 1e-4]
    families = len({recorded[name]["family"] for name in close})
    failed = [n for n, row in rows.items() if "error" in row]
    theirs = [n for n, row in rows.items() if "error_of_mindspore" in row]
    text = (
        f"Outputs were compared for {len(compared)}; {len(close)} are within 1e-4 of MindSpore's "
        f"(from {families} of {len({f['family'] for f in recorded.values()})} families)."
    )
    if theirs:
        text += f" {len(theirs)} could not be compared, because they fail under MindSpore."
    if failed:
        text += f" {len(failed)} failed under mycel."
    return text


def told_train(rows: dict) -> str:
    """How many train, alike in both modes."""
    trained = [row for row in rows.values() if "losses" in row]
    alike = [
        row for row in trained if apart(row["losses"]) <= 1e-4 and all(row["changed"].values())
    ]
    failed = len(rows) - len(trained)
    text = (
        f"Training steps were taken with {len(trained)}; {len(alike)} of them with parameters "
        "changed and losses of the two modes within 1e-4."
    )
    shares = [min(row["changed"].values()) / row["trainable"] for row in trained]
    if shares:
        text += (
            f" In {shares.count(1)} every trainable parameter changed; of the others at least "
            f"{int(100 * min(shares))}% did."
        )
    return text + (f" {failed} failed." if failed else "")


def line(name: str, facts: dict, rows: dict, remarks: list[str]) -> str:
    """One row of the table; what needs words goes to the remarks."""
    names, forward, train = rows["names"], rows["forward"], rows["train"]
    equal = "-"
    if names:
        equal = "equal" if names["equal"] and names["builds"] else "**differ**"
    if "error" in facts:
        remarks.append(f"- `{name}` does not build under MindSpore: `{first(facts['error'])}`.")
        equal = "builds under neither" if names and not names["builds"] else "-"
    for source, key, where in (
        (forward, "error_of_mindspore", "under MindSpore, in prediction"),
        (forward, "error", "under mycel, in prediction"),
        (train, "error", "under mycel, in prediction or training"),
    ):
        if key in source:
            remarks.append(f"- `{name}` fails {where}: `{first(source[key])}`.")
    far = f"{difference(forward):.1e}" if "pynative" in forward else "-"
    if "our_rounding" in forward and difference(forward) > 1e-4:
        remarks.append(
            f"- `{name}`, with weights that are not trained, rounds much: in double precision the "
            f"outputs are {forward['rounding_of_mindspore']:.1e} from MindSpore's and "
            f"{forward['our_rounding']:.1e} from ours."
        )
    losses = train.get("losses", {})
    if losses and name in MIXED:
        remarks.append(
            f"- `{name}` was trained in mixed precision (`O2`): it brings Float16 weights, which "
            "its operators do not take beside Float32 images."
        )
    if losses and name in ONE_IMAGE:
        remarks.append(f"- `{name}` was trained with one image, for want of memory.")
    if "apart_in_double" in train and apart(losses) > 1e-4:
        remarks.append(
            f"- `{name}`, trained on two small images, rounds much: in double precision the losses "
            f"of the two modes are {train['apart_in_double']:.1e} apart."
        )
    cells = [
        f"`{name}`",
        facts.get("parameters", "-"),
        f"{facts['weights']:,}" if "weights" in facts else "-",
        equal,
        " / ".join(dict.fromkeys(str(row["size"]) for row in (forward, train) if "size" in row))
        or "-",
        "failed" if "error" in forward else far,
        *(f"{losses[mode][-1]:.4f}" if losses else "-" for mode in ("pynative", "graph")),
        f"{apart(losses):.1e}" if losses else ("failed" if "error" in train else "-"),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def difference(row: dict) -> float:
    """The larger difference of the two modes."""
    return max(row["pynative"], row["graph"])


def first(error: str) -> str:
    """The beginning of an error, on one line, without the folders of a machine."""
    text = re.sub(r"\S*site-packages/", "", error.replace("-" * 10, ""))
    return " ".join(text.split()).replace("|", "/").replace("`", "'")[:200]
