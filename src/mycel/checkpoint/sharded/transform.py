# SPDX-License-Identifier: Apache-2.0
"""Checkpoints whose Parameters lie in parts on several devices, divided anew or put together."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mycel.checkpoint import files
from mycel.checkpoint.contents import Contents, damaged
from mycel.checkpoint.protobuf import fields, integers
from mycel.checkpoint.sharded.placement import assembled, whole_box
from mycel.checkpoint.sharded.source import Source, Strategy, collected, ranks_for
from mycel.checkpoint.sharded.strategies import (
    merged,
    placements_of,
    read_strategy,
    write_strategy,
)
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.errors import wrong
from mycel.kernel.record.parameter import Parameter
from mycel.kernel.record.tensor import Tensor

LEFT_OUT = (
    "%s lie in parts in the source, and the target strategy says nothing of them: they are left "
    "out. MindSpore would write the part of one device."
)
# The files of a folder that has whole Parameters, and how many bytes one has at most.
INDEX, REST, PART = "param_name_map.json", "hyper_param.safetensors", "part{}.safetensors"
MOST_BYTES = 4 << 30

_log = logging.getLogger("mycel")


def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Divide the Parameters that several devices have saved among other devices.

    Args:
        src_checkpoints_dir: a folder with `rank_0`, `rank_1`, …, each with a checkpoint; of several
            the last by its name.
        dst_checkpoints_dir: the folder for `rank_N/PREFIXN.ckpt`, which is made.
        ckpt_prefix: what the names of the new files begin with.
        src_strategy_file: how Parameters are divided; None, each file has them all.
        dst_strategy_file: how they shall be; None, one file gets them all.
        process_num: accepted; one process does it.
        output_format: 'ckpt' or 'safetensors'.

    What is in no strategy, such as the number of the step, is taken from the device of the same
    number, counted anew where there are fewer.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: a file is missing or damaged, or a Parameter cannot be divided so.

    Source: MindSpore's `mindspore.transform_checkpoints`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     os.makedirs(f"{folder}/all/rank_0")
        ...     ms.save_checkpoint(nn.Dense(2, 1, "ones"), f"{folder}/all/rank_0/net.ckpt")
        ...     ms.transform_checkpoints(f"{folder}/all", f"{folder}/new", "net")
        ...     sorted(ms.load_checkpoint(f"{folder}/new/rank_0/net0.ckpt"))
        ['bias', 'weight']
    """
    del process_num
    files.check_format(output_format)
    paths = collected(src_checkpoints_dir)
    source = Source(paths, Strategy(src_strategy_file), src_checkpoints_dir)
    target = Strategy(dst_strategy_file)
    for rank in range(target.devices * target.stages):
        folder = os.path.join(dst_checkpoints_dir, f"rank_{rank}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{ckpt_prefix}{rank}.{output_format}")
        files.write(path, _of_rank(source, target, rank), output_format, checksum=True)


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Write the checkpoint of one device, from those that `rank_list_for_transform` names.

    Args:
        rank_id: the device of the target.
        checkpoint_files_map: the files by the numbers of their devices.
        save_checkpoint_file_name: the new file; it ends with '.ckpt' or '.safetensors'.
        src_strategy_file, dst_strategy_file: see `transform_checkpoints`.

    Raises:
        TypeError: an argument of another type.
        ValueError: a file is missing or damaged, or a Parameter cannot be divided so.

    Source: MindSpore's `mindspore.transform_checkpoint_by_rank`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/a.ckpt")
        ...     ms.transform_checkpoint_by_rank(0, {0: f"{folder}/a.ckpt"}, f"{folder}/b.ckpt")
        ...     sorted(ms.load_checkpoint(f"{folder}/b.ckpt"))
        ['bias', 'weight']
    """
    what = "transform_checkpoint_by_rank"
    _check_rank(rank_id, what)
    if not isinstance(checkpoint_files_map, dict):
        actual = type(checkpoint_files_map).__name__
        raise wrong(TypeError, f"{what}: checkpoint_files_map", "a dictionary of files", actual)
    if not isinstance(save_checkpoint_file_name, str):
        actual = type(save_checkpoint_file_name).__name__
        raise wrong(TypeError, f"{what}: save_checkpoint_file_name", "a string", actual)
    ending = save_checkpoint_file_name.rpartition(".")[2]
    if ending not in files.FORMATS:
        expected = "a name that ends with '.ckpt' or '.safetensors'"
        actual = repr(save_checkpoint_file_name)
        raise wrong(ValueError, f"{what}: save_checkpoint_file_name", expected, actual)
    source = Source(checkpoint_files_map, Strategy(src_strategy_file), "checkpoint_files_map")
    contents = _of_rank(source, Strategy(dst_strategy_file), rank_id)
    files.write(save_checkpoint_file_name, contents, ending, checksum=True)


def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """The devices whose files are needed for those of one device of the target.

    Args:
        See `transform_checkpoint_by_rank`.

    Raises:
        TypeError: `rank_id` is not a whole number.
        ValueError: a strategy file is missing or damaged.

    Source: MindSpore's `mindspore.rank_list_for_transform`, which may name more.

    Example:
        >>> ms.rank_list_for_transform(0)
        [0]
    """
    _check_rank(rank_id, "rank_list_for_transform")
    return ranks_for(rank_id, Strategy(src_strategy_file), Strategy(dst_strategy_file))


def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """Put the strategy files of all pipeline stages together in one.

    Args:
        src_strategy_dirs: the folder with the files, all JSON or all not.
        dst_strategy_file: the file to write, as JSON if its name ends with '.json'.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: a file is empty or damaged.

    Source: MindSpore's `mindspore.merge_pipeline_strategys`.

    Example:
        >>> import json, tempfile
        >>> layout = {"dev_matrix": [2], "tensor_map": [0, -1]}
        >>> told = {"parallel_layout_item": {"w": layout}}
        >>> told["parallel_strategy_item"] = {"f": {"stage": 3, "parallel_strategy": [[2]]}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(f"{folder}/stage_3.json", "w") as file:
        ...         json.dump(told, file)
        ...     ms.merge_pipeline_strategys(folder, f"{folder}/all.ckpt")
        ...     list(ms.build_searched_strategy(f"{folder}/all.ckpt"))
        ['3-w']
    """
    if not os.path.isdir(src_strategy_dirs):
        expected, actual = "a folder", repr(src_strategy_dirs)
        raise wrong(NotADirectoryError, "src_strategy_dirs", expected, actual)
    names = sorted(os.listdir(src_strategy_dirs))
    read = [read_strategy(os.path.join(src_strategy_dirs, name)) for name in names]
    write_strategy(dst_strategy_file, merged(read))


def unified_safetensors(
    src_dir: str,
    src_strategy_file: str | None,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], bool | str] | None = None,
    split_dst_file: tuple[int, int] | tuple[()] = (),
) -> None:
    """Put what several devices have saved together, in files that hold whole Parameters.

    Args:
        src_dir: a folder with `rank_0`, `rank_1`, …, each with a safetensors file.
        src_strategy_file: how Parameters are divided; None, each file has them all.
        dst_dir: the folder for `part0.safetensors`, …, which is made; `param_name_map.json` says
            which file has what, `hyper_param.safetensors` has what is in no strategy.
        merge_with_redundancy: accepted; what each file has is read from it.
        file_suffix: what the names of the files end with.
        max_process_num: accepted; one process does it.
        choice_func: says for each name whether it is taken, or under which name.
        split_dst_file: `(n, count)`, the n-th of so many calls that share the work, from 1.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: the file of a device is missing or damaged.

    Source: MindSpore's `mindspore.unified_safetensors`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     os.makedirs(f"{folder}/all/rank_0")
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/all/rank_0/net.safetensors")
        ...     ms.unified_safetensors(f"{folder}/all", None, f"{folder}/new")
        ...     sorted(os.listdir(f"{folder}/new"))
        ['param_name_map.json', 'part0.safetensors']
    """
    del merge_with_redundancy, max_process_num
    number, count = split_dst_file or (1, 1)
    if not 1 <= number <= count:
        expected = "(n, count) with n from 1 to count"
        raise wrong(ValueError, "unified_safetensors: split_dst_file", expected, split_dst_file)
    paths = collected(src_dir, ".safetensors", file_suffix or "")
    source = Source(paths, Strategy(src_strategy_file), src_dir)
    named: dict[str, str] = {}
    rest: dict[str, str] = {}
    for name in source.names():
        chosen = True if choice_func is None else choice_func(name)
        if not isinstance(chosen, (bool, str)):
            expected = "True, False or a name"
            raise wrong(ValueError, "unified_safetensors: choice_func", expected, repr(chosen))
        known = source.strategy.is_whole or source.strategy.of(name) is not None
        if chosen is not False:
            (named if known else rest)[name] = name if chosen is True else str(chosen)
    os.makedirs(dst_dir, exist_ok=True)
    groups = _groups(source, named)
    for place, group in enumerate(groups):
        if place % count == number - 1:
            contents = {named[name]: whole(source, name) for name in group}
            files.write(os.path.join(dst_dir, PART.format(place)), contents, "safetensors")
    if number != count:
        return
    if rest:
        contents = {new: _of_any(source, name) for name, new in rest.items()}
        files.write(os.path.join(dst_dir, REST), contents, "safetensors")
    index = {
        "metadata": {"total_size": sum(_bytes(source, name) for name in named)},
        "weight_map": {
            named[name]: PART.format(place) for place, group in enumerate(groups) for name in group
        },
    }
    with replaced(os.path.join(dst_dir, INDEX)) as partial:
        partial.write_text(json.dumps(index, indent=4), "utf-8")


def build_searched_strategy(strategy_filename: str) -> dict[str, list[Any]]:
    """How a strategy file divides Parameters among devices.

    Returns:
        For each name: the grid of devices, for each dimension the axis that divides it (-1: none),
        the sizes of uneven parts, the field, and step and size of the optimiser's parts.

    Raises:
        TypeError: the name is not a text.
        ValueError: there is no such file, or it is damaged.

    Source: MindSpore's `mindspore.build_searched_strategy`, which returns messages.

    Example:
        >>> import json, tempfile
        >>> layout = {"dev_matrix": [2], "tensor_map": [0, -1]}
        >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        ...     json.dump({"parallel_layout_item": {"w": layout}}, file)
        ...     file.flush()
        ...     ms.build_searched_strategy(file.name)
        {'w': [[2], [0, -1], [], 0, 0, 0]}
    """
    return {
        name: [
            layout["dev_matrix"],
            layout["tensor_map"],
            layout["param_split_shape"],
            layout["field"],
            layout["opt_weight_shard_step"],
            layout["opt_weight_shard_size"],
        ]
        for name, layout in read_strategy(strategy_filename).layouts.items()
    }


def merge_sliced_parameter(
    sliced_parameters: Sequence[Parameter], strategy: dict[str, Any] | None = None
) -> Parameter:
    """One Parameter of its parts.

    Args:
        sliced_parameters: the parts, in the order of their devices.
        strategy: how Parameters are divided, as `build_searched_strategy` gives it; None, the parts
            follow one another along the first dimension.

    Raises:
        TypeError: they are not Parameters, or the strategy is not a dictionary.
        ValueError: there are no parts, or their names, shapes or number do not fit.
        KeyError: the strategy does not name the Parameter.

    Source: MindSpore's `mindspore.merge_sliced_parameter`.

    Example:
        >>> parts = [ms.Parameter(Tensor([n]), "w") for n in (1, 2)]
        >>> print(ms.merge_sliced_parameter(parts).value())
        [1 2]
    """
    what = "merge_sliced_parameter"
    arrays = _arrays(sliced_parameters, what)
    first = sliced_parameters[0]
    if strategy is not None and not isinstance(strategy, dict):
        raise wrong(TypeError, f"{what}: strategy", "a dictionary", type(strategy).__name__)
    if not strategy:
        value = np.concatenate(arrays)
    elif first.name not in strategy:
        raise KeyError(f"{what}: the strategy has no Parameter {first.name!r}.")
    else:
        placement = placements_of({first.name: strategy[first.name]})[first.name][0]
        placement = placement.fitting(arrays[0].ndim, first.name)
        if placement.devices != len(arrays):
            expected = f"{placement.devices} parts, one for each device of the strategy"
            raise wrong(ValueError, f"{what}: sliced_parameters", expected, len(arrays))
        shape = placement.whole_shape(arrays[0].shape)
        holders = placement.holders(shape, first.name)
        parts = [(box, arrays[ranks[0]]) for box, ranks in holders.items()]
        value = assembled(first.name, whole_box(shape), parts, arrays[0].dtype)
    return Parameter(Tensor(value), first.name, first.requires_grad, first.layerwise_parallel)


def restore_group_info_list(group_info_file_name: str) -> list[int]:
    """The devices that a file of groups names as those to restore from.

    Raises:
        TypeError: the name is not a text.
        ValueError: there is no such file, or it names none.

    Source: MindSpore's `mindspore.restore_group_info_list`.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     done = file.write(bytes([18, 4, 8, 0, 8, 4]))
        ...     file.flush()
        ...     ms.restore_group_info_list(file.name)
        [0, 4]
    """
    if not isinstance(group_info_file_name, str):
        actual = type(group_info_file_name).__name__
        raise wrong(TypeError, "group_info_file_name", "a string", actual)
    path = group_info_file_name
    ranks = [
        rank
        for number, item in fields(files.bytes_of_file(path), path)
        if number == 2
        for inner, part in fields(item, path)
        if inner == 1
        for rank in integers(part, path)
    ]
    if not ranks:
        raise damaged(path, "it has no list of devices to restore from")
    return ranks


def of_target(contents: Contents, target: Strategy, rank: int) -> Contents:
    """What a device gets of whole Parameters; what is in no strategy it gets as it is.

    Raises:
        ValueError: a Parameter cannot be divided so.
    """
    target.check_rank(rank)
    found: Contents = {}
    for name, value in contents.items():
        placed = target.of(name, rank)
        if placed is not None:
            box = placed[1].fitting(value.ndim, name).box(rank, value.shape, name)
            value = value[tuple(slice(*ends) for ends in box)]
        elif name in target.placements:
            continue  # another pipeline stage has it
        found[name] = value
    return found


def _of_rank(source: Source, target: Strategy, rank: int) -> Contents:
    """What one device of the target gets."""
    target.check_rank(rank)
    found: Contents = {}
    left_out = []
    own = source.contents(rank % (source.strategy.devices * source.strategy.stages))
    for name in source.names():
        known = source.strategy.of(name)
        placed = target.of(name, rank)
        if known is None and placed is not None and source.strategy.is_whole:
            found |= of_target({name: source.contents(min(source.paths))[name]}, target, rank)
        elif known is None:
            if name in own or source.strategy.is_whole:
                found[name] = own[name] if name in own else _of_any(source, name)
        elif placed is not None:
            shape = source.shape(name)
            placement = placed[1].fitting(len(shape), name)
            found[name] = source.value(name, placement.box(rank, shape, name))
        elif target.is_whole or (
            name not in target.placements and len(known[1].holders(source.shape(name))) == 1
        ):
            found[name] = whole(source, name)
        elif name not in target.placements:
            left_out.append(name)
    if left_out and rank == 0:
        _log.warning(LEFT_OUT, ", ".join(left_out))
    return found


def whole(source: Source, name: str):
    """All of what was saved under a name; of what is not divided, that of the first device."""
    if source.strategy.of(name) is None:
        return _of_any(source, name)
    return source.value(name, whole_box(source.shape(name)))


def _of_any(source: Source, name: str):
    """What the first device has saved that has something of this name."""
    return next(
        source.contents(rank)[name] for rank in source.paths if name in source.contents(rank)
    )


def _bytes(source: Source, name: str) -> int:
    value = _of_any(source, name)
    known = source.strategy.of(name)
    if isinstance(value, str):
        return 0
    return value.nbytes if known is None else int(value.nbytes * np.prod(known[1].parts()))


def _groups(source: Source, names: Iterable[str]) -> list[list[str]]:
    """The names of each file, so that none has more than so many bytes, if one Parameter fits."""
    groups: list[list[str]] = [[]]
    size = 0
    for name in names:
        added = _bytes(source, name)
        if groups[-1] and size + added > MOST_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(name)
        size += added
    return groups


def _arrays(parts: Sequence[Parameter], what: str) -> list[np.ndarray]:
    """The values of parts that fit together."""
    if not isinstance(parts, (list, tuple)):
        actual = type(parts).__name__
        raise wrong(TypeError, f"{what}: sliced_parameters", "a list of Parameters", actual)
    if not parts:
        raise wrong(ValueError, f"{what}: sliced_parameters", "a part", "none")
    for part in parts:
        if not isinstance(part, Parameter):
            actual = type(part).__name__
            raise wrong(TypeError, f"{what}: sliced_parameters", "Parameters", actual)
        if part.name != parts[0].name or part.shape[1:] != parts[0].shape[1:]:
            expected = f"{parts[0].name!r} of shape {parts[0].shape}, but for the first dimension"
            actual = f"{part.name!r} of shape {part.shape}"
            raise wrong(ValueError, f"{what}: each part", expected, actual)
    return [np.asarray(part) for part in parts]


def _check_rank(rank: Any, what: str) -> None:
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise wrong(TypeError, f"{what}: rank_id", "a whole number", repr(rank))
    if rank < 0:
        raise wrong(ValueError, f"{what}: rank_id", "0 or more", repr(rank))


__all__ = [
    "build_searched_strategy",
    "merge_pipeline_strategys",
    "merge_sliced_parameter",
    "rank_list_for_transform",
    "restore_group_info_list",
    "transform_checkpoint_by_rank",
    "transform_checkpoints",
    "unified_safetensors",
]
