# SPDX-License-Identifier: Apache-2.0
"""Pages as Jupyter notebooks: text is Markdown, and every example a cell that can be run; and the
notebooks of docs/tutorials, which have been run, as pages."""

from __future__ import annotations

import doctest
import html
import json
import re

BLOCK = re.compile(r"^```python\n(>>>.*?)^```$", re.M | re.S)
# Other pages and pictures are not beside a notebook: of their links the words stay.
LOCAL = re.compile(r"!?\[([^\]]*)\]\((?!\w+://)[^)]*\)")
OPTION = re.compile(r"\s*# doctest:.*")


def cells_of(session: str):
    """Code, and whether it raises: a cell ends where the session shows a result."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(session):
        lines.append(OPTION.sub("", example.source).rstrip("\n"))
        if example.want:
            yield "\n".join(lines), example.exc_msg is not None
            lines = []
    if lines:
        yield "\n".join(lines), False


def to_notebook(markdown: str) -> str:
    """A notebook of a page, as Jupyter stores it."""
    cells: list[dict] = []

    def add(kind: str, text: str, **more) -> None:
        named = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": text}
        cells.append(named | more)

    for place, part in enumerate(BLOCK.split(markdown)):
        if place % 2:
            for code, raises in cells_of(part):
                allowed = {"tags": ["raises-exception"]} if raises else {}
                add("code", code, metadata=allowed, execution_count=None, outputs=[])
        elif part.strip():
            add("markdown", LOCAL.sub(r"\1", part).strip())
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


# Colours of a terminal in a traceback.
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TO_NOTEBOOK = re.compile(r"\]\((\w+)\.ipynb\)")


def to_page(notebook: str) -> str:
    """The Markdown of a notebook, with what its cells show."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(TO_NOTEBOOK.sub(r"](\1.md)", source))
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [shown_of(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def shown_of(output: dict) -> str:
    """What a notebook shows of one result, as HTML: the richest form that there is."""
    data = output.get("data", {})
    if "text/html" in data:
        shown = "".join(data["text/html"])
    elif "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        shown = (
            f'<img alt="a figure drawn by the cell above" src="data:image/png;base64,{picture}">'
        )
    else:
        text = output.get("text") or data.get("text/plain") or "\n".join(output["traceback"])
        shown = f"<pre>{html.escape(COLOURS.sub('', ''.join(text)), quote=False)}</pre>"
    return f'<div class="output">{shown}</div>'
