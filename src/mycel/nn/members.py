# SPDX-License-Identifier: Apache-2.0
"""Walking the tree of Cells: names and Parameters, each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from mycel.base import errors
from mycel.record.parameter import Parameter


class Members:
    """What walking needs of a Cell."""

    _cells: OrderedDict
    _params: OrderedDict


def cells_and_names(cell, prefix: str = "", seen: set | None = None) -> Iterator[tuple]:
    """Pairs of dotted name and Cell, parents before children, each Cell once."""
    seen = set() if seen is None else seen
    if id(cell) in seen:
        return
    seen.add(id(cell))
    yield prefix, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from cells_and_names(child, f"{prefix}.{name}" if prefix else name, seen)


def parameters_and_names(cell, prefix: str, expand: bool) -> Iterator[tuple[str, Parameter]]:
    """Pairs of dotted name and Parameter, each Parameter once."""
    seen: set[int] = set()
    for path, owner in cells_and_names(cell, prefix) if expand else [(prefix, cell)]:
        for name, parameter in owner._params.items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                yield (f"{path}.{name}" if path else name), parameter


def duplicate_name(cell, name: str, place) -> ValueError:
    """The error for two Parameters of one name."""
    return ValueError(
        errors.DUPLICATE_PARAMETER.format(owner=type(cell).__name__, name=name, place=place)
    )
