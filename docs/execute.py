# SPDX-License-Identifier: Apache-2.0
"""`python docs/execute.py [FILE ...]`: run the notebooks of docs/tutorials, keep what they show.

Each runs in a kernel of its own and in an empty folder. An exception ends it, but in a cell that
is tagged "raises-exception". Times and versions, which tell nothing, are left out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import nbclient
import nbformat

TUTORIALS = Path(__file__).parent / "tutorials"
# Seconds that a cell may take.
MOST_SECONDS = 300


def executed(path: Path):
    """The notebook in a file as it is after a run."""
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        nbclient.NotebookClient(
            book, timeout=MOST_SECONDS, kernel_name="python3", resources=where
        ).execute()
    book.metadata.pop("language_info", None)
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return book


def _joined(outputs: list) -> list:
    """What was printed in one piece, however it came."""
    joined: list = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last is not None and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def main(paths: list[str]) -> None:
    for path in map(Path, paths) if paths else sorted(TUTORIALS.glob("*.ipynb")):
        begun = time.perf_counter()
        book = executed(path)
        nbformat.validate(book)
        text = json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True)
        path.write_text(text + "\n", "utf-8")
        print(f"{path.name}: {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
