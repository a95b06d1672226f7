# SPDX-License-Identifier: Apache-2.0
"""Which device holds which part of which Parameter."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import prod
from typing import Any, NamedTuple

from mycel.kernel.base.division import division, parts_of, tell_parts
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.stages import Stages
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.stream import demand
from mycel.nn import Cell

# Pictures have at most so many columns and rows.
MOST_PARTS = 16


class Held(NamedTuple):
    """How one Parameter lies.

    Attributes:
        name, shape: of the Parameter.
        parts: into how many parts each dimension is divided.
        bytes: what one device holds of it.
        devices: for each part, in order, the numbers of the devices that hold it.
        stage: of a pipeline, the stage it lies in.
    """

    name: str
    shape: tuple[int, ...]
    parts: tuple[int, ...]
    bytes: int
    devices: tuple[tuple[int, ...], ...]
    stage: int | None = None

    @property
    def lies(self) -> str:
        """Stage and parts in words."""
        stage = "" if self.stage is None else f"in stage {self.stage}, "
        return stage + tell_parts(self.parts)


class Layouts:
    """How Parameters lie on devices; `print` draws it, a notebook shows a table.

    Attributes:
        lines: a `Held` for each Parameter.
    """

    def __init__(self, lines: list[Held]):
        self.lines = lines

    @property
    def bytes_by_device(self) -> dict[int, int]:
        """How many bytes each device holds."""
        total: dict[int, int] = {}
        for line in self.lines:
            for number in {n for devices in line.devices for n in devices}:
                total[number] = total.get(number, 0) + line.bytes
        return dict(sorted(total.items()))

    def __str__(self):
        if not self.lines:
            return "no Parameters"
        width = max(len(line.name) for line in self.lines)
        text = []
        for line in self.lines:
            said = f"{line.name:<{width}}  {line.shape!s:<14} {line.lies}"
            text += [f"{said}, {line.bytes:,} bytes each", *_drawn(line)]
        held = ", ".join(f"{number}: {size:,}" for number, size in self.bytes_by_device.items())
        return "\n".join([*text, f"bytes on device {held}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            "<table><tr><th>Parameter</th><th>shape</th><th>lies</th><th>bytes each</th>"
            "<th>devices of each part</th></tr>"
        ]
        for line in self.lines:
            devices = " | ".join(_numbers(part) for part in line.devices)
            cells = line.name, line.shape, line.lies, f"{line.bytes:,}", devices
            rows.append("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in cells) + "</tr>")
        return "".join([*rows, "</table>"])


def layouts(what: Cell | Iterable[Parameter]) -> Layouts:
    """Which device holds which part of each Parameter of a Cell, or of a list of Parameters.

    A step of training is a Cell too: it has the network's Parameters and what the optimiser keeps.

    Raises:
        TypeError: neither a Cell nor Parameters.

    Example:
        >>> import mycel as ms
        >>> print(ms.debug.layouts(nn.Dense(3, 2)))
        weight  (2, 3)         whole, 24 bytes each
        bias    (2,)           whole, 8 bytes each
        bytes on device 0: 32
    """
    if not isinstance(what, (Cell, Iterable)):
        raise wrong(TypeError, "layouts", "given a Cell or Parameters", type(what).__name__)
    parameters = list(what.get_parameters()) if isinstance(what, Cell) else list(what)
    for parameter in parameters:
        if not isinstance(parameter, Parameter):
            kind = type(parameter).__name__
            raise wrong(TypeError, "layouts", "given a Cell or Parameters", kind)
    return Layouts([_held(parameter) for parameter in parameters])


def _held(parameter: Parameter) -> Held:
    array: Any = demand(parameter._value)
    parts = parts_of(array)
    by_part: dict[tuple, list[int]] = {}
    # By their place in the grid: the ids of another process's devices begin anywhere.
    grid, numbers = division.grid, {}
    if grid is not None and grid.has(array):
        numbers = {device: number for number, device in enumerate(grid.devices)}
    for device, index in array.sharding.devices_indices_map(array.shape).items():
        start = tuple([part.start or 0 for part in index])
        known = numbers.get(device)
        by_part.setdefault(start, []).append(device.id if known is None else known)
    devices = tuple([tuple(sorted(by_part[start])) for start in sorted(by_part)])
    size = parameter._value.aval.nbytes // max(1, prod(parts))
    stage = grid.stage_of(array) if isinstance(grid, Stages) else None
    return Held(parameter.name, parameter.shape, parts, size, devices, stage)


def _drawn(line: Held) -> list[str]:
    """A picture of a divided Parameter: a box for each part, with the devices that hold it."""
    divided = [n for n in line.parts if n > 1]
    if not divided or len(divided) > 2 or max(divided) > MOST_PARTS:
        return []
    columns = divided[-1]
    texts = [f" {_numbers(part)} " for part in line.devices]
    width = max(map(len, texts))
    ruler = "    +" + ("-" * width + "+") * columns
    rows = [texts[n : n + columns] for n in range(0, len(texts), columns)]
    drawn = ["    |" + "".join(f"{text:<{width}}|" for text in row) for row in rows]
    return [ruler, *[text for row in drawn for text in (row, ruler)]]


def _numbers(devices: tuple[int, ...]) -> str:
    if len(devices) > 2 and devices[-1] - devices[0] == len(devices) - 1:
        return f"{devices[0]}-{devices[-1]}"
    return ",".join(map(str, devices))
