# SPDX-License-Identifier: Apache-2.0
"""The checkpoints of all devices of a run, read as if each Parameter were one array."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from mycel.checkpoint import files
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.sharded.placement import Box, Placement, assembled, overlap
from mycel.checkpoint.sharded.strategies import Placements, placements_of, read_strategy
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place

NO_FILE = (
    "{name!r} lies in parts on {count} devices, and the part of device {ranks} is in no file of "
    "{where} (at {place}). A folder rank_N with a checkpoint is wanted for each of them."
)
STAGES_MISS = "The strategy has the pipeline stages {stages}: those of all stages are wanted."
FOLDER = re.compile(r"rank_(0|[1-9]\d*)")


class Strategy:
    """How Parameters are divided among the devices of each pipeline stage.

    Args:
        given: the name of a strategy file, what such a file says, or None: each device has all.

    Raises:
        ValueError: stages differ in how many devices they have, or one is missing.
    """

    def __init__(self, given: Any):
        if isinstance(given, (str, os.PathLike)):
            given = read_strategy(os.fspath(given))
        self.placements: Placements = {} if given is None else placements_of(given)
        grids = {of.devices for stages in self.placements.values() for of in stages.values()}
        if len(grids) > 1:
            raise wrong(ValueError, "A strategy", "one number of devices", f"{sorted(grids)}")
        self.devices = grids.pop() if grids else 1
        stages = {stage for stages in self.placements.values() for stage in stages} or {0}
        if stages != set(range(len(stages))):
            raise ValueError(STAGES_MISS.format(stages=sorted(stages)))
        self.stages = len(stages)
        self.is_whole = given is None

    def check_rank(self, rank: int) -> None:
        """Raise for the number of a device that it does not have.

        Raises:
            ValueError: so it is.
        """
        count = self.devices * self.stages
        if not self.is_whole and rank >= count:
            raise wrong(ValueError, "rank_id", f"below {count}, the strategy's devices", rank)

    def of(self, name: str, rank: int | None = None) -> tuple[int, Placement] | None:
        """A stage that has a Parameter, and how it is divided there: the first, or a device's own.

        Returns:
            None: the strategy says nothing of it, or nothing in the stage of this device.
        """
        stages = self.placements.get(name, {})
        if rank is not None:
            stage = rank // self.devices
            return (stage, stages[stage]) if stage in stages else None
        return min(stages.items(), default=None)


class Source:
    """What the devices of a run have saved.

    Args:
        paths: the files by the numbers of their devices.
        strategy: how Parameters are divided among them.
        where: the folder, for errors.
        key, mode: what the files are encrypted with.
    """

    def __init__(
        self,
        paths: Mapping[int, str],
        strategy: Strategy,
        where: Any,
        key: bytes | None = None,
        mode: str = "AES-GCM",
    ):
        self.paths = paths
        self.strategy = strategy
        self.where = where
        self._encryption = key, mode
        self._read: dict[int, Contents] = {}

    def contents(self, rank: int) -> Contents:
        """What a device has saved; nothing, if there is no file of it.

        Raises:
            ValueError: its file is damaged.
        """
        if rank not in self._read:
            known = rank in self.paths
            self._read[rank] = files.read(self.paths[rank], *self._encryption) if known else {}
        return self._read[rank]

    def names(self) -> list[str]:
        """The names of everything that was saved, those of the first devices first."""
        return list(dict.fromkeys(name for rank in self.paths for name in self.contents(rank)))

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a divided Parameter as a whole.

        Raises:
            ValueError: it is in no file.
        """
        part, placement, _ = self._known(name)
        return placement.whole_shape(part.shape)

    def value(self, name: str, box: Box) -> np.ndarray:
        """What lies in a box of a divided Parameter.

        Raises:
            ValueError: the files that have it are missing.
        """
        first, placement, ranks_before = self._known(name)
        holders = placement.holders(placement.whole_shape(first.shape), name)
        parts = [
            (place, self._part(name, [ranks_before + rank for rank in ranks]))
            for place, ranks in holders.items()
            if overlap(place, box) is not None
        ]
        return assembled(name, box, parts, first.dtype)

    def _part(self, name: str, ranks: list[int]) -> np.ndarray:
        """What the first of these devices has that saved it: of the same, one is enough."""
        for rank in ranks:
            if name in self.contents(rank):
                return self.contents(rank)[name]
        told = {"name": name, "count": self.strategy.devices, "where": self.where}
        raise ValueError(
            NO_FILE.format(ranks=" or ".join(map(str, ranks)), place=user_place(), **told)
        )

    def _known(self, name: str) -> tuple[np.ndarray, Placement, int]:
        """A part of a Parameter, how it is divided, and how many devices are in stages before."""
        found = self.strategy.of(name)
        if found is None:
            raise wrong(ValueError, f"Parameter {name!r}", "in the source strategy", "not there")
        stage, placement = found
        ranks_before = stage * self.strategy.devices
        part = self._part(name, list(range(ranks_before, ranks_before + placement.devices)))
        return part, placement.of_saved(part.shape).fitting(part.ndim, name), ranks_before


def ranks_for(rank: int, source: Strategy, target: Strategy) -> list[int]:
    """The devices of the source whose files have what a device of the target gets.

    Raises:
        ValueError: the target has no such device.
    """
    target.check_rank(rank)
    found: set[int] = set()
    for name in source.placements:
        stage, before = source.of(name) or (0, None)
        after = target.of(name, rank)
        if before is None or (after is None and not target.is_whole):
            continue
        parts = before.parts()
        shape = parts if after is None else tuple(map(lcm, parts, after[1].parts()))
        holders = before.holders(shape)
        for box, ranks in holders.items():
            if after is None or overlap(box, after[1].box(rank, shape)) is not None:
                same = [stage * source.devices + one for one in ranks]
                found.add(rank if rank in same else same[0])
    # What is in no strategy comes from the device of the same number.
    return sorted(found | {rank % (source.devices * source.stages)})


def collected(
    folder: str | os.PathLike, ending: str | None = None, suffix: str = ""
) -> dict[int, str]:
    """The checkpoint of each device in a folder: of several in `rank_N`, the last by its name.

    Args:
        ending: that of the files; None, '.ckpt' or else '.safetensors'.
        suffix: what the names end with before that.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: it has no checkpoints.
    """
    if not os.path.isdir(folder):
        raise wrong(NotADirectoryError, "The folder of checkpoints", "a folder", repr(folder))
    found = {}
    for place in Path(folder).iterdir():
        number = FOLDER.fullmatch(place.name)
        if number is None or not place.is_dir():
            continue
        for kind in (".ckpt", ".safetensors") if ending is None else (ending,):
            paths = [path for path in place.glob(f"*{kind}") if path.stem.endswith(suffix)]
            names = sorted(map(str, paths))
            if names:
                found[int(number[1])] = names[-1]
                break
    if not found:
        expected = "a folder with rank_0, rank_1, …, each with a checkpoint"
        raise wrong(ValueError, "The folder of checkpoints", expected, repr(os.fspath(folder)))
    return dict(sorted(found.items()))
