# SPDX-License-Identifier: Apache-2.0
"""Writing MindRecord files, which real MindSpore reads too."""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import sqlite3
import struct
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.log import logger
from mycel.kernel.base.places import user_place
from mycel.mindrecord.errors import (
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidSchemaError,
    MRMOpenError,
)
from mycel.mindrecord.packing import is_compressed, pack_arrays, pack_integers, pack_scalars
from mycel.mindrecord.reading import OneFile
from mycel.mindrecord.status import MSRStatus

SCALARS = {"int32": "INTEGER", "int64": "INTEGER", "float32": "REAL", "float64": "REAL"}
KINDS = (*SCALARS, "string", "bytes")
EXISTS = (
    "{path} exists already (at {place}). Give FileWriter overwrite=True, or use "
    "FileWriter.open_for_append."
)
BAD_FIELD = "The field {name!r} of a schema cannot be {content!r} (at {place}): {reason}."
BAD_ROWS = (
    "None of the {count} rows fits the schema (at {place}). The first: {reason}. A row is a "
    "dictionary with a value for each field of {fields}."
)
NO_SCHEMA = "FileWriter needs add_schema before {what} (at {place})."
TOO_LARGE = (
    "A row of {size} bytes does not fit into a page of {page} bytes (at {place}). Call "
    "set_page_size before the first row is written."
)
_NAME = re.compile(r"[A-Za-z0-9_]+")
_COLUMNS = (
    "ROW_ID INT NOT NULL, PAGE_ID_RAW INT NOT NULL, PAGE_OFFSET_RAW INT NOT NULL, "
    "PAGE_OFFSET_RAW_END INT NOT NULL, ROW_GROUP_ID INT NOT NULL, PAGE_ID_BLOB INT NOT NULL, "
    "PAGE_OFFSET_BLOB INT NOT NULL, PAGE_OFFSET_BLOB_END INT NOT NULL"
)


