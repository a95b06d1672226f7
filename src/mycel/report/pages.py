# SPDX-License-Identifier: Apache-2.0
"""The ledger as a table for people: plain text, a page, or data for programs."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import NamedTuple

from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.places import cell_of_notebook
from mycel.kernel.base.version import __version__

WIDTH = 100
# The kinds of lines that mean a call could have been replayed, had the program been another one.
FAULTS = ("argument", "state", "effect", "read", "hook", "structure", "other")

# Widths that columns do not pass: what is longer is wrapped, places are cut from the left.
_MOST_NAME = 22
_MOST_PLACE = 30
_MOST_PLACE_OF_PAGE = 48


class Section(NamedTuple):
    """A part of the report: which lines, under which heading, how many of them at most."""

    title: str
    kinds: tuple[str, ...]
    counted: str
    rows: int


SECTIONS = (
    Section("Calls that ran in PyNative", FAULTS, "calls", 40),
    Section("Compilations", ("compiled",), "times", 15),
    Section("Settings that were accepted", ("accepted",), "times", 10),
    Section("Programs whose shapes keep changing", ("shapes",), "times", 10),
    Section("First recordings, which are no fault", ("first",), "calls", 10),
)


def summary(counts) -> str:
    """The report in one line."""
    took = f" in {_seconds(counts.compiling)} s" if counts.compilations else ""
    parts = [
        f"{_number(counts.compilations, 'compilation')}{took}",
        f"{_number(counts.replays, 'call')} replayed",
        f"{counts.unreplayed} run in PyNative",
        _number(counts.firsts, "first recording"),
    ]
    return ", ".join(parts)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _seconds(seconds: float) -> str:
    """Three digits or more: calls take milliseconds, compilations minutes."""
    digits = 4 if seconds < 0.1 else 3 if seconds < 1 else 2 if seconds < 10 else 1
    return f"{seconds:.{digits}f}"


def _sections(lines: Iterable) -> list[tuple[Section, list, list]]:
    """Each section that has lines: those shown, the dearest first, and those left out."""
    sections = []
    for section in SECTIONS:
        chosen = [line for line in lines if line.kind in section.kinds]
        chosen.sort(key=lambda line: (-line.seconds, -line.count))
        if chosen:
            sections.append((section, chosen[: section.rows], chosen[section.rows :]))
    return sections


def _left_out(section: Section, lines: list) -> str:
    count, seconds = sum(line.count for line in lines), sum(line.seconds for line in lines)
    return (
        f"and {_number(len(lines), 'line')} more, {count} {section.counted}, "
        f"{_seconds(seconds)} s: all are in mycel.debug.ledger().lines"
    )


def _what(line) -> str:
    """What happened, the first time and the last."""
    if line.last in ("", line.what):
        return line.what
    first, went, last = line.what, " went ", line.last
    if went in last and first.partition(went)[0] == last.partition(went)[0]:
        last = last.partition(went)[2]
    return f"{first} (last {last})"


# -- places --------------------------------------------------------------------------------------


def short_place(place: str) -> str:
    """A place as people know it: from the folder one is in, or by the cell of a notebook."""
    path, colon, line = place.rpartition(":")
    if not colon:
        return place
    named = cell_of_notebook(path)
    if named is not None:
        return f"{named}:{line}"
    here = os.path.join(_here(), "")
    return f"{path.removeprefix(here)}:{line}"


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return ""


def _cut(text: str, width: int) -> str:
    """The end of a path that is too long, from the start of a folder where one begins there."""
    if len(text) <= width:
        return text
    end = text[3 - width :]
    folder = end.find(os.sep)
    return "..." + (end[folder:] if 0 <= folder < len(end) - 12 else end)


# -- text ----------------------------------------------------------------------------------------


def text(counts, lines: Iterable) -> str:
    """A table of at most `WIDTH` columns without escape codes."""
    parts = [summary(counts)]
    for section, shown, left in _sections(lines):
        rows = [_Row(line) for line in shown]
        parts += ["", section.title, *_table(section, rows)]
        if left:
            parts.append(_left_out(section, left))
    return "\n".join(parts)


class _Row:
    """A line, in words without anything that would disturb a terminal."""

    def __init__(self, line):
        self.count, self.seconds = str(line.count), _seconds(line.seconds)
        self.name = _plain(line.name)
        self.what = _plain(_what(line))
        self.remedy = _plain(line.remedy)
        where = _cut(_plain(short_place(line.place)), _MOST_PLACE)
        cell = f"in {_plain(line.cell)}" if line.cell else ""
        self.where = [where, *_wrapped(cell, _MOST_PLACE)]
        if len(where) + len(cell) < _MOST_PLACE:
            self.where = [f"{where} {cell}"]


def _plain(words: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in words)


def _table(section: Section, rows: list[_Row]) -> list[str]:
    counts = max(len(section.counted), *(len(row.count) for row in rows))
    seconds = max(len("seconds"), *(len(row.seconds) for row in rows))
    names = min(_MOST_NAME, max(len("function"), *(len(row.name) for row in rows)))
    places = max(len(part) for row in rows for part in ("where", *row.where))
    whats = WIDTH - counts - seconds - names - places - 8
    widths = (counts, seconds, names, whats, places)
    lines = _columns((section.counted, "seconds", "function", "what", "where"), widths)
    lines += ["-" * WIDTH]
    for row in rows:
        lines += _columns((row.count, row.seconds, row.name, row.what, row.where), widths)
        if row.remedy:
            indent = " " * (counts + seconds + names + 6)
            lines += textwrap.wrap(
                f"-> {row.remedy}", WIDTH, initial_indent=indent, subsequent_indent=f"{indent}   "
            )
    return lines


def _columns(cells: tuple, widths: tuple) -> list[str]:
    """One row: numbers to the right, words wrapped within their column."""
    wrapped = [
        cell if isinstance(cell, list) else _wrapped(cell, width)
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, wrapped))):
        parts = [cell[number] if number < len(cell) else "" for cell in wrapped]
        parts = [
            part.rjust(width) if place < 2 else part.ljust(width)
            for place, (part, width) in enumerate(zip(parts, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return lines


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, break_on_hyphens=False)


# -- pages ---------------------------------------------------------------------------------------

# Colours come from the page around it, so that it reads well on light and on dark ones.
_STYLE = """
.mycel-ledger { font: 13px/1.45 system-ui, sans-serif; max-width: 75rem; }
.mycel-ledger table { border-collapse: collapse; width: 100%; margin: .3rem 0 1rem; }
.mycel-ledger th, .mycel-ledger td { text-align: left; vertical-align: top; padding: .25rem .7rem;
  border-bottom: 1px solid rgba(128, 128, 128, .35); }
