# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in slices, read: of each file no more than what is asked for."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from mycel.checkpoint import safetensors_format
from mycel.checkpoint.contents import Contents, damaged
from mycel.checkpoint.interop import to_jax
from mycel.checkpoint.sharded.placement import (
    Box,
    assembled,
    box_of,
    overlap,
    shape_of,
    whole_box,
    within,
)
from mycel.checkpoint.sharded.slices import CHECK, FILE, KIND, SAVE, VERSION, check_of
from mycel.kernel.base import log
from mycel.kernel.base.division import division
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.base.processes import count, number
from mycel.kernel.record.parameter import Parameter
from mycel.nn.cell import Cell

NO_INDEX = (
    "There is no index {path} of a checkpoint in slices (at {place}). It is the file that was "
    "named in save_checkpoint; its slices lie in a folder beside it."
)
OTHER_INDEX = (
    "{path} is not the index of a checkpoint in slices that this version reads. Folders of Hugging "
    "Face are read by mycel.checkpoint.load_weights."
)
NO_FILE = (
    "{path} is not there, which has a slice of {name!r}: {index} names {count} files, and all of "
    "them are wanted."
)
OTHER_SAVE = (
    "{path}, which should have a slice of {name!r}, belongs to another save than {index}: one of "
    "them was copied without the other."
)
LAYERWISE = (
    "Each of {saved} processes has saved a {name!r} of its own (layerwise_parallel=True) in "
    "{index}, and there {are} now: whose would be wanted is not known. Load it in {saved} "
    "processes, or leave it out by choice_func."
)
TAKEN_ANEW = (
    "{index} was saved by {saved} processes, and there {are} now: of what they had different "
    "values of, process {rank} takes those of process {other} ({names})"
)


def read(path, taken: Callable[[str], object], net: Cell | None = None) -> Contents:
    """The values of a checkpoint in slices, of the names that are taken.

    Args:
        net: what it has Parameters of comes as they lie, so that of a divided one nothing is read
            twice, or put together; the rest comes whole.

    Returns:
        Arrays of NumPy, and of JAX where they are divided; texts.

    Raises:
        ValueError: a file is missing, damaged, or belongs to another save.
        RuntimeError: a Parameter of the network has another shape.
    """
    lies = {} if net is None else _lies(net)
    slices = Slices(path)
    names = [name for name in slices.names() if taken(name)]
    slices.tell_other_count(names)
    return {name: _value(slices, name, lies.get(name)) for name in names}


def _lies(net: Cell) -> dict[str, Parameter]:
    """The Parameters of a network, each where it belongs."""
    if division.enter is not None:
        division.enter(net, (), {})
    return {parameter.name: parameter for parameter in net.get_parameters()}


def _value(slices: Slices, name: str, like: Parameter | None):
    shape = slices.shape(name)
    if like is not None and like.shape != shape and (like.shape, shape) != ((), (1,)):
        what = f"{name!r} in {slices.path}, for the Parameter of the network,"
        raise wrong(RuntimeError, what, f"of shape {like.shape}", f"shape {shape}")
    grid = division.grid
    if grid is None or division.enter is None or like is None or like.shape != shape:
        return slices.value(name)
    array: Any = to_jax(like)
    sharding = array.sharding
    if not grid.has(array):
        return slices.value(name)
    indices = sharding.addressable_devices_indices_map(shape).values()
    found = (box_of(index, shape) for index in indices if index is not None)
    boxes = list(dict.fromkeys(found))
    parts = dict(zip(boxes, slices.values(name, boxes), strict=True))
    return grid.make(shape, sharding, lambda index: parts[box_of(index, shape)])


