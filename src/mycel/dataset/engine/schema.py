# SPDX-License-Identifier: Apache-2.0
"""Schemas: the names, element types and shapes of columns, written down by the program."""

from __future__ import annotations

import json
import pathlib

import numpy as np

from mycel.dataset.engine.reading import reading
from mycel.kernel.base.dtypes import DType
from mycel.kernel.base.errors import wrong

_TEXTS = {"string": np.dtype("U"), "bytes": np.dtype("S")}


class Schema:
    """The columns of a file that does not tell them itself, such as TFRecord.

    Args:
        schema_file: a JSON file with `columns`, a dictionary (or list) of `type` and `shape`.

    Example:
        >>> schema = ds.Schema()
        >>> schema.add_column("image", "uint8", [2, 2])
        >>> schema.names()
        ['image']
    """

    def __init__(self, schema_file=None):
        self.columns: list[dict] = []
        self.num_rows = 0
        self.dataset_type = ""
        if schema_file is not None:
            if not isinstance(schema_file, (str, pathlib.Path)):
                raise wrong(TypeError, "Schema: schema_file", "a path", repr(schema_file))
            if not pathlib.Path(schema_file).is_file():
                raise wrong(ValueError, "Schema: schema_file", "an existing file", schema_file)
            with reading("Schema", schema_file):
                content = json.loads(pathlib.Path(schema_file).read_text("utf-8"))
            self.from_json(content)

    def add_column(self, name, de_type, shape=None) -> None:
        """A further column.

        Args:
            de_type: an element type, or its name; also "string".
            shape: -1 for a dimension that differs; None for any shape.

        Example:
            >>> ds.Schema().add_column("label", ms.int64)
        """
        if not isinstance(name, str):
            raise wrong(TypeError, "add_column: name", "a name", repr(name))
        if shape is not None and not isinstance(shape, (list, tuple)):
            raise wrong(TypeError, "add_column: shape", "a list of integers", repr(shape))
        kind = str(np.dtype(de_type.numpy)) if isinstance(de_type, DType) else str(de_type)
        if kind not in _TEXTS:
            try:
                np.dtype(kind)
            except TypeError:
                expected = "an element type or its name"
                raise wrong(TypeError, "add_column: de_type", expected, repr(de_type)) from None
        column = {"name": name, "type": kind, "rank": len(shape) if shape is not None else 1}
        if shape is not None:
            column["shape"] = list(shape)
        self.columns.append(column)

    def parse_columns(self, columns) -> None:
        """Columns as a list or dictionary of descriptions, in place of what was there.

        Example:
            >>> schema = ds.Schema()
            >>> schema.parse_columns([{"name": "image", "type": "int8", "shape": [3, 3]}])
            >>> schema.names()
            ['image']
        """
        if isinstance(columns, dict):
            columns = [{"name": name, **column} for name, column in columns.items()]
        if not isinstance(columns, list):
            raise wrong(TypeError, "parse_columns: columns", "a list", repr(columns))
        for column in columns:
            if "name" not in column or "type" not in column:
                raise wrong(ValueError, "A column of a schema", "a name and a type", column)
        self.columns = []
        for column in columns:
            self.add_column(column["name"], column["type"], column.get("shape"))

    def from_json(self, json_obj) -> None:
        """Everything from a dictionary.

        Example:
            >>> schema = ds.Schema()
            >>> schema.from_json({"columns": {"x": {"type": "int32"}}, "numRows": 2})
            >>> schema.num_rows
            2
        """
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise wrong(RuntimeError, "from_json", "a dictionary with 'columns'", repr(json_obj))
        self.parse_columns(json_obj["columns"])
        self.num_rows = int(json_obj.get("numRows", 0))
        self.dataset_type = json_obj.get("datasetType", "")

    def to_json(self) -> str:
        """The schema as JSON.

        Example:
            >>> "columns" in ds.Schema().to_json()
            True
        """
        made: dict[str, object] = {"columns": self.columns}
        if self.dataset_type:
            made["datasetType"] = self.dataset_type
        if self.num_rows:
            made["numRows"] = self.num_rows
        return json.dumps(made, indent=2, sort_keys=True)

    def __str__(self) -> str:
        return self.to_json()

    def names(self) -> list[str]:
        """The names of the columns.

        Example:
            >>> ds.Schema().names()
            []
        """
        return [column["name"] for column in self.columns]

    def type_of(self, name: str) -> np.dtype:
        """The element type of a column.

        Example:
            >>> schema = ds.Schema()
            >>> schema.add_column("label", "int64")
            >>> schema.type_of("label")
            dtype('int64')
        """
        kind = self._column(name)["type"]
        return _TEXTS.get(kind) or np.dtype(kind)

    def shape_of(self, name: str) -> list | None:
        """The shape of a column; None for any.

        Example:
            >>> schema = ds.Schema()
            >>> schema.add_column("label", "int64", [1])
            >>> schema.shape_of("label")
            [1]
        """
        return self._column(name).get("shape")

    def _column(self, name: str) -> dict:
        return next(column for column in self.columns if column["name"] == name)