.mycel-ledger th { font-weight: 600; opacity: .75; }
.mycel-ledger .number { text-align: right; font-variant-numeric: tabular-nums; }
.mycel-ledger code { font: 12px/1.5 ui-monospace, monospace; overflow-wrap: break-word;
  background: none; color: inherit; padding: 0; }
.mycel-ledger small { display: block; opacity: .75; }
.mycel-ledger summary { font-weight: 600; cursor: pointer; }
"""


def fragment(counts, lines: Iterable) -> str:
    """The report as a part of a page: what a notebook shows."""
    parts = [f"<div class='mycel-ledger'><style>{_STYLE}</style>", f"<p>{summary(counts)}</p>"]
    for section, shown, left in _sections(lines):
        opened = " open" if section.kinds == FAULTS else ""
        parts.append(f"<details{opened}><summary>{section.title}</summary><table><thead><tr>")
        parts.append(f"<th class='number'>{section.counted}</th><th class='number'>seconds</th>")
        parts.append("<th>function</th><th>what</th><th>where</th><th>write instead</th></tr>")
        parts += ["</thead><tbody>", *map(_html_row, shown), "</tbody></table>"]
        if left:
            parts.append(f"<p>{escape(_left_out(section, left))}</p>")
        parts.append("</details>")
    return "\n".join([*parts, "</div>"])


def _html_row(line) -> str:
    cell = f"<small>in {escape(line.cell)}</small>" if line.cell else ""
    short = escape(_cut(short_place(line.place), _MOST_PLACE_OF_PAGE))
    place = f"<code title='{escape(line.place)}'>{short}</code>{cell}"
    return (
        f"<tr><td class='number'>{line.count}</td><td class='number'>{_seconds(line.seconds)}</td>"
        f"<td><code>{escape(line.name)}</code></td><td>{escape(_what(line))}</td>"
        f"<td>{place}</td><td>{escape(line.remedy)}</td></tr>"
    )


def page(counts, lines: Iterable) -> str:
    """The report as a page of its own, which loads nothing."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
        "<meta name='color-scheme' content='light dark'>\n"
        "<meta name='viewport' content='width=device-width'>\n"
        f"<title>mycel ledger</title></head>\n<body>{fragment(counts, lines)}</body></html>\n"
    )


# -- files ---------------------------------------------------------------------------------------


def write(path: str | os.PathLike, counts, lines: Iterable) -> None:
    """Write a report in the form that the ending of its name asks for, as a whole or not at all."""
    lines = list(lines)
    ending = Path(path).suffix.lower()
    if ending in (".html", ".htm"):
        contents = page(counts, lines)
    elif ending == ".json":
        described = [asdict(line) for line in lines]
        data = {"mycel": __version__, "counts": asdict(counts), "lines": described}
        contents = json.dumps(data, indent=1) + "\n"
    else:
        contents = text(counts, lines) + "\n"
    # Names of files may hold bytes that are no text.
    encoded = contents.encode("utf-8", "backslashreplace")
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        Path(path).write_bytes(encoded)  # /dev/stderr and the like, which must not be replaced
        return
    with replaced(path) as partial:
        partial.write_bytes(encoded)
