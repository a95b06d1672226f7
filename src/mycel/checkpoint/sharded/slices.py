# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in slices: every device writes what it has, and an index says where everything lies.

The index `net.index.json` names a folder `net-ID` beside it, with a safetensors file of each
device. Every save has an ID of its own, and the index is replaced when all of the files are there:
whoever is killed, at any moment, the index is that of a checkpoint which is whole.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Mapping
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mycel.checkpoint import safetensors_format
from mycel.checkpoint.contents import Contents, bytes_of
from mycel.checkpoint.interop import to_jax
from mycel.checkpoint.sharded.placement import Box, box_of, shape_of, whole_box
from mycel.kernel.base.atomic import NO_FOLDER, replaced
from mycel.kernel.base.division import division
from mycel.kernel.base.processes import count, number
from mycel.kernel.record.tensor import Tensor
from mycel.ops.collectives.groups import HCCL_WORLD_COMM_GROUP
from mycel.ops.collectives.table import collective

# The word for `format=`, and what the names of such checkpoints end with.
FORMAT = "index.json"
ENDING = f".{FORMAT}"
# The first key of an index, the key of the ID there and in the files, and that of a checksum.
KIND, VERSION = "mycel slices", 1
SAVE, CHECK = "save", "check"
FILE = "{:05}.safetensors"
# Every so many bytes of a slice have a checksum: less is not read of it.
BLOCK = 1 << 20

FAILED = "The checkpoint {path} was not written, and the one before is still there: {reason}."
NOT_SHARED = (
    "process 0 sees no {file} of {size} bytes, which another one has written: all processes need "
    "one path, in a folder that all of them share"
)


class Held(NamedTuple):
    """What this process has of a value.

    Attributes:
        kind: its element type, by the name in safetensors files.
        shape: that of the whole.
        pieces: boxes, the places of the devices that have each, and what lies in them; None for
            one that only other processes have.
        text: whether it is the bytes of a text.
        layerwise: whether every process has a Parameter of its own.
        spans: whether the processes have it together, each some of its boxes.
    """

    kind: str
    shape: tuple[int, ...]
    pieces: list[tuple[Box, list[int], Any]]
    text: bool
    layerwise: bool
    spans: bool = False

    def told(self) -> dict[str, Any]:
        """What the other processes have to know of it."""
        same = blake2b(digest_size=16)
        for box, _, array in self.pieces if count() > 1 else ():
            same.update(repr(box).encode())
            same.update(b"" if self.spans else bytes_of(np.asarray(array)))
        told: dict[str, Any] = {"dtype": self.kind, "shape": list(self.shape)}
        told |= {key: True for key in ("text", "layerwise") if getattr(self, key)}
        return {**told, "same": same.hexdigest()}


def is_index(path: Any) -> bool:
    """Whether a name is that of a checkpoint in slices."""
    return isinstance(path, (str, os.PathLike)) and os.fspath(path).endswith(ENDING)


def folders_of(path: str | os.PathLike) -> list[Path]:
    """The folders with slices beside an index, those of broken saves too."""
    path = Path(path)
    pattern = re.compile(rf"{re.escape(path.name.removesuffix(ENDING))}-[0-9a-f]{{16}}")
    return [place for place in path.absolute().parent.iterdir() if pattern.fullmatch(place.name)]


def remove(path: str | os.PathLike) -> None:
    """Remove a checkpoint, and the slices of an index."""
    os.remove(path)
    for folder in folders_of(path) if is_index(path) else ():
        shutil.rmtree(folder, ignore_errors=True)


