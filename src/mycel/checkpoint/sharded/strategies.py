# SPDX-License-Identifier: Apache-2.0
"""Strategy files: how MindSpore has divided each Parameter, as a protocol buffer or as JSON.

A file is a message with the stage (field 1), the strategies of operators (2) and the layouts of
Parameters (3). Those of several pipeline stages, merged, name a Parameter `STAGE-NAME`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mycel.checkpoint.contents import damaged
from mycel.checkpoint.protobuf import fields, integer, integers, message, text
from mycel.checkpoint.sharded.placement import WHOLE, Placement
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.errors import wrong

JSON = ".json"
# For each Parameter, its placement in every stage that has it.
Placements = dict[str, dict[int, Placement]]

BY_FIELD = (
    "Parameter {name!r} in {path} is divided by its rows' fields, into parts of different sizes "
    "(field {field}, {split}); parts of equal size are what can be put together here."
)


class StrategyFile(NamedTuple):
    """What a strategy file says.

    Attributes:
        operators: the stage and the strategies of each operator.
        layouts: what is said of each Parameter, by the names of MindSpore's fields.
    """

    operators: dict[str, tuple[int, list[list[int]]]]
    layouts: dict[str, dict[str, Any]]

    @property
    def stage(self) -> int:
        """The pipeline stage that it was written for."""
        return next((stage for stage, _ in self.operators.values()), 0)


# The fields of a layout: the number, and the name that JSON has.
_LISTS = {1: "dev_matrix", 2: "tensor_map", 3: "param_split_shape", 4: "indices_offset"}
# A field of our own, which MindSpore passes over: the shape of the Parameter as a whole. Files of
# several processes have Parameters whole, and are told by it from those that have parts.
_SHAPE = 15, "whole_shape"
_NUMBERS = {5: "field", 6: "opt_weight_shard_step", 7: "opt_weight_shard_size"}
_KEYS = (*_LISTS.values(), _SHAPE[1])
_NEEDED = _KEYS[:2]
# What a file in JSON consists of.
_SECTIONS = {"current_stage", "parallel_strategy_item", "parallel_layout_item"}


def read_strategy(path: str) -> StrategyFile:
    """What a strategy file says.

    Raises:
        TypeError: the name is not a text.
        ValueError: there is no such file, or it is damaged.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong(TypeError, "The name of a strategy file", "a string", repr(path))
    if not os.path.isfile(path):
        raise wrong(ValueError, "The name of a strategy file", "a file that exists", repr(path))
    with open(path, "rb") as file:
        content = file.read()
    if not content:
        raise damaged(path, "it is empty")
    if os.fspath(path).endswith(JSON):
        return _from_json(content, path)
    return _from_message(memoryview(content), path)


