# SPDX-License-Identifier: Apache-2.0
"""load_distributed_checkpoint on one device: whole Parameters are loaded, slices are refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mycel.checkpoint.loading import load_checkpoint, load_param_into_net
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.nn.cell import Cell

SLICES = (
    "{path} has {name!r} in shape {actual}, and the network in shape {expected} (at {place}): it "
    "is the slice of one device, and how slices are put together is only told by the strategy "
    "file, which MindSpore alone reads. Make whole files of them where they were written, with "
    "mindspore.unified_safetensors or mindspore.transform_checkpoints, and load those."
)


def load_distributed_checkpoint(
    network: Cell,
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
    """Load what several devices have saved, if each file has whole Parameters.

    Args:
        network: the Cell, on this one device.
        checkpoint_filenames: the files by device; the one of `rank_id` (0) is loaded.
        unified_safetensors_dir: instead, a folder whose files have the Parameters together.
        strict_load, dec_key, dec_mode: see `load_checkpoint` and `load_param_into_net`.
        name_map: the name in the files, by the name in the network.
        return_param_dict: return the Parameters by name.
        predict_strategy, train_strategy_filename, format, output_format, max_process_num: not
            needed for one device; noted in the log.
        dst_safetensors_dir: must be None; `save_checkpoint` writes what was loaded.

    Returns:
        What `load_param_into_net` returns, or the Parameters.

    Raises:
        ValueError: the files hold slices of Parameters, or there are no files.

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
    del format, output_format, max_process_num
    what = "load_distributed_checkpoint"
    if not isinstance(network, Cell):
        raise wrong(TypeError, f"{what}: network", "a Cell", type(network).__name__)
    if dst_safetensors_dir is not None:
        actual = repr(dst_safetensors_dir)
        raise wrong(ValueError, f"{what}: dst_safetensors_dir", "None on one device", actual)
    strategies = {
        "predict_strategy": predict_strategy,
        "train_strategy_filename": train_strategy_filename,
    }
    log.without_effect(what, {name: value for name, value in strategies.items() if value})
    paths = _paths(checkpoint_filenames, unified_safetensors_dir, rank_id or 0)
    loaded = {}
    for path in paths:
        values = load_checkpoint(path, dec_key=dec_key, dec_mode=dec_mode)
        _check_whole(network, _renamed(values, name_map), path)
        loaded.update(_renamed(values, name_map))
    told = load_param_into_net(network, loaded, strict_load)
    return loaded if return_param_dict else told


def _paths(filenames, folder, rank: int) -> list[str]:
    """The files to read: one of a list by device, or all of a folder."""
    what = "load_distributed_checkpoint"
    if (filenames is None) == (folder is None):
        expected = "one of checkpoint_filenames and unified_safetensors_dir"
        actual = "neither" if folder is None else "both"
        raise wrong(ValueError, f"What {what} loads", expected, actual)
    if folder is not None:
        paths = sorted(map(str, Path(folder).glob("*.safetensors")))
        if not paths:
            actual = repr(folder)
            expected = "a folder with .safetensors files"
            raise wrong(ValueError, f"{what}: unified_safetensors_dir", expected, actual)
        return paths
    names = [filenames] if isinstance(filenames, (str, os.PathLike)) else list(filenames)
    if not 0 <= rank < len(names):
        expected = f"a place in the list of {len(names)} files"
        raise wrong(ValueError, f"{what}: rank_id", expected, repr(rank))
    return [os.fspath(names[rank])]


def _renamed(values: dict, name_map: dict[str, str] | None) -> dict:
    back = {theirs: ours for ours, theirs in (name_map or {}).items()}
    return {back.get(name, name): value for name, value in values.items()}


def _check_whole(network: Cell, values: dict, path: str) -> None:
    for parameter in network.get_parameters():
        value = values.get(parameter.name)
        if value is not None and value.shape != parameter.shape:
            raise ValueError(
                SLICES.format(
                    path=path,
                    name=parameter.name,
                    actual=value.shape,
                    expected=parameter.shape,
                    place=user_place(3),
                )
            )
