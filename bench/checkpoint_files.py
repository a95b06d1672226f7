# SPDX-License-Identifier: Apache-2.0
"""What `python -m bench.checkpoints` saves and loads: the arrays, and how a call is checked."""

from __future__ import annotations

import os
import pathlib
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

# Of a network as many are in use: some tens of large arrays, and as many small ones.
ARRAYS, SMALL = 48, 1000
WORK = ("save", "load", "load anew")


class Format(NamedTuple):
    """A kind of file in one framework: saves what `given` made of NumPy's arrays, and loads it."""

    ending: str
    given: Callable[[dict[str, np.ndarray]], object]
    save: Callable[[str, object], object]
    # As arrays that NumPy can read.
    load: Callable[[str], Mapping]


def arrays() -> dict[str, np.ndarray]:
    """Arrays of as many bytes as BENCH_BYTES says, the same in every process."""
    size = int(os.environ["BENCH_BYTES"]) // 4 // ARRAYS
    draw = np.random.default_rng(0)
    made = {f"layer{n}.weight": draw.random((size // 8, 8), np.float32) for n in range(ARRAYS)}
    return made | {f"layer{n}.bias": draw.random(SMALL, np.float32) for n in range(ARRAYS)}


class Checked:
    """What a call gave; NumPy is told its checksum, which is not part of the time."""

    def __init__(self, loaded: Callable[[], Mapping]):
        self.loaded = loaded

    def __array__(self, dtype=None, copy=None):
        found, checksum, size = self.loaded(), 0, 0
        for label in sorted(found):
            array = np.ascontiguousarray(found[label])
            checksum = zlib.crc32(array.view(np.uint8).reshape(-1), checksum)
            size += array.nbytes
        return np.array([checksum, size, len(found)], dtype or np.float64)


def make(formats: Mapping[str, Format], work: str, variant: str) -> Callable[[], Checked]:
    """A function that saves or loads once. A file is saved when it lies on the disk; it is loaded
    from the system's memory, or anew from the disk."""
    form = formats[variant]
    path = str(pathlib.Path(os.environ["BENCH_FOLDER"]) / f"{variant}.{os.getpid()}{form.ending}")
    given = form.given(arrays())

    def save() -> Checked:
        form.save(path, given)
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
        return Checked(lambda: form.load(path))

    def load() -> Checked:
        if work == "load anew":
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        found = form.load(path)
        return Checked(lambda: found)

    if work == "save":
        return save
    if not os.path.exists(path):
        save()
    return load
