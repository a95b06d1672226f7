# SPDX-License-Identifier: Apache-2.0
"""Strategy files: how Parameters are divided, as `transform_checkpoints` reads it; written, and
read for a program that shall divide its Parameters so."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import Any

from mycel.checkpoint.sharded.strategies import StrategyFile, read_strategy, write_strategy
from mycel.kernel.base.division import Axes, Grid
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.kernel.record.parameter import Parameter
from mycel.parallel.layout import WHOLE, Layout

# By file and number of devices, what it says.
_told: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
# What the file that was read last says, by its name and the version of the settings.
_read: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}


def layout_for(parameter: Parameter, grid: Grid) -> Layout | None:
    """How the file that was set to be read says that a Parameter lies; None if it does not.

    Raises:
        ValueError: there is no such file, it is damaged, or of another number of devices.
    """
    config = parallel.values["strategy_ckpt_config"]
    path = parallel.values["strategy_ckpt_load_file"] or config["load_file"]
    if not path or (config["only_trainable_params"] and not parameter.requires_grad):
        return None
    key = path, parallel.version
    if key not in _read:
        _read.clear()
        _read[key] = read_strategy(path).layouts
    told = _read[key].get(parameter.name)
    if told is None:
        return None
    matrix = tuple(told["dev_matrix"])
    if prod(matrix) != grid.size:
        expected = f"of {grid.size} devices, as many as compute together"
        raise wrong(ValueError, f"The strategy file {path!r}", expected, f"{prod(matrix)}")
    names = tuple([f"axis{number}" for number in range(len(matrix))])

    def named(axis):
        if isinstance(axis, list):
            return tuple([named(one) for one in axis])
        return WHOLE if axis < 0 else names[len(names) - 1 - axis]

    return Layout(matrix, names)(*[named(axis) for axis in told["tensor_map"]])


def wanted() -> str:
    """The file that is to be written; '' if none is."""
    config = parallel.values["strategy_ckpt_config"]
    return parallel.values["strategy_ckpt_save_file"] or config["save_file"]


def tell(grid: Grid, parameters: Iterable[tuple[Parameter, Axes]]) -> None:
    """Let the file say of these Parameters, too, how they are divided; if that is new, write it.

    Raises:
        OSError: it cannot be written.
    """
    path = wanted()
    only = parallel.values["strategy_ckpt_config"]["only_trainable_params"]
    before = _told.get((path, grid.size), {})
    layouts = before | {
        parameter.name: layout_of(axes, grid, parameter.ndim)
        | {"whole_shape": list(parameter.shape)}
        for parameter, axes in parameters
        if parameter.requires_grad or not only
    }
    if layouts != before:
        write_strategy(path, StrategyFile({}, layouts))
        _told[path, grid.size] = layouts


def layout_of(axes: Axes, grid: Grid, dimensions: int) -> dict[str, Any]:
    """The fields of a strategy file for an array that is divided along these axes.

    Neighbouring axes of the grid that divide one dimension, or none, are one axis there.
    """
    lengths = list(grid.lengths.values())
    place_of = {name: place for place, name in enumerate(grid.lengths)}
    divided = [[place_of[name] for name in part if name in place_of] for part in axes]
    divided += [[] for _ in range(dimensions - len(divided))]
    used = {place for places in divided for place in places}
    follows = {place for places in divided for a, place in pairwise(places) if place == a + 1}
    groups: list[list[int]] = []
    for place in range(len(lengths)):
        if place and (place in follows or not {place - 1, place} & used):
            groups[-1].append(place)
        else:
            groups.append([place])
    number = {group[0]: len(groups) - 1 - n for n, group in enumerate(groups)}
    maps = [[number[place] for place in places if place in number] or [-1] for places in divided]
    single = all(len(one) == 1 for one in maps)
    return {
        "dev_matrix": [prod(lengths[place] for place in group) for group in groups],
        "tensor_map": [one[0] for one in maps] if single else maps,
        "param_split_shape": [],
        "indices_offset": [],
        "field": 0,
        "opt_weight_shard_step": 0,
        "opt_weight_shard_size": 0,
    }
