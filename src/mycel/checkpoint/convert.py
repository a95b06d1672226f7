# SPDX-License-Identifier: Apache-2.0
"""From .ckpt to safetensors files and back, and names of Parameters changed on the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from mycel.checkpoint import files
from mycel.kernel.base.errors import wrong


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write .ckpt files again as safetensors files.

    Args:
        file_path: a .ckpt file, or a folder that is searched for them.
        save_path: the folder for the new files; None puts each beside the old one.
        name_map: new names of Parameters by old ones.
        file_name_regex: only files whose names match.
        processes_num: accepted; one process does it.

    Raises:
        ValueError: there is no such file or folder, or a file is damaged.

    Source: MindSpore's `mindspore.ckpt_to_safetensors`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/net.ckpt")
        ...     ms.ckpt_to_safetensors(folder, name_map={"weight": "w"})
        ...     sorted(os.listdir(folder)), list(ms.load_checkpoint(f"{folder}/net.safetensors"))
        (['net.ckpt', 'net.safetensors'], ['bias', 'w'])
    """
    _convert("ckpt", "safetensors", file_path, save_path, name_map, file_name_regex, processes_num)


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write safetensors files again as .ckpt files.

    Args:
        See `ckpt_to_safetensors`.

    Raises:
        ValueError: there is no such file or folder, or a file is damaged.

    Source: MindSpore's `mindspore.safetensors_to_ckpt`.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ms.save_checkpoint(nn.Dense(2, 1), f"{folder}/net.safetensors")
        ...     ms.safetensors_to_ckpt(f"{folder}/net.safetensors", folder)
        ...     sorted(os.listdir(folder))
        ['net.ckpt', 'net.safetensors']
    """
    _convert("safetensors", "ckpt", file_path, save_path, name_map, file_name_regex, processes_num)


def _convert(source, target, file_path, save_path, name_map, file_name_regex, processes_num):
    del processes_num
    if save_path is not None and os.path.exists(save_path) and not os.path.isdir(save_path):
        raise wrong(ValueError, "save_path", "a folder", repr(save_path))
    for path in _found(file_path, source, file_name_regex):
        contents = files.read(path)
        renamed = {(name_map or {}).get(name, name): value for name, value in contents.items()}
        if len(renamed) < len(contents):
            raise wrong(ValueError, "name_map", "one new name for each", "several became one")
        folder = os.path.dirname(path) if save_path is None else save_path
        os.makedirs(folder or ".", exist_ok=True)
        name = os.path.basename(path).removesuffix(source) + target
        files.write(os.path.join(folder, name), renamed, target, checksum=True)


def _found(file_path: str, ending: str, pattern: str | None) -> Iterator[str]:
    if os.path.isfile(file_path):
        if not file_path.endswith(f".{ending}"):
            raise wrong(ValueError, "file_path", f"a .{ending} file or a folder", repr(file_path))
        yield file_path
        return
    if not os.path.isdir(file_path):
        raise wrong(ValueError, "file_path", f"a .{ending} file or a folder", repr(file_path))
    paths = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(file_path)
        for name in sorted(names)
        if name.endswith(f".{ending}") and (pattern is None or re.search(pattern, name))
    ]
    if not paths:
        raise wrong(ValueError, "file_path", f"a folder with .{ending} files", repr(file_path))
    yield from paths
