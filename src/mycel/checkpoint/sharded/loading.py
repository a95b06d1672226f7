# SPDX-License-Identifier: Apache-2.0
"""load_distributed_checkpoint: what several devices have saved, into a network of this one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mycel.checkpoint import files
from mycel.checkpoint.contents import Contents
from mycel.checkpoint.loading import choice, chosen, load_param_into_net
from mycel.checkpoint.sharded.source import Source, Strategy
from mycel.checkpoint.sharded.transform import of_target
from mycel.checkpoint.sharded.transform import whole as whole_of
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.parallel_settings import parallel
from mycel.kernel.base.places import user_place
from mycel.kernel.base.processes import number
from mycel.nn.cell import Cell

PARTS = (
    "{where} has {name!r} in shape {actual}, and the network in shape {expected} (at {place}): it "
    "is the part of one device. Give the strategy file of the run as train_strategy_filename, or "
    "that of the network as predict_strategy; or make whole files with unified_safetensors."
)
SAVED = "net.{}"


def load_distributed_checkpoint(
    network: Cell | None,
    checkpoint_filenames: str | Sequence[str] | None = None,
    predict_strategy: dict[str, Any] | str | None = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict[str, str] | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
):
    """Load what several devices have saved, put together or divided anew.

    Args:
        network: the Cell that takes the Parameters; None, they are written to files.
        checkpoint_filenames: the files in the order of their devices.
        unified_safetensors_dir: instead, a folder whose files have whole Parameters.
        train_strategy_filename: how Parameters are divided among the files; None, as the context's
            `strategy_ckpt_load_file` says; if that is none either, each file has them all, and that
            of `rank_id` is read.
        predict_strategy: how they shall be divided, a file or a dictionary; None, not at all. A
            Parameter of the network that has the whole shape takes the whole value.
        strict_load, dec_key, dec_mode: see `load_checkpoint` and `load_param_into_net`.
        dst_safetensors_dir: without a network, the folder for `rank_N/net.safetensors`.
        rank_id: the device, by default this process; without a network, by default all.
        output_format: without a network, 'ckpt' or 'safetensors'.
        name_map: the name in the files, by the name in the network.
        format, max_process_num: accepted; the files tell their format, one process reads them.
        return_param_dict: return the Parameters by name.

    Returns:
        What `load_param_into_net` returns, or the Parameters; without a network, None.

    Raises:
        TypeError: `network` is not a Cell.
        ValueError: files are missing or damaged, or have parts of Parameters and no strategy.

    Source: MindSpore's `mindspore.load_distributed_checkpoint`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1, "ones"), f"{folder}/rank_0.ckpt")
        ...     net = nn.Dense(2, 1)
        ...     ms.load_distributed_checkpoint(net, [f"{folder}/rank_0.ckpt"])
        ([], [])
        >>> print(net.weight.asnumpy())
        [[1. 1.]]
    """
    del format, max_process_num
    what = "load_distributed_checkpoint"
    if network is not None and not isinstance(network, Cell):
        raise wrong(TypeError, f"{what}: network", "a Cell or None", type(network).__name__)
    if (network is None) == (dst_safetensors_dir is None):
        expected = "a folder if network is None, and only then"
        raise wrong(ValueError, f"{what}: dst_safetensors_dir", expected, dst_safetensors_dir)
    if (checkpoint_filenames is None) == (unified_safetensors_dir is None):
        expected = "one of checkpoint_filenames and unified_safetensors_dir"
        actual = "neither" if checkpoint_filenames is None else "both"
        raise wrong(ValueError, f"What {what} loads", expected, actual)
    target = Strategy(predict_strategy)
    if unified_safetensors_dir is not None:
        where, whole = unified_safetensors_dir, _of_folder(unified_safetensors_dir)
    else:
        trained = train_strategy_filename or parallel.values["strategy_ckpt_load_file"] or None
        paths = _paths(checkpoint_filenames, rank_id, trained is None)
        where = paths[min(paths)]
        whole = _put_together(Source(paths, Strategy(trained), where, dec_key, dec_mode))
    whole = _renamed(whole, name_map)
    if network is None:
        files.check_format(output_format)
        ranks = range(target.devices * target.stages) if rank_id is None else [rank_id]
        for rank in ranks:
            folder = os.path.join(str(dst_safetensors_dir), f"rank_{rank}")
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, SAVED.format(output_format))
            files.write(path, of_target(whole, target, rank), output_format, checksum=True)
        return None
    rank = number() if rank_id is None else rank_id
    loaded = _fitting(network, whole, of_target(whole, target, rank), where)
    parameters = chosen(loaded, lambda name: True, where)
    told = load_param_into_net(network, parameters, strict_load)
    return parameters if return_param_dict else told


def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[Any] | tuple[Any, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Read the Parameters that lie in several files of one folder.

    Args:
        ckpt_file_dir: the folder, with .ckpt or else .safetensors files.
        net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func: see
            `load_checkpoint`.

    Returns:
        Parameters, and texts, by name; of a name in two files, that of the later file.

    Raises:
        TypeError: an argument of another type.
        ValueError: there is no such folder, it has no checkpoints, or nothing of them is taken.

    Source: MindSpore's `mindspore.load_segmented_checkpoints`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a", "b"):
        ...         ms.save_checkpoint({name: Tensor(1.0)}, f"{folder}/{name}.ckpt")
        ...     sorted(ms.load_segmented_checkpoints(folder))
        ['a', 'b']
    """
    what = "load_segmented_checkpoints"
    if not isinstance(ckpt_file_dir, str):
        actual = type(ckpt_file_dir).__name__
        raise wrong(TypeError, f"{what}: ckpt_file_dir", "a string", actual)
    taken = choice(filter_prefix, specify_prefix, choice_func)
    contents: Contents = {}
    for path in _files_of(ckpt_file_dir, (".ckpt", ".safetensors")):
        contents |= files.read(path, dec_key, dec_mode)
    found = chosen(contents, taken, ckpt_file_dir)
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def _files_of(folder: str, endings: Sequence[str]) -> list[str]:
    """The files of a folder with the first ending that any has."""
    if os.path.isdir(folder):
        for ending in endings:
            paths = sorted(str(path) for path in Path(folder).glob(f"*{ending}"))
            if paths:
                return paths
    expected = f"a folder with {' or '.join(endings)} files"
    raise wrong(ValueError, "The folder of checkpoints", expected, repr(folder))


