# SPDX-License-Identifier: Apache-2.0
"""The text of docs/errors.md."""

from __future__ import annotations

import html
import inspect
import json
import re
import textwrap
from pathlib import Path

from tools.errors import in_mindspore
from tools.errors.record import faults_of, made

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "errors.md"
RECORDS = ROOT / "tests" / "fixtures" / "errors"
OTHERS = {"PyTorch": "in_torch", "JAX": "in_jax", "MindSpore": "in_mindspore"}
MOST = 400

# Above this line of the page is text that is written by hand, below is what this writes.
BEGIN = "## The faults\n"
FAULTS = """
The others are PyTorch {PyTorch}, JAX {JAX} and MindSpore {MindSpore}, on a CPU. `ones(2, 3)` is a
Tensor of ones, and the programs share these Cells:

```text
{definitions}
```
"""


def records() -> dict[str, dict]:
    """What the other frameworks say, by their names."""
    return {
        name: json.loads((RECORDS / f"{name.lower()}.json").read_text("utf-8")) for name in OTHERS
    }


def page(run=None) -> str:
    """The page, from what mycel says now.

    Args:
        run: makes another callable of each fault, as a decorator does.
    """
    written = PAGE.read_text("utf-8").partition(BEGIN)[0]
    others = records()
    versions = {name: record["version"] for name, record in others.items()}
    kinds = (in_mindspore.Mixer, in_mindspore.Net, in_mindspore.Half)
    definitions = "\n\n".join(inspect.getsource(kind).rstrip() for kind in kinds)
    parts = [written + BEGIN + FAULTS.format(**versions, definitions=definitions)]
    for name, fault in faults_of(in_mindspore).items():
        said = made(fault, in_mindspore.__file__, run)
        rows = {"**mycel**": said} | {o: r["faults"].get(name) for o, r in others.items()}
        table = [f"| {who} | {_cell(what)} |" for who, what in rows.items()]
        title = (fault.__doc__ or "").strip().rstrip(".")
        program = f"```text\n{_program(fault)}\n```"
        parts.append("\n".join([f"### {title}\n", program, "", "| | |", "|---|---|", *table, ""]))
    return "\n".join(parts)


def _program(fault) -> str:
    """The lines of a fault."""
    lines = inspect.getsource(fault).splitlines()[2:]
    program = textwrap.dedent("\n".join(lines)).strip()
    return re.sub(r"^return ", "", program, flags=re.M)


def _cell(said: dict[str, str] | None) -> str:
    if said is None:
        return "has no such thing"
    kind = f"`{said['kind']}`" if said["kind"] else ""
    when = ", when the result is read" * (said.get("when") == "read")
    text = said["text"] if len(said["text"]) <= MOST else said["text"][:MOST] + " …"
    if said.get("note"):
        text += f"\n{said['note']}"
    text = _escaped(text)
    return f"{kind}{when}: {text}" if kind else text


def _escaped(text: str) -> str:
    """A text as it stands in a table of Markdown."""
    text = html.escape(text, quote=False)
    return re.sub(r"([\\|*_\[\]`])", r"\\\1", text).replace("\n", "<br>")
