# SPDX-License-Identifier: Apache-2.0
"""A profile as one page: tables, a flame graph by Cells, and a timeline of the last step."""

from __future__ import annotations

import zlib
from html import escape
from typing import TYPE_CHECKING, Any

from mycel.debug.costs import short
from mycel.debug.profiling.timeline import tracks

if TYPE_CHECKING:
    from mycel.debug.profiling.result import Profile

# Spans of the timeline beyond this many, and bars of the flame graph narrower than this share of
# it, are left out.
MOST_SPANS = 2000
NARROWEST = 0.001
MOST_ROWS = 40
_PARTS = {
    "operators": "#4c9f70", "between operators": "#a8c686", "compilation": "#d1495b",
    "data": "#edae49", "python": "#30638e",
}  # fmt: skip
_STYLE = """
.mycel{font:14px/1.4 system-ui,sans-serif;color:#222;background:#fff;max-width:75rem}
.mycel .wide{overflow-x:auto}
.mycel table{border-collapse:collapse;font-size:13px}
.mycel td,.mycel th{padding:2px 8px;text-align:right;white-space:nowrap}
.mycel tr{border-bottom:1px solid #eee}
.mycel td:first-child,.mycel th:first-child{text-align:left}
.mycel .bar{display:flex;height:1.6rem;border-radius:4px;overflow:hidden}
.mycel .key{display:inline-block;margin-right:1rem}
.mycel .key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem}
.mycel .field{position:relative;min-width:36rem}
.mycel .field div{position:absolute;height:18px;overflow:hidden;white-space:nowrap;font-size:11px;
line-height:18px;box-sizing:border-box;border-right:1px solid #fff;padding-left:2px}
.mycel .field div.name{width:auto!important;color:#888;background:none;border:0;overflow:visible}
"""


def page_of(profile: Profile, whole: bool) -> str:
    """The page, or, for a notebook, what stands in it.

    Args:
        profile: what is shown.
        whole: whether it is a page of its own.
    """
    head, *rest = profile.summary()
    parts = [
        f"<style>{_STYLE}</style><div class='mycel'>",
        f"<h2>{escape(head)}</h2>",
        *[f"<p>{escape(line.strip())}</p>" for line in rest],
        _bar(profile),
        "<h3>By Cell</h3>" + _table(profile.table),
        "<h3>Flame graph of the Cells</h3>" + _flames(profile),
        "<h3>Timeline of the last step</h3>" + _timeline(profile),
        "<h3>By operator</h3>" + _table(_operators(profile)),
        "<h3>Alive at the peak of memory</h3>" + _table(_alive(profile)),
        "</div>",
    ]
    body = "".join(parts)
    if not whole:
        return body
    view = "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    head = f"<meta charset='utf-8'>{view}<title>Profile of a step</title>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{body}</body></html>"


def _bar(profile: Profile) -> str:
    total = sum(profile.parts.values()) or 1.0
    bars, keys = "", ""
    for name, seconds in profile.parts.items():
        told = f"{name}: {seconds * 1e3:.3g} ms"
        style = f"width:{100 * seconds / total:.2f}%;background:{_PARTS[name]}"
        bars += f"<div style='{style}' title='{told}'></div>"
        keys += f"<span class='key'><i style='background:{_PARTS[name]}'></i>{told}</span>"
    return f"<div class='bar'>{bars}</div><p>{keys}</p>"


def _table(lines: list[list[str]]) -> str:
    heads, *rows = lines
    text = "".join(f"<th>{escape(head)}</th>" for head in heads)
    text = f"<tr>{text}</tr>"
    for row in rows:
        cells = []
        for cell in row:
            depth = len(cell) - len(cell.lstrip(" "))
            indent = f" style='padding-left:{8 + 6 * depth}px'" if depth else ""
            cells.append(f"<td{indent}>{escape(cell.strip())}</td>")
        text += f"<tr>{''.join(cells)}</tr>"
    return f"<div class='wide'><table>{text}</table></div>"


def _operators(profile: Profile) -> list[list[str]]:
    lines = [["operator", "phase", "Cell", "line", "calls", "ms", "FLOPs", "bytes"]]
    for row in profile.operators[:MOST_ROWS]:
        counts = [f"{row.calls:g}", f"{row.seconds * 1e3:.3g}", short(row.flops), short(row.bytes)]
        lines.append([row.operator, row.phase, row.path, row.line, *counts])
    return lines


