# SPDX-License-Identifier: Apache-2.0
"""Run a notebook's code cells in order, as a newcomer would, and tell what each did.

python cells.py NOTEBOOK REPORT runs in an empty folder. `download` makes stand-in data in the
place that the notebook names; lines that begin with % or ! are left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import pathlib
import re
import sys
import time
import traceback
import types


def main() -> None:
    """Run every cell, also after one that fails."""
    import mycel

    mycel.install_as_mindspore()
    notebook, report = map(pathlib.Path, sys.argv[1:3])
    sys.modules["download"] = types.ModuleType("download")
    sys.modules["download"].__dict__["download"] = stand_in
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    names = {"__name__": "__main__"}
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(names)
    sys.modules["__main__"] = main_module
    found = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and source.strip():
            found.append({"cell": number} | run(source, number, main_module.__dict__))
            found[-1]["expected"] = expected(cell)
            report.write_text(json.dumps(found, indent=1), "utf-8")


def run(source: str, number: int, names: dict) -> dict:
    """What one cell printed, and the exception that ended it."""
    lines = [
        line if not re.match(r"\s*[%!]", line) else re.match(r"\s*", line)[0] + "pass"
        for line in source.splitlines()
    ]
    source = "\n".join(lines) + "\n"
    name = f"<cell {number}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    begun, printed, error = time.monotonic(), io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, name, "exec"), names)
        except BaseException as problem:
            error = f"{type(problem).__name__}: {problem}"[:600]
            traceback.print_exc()
    seconds = round(time.monotonic() - begun, 1)
    return {"printed": printed.getvalue()[:20000], "error": error, "seconds": seconds}


def expected(cell: dict) -> str:
    """What the notebook says that the cell prints or raises."""
    text = ""
    for output in cell.get("outputs", []):
        text += "".join(output.get("text", "")) + str(output.get("ename", ""))
    return text[:20000]


def stand_in(url: str, path: str = ".", **_: object) -> str:
    """Make small data in the layout of what `url` brings."""
    import importlib.util

    here = pathlib.Path(__file__).parent
    spec = importlib.util.spec_from_file_location("_wild_stand_in", here / "stand_in.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(url, pathlib.Path(path))
    return path


if __name__ == "__main__":
    main()