class FileWriter:
    """Writes rows into the files of a MindRecord.

    Args:
        file_name: of the record. Several files get its numbers behind it.
        shard_num: how many files.
        overwrite: replace files that exist.

    Raises:
        RuntimeError: files that exist, a schema or rows that do not fit.

    Source: MindSpore's `mindspore.mindrecord.FileWriter`.

    Example:
        >>> path = str(getfixture("tmp_path") / "a.mindrecord")
        >>> writer = mindrecord.FileWriter(path, overwrite=True)
        >>> schema = {"image": {"type": "bytes"}, "label": {"type": "int32"}}
        >>> _ = writer.add_schema(schema, "images and their classes")
        >>> writer.add_index(["label"])
        <MSRStatus.SUCCESS: 0>
        >>> writer.write_raw_data([{"image": b"...", "label": 3}])
        <MSRStatus.SUCCESS: 0>
        >>> writer.commit()
        <MSRStatus.SUCCESS: 0>
        >>> list(mindrecord.FileReader(path).get_next())
        [{'label': 3, 'image': b'...'}]
    """

    def __init__(self, file_name, shard_num=1, overwrite=False):
        if not isinstance(file_name, (str, pathlib.Path)) or not str(file_name):
            raise wrong(TypeError, "FileWriter: file_name", "a path", repr(file_name))
        if isinstance(shard_num, bool) or not isinstance(shard_num, int):
            raise wrong(TypeError, "FileWriter: shard_num", "an integer", repr(shard_num))
        if not 1 <= shard_num <= 1000:
            raise wrong(ValueError, "FileWriter: shard_num", "from 1 to 1000", shard_num)
        width = len(str(shard_num - 1))
        self._paths = [str(file_name)]
        if shard_num > 1:
            self._paths = [f"{file_name}{number:0{width}d}" for number in range(shard_num)]
        self._overwrite = overwrite
        self._schema: Any = None  # a dictionary, from add_schema on
        self._description = ""
        self._index: list[str] | None = None
        self._header_size, self._page_size = 1 << 24, 1 << 25
        self._files: list[_Pages] = []
        self._before: list[list[dict]] = []

    @classmethod
    def open_for_append(cls, file_name) -> FileWriter:
        """A writer that adds rows to a record.

        Example:
            >>> path = str(getfixture("tmp_path") / "a.mindrecord")
            >>> writer = mindrecord.FileWriter(path)
            >>> _ = writer.add_schema({"label": {"type": "int32"}})
            >>> _ = writer.write_raw_data([{"label": 1}]), writer.commit()
            >>> writer = mindrecord.FileWriter.open_for_append(path)
            >>> _ = writer.write_raw_data([{"label": 2}]), writer.commit()
            >>> list(mindrecord.FileReader(path).get_next())
            [{'label': 1}, {'label': 2}]
        """
        first = OneFile(str(file_name))
        folder = pathlib.Path(file_name).parent
        writer = cls(str(file_name))
        writer._paths = [str(folder / name) for name in first.header["shard_addresses"]]
        writer._schema, writer._overwrite = first.schema, True
        writer._description = first.header["schema"][0]["desc"]
        fields = first.header["index_fields"] or []
        writer._index = [field["index_field"] for field in fields]
        writer._header_size = first.header["header_size"]
        writer._page_size = first.header["page_size"]
        files = [OneFile(path) for path in writer._paths]
        # Written again with the new rows behind them: pages of a file are not reopened.
        writer._before = [
            [file.row(number, list(file.schema)) for number in range(len(file))] for file in files
        ]
        for file in files:
            file.close()
        return writer

    def open_and_set_header(self) -> None:
        """Accepted: former versions of MindSpore asked for it; `write_raw_data` opens the files.

        Example:
            >>> mindrecord.FileWriter("a").open_and_set_header()
        """

    def set_header_size(self, header_size) -> None:
        """How many bytes the header may have; 16 MiB by default.

        Example:
            >>> mindrecord.FileWriter("a").set_header_size(1 << 14)
        """
        self._header_size = _size(header_size, "set_header_size", 14, 27)

    def set_page_size(self, page_size) -> None:
        """How many bytes a page has, and so a row may have; 32 MiB by default.

        Example:
            >>> mindrecord.FileWriter("a").set_page_size(1 << 15)
        """
        self._page_size = _size(page_size, "set_page_size", 15, 28)

    def add_schema(self, content, desc=None) -> int:
        """The fields of a row.

        Args:
            content: by name `{"type": ...}`, for arrays with a `"shape"` too, in which -1 is a
                dimension that differs. Types: int32, int64, float32, float64, string, bytes.

        Example:
            >>> writer = mindrecord.FileWriter("a")
            >>> writer.add_schema({"x": {"type": "float32", "shape": [2, -1]}})
            0
        """
        if not isinstance(content, dict) or not content:
            raise wrong(MRMInvalidSchemaError, "add_schema: content", "a dictionary", content)
        for name, field in content.items():
            _check_field(name, field)
        if desc is not None and not isinstance(desc, str):
            raise wrong(MRMInvalidSchemaError, "add_schema: desc", "a text", repr(desc))
        self._schema = {name: dict(sorted(content[name].items())) for name in sorted(content)}
        self._description = desc or ""
        return 0

    def add_index(self, index_fields) -> MSRStatus:
        """Fields by which MindSpore can search; without it all fields that can have an index.

        Example:
            >>> writer = mindrecord.FileWriter("a")
            >>> _ = writer.add_schema({"label": {"type": "int32"}})
            >>> writer.add_index(["label"])
            <MSRStatus.SUCCESS: 0>
        """
        if self._schema is None:
            raise MRMGetMetaError(NO_SCHEMA.format(what="add_index", place=user_place()))
        if not isinstance(index_fields, list) or not index_fields:
            raise wrong(MRMDefineIndexError, "add_index: index_fields", "a list", index_fields)
        for name in index_fields:
            if name not in self._schema or name in _array_names(self._schema):
                expected = "fields of the schema that are numbers or texts"
                raise wrong(MRMDefineIndexError, "add_index: index_fields", expected, repr(name))
        self._index = list(index_fields)
        return MSRStatus.SUCCESS

    def write_raw_data(self, raw_data, parallel_writer=False) -> MSRStatus:
        """Add rows; those that do not fit the schema are left out, and named in the log.

        Args:
            parallel_writer: accepted; rows are written in the calling thread.

        Example:
            >>> writer = mindrecord.FileWriter(str(getfixture("tmp_path") / "a.mindrecord"))
            >>> _ = writer.add_schema({"label": {"type": "int32"}})
            >>> writer.write_raw_data([{"label": 1}]), writer.commit()
            (<MSRStatus.SUCCESS: 0>, <MSRStatus.SUCCESS: 0>)
        """
        del parallel_writer
        if not isinstance(raw_data, list):
            raise wrong(RuntimeError, "write_raw_data: raw_data", "a list of rows", raw_data)
        if self._schema is None:
            raise RuntimeError(NO_SCHEMA.format(what="write_raw_data", place=user_place()))
        self._open()
        packed, reasons = [], []
        for row in raw_data:
            try:
                packed.append(self._packed(row))
            except (TypeError, ValueError, OverflowError, KeyError) as error:
                reasons.append(str(error))
                logger.warning("FileWriter leaves out a row: %s", error)
        if raw_data and not packed:
            raise RuntimeError(
                BAD_ROWS.format(
                    count=len(raw_data),
                    place=user_place(),
                    reason=reasons[0],
                    fields=sorted(self._schema),
                )
            )
        count, files = len(packed), len(self._files)
        for number, file in enumerate(self._files):
            for row in packed[number * count // files : (number + 1) * count // files]:
                file.add(*row)
        return MSRStatus.SUCCESS

    def commit(self) -> MSRStatus:
        """Write what is left, the headers and the indices.

        Example:
            >>> path = str(getfixture("tmp_path") / "a.mindrecord")
            >>> writer = mindrecord.FileWriter(path)
            >>> _ = writer.add_schema({"label": {"type": "int32"}})
            >>> writer.commit()
            <MSRStatus.SUCCESS: 0>
            >>> mindrecord.FileReader(path).len()
            0
        """
        if self._schema is None:
            raise RuntimeError(NO_SCHEMA.format(what="commit", place=user_place()))
        self._open()
        index = self._indexed()
        names = [pathlib.Path(path).name for path in self._paths]
        saved = max(sum(file.saved for file in self._files), 0)
        for number, file in enumerate(self._files):
            schema = {
                "blob_fields": _array_names(self._schema),
                "desc": self._description,
                "schema": self._schema,
            }
            header = {
                "index_fields": [{"index_field": name, "schema_id": 0} for name in index] or None,
                "compression_size": saved,
                "schema": [schema],
                "shard_addresses": names,
                "shard_id": number,
                "statistics": None,
                "version": "3.0",
            }
            file.finish(header, {name: self._sql_type(name) for name in index})
        self._files = []
        return MSRStatus.SUCCESS

    def _sql_type(self, name: str) -> str:
        return SCALARS.get(self._schema[name]["type"], "TEXT")

    def _indexed(self) -> list[str]:
        if self._index is not None:
            return self._index
        arrays = _array_names(self._schema)
        return [name for name in self._schema if name not in arrays]

    def _open(self) -> None:
        if self._files:
            return
        for path in self._paths:
            for existing in (pathlib.Path(path), pathlib.Path(f"{path}.db")):
                if existing.exists():
                    if not self._overwrite:
                        raise MRMOpenError(EXISTS.format(path=existing, place=user_place()))
                    existing.unlink()
        index = self._indexed()
        self._files = [
            _Pages(path, self._header_size, self._page_size, index) for path in self._paths
        ]
        for file, rows in zip(self._files, self._before, strict=bool(self._before)):
            for row in rows:
                file.add(*self._packed(row))

    def _packed(self, row) -> tuple[bytes, bytes, dict, int]:
        """Scalars and arrays of a row as bytes, the scalars themselves, and bytes saved."""
        if not isinstance(row, dict):
            raise TypeError(f"a row is a dictionary, not {type(row).__name__}")
        scalars, parts, saved = {}, [], 0
        for name, field in self._schema.items():
            if name not in row:
                raise KeyError(f"the row has no field {name!r}")
            value = row[name]
            if field["type"] == "bytes" or "shape" in field:
                part, less = _array_bytes(name, field, value)
                parts.append(part)
                saved += less
            else:
                scalars[name] = _scalar(name, field["type"], value)
        # MindSpore writes something where there would be nothing.
        content = pack_arrays(parts) if parts else b"\0\0\0\0"
        return pack_scalars(scalars or {"id": 0}), content, scalars, saved


class _Pages:
    """The pages of one file, written as they become full.

    Rows whose arrays share a page are a group, and the scalars of a group share a page too.
    """

    def __init__(self, path: str, header_size: int, page_size: int, index: list[str]):
        self._path, self._header_size, self._page_size = path, header_size, page_size
        self._indexed = index
        self._file = open(path, "wb")  # noqa: SIM115 - closed in finish
        self._pages: list[dict] = []
        self._index: list[list] = []
        self.saved = 0
        self._blob, self._raw = bytearray(), bytearray()
        self._group_raw: list[bytes] = []
        self._raw_groups: list[dict] = []
        self._raw_rows: list[list] = []
        self._group, self._first, self._rows = 0, 0, 0

    def add(self, scalars: bytes, arrays: bytes, values: dict, saved: int) -> None:
        """One more row."""
        raw = struct.pack("<Q", len(scalars)) + scalars
        blob = struct.pack("<Q", len(arrays)) + arrays
        if max(len(raw), len(blob)) > self._page_size:
            raise RuntimeError(
                TOO_LARGE.format(
                    size=max(len(raw), len(blob)), page=self._page_size, place=user_place()
                )
            )
        group = sum(map(len, self._group_raw))
        if max(len(self._blob) + len(blob), group + len(raw)) > self._page_size:
            self._end_group()
        start = len(self._blob)
        self._blob += blob
        self._group_raw.append(raw)
        self.saved += saved
        fields = [values[name] for name in self._indexed]
        self._index.append([self._rows, start, len(self._blob), fields])
        self._rows += 1

    def _end_group(self) -> None:
        """The page of arrays is full: its rows are a group."""
        if not self._group_raw:
            return
        raw = b"".join(self._group_raw)
        if len(self._raw) + len(raw) > self._page_size:
            self._write_raw()
        page = len(self._pages)
        self._write(
            self._blob, "BLOB_DATA", [{"id": 0, "offset": 0}], self._first, self._rows, self._group
        )
        self._raw_groups.append({"id": self._group, "offset": len(self._raw)})
        offset = len(self._raw)
        for number, content in enumerate(self._group_raw, self._first):
            row = self._index[number]
            self._index[number] = [
                row[0],
                None,
                offset,
                offset + len(content),
                self._group,
                page,
                row[1],
                row[2],
                row[3],
            ]
            self._raw_rows.append(self._index[number])
            offset += len(content)
        self._raw += raw
        self._group += 1
        self._first = self._rows
        self._blob, self._group_raw = bytearray(), []

    def _write_raw(self) -> None:
        for row in self._raw_rows:
            row[1] = len(self._pages)
        kind = len([page for page in self._pages if page["page_type"] == "RAW_DATA"])
        self._write(self._raw, "RAW_DATA", self._raw_groups, 0, 0, kind)
        self._raw, self._raw_groups, self._raw_rows = bytearray(), [], []

    def _write(self, content, kind: str, groups: list, start: int, end: int, number: int) -> None:
        self._file.seek(self._header_size + len(self._pages) * self._page_size)
        self._file.write(content)
        self._pages.append(
            {
                "end_row_id": end,
                "page_id": len(self._pages),
                "page_size": len(content),
                "page_type": kind,
                "page_type_id": number,
                "row_group_ids": groups,
                "shard_id": 0,
                "start_row_id": start,
            }
        )

    def finish(self, header: dict, index: dict[str, str]) -> None:
        """Write the last pages, the header and the index."""
        self._end_group()
        if self._raw_rows:
            self._write_raw()
        for page in self._pages:
            page["shard_id"] = header["shard_id"]
        header = {
            "header_size": self._header_size,
            "index_fields": header["index_fields"],
            "page": self._pages,
            "page_size": self._page_size,
            "compression_size": 0,
            **header,
        }
        content = json.dumps(header, separators=(",", ":")).encode()
        if len(content) + 8 > self._header_size:
            self._header_full(len(content))
        self._file.seek(0)
        self._file.write(struct.pack("<Q", len(content)) + content)
        self._file.close()
        self._write_index(index)

    def _header_full(self, size: int) -> None:
        self._file.close()
        raise RuntimeError(
            f"The header of {self._path} needs {size} bytes, but has room for "
            f"{self._header_size}. Call set_header_size with more before rows are written."
        )

    def _write_index(self, index: dict[str, str]) -> None:
        columns, key = _COLUMNS, "ROW_ID"
        for number, (name, kind) in enumerate(index.items()):
            columns += f", INC_{number} INT, {name}_0 {kind}"
            key += f", INC_{number}"
        database = sqlite3.connect(f"{self._path}.db")
        with contextlib.closing(database), database:
            database.execute(f"CREATE TABLE INDEXES({columns}, PRIMARY KEY({key}))")
            database.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
            name = pathlib.Path(self._path).name
            database.execute("INSERT INTO SHARD_NAME VALUES (?)", (name,))
            places = ", ".join("?" * (8 + 2 * len(index)))
            rows = []
            for row in self._index:
                fields = [part for value in row[8] for part in (0, value)]
                rows.append([*row[:8], *fields])
            database.executemany(f"INSERT INTO INDEXES VALUES ({places})", rows)


def _size(value, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(TypeError, f"{what}: its argument", "an integer", repr(value))
    if not 1 << least <= value <= 1 << most or value % 4:
        expected = f"a multiple of 4 from {1 << least} to {1 << most}"
        raise wrong(ValueError, f"{what}: its argument", expected, value)
    return value


def _check_field(name, field) -> None:
    reason = None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        reason = "names have letters, digits and underscores"
    elif not isinstance(field, dict) or field.get("type") not in KINDS:
        reason = f"its type is one of {', '.join(KINDS)}"
    elif set(field) - {"type", "shape"}:
        reason = "it has nothing but a type and a shape"
    elif "shape" in field:
        shape = field["shape"]
        if field["type"] in ("string", "bytes"):
            reason = "texts and bytes have no shape"
        elif not isinstance(shape, list) or not all(isinstance(size, int) for size in shape):
            reason = "its shape is a list of integers"
        elif shape.count(-1) > 1:
            reason = "one dimension at most may differ"
    if reason is not None:
        raise MRMInvalidSchemaError(
            BAD_FIELD.format(name=name, content=field, place=user_place(), reason=reason)
        )


def _array_names(schema: dict) -> list[str]:
    return [name for name in sorted(schema) if _is_array(schema[name])]


def _is_array(field: dict) -> bool:
    return field["type"] == "bytes" or "shape" in field


def _array_bytes(name: str, field: dict, value) -> tuple[bytes, int]:
    """An array as bytes, and how many bytes fewer than it has."""
    kind = field["type"]
    if kind == "bytes":
        if isinstance(value, (bytes, bytearray)):
            return bytes(value), 0
        raise TypeError(f"the field {name!r} has bytes, not {type(value).__name__}")
    array = np.asarray(value)
    if str(array.dtype) != kind:
        raise TypeError(f"the field {name!r} has an array of {kind}, not of {array.dtype}")
    array.reshape(field["shape"])
    if is_compressed(kind):
        content = pack_integers(array)
        return content, array.nbytes - len(content)
    return np.ascontiguousarray(array).tobytes(), 0


def _scalar(name: str, kind: str, value):
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if kind == "string" and isinstance(value, str):
        return value
    if kind.startswith("int") and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind.startswith("float") and isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"the field {name!r} has {kind}, not {type(value).__name__} {value!r}")
