# SPDX-License-Identifier: Apache-2.0
"""Data sets in files of others, written again as MindRecord."""

from __future__ import annotations

import csv
import gzip
import io
import pathlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import logger
from mycel.kernel.base.places import user_place
from mycel.mindrecord.writing import FileWriter

NO_FILE = "{what} needs {pattern} in {folder} (at {place})."
NOT_OF_NUMBERS = (
    "{file} refers to {module}.{name} (at {place}): it is no pickle of numbers and texts, and what "
    "else a pickle names is not run."
)
MISSING = "{what} writes pictures with Pillow, which is not installed: pip install 'mycel[data]'."
# How many rows are in memory at a time.
_AT_ONCE = 256
_QUALITY = 95
# What NumPy's arrays in a pickle are made with.
_NUMBERS = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("_codecs", "encode"),
}


class _Numbers(pickle.Unpickler):
    """Reads numbers, texts and NumPy's arrays, and runs nothing else."""

    def __init__(self, path: pathlib.Path, file):
        super().__init__(file, encoding="bytes")
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _NUMBERS:
            return super().find_class(module, name)
        words = {"file": self._path, "module": module, "name": name, "place": user_place()}
        raise pickle.UnpicklingError(NOT_OF_NUMBERS.format(**words))


def _write(path: str, shards: int, schema: dict, desc: str, index, rows: Iterable[dict]) -> None:
    writer = FileWriter(path, shards)
    writer.add_schema(schema, desc)
    if index:
        writer.add_index(list(index))
    some: list[dict] = []
    for row in rows:
        some.append(row)
        if len(some) == _AT_ONCE:
            writer.write_raw_data(some)
            some = []
    if some:
        writer.write_raw_data(some)
    writer.commit()


def _jpeg(image: np.ndarray, what: str) -> bytes:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(MISSING.format(what=what)) from None
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()


def _path(value: Any, what: str) -> str:
    if not isinstance(value, (str, pathlib.Path)) or not str(value):
        raise wrong(ValueError, what, "a path", repr(value))
    return str(value)


