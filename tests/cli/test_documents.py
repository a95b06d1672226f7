# SPDX-License-Identifier: Apache-2.0
"""The documents' own programs, where a copy of them lies beside the checkout; else nothing.

Every fenced program is run unchanged, and with GRAPH_MODE. Oracle: the text the document prints.
Numbers that change with the random seed are compared between the two modes instead.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from cli.test_run import MODES, mycel_run

DOCUMENTS = Path(__file__).parents[3] / "shared" / "reference"
FENCE = re.compile(r"^```(python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
# A program that shows an error: tests/ops/test_data_queue.py has it.
LEFT_OUT = re.compile(r"GetNext")
SEED = "import numpy, mindspore\nnumpy.random.seed({0})\nmindspore.set_seed({0})\n"


def blocks(text: str):
    """(code, printed text or "") of every fenced program of a document, in order."""
    for (kind, code), following in pairwise([*FENCE.findall(text), ("", "")]):
        if kind == "python" and is_program(code) and not LEFT_OUT.search(code):
            printed = following[0] == "text" or not is_program(following[1])
            yield echoing(code), following[1] if printed else ""


def is_program(code: str) -> bool:
    """Some fences of programs hold printed text."""
    try:
        return bool(ast.parse(code).body) and "Tensor(shape=" not in code
    except SyntaxError:
        return False


def echoing(code: str) -> str:
    """The code, with a last expression printed as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body[-1]
    shown = isinstance(last, ast.Expr) and ast.unparse(last)
    if not shown or shown.startswith(("print(", "net.set_train", "context.")) or "\n" in shown:
        return code
    if shown.endswith("()"):
        return code
    tree.body[-1] = ast.parse(f"print(repr({shown}))").body[0]
    return ast.unparse(tree) + "\n"


def programs():
    """(name, code, printed text): blocks that go on where another ended belong to its program."""
    for document in sorted(DOCUMENTS.glob("*.txt")):
        found: list[list[str]] = []
        for code, text in blocks(document.read_text("utf-8")):
            if "set_context(mode" in code or not found:
                found.append([code, text])
            else:
                found[-1][0] += code
                found[-1][1] += text
        for number, (code, text) in enumerate(found):
            if text:
                yield pytest.param(code, text, id=f"{document.name[:3]}-{number}")


def run(folder: Path, code: str, mode: str, seed: int) -> str:
    script = folder / f"{mode}_{seed}.py"
    script.write_text(SEED.format(seed) + code.replace("PYNATIVE_MODE", mode), "utf-8")
    if mode not in script.read_text("utf-8"):
        text = f"mindspore.set_context(mode=mindspore.{mode})\n"
        script.write_text(SEED.format(seed) + text + code, "utf-8")
    done = mycel_run(script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def parts(text: str) -> tuple[str, list[float]]:
    """The text without blanks and numbers, and the numbers."""
    return re.sub(r"\s", "", NUMBER.sub("#", text)), [float(n) for n in NUMBER.findall(text)]


PROGRAMS = list(programs())
if PROGRAMS:

    @pytest.mark.parametrize(("code", "expected"), PROGRAMS)
    def test_program_of_a_document(code, expected, tmp_path):
        pynative, graph = (parts(run(tmp_path, code, mode, 0)) for mode in MODES)
        shape, numbers = parts(expected)
        assert pynative[0] == graph[0] == shape
        assert pynative[1] == pytest.approx(graph[1], rel=2e-5, abs=1e-6)
        if pynative[1] != numbers:
            # What another seed leaves as it is was not random, and must be the document's.
            other = parts(run(tmp_path, code, MODES[0], 1))[1]
            rows = zip(pynative[1], other, numbers, strict=True)
            assert all(ours == documented for ours, others, documented in rows if ours == others)