class Slices:
    """A checkpoint in slices, to be read.

    Args:
        path: its index.

    Raises:
        ValueError: it is not there, damaged, or none.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise ValueError(NO_INDEX.format(path=self.path, place=user_place(3)))
        content = Path(self.path).read_bytes()
        try:
            told = json.loads(content)
        except (ValueError, RecursionError):
            raise damaged(self.path, "it is not JSON") from None
        if not isinstance(told, dict) or told.get(KIND) != VERSION:
            raise ValueError(OTHER_INDEX.format(path=self.path))
        if told.get(CHECK) != check_of(told):
            raise damaged(self.path, "its checksum is another")
        try:
            self.saved, self._block = int(told["processes"]), int(told["block"])
            self._identity, self._sizes = str(told[SAVE]), [int(size) for size in told["files"]]
            self._values = {name: _Value(of) for name, of in told["values"].items()}
            folder = str(told["folder"])
            placed = folder == os.path.basename(folder) not in ("", ".", "..")
            known = all(
                0 <= s.file < len(self._sizes) for v in self._values.values() for s in v.slices
            )
            if not placed or not known or self.saved < 1 or self._block < 1:
                raise ValueError("a folder, a file or a number that cannot be")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise damaged(self.path, f"it is not what an index says ({error!r})") from None
        self._folder = Path(self.path).absolute().parent / folder
        self._files: dict[int, _File] = {}
        self.process = number() if self.saved == count() else number() % self.saved

    @property
    def bytes_read(self) -> int:
        """How many bytes of slices were read so far."""
        return sum(file.bytes_read for file in self._files.values())

    def names(self) -> list[str]:
        """The names of what this process can read."""
        return [name for name, value in self._values.items() if self._slices(value)]

    def tell_other_count(self, names: Iterable[str]) -> None:
        """Say of which names one process of another number of processes is taken.

        Raises:
            ValueError: a Parameter of each process alone is among them.
        """
        if self.saved == count():
            return
        own = [name for name in names if self._values[name].own]
        are = "is 1" if count() == 1 else f"are {count()}"
        for name in own:
            if self._values[name].layerwise:
                told = {"saved": self.saved, "name": name, "index": self.path, "are": are}
                raise ValueError(LAYERWISE.format(**told))
        if own:
            more = f" and {len(own) - 5} more" if len(own) > 5 else ""
            told = {"index": self.path, "saved": self.saved, "are": are, "rank": number()}
            names = ", ".join(own[:5]) + more
            log.logger.warning(TAKEN_ANEW.format(other=self.process, names=names, **told))

    def _slices(self, value: _Value) -> list[_Slice]:
        return [one for one in value.slices if one.process in (None, self.process)]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a whole value."""
        return self._slices(self._values[name])[0].shape

    def value(self, name: str):
        """A whole array, or a text."""
        (found,) = self.values(name, [whole_box(self.shape(name))])
        return bytes(found).decode() if self._values[name].text else found

    def values(self, name: str, boxes: Iterable[Box]) -> list[np.ndarray]:
        """What lies in some boxes of an array; what several of them need is read once.

        Raises:
            ValueError: a file is missing, damaged, or belongs to another save.
        """
        slices = self._slices(self._values[name])
        dtype = safetensors_format.TYPE_OF_NAME[slices[0].kind]
        found = [self._in_box(name, slices, dtype, box) for box in boxes]
        for one in slices:
            if one.file in self._files:
                self._files[one.file].forget(name)
        return found

    def _in_box(self, name: str, slices: list[_Slice], dtype: np.dtype, box: Box) -> np.ndarray:
        if len(slices) == 1 and slices[0].box == box:
            return self._part(name, slices[0], dtype, box)
        return assembled(name, box, self._parts(name, slices, dtype, box), dtype)

    def _parts(self, name, slices, dtype, box) -> Iterator[tuple[Box, np.ndarray]]:
        for one in slices:
            common = overlap(one.box, box)
            if common is not None:
                yield one.box, self._part(name, one, dtype, common)

    def _part(self, name: str, one: _Slice, dtype: np.dtype, box: Box) -> np.ndarray:
        """A slice, of which what lies in a box was read."""
        if one.file not in self._files:
            self._files[one.file] = self._opened(name, one.file)
        place = within(box, one.box)
        blocks = blocks_of(shape_of(one.box), dtype.itemsize, place, self._block)
        data = self._files[one.file].data(name, one, blocks, self._block)
        return data.view(dtype).reshape(shape_of(one.box))

    def _opened(self, name: str, file: int) -> _File:
        path = self._folder / FILE.format(file)
        if not path.is_file():
            told = {"index": self.path, "count": len(self._sizes)}
            raise ValueError(NO_FILE.format(path=path, name=name, **told))
        opened = _File(path)
        if opened.metadata.get(SAVE) != self._identity:
            raise ValueError(OTHER_SAVE.format(path=path, name=name, index=self.path))
        if opened.size != self._sizes[file]:
            reason = f"it has {opened.size} bytes, and {self._sizes[file]} were written"
            raise damaged(path, f"{reason}; a slice of {name!r} is wanted from it")
        return opened