def write(path: str, values: Mapping[str, Any]) -> None:
    """Write values as a checkpoint in slices; of several processes, each calls this.

    A slice that several devices have is written by one of them. So is a value that all processes
    have; one of which they have different ones is written by each.

    Args:
        path: the index.
        values: Tensors, arrays and texts by name.

    Raises:
        TypeError: safetensors files do not have an element type.
        OSError: a process could not write; the checkpoint that was there before still is.
    """
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(NO_FOLDER.format(path=path, folder=parent))
    held = {name: _held(name, value) for name, value in values.items()}
    own = {"id": secrets.token_hex(8), "values": {name: of.told() for name, of in held.items()}}
    everybody = _told_by_all(own)
    identity = everybody[0]["id"]
    folder = parent / f"{Path(path).name.removesuffix(ENDING)}-{identity}"
    index, mine = _shared_out([one["values"] for one in everybody], held)
    written = _told_by_all(_attempt(_write_files, folder, identity, mine))
    if number() == 0 and any("error" in one for one in written):
        shutil.rmtree(folder, ignore_errors=True)
    _raise_first(path, written)
    done: dict[str, Any] = {}
    if number() == 0:
        index = {KIND: VERSION, SAVE: identity, "folder": folder.name, **index}
        done = _attempt(_write_index, path, folder, index, written)
    _raise_first(path, _told_by_all(done))


def _told_by_all(own: Any) -> list[Any]:
    """What every process tells, in the order of the processes; something that JSON can hold."""
    if count() == 1:
        return [own]
    told = np.frombuffer(json.dumps(own).encode(), np.uint8)
    lengths = collective("AllGather", HCCL_WORLD_COMM_GROUP, Tensor([told.size])).asnumpy()
    padded = np.zeros(lengths.max(), np.uint8)
    padded[: told.size] = told
    rows = collective("AllGather", HCCL_WORLD_COMM_GROUP, Tensor(padded)).asnumpy()
    rows = rows.reshape(len(lengths), -1)
    return [json.loads(bytes(row[:end])) for row, end in zip(rows, lengths, strict=True)]


def _attempt(function, *arguments) -> dict[str, Any]:
    """What a function returns, or `{"error": why it could not}`."""
    try:
        return function(*arguments)
    except OSError as error:
        return {"error": f"{error}" if count() == 1 else f"process {number()}: {error}"}


def _raise_first(path: str, told: list[dict[str, Any]]) -> None:
    for one in told:
        if "error" in one:
            raise OSError(FAILED.format(path=path, reason=one["error"]))


def _held(name: str, value: Any) -> Held:
    is_text = isinstance(value, str)
    if is_text:
        value = np.frombuffer(value.encode(), np.uint8)
    layerwise, spans = getattr(value, "layerwise_parallel", False), False
    if isinstance(value, Tensor) and division.grid is not None:
        array = to_jax(value)
        pieces = _pieces(array) if division.grid.has(array) else None
        spans = not array.is_fully_addressable
    else:
        array, pieces = np.asarray(value), None
    if pieces is None:
        array = np.asarray(array)
        pieces = [(whole_box(array.shape), list(range(_devices())), array)]
    kind = safetensors_format.name_of_type(name, np.dtype(array.dtype))
    return Held(kind, tuple(array.shape), pieces, is_text, layerwise, spans)


def _devices() -> int:
    """How many devices write, of this process."""
    grid = division.grid
    if division.enter is None or grid is None:
        return 1
    size = len(grid.devices)
    return size if grid.meet is None else size // count()


def _pieces(array: Any) -> list[tuple[Box, list[int], Any]]:
    """The different parts of an array that lies on several devices, and which have each."""
    assert division.grid is not None
    there = {shard.device: shard.data for shard in array.addressable_shards}
    indices = array.sharding.devices_indices_map(array.shape)
    found: dict[Box, tuple[list[int], list]] = {}
    for place, device in enumerate(division.grid.devices):
        if device not in indices:
            continue  # of another stage of a pipeline
        places, data = found.setdefault(box_of(indices[device], array.shape), ([], []))
        places.append(place)
        data += [there[device]] if device in there else []
    return [
        (box, places, data[0] if data else None) for box, (places, data) in sorted(found.items())
    ]


