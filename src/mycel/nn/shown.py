# SPDX-License-Identifier: Apache-2.0
"""A Cell as a notebook shows it: the tree of its Cells, with their Parameters and hooks."""

from __future__ import annotations

from mycel.report import html


def cell_html(cell) -> str:
    """A tree that folds. A Parameter that several Cells share counts at the first of them."""
    seen: set[int] = set()
    entries = _entries(cell, "", 0, set(), seen)
    all_of = list(cell.get_parameters())
    trained = sum(parameter.size for parameter in all_of if parameter.requires_grad)
    total = f"{sum(p.size for p in all_of):,} elements of Parameters, {trained:,} of them trained"
    total += "; in training" if cell.training else ""
    return html.box(html.tree(entries), html.line(total))


def _entries(cell, name: str, depth: int, met: set[int], seen: set[int]) -> list[html.Entry]:
    """The lines of a Cell and those below it."""
    kind = type(cell).__name__
    facts = [name and kind, " ".join(cell.extend_repr().split())]
    if id(cell) in met:
        return [html.Entry(depth, html.heading(name, kind, "shown above"))]
    met.add(id(cell))
    entries = [html.Entry(depth, html.heading(name or kind, *facts, *_told(cell, seen)))]
    for child_name, child in cell._cells.items():
        if child is not None:
            entries += _entries(child, child_name, depth + 1, met, seen)
    return entries


def _told(cell, seen: set[int]) -> list[str]:
    """How many elements its Parameters have, with those of its children; which are shared or
    frozen; and its hooks."""
    told = []
    parameters = list(cell.get_parameters())
    if parameters:
        told.append(f"{sum(parameter.size for parameter in parameters):,} elements")
    own = list(cell.get_parameters(expand=False))
    shared = [p.name for p in own if id(p) in seen]
    seen.update(map(id, own))
    if shared:
        told.append(f"shared: {', '.join(shared)}")
    frozen = [p.name for p in own if not p.requires_grad]
    if frozen:
        told.append(f"frozen: {', '.join(frozen)}")
    hooks = cell._cell_hooks.listed() if cell._cell_hooks else []
    kinds = [entry.replace("_", " ") for entry in hooks if isinstance(entry, str)]
    if kinds:
        told.append(f"hooks: {', '.join(kinds)}")
    return told
