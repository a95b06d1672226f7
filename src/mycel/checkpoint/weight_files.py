# SPDX-License-Identifier: Apache-2.0
"""Weights as other libraries keep them: one file, or a folder of Hugging Face with its shards."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from mycel.checkpoint import safetensors_format, torch_format
from mycel.checkpoint.contents import Contents, damaged
from mycel.checkpoint.pytorch import MISSING, read_state
from mycel.kernel.base.atomic import replaced
from mycel.kernel.base.errors import wrong

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = ".index.json"
# What a folder is looked through for, in this order.
KNOWN = (WEIGHTS, WEIGHTS + INDEX, "pytorch_model.bin", "pytorch_model.bin" + INDEX)
ENDINGS = (".safetensors", ".pth", ".pt", ".bin", ".ckpt")
NO_WEIGHTS = (
    "The folder {path} has no weights: none of {known}, and not one file alone of {endings}."
)
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


class Source(NamedTuple):
    """What was read: the arrays by name, what config.json says, and the file or folder."""

    arrays: Contents
    config: Mapping[str, Any]
    path: str


def read(path: str | os.PathLike[str]) -> Source:
    """The weights in a file or folder; arrays of safetensors share its memory.

    Raises:
        ValueError: there are none, or a file is damaged or has something other than tensors.
    """
    path = os.fspath(path)
    folder, file = path, None
    if not os.path.isdir(path):
        folder, file = os.path.dirname(path), os.path.basename(path)
    arrays = _arrays(folder, file or _weights_in(folder))
    config = _config(folder) if file is None or file in KNOWN else {}
    return Source(arrays, config, path)


def _weights_in(folder: str) -> str:
    names = set(os.listdir(folder))
    known = [name for name in KNOWN if name in names]
    others = sorted(name for name in names if name.endswith(ENDINGS))
    if not known and len(others) != 1:
        raise ValueError(
            NO_WEIGHTS.format(path=folder, known=", ".join(KNOWN), endings=", ".join(ENDINGS))
        )
    return (known or others)[0]


def _arrays(folder: str, name: str) -> Contents:
    path = os.path.join(folder, name)
    if not name.endswith(INDEX):
        return read_state(path)
    if not os.path.isfile(path):
        raise ValueError(MISSING.format(path=path))
    places = _json(path).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(file, str) for file in places.values()):
        raise damaged(path, "it has no weight_map from names to files")
    outside = [file for file in places.values() if os.path.basename(file) != file or file == ".."]
    if outside:
        raise damaged(path, f"it names {outside[0]!r}, which is not in the folder")
    found: Contents = {}
    for file in dict.fromkeys(places.values()):
        shard = read_state(os.path.join(folder, file))
        found |= {name: value for name, value in shard.items() if places.get(name) == file}
    lost = [name for name in places if name not in found]
    if lost:
        raise damaged(path, f"{lost[0]!r} is not in {places[lost[0]]!r}")
    return found


def _config(folder: str) -> dict:
    path = os.path.join(folder, CONFIG)
    return _json(path) if os.path.isfile(path) else {}


def _json(path: str) -> dict:
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise damaged(path, "it is not JSON") from None
    if not isinstance(found, dict):
        raise damaged(path, "it is not a JSON object")
    return found


def write(
    path: str | os.PathLike[str],
    arrays: Contents,
    max_shard_size: int | str,
    config: Mapping[str, Any],
) -> None:
    """Write weights: to a file by its ending, or to model.safetensors in a folder, which is made
    and gets a config.json if it has none.

    Raises:
        TypeError: the file cannot have an element type.
        ValueError: the ending of the file, or the size of a shard, means nothing.
    """
    path, most = os.fspath(path), bytes_of_size(max_shard_size)
    ending = os.path.splitext(path)[1]
    if ending in (".pth", ".pt", ".bin"):
        with replaced(path) as partial:
            torch_format.write(partial, arrays)
    elif ending == ".safetensors":
        _write_shard(path, arrays)
    elif ending == ".ckpt" or os.path.isfile(path):
        expected = "a folder, or end in .safetensors, .pth, .pt or .bin (.ckpt: save_checkpoint)"
        raise wrong(ValueError, "save_weights: path", expected, repr(path))
    else:
        os.makedirs(path, exist_ok=True)
        _write_folder(path, arrays, most)
        if config and not os.path.exists(os.path.join(path, CONFIG)):
            _write_json(os.path.join(path, CONFIG), config)


def bytes_of_size(size: int | str) -> int:
    """How many bytes '5GB' are.

    Raises:
        ValueError: it is not a positive number, or has another unit.
    """
    number, unit = (size[:-2], size[-2:].upper()) if isinstance(size, str) else (size, "")
    try:
        found = int(float(number) * UNITS.get(unit, 1))
    except ValueError:
        found = 0
    if found < 1 or (isinstance(size, str) and unit not in UNITS):
        expected = f"a number of bytes, or a text such as '5GB' ({', '.join(UNITS)})"
        raise wrong(ValueError, "max_shard_size", expected, repr(size))
    return found


def _write_folder(folder: str, arrays: Contents, most: int) -> None:
    shards: list[Contents] = [{}]
    size = 0
    for name, array in arrays.items():
        if shards[-1] and size + array.nbytes > most:
            shards.append({})
            size = 0
        shards[-1][name] = array
        size += array.nbytes
    written = [WEIGHTS]
    if len(shards) > 1:
        count = len(shards)
        written = [f"model-{n + 1:05}-of-{count:05}.safetensors" for n in range(count)]
    for file, shard in zip(written, shards, strict=True):
        _write_shard(os.path.join(folder, file), shard)
    if len(shards) > 1:
        places = {name: file for file, shard in zip(written, shards, strict=True) for name in shard}
        total = sum(array.nbytes for array in arrays.values())
        told = {"metadata": {"total_size": total}, "weight_map": places}
        _write_json(os.path.join(folder, WEIGHTS + INDEX), told)
        written.append(WEIGHTS + INDEX)
    _remove_others(folder, written)


def _remove_others(folder: str, written: list[str]) -> None:
    """Remove the weights of this format that a folder had before: they would be read in place of
    these, or lie there for nothing."""
    for name in os.listdir(folder):
        ours = name in (WEIGHTS, WEIGHTS + INDEX) or (
            name.startswith("model-") and name.endswith(".safetensors")
        )
        if ours and name not in written:
            os.remove(os.path.join(folder, name))


def _write_json(path: str, told: Mapping[str, Any]) -> None:
    with replaced(path) as partial:
        partial.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _write_shard(path: str, arrays: Contents) -> None:
    with replaced(path) as partial:
        # What Hugging Face's loaders ask for.
        safetensors_format.write(partial, arrays, {"format": "pt"})