def _of_folder(folder: str) -> Contents:
    found: Contents = {}
    for path in _files_of(folder, (".safetensors",)):
        found |= files.read(path)
    return found


def _paths(filenames, rank: int | None, alone: bool) -> dict[int, str]:
    """The files by device; where each has everything, that of one device."""
    names = [filenames] if isinstance(filenames, (str, os.PathLike)) else list(filenames)
    if not alone:
        return {place: os.fspath(name) for place, name in enumerate(names)}
    place = rank or 0
    if not 0 <= place < len(names):
        expected = f"a place in the list of {len(names)} files"
        raise wrong(ValueError, "load_distributed_checkpoint: rank_id", expected, repr(rank))
    return {0: os.fspath(names[place])}


def _put_together(source: Source) -> Contents:
    return {name: whole_of(source, name) for name in source.names()}


def _renamed(values: Contents, name_map: dict[str, str] | None) -> Contents:
    back = {theirs: ours for ours, theirs in (name_map or {}).items()}
    return {back.get(name, name): value for name, value in values.items()}


def _fitting(network: Cell, whole: Contents, divided: Contents, where: str) -> Contents:
    """For each Parameter the whole value or this device's part, whichever has its shape."""
    found = dict(divided)
    for parameter in network.get_parameters():
        name = parameter.name
        if name not in whole:
            continue
        if whole[name].shape == parameter.shape:
            found[name] = whole[name]
        elif name not in divided or divided[name].shape != parameter.shape:
            told = {"where": where, "name": name, "actual": whole[name].shape}
            raise ValueError(PARTS.format(expected=parameter.shape, place=user_place(3), **told))
    return found


__all__ = ["load_distributed_checkpoint", "load_segmented_checkpoints"]
