# SPDX-License-Identifier: Apache-2.0
"""Run a tutorial's code cells in order, as a newcomer would, and tell what each did.

python cells.py DOCUMENT REPORT [--mindspore] [--seconds N] [--before LINE] [--smaller OLD=>NEW ...]
runs those of a notebook or of a page in Markdown, in an empty folder, after LINE. `download` makes
stand-in data in the place that the document names; lines that begin with % or ! are left out. Each
OLD=>NEW is a figure that is made smaller.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.abc
import importlib.machinery
import io
import json
import linecache
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time
import traceback
import types
from unittest import mock

HERE = pathlib.Path(__file__).parent
# The Python that has mycel, which makes the stand-in data also where the cells run in MindSpore.
MAKER = [sys.executable]


def main() -> None:
    """Run every cell, also after one that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--mindspore", action="store_true", help="run them in MindSpore itself")
    parser.add_argument("--maker", default=sys.executable, help="a Python that has mycel")
    parser.add_argument("--seconds", type=int, default=300, help="for one cell")
    parser.add_argument("--before", default="", help="a line to run first: the page's imports")
    parser.add_argument("--smaller", nargs="*", default=(), help="figures: OLD=>NEW")
    options = parser.parse_args()
    if not options.mindspore:
        import mycel

        mycel.install_as_mindspore()
    MAKER[0] = options.maker
    for name, what in (("download", {"download": stand_in}), ("requests", {"get": Answer})):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(what)
    sys.meta_path.append(Torch())
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    exec(options.before, main_module.__dict__)
    found = []
    for number, (source, said) in enumerate(cells(options.document)):
        for change in options.smaller:
            source = source.replace(*change.split("=>"))
        found.append({"cell": number} | run(source, number, main_module.__dict__, options.seconds))
        found[-1]["expected"] = said
        options.report.write_text(json.dumps(found, indent=1), "utf-8")


def cells(document: pathlib.Path) -> list[tuple[str, str]]:
    """The source of each code cell, and what the document says that it prints or raises."""
    text = document.read_text("utf-8")
    if document.suffix == ".ipynb":
        found = [
            ("".join(cell["source"]), expected(cell))
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    else:
        blocks = re.findall(
            r"^ *```\s*[Pp]ython\b[^\n]*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE
        )
        found = [(textwrap.dedent(block), "") for block in blocks]
    return [(source, said) for source, said in found if source.strip()]


def meaning(source: str) -> str:
    """The code of a cell without its comments and layout, to know it again in a translation."""
    source = "\n".join(line for line in source.splitlines() if not re.match(r"\s*[%!]", line))
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return re.sub(r"#.*|\s+", "", source)


def run(source: str, number: int, names: dict, limit: int) -> dict:
    """What one cell printed, and the exception that ended it."""
    lines = [
        line if not re.match(r"\s*[%!]", line) else re.match(r"\s*", line)[0] + "pass"
        for line in source.splitlines()
    ]
    source = "\n".join(lines) + "\n"
    name = f"<cell {number}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    begun, printed, error = time.monotonic(), io.StringIO(), ""
    signal.signal(signal.SIGALRM, lambda *_: too_long(limit))
    signal.alarm(limit)
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, name, "exec"), names)
        except BaseException as problem:
            error = f"{type(problem).__name__}: {problem}"[:600]
            traceback.print_exc()
    signal.alarm(0)
    # A debugger that the cell has begun, and that nobody answers, would end the next one too.
    sys.settrace(None)
    seconds = round(time.monotonic() - begun, 1)
    return {"printed": printed.getvalue()[:20000], "error": error, "seconds": seconds}


def too_long(limit: int) -> None:
    """End a cell."""
    raise TimeoutError(f"longer than {limit} s")


def expected(cell: dict) -> str:
    """What the notebook says that the cell prints or raises."""
    text = ""
    for output in cell.get("outputs", []):
        text += "".join(output.get("text", "")) + str(output.get("ename", ""))
    return text[:20000]


class Torch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What pages import of PyTorch for comparison, where it is not there: it takes all calls."""

    def find_spec(self, name, path=None, target=None):
        """The modules that are made here."""
        if name.split(".")[0] not in ("torch", "torchaudio", "torchtext", "torchvision"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        """A module that has every name."""
        module = mock.MagicMock(name=spec.name, __spec__=spec, __path__=[])
        # Libraries ask whether a value is one of these.
        module.Tensor = type("Tensor", (), {})
        return module

    def exec_module(self, module):
        """There is nothing in it."""


def stand_in(url: str, path: str = ".", **_: object) -> str:
    """Make small data in the layout of what `url` brings."""
    subprocess.run([MAKER[0], HERE / "stand_in.py", url, path], check=True)
    return path


class Answer:
    """What `requests.get` answers: the bytes of a stand-in."""

    def __init__(self, url: str, **_: object):
        path = pathlib.Path(stand_in(url, url.rsplit("/", 1)[-1]))
        self._bytes = path.read_bytes()
        self.headers = {"Content-Length": str(len(self._bytes))}

    def iter_content(self, chunk_size: int):
        """The bytes in pieces."""
        for begin in range(0, len(self._bytes), chunk_size):
            yield self._bytes[begin : begin + chunk_size]


if __name__ == "__main__":
    main()