def _alive(profile: Profile) -> list[list[str]]:
    lines = [["Cell", "operator", "phase", "bytes"]]
    lines += [
        [row.path or "-", row.operator, row.phase, short(row.bytes)]
        for row in profile.peak.rows[:MOST_ROWS]
    ]
    return lines


# -- pictures -------------------------------------------------------------------------------------


def colour(name: str) -> str:
    """A light colour, the same for the same name.

    Example:
        >>> from mycel.debug.profiling.page import colour
        >>> colour("Net.conv1") == colour("Net.conv1")
        True
    """
    return f"hsl({zlib.crc32(name.encode()) % 360},60%,78%)"


def _box(left: float, width: float, row: int, label: str, told: str, fill: str) -> str:
    place = f"left:{100 * left:.3f}%;width:{100 * width:.3f}%;top:{20 * row}px;background:{fill}"
    return f"<div style='{place}' title='{escape(told, quote=True)}'>{escape(label)}</div>"


def _flames(profile: Profile) -> str:
    """A bar for each phase, below it the Cells, and the operators below their Cell."""
    tree: dict[str, Any] = {}
    total = 0.0
    for row in profile.operators:
        names = [row.phase, *(row.path.split(".") if row.path else ()), f"{row.operator}()"]
        total += row.seconds
        inside = tree
        for name in names:
            node = inside.setdefault(name, [0.0, {}])
            node[0] += row.seconds
            inside = node[1]
    boxes: list[str] = []
    deepest = 0

    def draw(inside: dict[str, Any], left: float, depth: int, path: str) -> None:
        nonlocal deepest
        for name, (seconds, below) in inside.items():
            width = seconds / total
            if width >= NARROWEST:
                deepest = max(deepest, depth)
                here = f"{path} {name}".strip()
                told = f"{here}: {seconds * 1e3:.3g} ms, {width:.1%}"
                fill = colour(here.partition(" ")[2] or name)
                boxes.append(_box(left, width, depth, name, told, fill))
                draw(below, left, depth + 1, here)
            left += width

    if total:
        draw(tree, 0.0, 0, "")
    return _field(boxes, deepest + 1)


def _field(boxes: list[str], rows: int) -> str:
    inside = f"<div class='field' style='height:{20 * rows}px'>{''.join(boxes)}</div>"
    return f"<div class='wide'>{inside}</div>"


def _timeline(profile: Profile) -> str:
    if not profile.windows:
        return "<p>No step was profiled.</p>"
    start, end = profile.last_step
    spans = [span for span in profile.spans if span.end > start and span.start < end]
    left_out = max(0, len(spans) - MOST_SPANS)
    spans = sorted(spans, key=lambda span: span.start - span.end)[:MOST_SPANS]
    spans.sort(key=lambda span: (span.start, -span.end))
    boxes, row = [], 0
    for kind, found in profile.marks.items():
        inside = [(max(a, start), min(b, end)) for a, b in found if b > start and a < end]
        if inside and kind != "step":
            boxes.append(_name(kind, row))
            for a, b in inside:
                told = f"{kind}: {(b - a) / 1e6:.3g} ms"
                place = (a - start) / (end - start), (b - a) / (end - start)
                boxes.append(_box(*place, row + 1, kind, told, "#ddd"))
            row += 2
    lines: dict[tuple[str, int], int] = {}
    for span, track in zip(spans, tracks(spans), strict=True):
        if track not in lines:
            boxes.append(_name(track[0], row))
            lines[track] = row + 1
            row += 2
        path, operator, phase = profile.label_of(span.program, span.what)
        told = f"{path} {operator} ({phase}): {(span.end - span.start) / 1e6:.3g} ms"
        a, b = max(span.start, start), min(span.end, end)
        place = (a - start) / (end - start), (b - a) / (end - start)
        label = f"{path.rpartition('.')[2]} {operator}".strip()
        boxes.append(_box(*place, lines[track], label, told.strip(), colour(path or operator)))
    note = f"<p>{left_out} shorter spans are left out.</p>" if left_out else ""
    return _field(boxes, row) + note


def _name(text: str, row: int) -> str:
    return f"<div class='name' style='top:{20 * row}px'>{escape(text)}</div>"
