# SPDX-License-Identifier: Apache-2.0
"""Pieces of HTML for notebooks: headings with facts, folding trees, tables.

They bring no script and load nothing. Colours come from the page around them, so that they read
well on light and on dark ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_BOX = "font:13px/1.5 system-ui,sans-serif;max-width:75rem;overflow-x:auto"
_SOFT = "opacity:.75"
_CELL = "text-align:left;padding:.1rem .9rem .1rem 0"
_PRE = "margin:.2rem 0;font:12px/1.4 ui-monospace,monospace;white-space:pre;overflow-x:auto"
_DEEPER = "margin-left:1.2rem"


def box(*parts: str) -> str:
    """Parts that are HTML, one below the other."""
    return f"<div style='{_BOX}'>{''.join(parts)}</div>"


def heading(name: str, *facts: str) -> str:
    """A name, with facts behind it; both are plain text."""
    told = [f"<span style='{_SOFT}'>{escape(fact)}</span>" for fact in facts if fact]
    return " &nbsp;".join([f"<b>{escape(name)}</b>", *told])


def line(part: str) -> str:
    """A line of its own, of HTML."""
    return f"<div>{part}</div>"


def folded(title: str, inside: str, opened: bool = False) -> str:
    """What shows when its title is clicked; both are HTML."""
    state = " open" if opened else ""
    return f"<details{state}><summary>{title}</summary>{inside}</details>"


def preformatted(text: str) -> str:
    """Plain text as it stands."""
    return f"<pre style='{_PRE}'>{escape(text)}</pre>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of plain text below their heads."""
    top = "".join(f"<th style='{_CELL};{_SOFT}'>{escape(head)}</th>" for head in heads)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    head = f"<thead><tr>{top}</tr></thead>"
    return f"<table style='margin:.2rem 0'>{head}<tbody>{body}</tbody></table>"


class Entry(NamedTuple):
    """One line of a tree: how deep it stands, and its HTML."""

    depth: int
    shown: str


def tree(entries: Sequence[Entry], opened: int = 1) -> str:
    """A tree that folds, from its lines in order, each below the nearest before it that is less
    deep; so many levels of it are open."""
    parts: list[str] = []
    above: list[int] = []  # the depths of the branches that are open
    for entry, following in zip(entries, [*entries[1:], None], strict=True):
        while above and above[-1] >= entry.depth:
            parts.append("</details>")
            above.pop()
        aside = f" style='{_DEEPER}'" if above else ""
        if following is not None and following.depth > entry.depth:
            state = " open" if entry.depth < opened else ""
            parts.append(f"<details{state}{aside}><summary>{entry.shown}</summary>")
            above.append(entry.depth)
        else:
            parts.append(f"<div{aside}>{entry.shown}</div>")
    return "".join([*parts, "</details>" * len(above)])
