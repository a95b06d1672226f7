# SPDX-License-Identifier: Apache-2.0
"""The charts of the benchmarks, from benchmarks.json: shorter bars are faster."""

from __future__ import annotations

import json
from pathlib import Path

from tools.pictures.svg import WIDTH, picture, text

RECORDED = Path(__file__).parent / "benchmarks.json"
# All networks of a run: `python -m bench --record` writes it.
MEASURED = Path(__file__).parent / "measured.json"
LEFT, RIGHT, TOP, ROW = 180, 62, 74, 32
LONGEST = 1.6  # times PyTorch; what is longer is cut off, and its number says how long it is


def chart(work: dict, recorded: dict) -> str:
    """One piece of work: a bar for each framework, with the quartiles where they were recorded."""
    scale = (WIDTH - LEFT - RIGHT) / LONGEST
    parts = [
        text(20, 32, work["title"], "ink bold"),
        text(20, 54, "time of a step, PyTorch eager = 1; shorter is faster", "soft small"),
    ]
    for place, (name, middle, *quartiles) in enumerate(work["lanes"]):
        y = TOP + place * ROW
        kind = "ours" if name.startswith("mycel") else "theirs"
        length = min(middle, LONGEST) * scale
        parts.append(text(LEFT - 10, y + 17, name, "ink", ' text-anchor="end"'))
        parts.append(
            f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="24" rx="3"/>'
        )
        if middle > LONGEST:
            x = LEFT + length - 22
            parts.append(f'<path class="card" d="M{x:.1f} {y + 27}l8 -30h6l-8 30z"/>')
        if quartiles:
            low, high = (LEFT + min(value, LONGEST) * scale for value in quartiles)
            parts.append(
                f'<rect class="ink" x="{low:.1f}" y="{y + 11}" '
                f'width="{high - low:.1f}" height="2"/>'
            )
        shown = f"{middle:.2f}" if middle < 2 else f"{middle:.1f}"
        end = max(length, *(min(value, LONGEST) * scale for value in quartiles), 0)
        parts.append(text(LEFT + end + 8, y + 17, shown, "ink bold"))
    y = TOP + len(work["lanes"]) * ROW + 16
    parts += [text(20, y + 18 * n, line, "soft small") for n, line in enumerate(recorded["said"])]
    height = y + 18 * len(recorded["said"])
    title = f"{work['title']}: " + ", ".join(f"{name} {value}" for name, value, *_ in work["lanes"])
    return picture(height, title, parts)


# The overview: how long the bar of a step is that takes as long as the other, and how high a row.
HALF, SMALL = 138, 20


def overview(measured: list[dict]) -> str:
    """A bar for each network: Graph's time over that of the fastest of PyTorch's lanes."""
    rows = [row for row in measured if row["lane"] == "graph"]
    left, scale = 210, HALF
    parts = [
        text(20, 32, "A step in Graph mode / the fastest of PyTorch", "ink bold"),
        text(20, 54, "PyTorch eager or torch.compile = 1; shorter is faster", "soft small"),
    ]
    for place, row in enumerate(rows):
        y, (low, middle, high) = TOP + place * SMALL, row["ratio"]
        length = min(middle, LONGEST) * scale
        parts.append(text(left - 10, y + 12, row["title"], "ink small", ' text-anchor="end"'))
        parts.append(
            f'<rect class="{"ours" if middle <= 1 else "theirs"}" x="{left}" y="{y}" '
            f'width="{length:.1f}" height="15" rx="2"/>'
        )
        ends = [min(value, LONGEST) * scale for value in (low, high)]
        parts.append(
            f'<rect class="ink" x="{left + ends[0]:.1f}" y="{y + 7}" '
            f'width="{ends[1] - ends[0]:.1f}" height="2"/>'
        )
        end = max(length, *ends)
        parts.append(text(left + end + 6, y + 12, f"{middle:.2f}", "ink small"))
    bottom = TOP + len(rows) * SMALL
    parts.append(
        f'<rect class="ink" x="{left + scale}" y="{TOP - 6}" width="1" '
        f'height="{bottom - TOP + 6}"/>'
    )
    title = ", ".join(f"{row['title']} {row['ratio'][1]:.2f}" for row in rows)
    return picture(bottom + 12, f"Graph mode / the fastest of PyTorch: {title}", parts)


def charts() -> dict[str, str]:
    """The files and their contents."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    made = {f"bench_{work['file']}.svg": chart(work, recorded) for work in recorded["works"]}
    return made | {"bench_all.svg": overview(json.loads(MEASURED.read_text("utf-8")))}
