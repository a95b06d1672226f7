# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a Parameter lie that is divided among devices: boxes of its index space."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

import numpy as np

from mycel.kernel.base.errors import wrong

# For each dimension of a whole array, where a part begins and ends.
Box = tuple[tuple[int, int], ...]
# A dimension of a tensor map that is not divided.
WHOLE = -1

DOES_NOT_DIVIDE = (
    "Parameter {name!r} of shape {shape} cannot be divided: dimension {dimension} has length "
    "{length}, and {parts} devices share it. {near} would divide."
)
NOT_COVERED = (
    "Parameter {name!r}: {missing} of the {size} values of {what} are in none of the files that "
    "were read. A file of one of the devices is missing, or the strategy is that of another run."
)


class Placement(NamedTuple):
    """How a Parameter is divided among the devices of a grid.

    Attributes:
        grid: how many devices lie along each axis.
        axes: for each dimension of the Parameter, the axes that divide it, the outermost first,
            counted from the last axis of the grid.
        optimizer_parts: the optimiser divides the first dimension of each part once more, among so
            many of the devices that have the same; 0: it does not, -1: among all of them.
        shape: that of the Parameter as a whole, if it is known.
    """

    grid: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    optimizer_parts: int = 0
    shape: tuple[int, ...] = ()

    @property
    def devices(self) -> int:
        """How many devices a stage has."""
        return prod(self.grid)

    def parts(self) -> tuple[int, ...]:
        """Into how many parts each dimension is divided."""
        found = [prod(self.grid[-1 - axis] for axis in axes) for axes in self.axes]
        if found:
            found[0] *= self._shared()[1]
        return tuple(found)

    def _shared(self) -> tuple[list[int], int]:
        """The axes along which devices have the same; among how many it is divided once more."""
        used = {len(self.grid) - 1 - axis for axes in self.axes for axis in axes}
        free = [place for place in range(len(self.grid)) if place not in used]
        everywhere = prod(self.grid[place] for place in free)
        return free, everywhere if self.optimizer_parts == -1 else max(self.optimizer_parts, 1)

    def whole_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the Parameter, of which a part has `shape`."""
        return tuple(a * b for a, b in zip(shape, self.parts(), strict=True))

    def of_saved(self, shape: tuple[int, ...]) -> Placement:
        """That of an array of this shape in a file: one of the whole shape is not divided."""
        if shape != self.shape:
            return self
        return self._replace(axes=((),) * len(shape), optimizer_parts=0)

    def fitting(self, dimensions: int, name: str = "") -> Placement:
        """This placement, for so many dimensions.

        Several axes that divide a vector are written as those that divide a matrix.

        Raises:
            ValueError: it is that of an array with another number of dimensions.
        """
        if len(self.axes) == dimensions:
            return self
        if dimensions == 1:
            return self._replace(axes=(tuple(axis for axes in self.axes for axis in axes),))
        expected = f"of {len(self.axes)} dimensions, as its strategy says"
        raise wrong(ValueError, f"Parameter {name!r}", expected, f"{dimensions}")

    def holders(self, shape: tuple[int, ...], name: str = "") -> dict[Box, list[int]]:
        """The parts of a Parameter of this shape, and the devices of a stage that have each."""
        found: dict[Box, list[int]] = {}
        for rank in range(self.devices):
            found.setdefault(self.box(rank, shape, name), []).append(rank)
        return found

    def box(self, rank: int, shape: tuple[int, ...], name: str = "") -> Box:
        """What a device has of a Parameter of this shape.

        Raises:
            ValueError: a dimension cannot be divided evenly.

        Example:
            >>> from mycel.checkpoint.sharded.placement import Placement
            >>> Placement((2, 2), axes=((1,), ())).box(3, (8, 4))
            ((4, 8), (0, 4))
        """
        places = [int(place) for place in np.unravel_index(rank % self.devices, self.grid)]
        free, shared = self._shared()
        found = []
        for dimension, (length, axes, parts) in enumerate(
            zip(shape, self.axes, self.parts(), strict=True)
        ):
            if length % parts:
                near = max(round(length / parts), 1) * parts
                told = {"name": name, "shape": shape, "dimension": dimension, "length": length}
                raise ValueError(DOES_NOT_DIVIDE.format(parts=parts, near=near, **told))
            at = 0
            for axis in axes:
                at = at * self.grid[-1 - axis] + places[-1 - axis]
            if dimension == 0:
                same = 0
                for axis in free:
                    same = same * self.grid[axis] + places[axis]
                at = at * shared + same % shared
            size = length // parts
            found.append((at * size, (at + 1) * size))
        return tuple(found)


def whole_box(shape: tuple[int, ...]) -> Box:
    """All of an array of this shape."""
    return tuple((0, length) for length in shape)


def box_of(index: tuple[slice, ...], shape: tuple[int, ...]) -> Box:
    """What slices of an array of this shape take of it."""
    return tuple(part.indices(length)[:2] for part, length in zip(index, shape, strict=True))


def shape_of(box: Box) -> tuple[int, ...]:
    """The shape of what lies in a box."""
    return tuple(end - start for start, end in box)


def overlap(a: Box, b: Box) -> Box | None:
    """What two boxes have in common, or None."""
    found = tuple((max(p, r), min(q, s)) for (p, q), (r, s) in zip(a, b, strict=True))
    return None if any(start >= end for start, end in found) else found


def within(box: Box, outer: Box) -> tuple[slice, ...]:
    """The places of a box in an array that holds what lies in `outer`."""
    return tuple(
        slice(start - first, end - first)
        for (start, end), (first, _) in zip(box, outer, strict=True)
    )


def assembled(name: str, box: Box, parts: Iterable[tuple[Box, np.ndarray]], dtype) -> np.ndarray:
    """What lies in a box, from parts that may overlap it or not.

    Args:
        parts: boxes, each once, and what lies in them.

    Raises:
        ValueError: they do not cover the box.
    """
    found = np.empty(shape_of(box), dtype)
    missing = found.size
    for place, part in parts:
        common = overlap(box, place)
        if common is not None:
            found[within(common, box)] = part[within(common, place)]
            missing -= prod(shape_of(common))
    if missing:
        told = {"name": name, "missing": missing, "size": found.size, "what": f"the part {box}"}
        raise ValueError(NOT_COVERED.format(**told))
    return found
