# SPDX-License-Identifier: Apache-2.0
"""What collections in a folder have in common: rows that are found first, and read one by one."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from mycel.dataset.engine.dataset import VisionBaseDataset
from mycel.dataset.engine.images import EXTENSIONS, NO_FILE, folder_of, image_of, one_of
from mycel.dataset.engine.machinery import Row
from mycel.dataset.engine.reading import reading
from mycel.dataset.engine.sources import MappableDataset
from mycel.dataset.transforms.operations import undefined
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside

UNREADABLE = "{dataset}: row {row} of {folder} cannot be read: {reason}."
UNREADABLE_LINE = "{dataset}: line {line} of {path} cannot be read: {reason}."


class Published(MappableDataset):
    """Rows that are found in a folder, and read one by one.

    A subclass says which columns there are, which usages, how rows are found, and how the values
    of one are read; what it found may be anything.
    """

    columns: tuple[str, ...] = ("image", "label")
    usages: tuple[str, ...] = ()
    # What None as a usage means.
    default = "all"

    def _open(self, dataset_dir, usage, *common) -> None:
        """Check the folder and the usage; `common` is what MappableDataset takes, in its order."""
        what = type(self).__name__
        self.dataset_dir = folder_of(dataset_dir, what)
        if self.usages:
            usage = self.default if usage is None else usage
            self.usage = one_of(usage, self.usages, f"{what}: usage")
        super().__init__(*common)

    def _columns(self) -> list[str]:
        return list(self.columns)

    def _find(self) -> Iterable:
        """What is known of each row before it is read."""
        raise undefined(self, "_find")

    def _values(self, found) -> tuple:
        """The values of a row, in the order of the columns."""
        raise undefined(self, "_values")

    @cached_property
    def _rows(self) -> list:
        with reading(self.name, self.dataset_dir):
            rows = list(self._find())
        if not rows:
            missing = NO_FILE.format(dataset=self.name, name="row", folder=self.dataset_dir)
            raise RuntimeError(missing)
        return rows

    def _count(self) -> int:
        return len(self._rows)

    def _labels(self):
        """The classes of rows, where they are found with a path before it and nothing behind."""
        return [row[-1] for row in self._rows] if "label" in self.columns else None

    def _read(self, index: int) -> Row:
        try:
            values = self._values(self._rows[index])
        except Exception as error:
            if came_from_outside(error) or isinstance(error, ImportError):
                raise
            reason = f"{type(error).__name__}: {error}".rstrip(".")
            place = {"dataset": self.name, "row": index, "folder": self.dataset_dir}
            raise RuntimeError(UNREADABLE.format(**place, reason=reason)) from error
        return dict(zip(self._columns(), map(np.array, values), strict=True))

    # -- for subclasses --------------------------------------------------------------------------

    def _path(self, *parts: str) -> pathlib.Path:
        """A file or folder that must exist.

        Raises:
            RuntimeError: it does not.
        """
        path = self.dataset_dir.joinpath(*parts)
        if not path.exists():
            name = pathlib.PurePath(*parts)
            raise RuntimeError(
                NO_FILE.format(dataset=self.name, name=name, folder=self.dataset_dir)
            )
        return path

    def _lines(self, *parts: str) -> list[str]:
        """The lines of a text that are not empty."""
        path = self._path(*parts)
        with reading(self.name, path):
            lines = path.read_text("utf-8").splitlines()
        return [line for line in lines if line.strip()]

    def _folders(self, *parts: str) -> list[pathlib.Path]:
        """The folders in a folder, in the order of their names."""
        return sorted(path for path in self._path(*parts).iterdir() if path.is_dir())


class Pictures(Published, VisionBaseDataset):
    """Rows with images, which come as bytes or as pixels."""

    decode = False
    # Called with the path of a file for its bytes, where they are encrypted.
    decrypt = None

    def _open_pictures(self, dataset_dir, usage, decode, *common) -> None:
        decode = False if decode is None else decode
        if not isinstance(decode, bool):
            what = f"{type(self).__name__}: decode"
            raise wrong(TypeError, what, "True or False", repr(decode))
        self.decode = decode
        self._open(dataset_dir, usage, *common)

    def _image(self, path: pathlib.Path) -> np.ndarray:
        """The pixels, or the bytes, of an image file."""
        return image_of(self, path)


def images_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The image files in a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in EXTENSIONS)


class InFolder(Pictures):
    """A collection without usages whose images can be decoded."""

    def __init__(
        self,
        dataset_dir,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, None, decode, *common)


class InParts(Pictures):
    """A collection with usages whose images can be decoded."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open_pictures(dataset_dir, usage, decode, *common)


class PartsOf(Published):
    """A collection with usages."""

    def __init__(
        self,
        dataset_dir,
        usage=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, usage, *common)


class AllOf(Published):
    """A collection without usages."""

    def __init__(
        self,
        dataset_dir,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        common = (num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache)
        self._open(dataset_dir, None, *common)


def matlab(path: pathlib.Path) -> dict:
    """The variables of a MATLAB file."""
    from scipy.io import loadmat

    return loadmat(path)


def existing_file(path, what: str) -> pathlib.Path:
    """A file that exists.

    Raises:
        TypeError: the argument is not a path.
        ValueError: the file does not exist.
    """
    if not isinstance(path, (str, pathlib.Path)):
        raise wrong(TypeError, what, "a path", repr(path))
    if not pathlib.Path(path).is_file():
        raise wrong(ValueError, what, "a file that exists", str(path))
    return pathlib.Path(path)
