# SPDX-License-Identifier: Apache-2.0
"""Reading MindRecord files: a header in JSON, an SQLite index beside it, and pages of rows.

The header of each file names all files of the record. The index tells, for each row, where its
scalars (MessagePack) and its arrays lie.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.mindrecord.errors import MRMOpenError
from mycel.mindrecord.packing import is_compressed, unpack_arrays, unpack_integers, unpack_scalars

NO_FILE = "There is no MindRecord file {path} (at {place}), or its index {path}.db is missing."
NO_RECORD = "{path} is no MindRecord file (at {place}): {reason}."
NO_ROW = (
    "Row {number} of {path} cannot be read (at {place}): {reason}. The file or its index "
    "{path}.db is damaged; copy or write both again."
)
NO_FIELD = "{path} has no field {name!r} (at {place}). Its fields are {known}."
# What Python raises when bytes mean nothing.
_UNREADABLE = (
    ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError,
    struct.error, sqlite3.Error, OSError,
)  # fmt: skip
_QUERY = (
    "SELECT PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, "
    "PAGE_ID_BLOB, PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END FROM INDEXES ORDER BY ROW_ID"
)


def _kind(field: dict) -> str:
    """The element type of a field.

    Raises:
        ValueError or TypeError: it has none.
    """
    kind = field["type"]
    if kind not in ("bytes", "string"):
        np.dtype(kind)
    return kind


class OneFile:
    """One file of a record: its header, and where each row lies.

    Raises:
        MRMOpenError: it does not exist, or is no MindRecord file.
    """

    def __init__(self, path: str):
        self.path = str(path)
        if not pathlib.Path(path).is_file() or not pathlib.Path(f"{path}.db").is_file():
            raise MRMOpenError(NO_FILE.format(path=path, place=user_place()))
        self._descriptor: int | None = None
        try:
            with open(path, "rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                self.header = json.loads(file.read(min(length, 1 << 28)))
            start, page = int(self.header["header_size"]), int(self.header["page_size"])
            self.schema: dict = self.header["schema"][0]["schema"]
            self.arrays: list[str] = self.header["schema"][0]["blob_fields"]
            self.others = [str(name) for name in self.header["shard_addresses"]]
            self._kinds = {name: _kind(field) for name, field in self.schema.items()}
            for name in self.arrays:
                self._kinds[name]
            database = sqlite3.connect(f"file:{path}.db?mode=ro&immutable=1", uri=True)
            with contextlib.closing(database):
                rows = np.array(database.execute(_QUERY).fetchall(), np.int64).reshape(-1, 6)
        except _UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"
            raise MRMOpenError(
                NO_RECORD.format(path=path, place=user_place(), reason=reason)
            ) from None
        scalars = start + rows[:, 0] * page
        arrays = start + rows[:, 3] * page
        # Behind eight bytes that tell the length once more.
        self._places = np.stack(
            [
                scalars + rows[:, 1] + 8,
                scalars + rows[:, 2],
                arrays + rows[:, 4] + 8,
                arrays + rows[:, 5],
            ],
            1,
        )

    def __len__(self) -> int:
        return len(self._places)

    def __getstate__(self):
        return {**vars(self), "_descriptor": None}

    def _bytes(self, start: int, end: int) -> bytes:
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDONLY)
        # Not a read behind a seek: several threads may read.
        content = os.pread(self._descriptor, end - start, start)
        if len(content) != end - start:
            raise ValueError("the file ends too early")
        return content

    def row(self, number: int, names) -> dict:
        """Some fields of a row: Python values, bytes and arrays.

        Raises:
            MRMOpenError: what lies there is no such row.
        """
        places = self._places[number].tolist()
        try:
            return self._row(places, names)
        except _UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"
            raise MRMOpenError(
                NO_ROW.format(path=self.path, number=number, place=user_place(), reason=reason)
            ) from None

    def many(self, numbers: np.ndarray, names) -> dict[str, np.ndarray]:
        """Some fields of several rows, none of them bytes, with a first dimension more.

        Raises:
            Exception: of whatever kind, where one row cannot be read; `row` tells which.
        """
        places, found = self._places[numbers], {}
        scalars = [name for name in names if name not in self.arrays]
        if scalars:
            rows = list(map(unpack_scalars, self._contents(places[:, :2])))
            for name in scalars:
                kind = self._kinds[name]
                values = [self._scalar(name, row) for row in rows]
                found[name] = np.array(values, None if kind == "string" else kind)
        if len(scalars) < len(names):
            several = [unpack_arrays(c, len(self.arrays)) for c in self._contents(places[:, 2:])]
            for name, parts in zip(self.arrays, zip(*several, strict=True), strict=True):
                if name in names:
                    found[name] = self._stacked(name, parts)
        return found

    def _contents(self, places: np.ndarray) -> list:
        """What lies between the starts and ends, in one reading where it lies close together."""
        first, last = int(places[:, 0].min()), int(places[:, 1].max())
        if last - first > 2 * int((places[:, 1] - places[:, 0]).sum()) + (1 << 16):
            return [self._bytes(*place) for place in places.tolist()]
        content = memoryview(self._bytes(first, last))
        return [content[start:end] for start, end in (places - first).tolist()]

    def _stacked(self, name: str, parts: Sequence) -> np.ndarray:
        field = self.schema[name]
        if is_compressed(field["type"]):
            return np.stack([self._array(name, part) for part in parts])
        if len(set(map(len, parts))) > 1:
            raise ValueError("the lengths of arrays differ")
        # Bytes that can be written to, and belong to the array.
        flat = np.frombuffer(bytearray().join(parts), field["type"])
        return flat.reshape(len(parts), *field["shape"])

    def _row(self, places: list[int], names) -> dict:
        row: dict[str, Any] = {}
        if any(name not in self.arrays for name in names):
            scalars = unpack_scalars(self._bytes(*places[:2]))
            row = {n: self._scalar(n, scalars) for n in names if n not in self.arrays}
        if any(name in self.arrays for name in names):
            parts = unpack_arrays(self._bytes(*places[2:]), len(self.arrays))
            for name, part in zip(self.arrays, parts, strict=True):
                if name in names:
                    row[name] = self._array(name, part)
        return row

    def _scalar(self, name: str, scalars: dict):
        value, kind = scalars[name], self._kinds[name]
        expected = str if kind in ("string", "bytes") else (int, float)
        if not isinstance(value, expected):
            raise TypeError(f"field {name!r} of type {kind} has the value {value!r}")
        return value

    def _array(self, name: str, content: bytes):
        field = self.schema[name]
        if field["type"] == "bytes":
            return content
        if is_compressed(field["type"]):
            flat = unpack_integers(content, field["type"])
        else:
            flat = np.frombuffer(content, field["type"]).copy()
        return flat.reshape(field["shape"])

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def __del__(self):
        if getattr(self, "_descriptor", None) is not None:
            self.close()


class Record:
    """All files of a record as one sequence of rows.

    Args:
        files: one of them, which names the others; or a list of all.
        names: the fields to read; None reads all.

    Example:
        >>> from mycel.mindrecord.reading import Record
        >>> path = str(getfixture("tmp_path") / "a.mindrecord")
        >>> writer = mindrecord.FileWriter(path)
        >>> _ = writer.add_schema({"label": {"type": "int32"}})
        >>> _ = writer.write_raw_data([{"label": 3}, {"label": 4}])
        >>> _ = writer.commit()
        >>> record = Record(path)
        >>> len(record), record.row(1)
        (2, {'label': 4})
    """

    def __init__(self, files, names=None):
        if isinstance(files, (str, pathlib.Path)):
            first = OneFile(str(files))
            folder = pathlib.Path(files).parent
            paths = [str(folder / name) for name in first.others]
            if str(files) not in paths:
                # Renamed since it was written.
                paths = [str(files)]
            self.files = [first if path == str(files) else OneFile(path) for path in paths]
        elif isinstance(files, (list, tuple)) and files:
            self.files = [OneFile(str(path)) for path in files]
        else:
            raise wrong(TypeError, "The files of a record", "a path or a list of paths", files)
        self.schema = self.files[0].schema
        self._ends = np.cumsum([len(file) for file in self.files])
        self.names = sorted(self.schema) if names is None else list(names)
        for name in self.names:
            if name not in self.schema:
                raise RuntimeError(
                    NO_FIELD.format(
                        path=self.files[0].path,
                        name=name,
                        place=user_place(),
                        known=sorted(self.schema),
                    )
                )

    def __len__(self) -> int:
        return int(self._ends[-1])

    def row(self, number: int) -> dict:
        """The fields of a row."""
        place = int(np.searchsorted(self._ends, number, side="right"))
        start = int(self._ends[place - 1]) if place else 0
        return self.files[place].row(int(number) - start, self.names)

    def many(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """The fields of several rows, none of them bytes, with a first dimension more.

        Raises:
            Exception: of whatever kind, where rows differ in shape or one cannot be read.
        """
        places = np.searchsorted(self._ends, numbers, side="right")
        starts = np.concatenate([[0], self._ends])
        parts, where = [], []
        for place in np.unique(places).tolist():
            where.append(np.flatnonzero(places == place))
            part = numbers[where[-1]] - starts[place]
            parts.append(self.files[place].many(part, self.names))
        if len(parts) == 1:
            return parts[0]
        back = np.argsort(np.concatenate(where))
        return {name: np.concatenate([part[name] for part in parts])[back] for name in parts[0]}

    def close(self) -> None:
        """Close all files."""
        for file in self.files:
            file.close()


class FileReader:
    """Rows of a MindRecord, as dictionaries.

    Args:
        file_name: a file of the record, or a list of all.
        num_consumer: accepted; rows are read in the calling thread.
        columns: which fields; None reads all.
        operator: accepted as None only.

    Raises:
        RuntimeError: no such file, or no such field.

    Source: MindSpore's `mindspore.mindrecord.FileReader`.

    Example:
        >>> path = str(getfixture("tmp_path") / "a.mindrecord")
        >>> writer = mindrecord.FileWriter(path)
        >>> _ = writer.add_schema({"data": {"type": "int64", "shape": [-1]}})
        >>> _ = writer.write_raw_data([{"data": np.array([1, 2])}])
        >>> _ = writer.commit()
        >>> reader = mindrecord.FileReader(path)
        >>> for row in reader.get_next():
        ...     print(row)
        {'data': array([1, 2])}
        >>> reader.close()
    """

    def __init__(self, file_name, num_consumer=4, columns=None, operator=None):
        if isinstance(num_consumer, bool) or not isinstance(num_consumer, int):
            raise wrong(TypeError, "FileReader: num_consumer", "an integer", repr(num_consumer))
        if operator is not None:
            raise wrong(ValueError, "FileReader: operator", "None", repr(operator))
        self._record = Record(file_name, columns)

    def get_next(self) -> Iterator[dict]:
        """Row after row.

        Example:
            >>> callable(mindrecord.FileReader.get_next)
            True
        """
        for number in range(len(self._record)):
            yield self._record.row(number)

    def len(self) -> int:
        """How many rows there are.

        Example:
            >>> callable(mindrecord.FileReader.len)
            True
        """
        return len(self._record)

    def schema(self) -> dict:
        """The fields and their types.

        Example:
            >>> callable(mindrecord.FileReader.schema)
            True
        """
        return self._record.schema

    def close(self) -> None:
        """Close the files.

        Example:
            >>> callable(mindrecord.FileReader.close)
            True
        """
        self._record.close()