class _Slice:
    """Which file has a box of a value, and the checksums of its blocks."""

    def __init__(self, told: Mapping[str, Any], value: Mapping[str, Any]):
        self.file, self.process = int(told["file"]), told.get("process")
        self.box: Box = tuple((int(begin), int(end)) for begin, end in told["box"])
        self.kind = str(told.get("dtype", value["dtype"]))
        self.shape = tuple(int(length) for length in told.get("shape", value["shape"]))
        self.checks = [int(check) for check in told["checks"]]
        inside = all(
            0 <= begin <= end <= length
            for (begin, end), length in zip(self.box, self.shape, strict=True)
        )
        if not inside or self.kind not in safetensors_format.TYPE_OF_NAME:
            raise ValueError(f"there is no slice {self.box} of {self.kind}{list(self.shape)}")


class _Value:
    """What an index says of a value."""

    def __init__(self, told: Mapping[str, Any]):
        self.slices = [_Slice(one, told) for one in told["slices"]]
        self.text, self.layerwise = bool(told.get("text")), bool(told.get("layerwise"))
        self.own = any(one.process is not None for one in self.slices)


class _File:
    """A file of slices; it is open only while it is read, as there may be many."""

    def __init__(self, path: Path):
        self.path = path
        self.size = path.stat().st_size
        with open(path, "rb") as file:
            self._header, self.metadata, self._start = safetensors_format.read_header(file, path)
        # By name: the bytes of a slice, and which blocks of them were read.
        self._read: dict[str, tuple[np.ndarray, set[int]]] = {}
        self.bytes_read = 0

    def forget(self, name: str) -> None:
        """Let go of the bytes of a slice."""
        self._read.pop(name, None)

    def data(self, name: str, one: _Slice, blocks: Iterable[int], block: int) -> np.ndarray:
        """The bytes of a slice, of which these blocks were read.

        Raises:
            ValueError: it is not there, of another type or shape, or damaged.
        """
        size, start = self._place(name, one)
        if len(one.checks) != -(-size // block):
            raise damaged(self.path, f"its index has not the checksums of {name!r}")
        if name not in self._read:
            # Memory that is not written to is only promised, so that less than a slice takes less.
            self._read[name] = np.empty(size, np.uint8), set()
        data, there = self._read[name]
        with open(self.path, "rb", buffering=0) as file:
            for place in sorted(set(blocks) - there):
                part = data[place * block : (place + 1) * block]
                file.seek(start + place * block)
                self.bytes_read += file.readinto(part.data)
                if zlib.crc32(part.data) != one.checks[place]:
                    raise damaged(self.path, f"the checksum of {name!r} is another")
                there.add(place)
        return data

    def _place(self, name: str, one: _Slice) -> tuple[int, int]:
        """How many bytes a slice has, and where they begin in the file."""
        if name not in self._header:
            raise damaged(
                self.path, f"it has no {name!r}, of which its index says a slice is there"
            )
        size = self.size - self._start
        told = safetensors_format.described_as(name, self._header[name], size, self.path)
        kind, shape, first, last = told
        expected = shape_of(one.box)
        wanted = prod(expected) * safetensors_format.TYPE_OF_NAME[kind].itemsize
        if (kind, shape) != (one.kind, expected) or last - first != wanted:
            reason = f"{name!r} is {kind}{list(shape)} there, and its index says"
            raise damaged(self.path, f"{reason} {one.kind}{list(expected)}")
        return last - first, self._start + first


def blocks_of(
    shape: tuple[int, ...], itemsize: int, places: tuple[slice, ...], block: int
) -> set[int]:
    """Which blocks of the bytes of an array have something of a part of it.

    Example:
        >>> from mycel.checkpoint.sharded.slice_files import blocks_of
        >>> sorted(blocks_of((4, 8), 4, (slice(0, 4), slice(0, 1)), block=16))
        [0, 2, 4, 6]
    """
    if not prod(shape):
        return set()
    strides = [itemsize * prod(shape[place + 1 :]) for place in range(len(shape))]
    # Steps of at most a block leave none out between the first and the last.
    first, length, starts = 0, itemsize, np.zeros(1, np.int64)
    for part, stride in zip(places, strides, strict=True):
        first += part.start * stride
        if stride <= block:
            length += (part.stop - 1 - part.start) * stride
        else:
            steps = np.arange(part.stop - part.start) * stride
            starts = (starts[:, None] + steps).reshape(-1)
    starts += first
    ends = (starts + length - 1) // block
    return {n for a, b in zip(starts // block, ends, strict=True) for n in range(a, b + 1)}
