# SPDX-License-Identifier: Apache-2.0
"""The devices of a pipeline: a grid for each of its stages.

An array lies on the devices of one stage, so a stage's weights take no memory on the others. XLA's
program for many devices runs on all of them and gives each the same shapes; so here each stage has
programs of its own (see `execute.staged`), and what one gives is moved to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import NamedSharding

from mycel.kernel.base.division import Grid


class Stages(Grid):
    """The devices of a pipeline, as many for each stage. As a grid it is that of the first stage;
    those of the others have the same axes.

    Args:
        devices: those of the first stage, then those of the second, and so on.
        count: how many stages there are.
        scheduler: in which order parts of a batch go through them, '1f1b' or 'gpipe'.
    """

    __slots__ = ("_numbers", "scheduler", "stages")

    def __init__(self, devices: Sequence[Any], count: int, scheduler: str = "1f1b"):
        each = len(devices) // count
        super().__init__(devices[:each])
        rest = [Grid(devices[n * each : (n + 1) * each]) for n in range(1, count)]
        self.stages: tuple[Grid, ...] = (self, *rest)
        self.devices = tuple(devices)
        self.scheduler = scheduler
        self._numbers = {grid.mesh: number for number, grid in enumerate(self.stages)}

    def stage_of(self, array) -> int | None:
        """The number of the stage on whose devices an array lies; None if on none of them."""
        mesh: Any = getattr(getattr(array, "sharding", None), "mesh", None)
        return self._numbers.get(mesh)

    def has(self, array) -> bool:
        """Whether an array lies on these devices."""
        return self.stage_of(array) is not None

    def moved(self, array, number: int):
        """The same array on the devices of a stage, divided in the same way."""
        grid, lies = self.stages[number], self.stage_of(array)
        if lies == number:
            return array
        if lies is None:
            return grid.lifted(array)
        sharding = NamedSharding(grid.mesh, array.sharding.spec)
        return grid.run(jax.device_put, array, sharding)