def _from_json(content: bytes, path) -> StrategyFile:
    try:
        told = json.loads(content)
        operators = {
            name: (int(item["stage"]), [list(map(int, one)) for one in item["parallel_strategy"]])
            for name, item in told.get("parallel_strategy_item", {}).items()
        }
        # Under other names there may stand what divides Parameters: they would be taken as whole.
        if not told.keys() <= _SECTIONS:
            raise KeyError(*told.keys() - _SECTIONS)
        layouts = {
            name: {
                **{key: list(item[key] if key in _NEEDED else item.get(key, ())) for key in _KEYS},
                **{key: int(item.get(key, 0)) for key in _NUMBERS.values()},
            }
            for name, item in told["parallel_layout_item"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged(path, "it is not the JSON of a strategy file") from None
    return StrategyFile(operators, layouts)


def _from_message(content: memoryview, path) -> StrategyFile:
    operators, layouts = {}, {}
    for number, value in fields(content, path):
        if number == 2:
            name, item = _named(value, path)
            stage, strategies = 0, []
            for inner, part in fields(item, path):
                if inner == 1:
                    stage = integers(part, path)[0]
                elif inner == 2:
                    strategies.append(_dimensions(part, path))
            operators[name] = stage, strategies
        elif number == 3:
            name, item = _named(value, path)
            layouts[name] = _layout(item, path)
    return StrategyFile(operators, layouts)


def _named(value, path) -> tuple[str, Any]:
    """The name of an item, and what stands under it."""
    found = dict(fields(value, path))
    if not found.keys() >= {1, 2}:
        raise damaged(path, "an item of it has no name or no content")
    return text(found[1], path), found[2]


def _dimensions(value, path) -> list[int]:
    return [n for number, part in fields(value, path) if number == 1 for n in integers(part, path)]


def _layout(item, path) -> dict[str, Any]:
    layout: dict[str, Any] = dict.fromkeys(_NUMBERS.values(), 0)
    known = _LISTS | dict([_SHAPE])
    lists: dict[str, list[list[int]]] = {key: [] for key in known.values()}
    for number, part in fields(item, path):
        if number in known:
            lists[known[number]].append(_dimensions(part, path))
        elif number in _NUMBERS:
            layout[_NUMBERS[number]] = integers(part, path)[0]
    # Of a dimension that several axes divide there is one list of axes for each dimension.
    maps = lists.pop("tensor_map")
    layout["tensor_map"] = maps[0] if len(maps) == 1 else maps
    return layout | {key: found[0] if found else [] for key, found in lists.items()}


def write_strategy(path: str, strategy: StrategyFile) -> None:
    """Write a strategy file, as JSON if its name says so; it changes as a whole."""
    encoded = _to_json(strategy) if os.fspath(path).endswith(JSON) else _to_message(strategy)
    with replaced(path) as partial:
        partial.write_bytes(encoded)


def _to_json(strategy: StrategyFile) -> bytes:
    told = {
        "current_stage": 1,
        "parallel_strategy_item": {
            name: {"stage": stage, "parallel_strategy": strategies}
            for name, (stage, strategies) in strategy.operators.items()
        },
        "parallel_layout_item": strategy.layouts,
    }
    return json.dumps(told, indent=1).encode()


def _to_message(strategy: StrategyFile) -> bytes:
    found = [integer(1, 1)]
    for name, (stage, strategies) in strategy.operators.items():
        item = integer(1, stage) + b"".join(message(2, _listed(one)) for one in strategies)
        found.append(message(2, message(1, name.encode()) + message(2, item)))
    for name, layout in strategy.layouts.items():
        item = b""
        for number, key in _LISTS.items():
            several = key == "tensor_map" and _is_nested(layout[key])
            lists = layout[key] if several else [layout[key]]
            item += b"".join(message(number, _listed(one)) for one in lists)
        item += b"".join(integer(number, layout[key]) for number, key in _NUMBERS.items())
        if layout.get(_SHAPE[1]):
            item += message(_SHAPE[0], _listed(layout[_SHAPE[1]]))
        found.append(message(3, message(1, name.encode()) + message(2, item)))
    return b"".join(found)


def _listed(numbers: Sequence[int]) -> bytes:
    return b"".join(integer(1, number) for number in numbers)


def _is_nested(tensor_map: Sequence) -> bool:
    return any(isinstance(axes, (list, tuple)) for axes in tensor_map)


def merged(strategies: Sequence[StrategyFile]) -> StrategyFile:
    """One strategy of those of all pipeline stages; of a stage that occurs twice, the first.

    Raises:
        ValueError: one of them names no Parameters.
    """
    whole = StrategyFile({}, {})
    stages = set()
    for strategy in strategies:
        if not strategy.layouts:
            expected = "one that names Parameters"
            raise wrong(ValueError, "Each strategy file", expected, "an empty one")
        if strategy.stage not in stages:
            stages.add(strategy.stage)
            whole.operators.update(strategy.operators)
            named = {f"{strategy.stage}-{name}": of for name, of in strategy.layouts.items()}
            whole.layouts.update(named)
    return whole


def placements_of(strategy: Any, path: Any = "the strategy") -> Placements:
    """For each Parameter, how each stage has it divided.

    Args:
        strategy: what a file says, or a dictionary `{name: [dev_matrix, tensor_map,
            param_split_shape, field, opt_weight_shard_step, opt_weight_shard_size]}`, of which the
            last two may lack.

    Raises:
        ValueError: a Parameter is divided in a way that is not supported.
    """
    found: Placements = {}
    layouts = strategy.layouts if isinstance(strategy, StrategyFile) else _by_field(strategy)
    for name, layout in layouts.items():
        stage, dash, rest = name.partition("-")
        if not (dash and stage.isdecimal()):
            stage, rest = "0", name
        found.setdefault(rest, {})[int(stage)] = _placement(name, layout, path)
    return found


def _by_field(strategy: Mapping[str, Sequence]) -> dict[str, dict[str, Any]]:
    keys = (*_LISTS.values(),)[:3] + (*_NUMBERS.values(),)
    empty = ([], [], [], 0, 0, 0)
    found = {}
    for name, values in strategy.items():
        if not isinstance(name, str) or not isinstance(values, (list, tuple)) or len(values) < 2:
            expected = "{name: [dev_matrix, tensor_map, param_split_shape, field]}"
            raise wrong(ValueError, "A strategy", expected, f"{name!r}: {values!r}")
        found[name] = dict(zip(keys, (*values[:6], *empty[len(values) :]), strict=False))
    return found


def _placement(name: str, layout: Mapping[str, Any], path) -> Placement:
    split = list(layout["param_split_shape"])
    if layout["field"] or split:
        told = {"name": name, "path": path, "field": layout["field"], "split": split}
        raise ValueError(BY_FIELD.format(**told))
    axes = tuple(
        tuple(axis for axis in (of if isinstance(of, (list, tuple)) else (of,)) if axis != WHOLE)
        for of in layout["tensor_map"]
    )
    grid = tuple(layout["dev_matrix"]) or (1,)
    if any(not 0 <= axis < len(grid) for of in axes for axis in of) or min(grid) < 1:
        raise damaged(path, f"the tensor map of {name!r} names axes that {grid} has not")
    shape = tuple(layout.get(_SHAPE[1], ()))
    return Placement(grid, axes, layout["opt_weight_shard_size"], shape)