def _shards(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(ValueError, f"{what}: partition_number", "an integer", repr(value))
    return value


class _Cifar:
    """The pickles of CIFAR, for training and for testing."""

    _parts: tuple[tuple[str, str], ...]
    _labels: dict[str, bytes]

    def __init__(self, source, destination):
        name = type(self).__name__
        self.source = _path(source, f"{name}: source")
        self.destination = _path(destination, f"{name}: destination")
        for pattern, _ in self._parts:
            self._files(pattern)

    def _files(self, pattern: str) -> list[pathlib.Path]:
        files = sorted(pathlib.Path(self.source).glob(pattern))
        if not files:
            words = {"pattern": pattern, "folder": self.source, "place": user_place()}
            raise FileNotFoundError(NO_FILE.format(what=type(self).__name__, **words))
        return files

    def transform(self, fields=None) -> None:
        """Write the pictures for training into the file, and those for testing into a second one.

        Args:
            fields: the fields by which MindSpore can search; None, the default, for all numbers.
        """
        if fields is not None and not isinstance(fields, list):
            raise wrong(ValueError, "transform: fields", "a list of names, or None", repr(fields))
        kinds = {"id": {"type": "int64"}, "data": {"type": "bytes"}}
        schema = kinds | {name: {"type": "int64"} for name in self._labels}
        for (pattern, desc), ending in zip(self._parts, ("", "_test"), strict=True):
            _write(self.destination + ending, 1, schema, desc, fields, self._rows(pattern))

    def _rows(self, pattern: str) -> Iterator[dict]:
        number = 0
        for path in self._files(pattern):
            with path.open("rb") as file:
                batch = _Numbers(path, file).load()
            images = batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
            labels = zip(*(batch[key] for key in self._labels.values()), strict=True)
            for image, given in zip(images, labels, strict=True):
                named = dict(zip(self._labels, map(int, given), strict=True))
                yield {"id": number, "data": _jpeg(image, type(self).__name__), **named}
                number += 1


class Cifar10ToMR(_Cifar):
    """Writes CIFAR-10 (its pickles for Python) as MindRecord: `id`, `label`, `data` (a JPEG).

    Args:
        source: the folder of `data_batch_1` to `data_batch_5` and `test_batch`.
        destination: the file for the training pictures; those for testing go into one with
            `_test` behind its name.

    Raises:
        FileNotFoundError: the folder has no such files.
        ValueError: an argument is wrong.

    Source: MindSpore's `mindspore.mindrecord.Cifar10ToMR`.

    Example:
        >>> import pickle
        >>> folder = getfixture("tmp_path")
        >>> batch = {b"data": np.zeros((2, 3072), np.uint8), b"labels": [3, 5]}
        >>> for name in ("data_batch_1", "test_batch"):
        ...     _ = (folder / name).write_bytes(pickle.dumps(batch))
        >>> place = str(folder / "cifar.mindrecord")
        >>> mindrecord.Cifar10ToMR(str(folder), place).transform(["label"])
        >>> [row["label"] for row in mindrecord.FileReader(place).get_next()]
        [3, 5]
    """

    _parts = (("data_batch_*", "img_train"), ("test_batch*", "img_test"))
    _labels = {"label": b"labels"}


class Cifar100ToMR(_Cifar):
    """Writes CIFAR-100 (its pickles for Python) as MindRecord: `id`, `fine_label`, `coarse_label`,
    `data` (a JPEG).

    Args:
        source: the folder of `train` and `test`.
        destination: the file for the training pictures; those for testing go into one with
            `_test` behind its name.

    Raises:
        FileNotFoundError: the folder has no such files.
        ValueError: an argument is wrong.

    Source: MindSpore's `mindspore.mindrecord.Cifar100ToMR`.

    Example:
        >>> import pickle
        >>> folder = getfixture("tmp_path")
        >>> images = np.zeros((1, 3072), np.uint8)
        >>> batch = {b"data": images, b"fine_labels": [42], b"coarse_labels": [7]}
        >>> for name in ("train", "test"):
        ...     _ = (folder / name).write_bytes(pickle.dumps(batch))
        >>> mindrecord.Cifar100ToMR(str(folder), str(folder / "cifar.mindrecord")).transform()
        >>> (row,) = mindrecord.FileReader(str(folder / "cifar.mindrecord_test")).get_next()
        >>> row["fine_label"], row["coarse_label"]
        (42, 7)
    """

    _parts = (("train", "img_train"), ("test", "img_test"))
    _labels = {"fine_label": b"fine_labels", "coarse_label": b"coarse_labels"}


class MnistToMR:
    """Writes MNIST (its four files with `.gz`) as MindRecord: `label`, `data` (a JPEG).

    Args:
        source: the folder of the four files.
        destination: the beginning of the names of two records, which end in `_train.mindrecord` and
            `_test.mindrecord`.
        partition_number: how many files each record has; 1 by default.

    Raises:
        FileNotFoundError: the folder has no such files.
        ValueError: an argument is wrong.

    Source: MindSpore's `mindspore.mindrecord.MnistToMR`.

    Example:
        >>> import gzip, struct
        >>> folder = getfixture("tmp_path")
        >>> images = gzip.compress(struct.pack(">4I", 2051, 1, 28, 28) + bytes(784))
        >>> labels = gzip.compress(struct.pack(">2I", 2049, 1) + bytes([7]))
        >>> for name in ("train", "t10k"):
        ...     _ = (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(images)
        ...     _ = (folder / f"{name}-labels-idx1-ubyte.gz").write_bytes(labels)
        >>> mindrecord.MnistToMR(str(folder), str(folder / "digits")).transform()
        >>> reader = mindrecord.FileReader(str(folder / "digits_train.mindrecord"))
        >>> [row["label"] for row in reader.get_next()]
        [7]
    """

    def __init__(self, source, destination, partition_number=1):
        self.source = _path(source, "MnistToMR: source")
        self.destination = _path(destination, "MnistToMR: destination")
        self.partition_number = _shards(partition_number, "MnistToMR")

    def transform(self) -> None:
        """Write both records."""
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for prefix, part in (("train", "train"), ("t10k", "test")):
            path = f"{self.destination}_{part}.mindrecord"
            rows = self._rows(prefix)
            _write(path, self.partition_number, schema, "mnist_schema", ["label"], rows)

    def _rows(self, prefix: str) -> Iterator[dict]:
        images = self._numbers(f"{prefix}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
        labels = self._numbers(f"{prefix}-labels-idx1-ubyte.gz", 8)
        for image, label in zip(images, labels, strict=True):
            yield {"label": int(label), "data": _jpeg(image, "MnistToMR")}

    def _numbers(self, name: str, head: int) -> np.ndarray:
        path = pathlib.Path(self.source) / name
        if not path.exists():
            words = {"pattern": name, "folder": self.source, "place": user_place()}
            raise FileNotFoundError(NO_FILE.format(what="MnistToMR", **words))
        with gzip.open(path) as file:
            return np.frombuffer(file.read()[head:], np.uint8)


class ImageNetToMR:
    """Writes a folder of pictures for each class as MindRecord: `label`, `file_name`, `image`.

    Args:
        map_file: lines of a folder's name and a number: its class.
        image_dir: the folder of those folders.
        destination: the record.
        partition_number: how many files it has; 1 by default.

    Raises:
        FileNotFoundError: no map, or none of its folders.
        ValueError: an argument, or a line of the map, is wrong.

    Source: MindSpore's `mindspore.mindrecord.ImageNetToMR`.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> (folder / "n01").mkdir(), (folder / "n01" / "a.jpg").write_bytes(b"...")
        (None, 3)
        >>> _ = (folder / "map").write_text("n01 4")
        >>> of = str(folder / "map"), str(folder), str(folder / "pictures")
        >>> mindrecord.ImageNetToMR(*of).transform()
        >>> [row["label"] for row in mindrecord.FileReader(str(folder / "pictures")).get_next()]
        [4]
    """

    def __init__(self, map_file, image_dir, destination, partition_number=1):
        self.map_file = _path(map_file, "ImageNetToMR: map_file")
        self.image_dir = _path(image_dir, "ImageNetToMR: image_dir")
        self.destination = _path(destination, "ImageNetToMR: destination")
        self.partition_number = _shards(partition_number, "ImageNetToMR")

    def transform(self) -> None:
        """Write the record."""
        kinds = {"label": "int32", "image": "bytes", "file_name": "string"}
        schema = {name: {"type": kind} for name, kind in kinds.items()}
        index, rows = ["label", "file_name"], self._rows()
        _write(self.destination, self.partition_number, schema, "imagenet_schema", index, rows)

    def _rows(self) -> Iterator[dict]:
        folders = dict(self._folders())
        if not folders:
            words = {"pattern": "one of the map's folders", "folder": self.image_dir}
            raise FileNotFoundError(
                NO_FILE.format(what="ImageNetToMR", place=user_place(), **words)
            )
        for folder, label in folders.items():
            for path in sorted(folder.iterdir()):
                image = path.read_bytes() if path.name.endswith(("JPEG", "jpg")) else b""
                if image:
                    yield {"label": label, "image": image, "file_name": str(path)}
                else:
                    logger.warning("ImageNetToMR leaves out %s, which is no JPEG.", path)

    def _folders(self) -> Iterator[tuple[pathlib.Path, int]]:
        lines = pathlib.Path(self.map_file).read_text("utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            name, _, label = line.strip().rpartition(" ")
            if not line.strip():
                continue
            if not name or not label.lstrip("-").isdigit():
                where = f"{self.map_file}, line {number}"
                raise wrong(ValueError, where, "a folder's name and a number", repr(line))
            folder = pathlib.Path(self.image_dir) / name
            if folder.is_dir():
                yield folder, int(label)
            else:
                logger.warning("ImageNetToMR leaves out %s, which is no folder.", folder)


class CsvToMR:
    """Writes a CSV file as MindRecord: columns of whole numbers as int64, of numbers as float64, of
    True and False as int32, others as texts.

    Args:
        source: the CSV file, whose first line names the columns.
        destination: the record.
        columns_list: the columns that are wanted; None, the default, for all.
        partition_number: how many files the record has; 1 by default.

    Raises:
        ValueError: an argument, or a column's name, is wrong.
        RuntimeError: a column that the file does not have, or a line of another length.
        FileNotFoundError: no such file.

    Source: MindSpore's `mindspore.mindrecord.CsvToMR`.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "a.csv").write_text("name,count,share\\nx,3,0.5\\ny,4,\\n")
        >>> of = str(folder / "a.csv"), str(folder / "a"), ["name", "count"]
        >>> mindrecord.CsvToMR(*of).transform()
        >>> list(mindrecord.FileReader(str(folder / "a")).get_next())
        [{'count': 3, 'name': 'x'}, {'count': 4, 'name': 'y'}]
    """

    def __init__(self, source, destination, columns_list=None, partition_number=1):
        self.source = _path(source, "CsvToMR: source")
        self.destination = _path(destination, "CsvToMR: destination")
        self.columns_list = columns_list
        self.partition_number = _shards(partition_number, "CsvToMR")
        names = columns_list or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise wrong(ValueError, "CsvToMR: columns_list", "a list of names", repr(columns_list))

    def transform(self) -> None:
        """Write the record."""
        with open(self.source, encoding="utf-8", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
        head, rows = (lines[0], lines[1:]) if lines else ([], [])
        for number, row in enumerate(rows, 2):
            if len(row) != len(head):
                where = f"{self.source}, row {number}"
                raise wrong(RuntimeError, where, f"{len(head)} values", len(row))
        wanted = self.columns_list or head
        for name in wanted:
            if name not in head:
                raise wrong(RuntimeError, "CsvToMR: columns_list", f"columns of {head}", repr(name))
            if name.isdigit():
                raise wrong(ValueError, self.source, "names in its first line", repr(name))
        kinds = {name: _kind([row[head.index(name)] for row in rows]) for name in wanted}
        schema = {name: {"type": kind} for name, (kind, _) in kinds.items()}
        named = (
            {name: read(row[head.index(name)]) for name, (_, read) in kinds.items()} for row in rows
        )
        _write(self.destination, self.partition_number, schema, "csv_schema", wanted, named)


def _kind(column: list[str]) -> tuple[str, Callable[[str], Any]]:
    """The type of a column, and what reads one of its values."""
    readers: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("int64", int),
        ("float64", lambda text: float(text or "nan")),
        ("int32", lambda text: {"True": 1, "False": 0, "TRUE": 1, "FALSE": 0}[text]),
    )
    for kind, read in readers:
        try:
            for text in column:
                read(text)
        except (ValueError, KeyError):
            continue
        return kind, read
    return "string", str