def _shared_out(tables: list[dict], held: Mapping[str, Held]) -> tuple[dict, dict[int, dict]]:
    """Which file gets what: what several could write goes to the one with the fewest bytes.

    Args:
        tables: for each process what it tells of its values.
        held: what this one has.

    Returns:
        The index, without what is known when files are written; and by the number of each file of
        this process, what it gets by name.
    """
    each = _devices()
    load = [0] * (len(tables) * each)
    mine: dict[int, dict[str, Any]] = {number() * each + place: {} for place in range(each)}
    values: dict[str, dict] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        have = {process: table[name] for process, table in enumerate(tables) if name in table}
        first = next(iter(have.values()))
        if len(have) == len(tables) and all(told == first for told in have.values()):
            pieces = held[name].pieces
            found = _by_load(pieces, load, of_devices=len(tables) == 1 or held[name].spans)
        else:
            # What processes have together is the same in all: here each has one piece.
            pieces = held[name].pieces * len(have) if name in held else []
            found = [_of_one(told, process, process * each) for process, told in have.items()]
        itemsize = safetensors_format.TYPE_OF_NAME[first["dtype"]].itemsize
        for place, one in enumerate(found):
            load[one["file"]] += itemsize * prod(shape_of(one["box"]))
            if one["file"] in mine:
                mine[one["file"]][name] = pieces[place][2]
        told = {key: value for key, value in first.items() if key != "same"}
        values[name] = {**told, "slices": found}
    return {"processes": len(tables), "block": BLOCK, "files": [], "values": values}, mine


def _by_load(pieces: list[tuple], load: list[int], of_devices: bool) -> list[dict[str, Any]]:
    """For each piece the file with the fewest bytes, of the devices that have it, or of all."""
    files = [places if of_devices else range(len(load)) for _, places, _ in pieces]
    return [
        {"file": min(among, key=load.__getitem__), "box": piece[0]}
        for among, piece in zip(files, pieces, strict=True)
    ]


def _of_one(told: dict[str, Any], process: int, file: int) -> dict[str, Any]:
    """The piece of a process that has a value of its own."""
    shape = told["shape"]
    own = {"process": process, "dtype": told["dtype"], "shape": shape}
    return {"file": file, "box": whole_box(tuple(shape)), **own}


def _write_files(folder: Path, identity: str, mine: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Write the files of this process, one after the other; their sizes and checksums."""
    found: dict[str, Any] = {}
    folder.mkdir(exist_ok=True)
    for file, parts in mine.items():
        arrays: Contents = {name: np.asarray(part) for name, part in parts.items()}
        path = folder / FILE.format(file)
        with replaced(path) as partial:
            safetensors_format.write(partial, arrays, {SAVE: identity})
        checks = {name: checksums(bytes_of(array), BLOCK) for name, array in arrays.items()}
        found[str(file)] = {"size": path.stat().st_size, "checks": checks}
    return found


def checksums(data: memoryview, block: int) -> list[int]:
    """CRC-32 of every so many bytes."""
    return [zlib.crc32(data[start : start + block]) for start in range(0, len(data), block)]


def _write_index(path: str, folder: Path, index: dict, written: list[dict]) -> dict[str, Any]:
    """Write the index, if all files are there, and remove what belonged to others of its name."""
    files = {int(file): told for one in written for file, told in one.items()}
    for file, told in sorted(files.items()):
        place = folder / FILE.format(file)
        if not place.is_file() or place.stat().st_size != told["size"]:
            raise OSError(NOT_SHARED.format(file=place, size=told["size"]))
        index["files"].append(told["size"])
    for name, value in index["values"].items():
        for one in value["slices"]:
            one["checks"] = files[one["file"]]["checks"][name]
    index[CHECK] = check_of(index)
    with replaced(path) as partial:
        partial.write_text(json.dumps(index), "utf-8")
    for other in folders_of(path):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return {}


def check_of(index: Mapping[str, Any]) -> int:
    """The checksum of all else that an index says."""
    told = {key: value for key, value in index.items() if key != CHECK}
    return zlib.crc32(json.dumps(told).encode())
