# SPDX-License-Identifier: Apache-2.0
"""MindDataset: rows of MindRecord files; and writing a dataset into one."""

from __future__ import annotations

import pathlib

import numpy as np

from mycel.dataset.engine.dataset import UnionBaseDataset
from mycel.dataset.engine.files import files_of
from mycel.dataset.engine.machinery import Row
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.sources import MappableDataset, integer
from mycel.dataset.engine.together import Columns, Together
from mycel.dataset.samplers import BuiltinSampler, Shuffle
from mycel.kernel.base.errors import wrong
from mycel.mindrecord import FileWriter
from mycel.mindrecord.reading import Record


class _FilesSampler(BuiltinSampler):
    """Shuffled files with their rows in order, or files in order with shuffled rows."""

    def __init__(self, sizes: list[int], mode: Shuffle, num_samples=None):
        super().__init__(num_samples)
        self._sizes, self._mode = sizes, mode

    def _order(self, size, chances, labels):
        random = chances.own()
        ends = np.cumsum(self._sizes)
        blocks = [np.arange(end - count, end) for end, count in zip(ends, self._sizes, strict=True)]
        blocks.append(np.arange(ends[-1], size))
        if self._mode is Shuffle.INFILE:
            return np.concatenate([random.permutation(block) for block in blocks])
        return np.concatenate([blocks[number] for number in random.permutation(len(blocks))])


class MindDataset(MappableDataset, UnionBaseDataset):
    """Rows of a MindRecord, also of one that MindSpore wrote.

    Args:
        dataset_files: a file of the record, which names the others; or a list of all.
        columns_list: which fields; None takes all, in the order of their names.
        shuffle: True, False or a Shuffle; FILES shuffles files only, INFILE rows in each file.
        padded_sample: a row that stands `num_padded` times behind the others.
        others: as in GeneratorDataset.

    Raises:
        ValueError: the file does not exist.
        RuntimeError: the file is not a MindRecord, or does not have a field.

    Example:
        >>> path = str(getfixture("tmp_path") / "a.mindrecord")
        >>> writer = mindrecord.FileWriter(path)
        >>> _ = writer.add_schema({"label": {"type": "int32"}, "text": {"type": "string"}})
        >>> _ = writer.write_raw_data([{"label": 3, "text": "three"}]), writer.commit()
        >>> for row in ds.MindDataset(path).create_dict_iterator(num_epochs=1):
        ...     print(row["label"], row["text"])
        3 three
    """

    def __init__(
        self,
        dataset_files=None,
        columns_list=None,
        num_parallel_workers=None,
        shuffle: bool | Shuffle | None = None,
        num_shards=None,
        shard_id=None,
        sampler=None,
        padded_sample=None,
        num_padded=None,
        num_samples=None,
        cache=None,
        dataset_file=None,
    ):
        if dataset_files is None:
            dataset_files = dataset_file  # the name it had in MindSpore 1
        several = isinstance(dataset_files, (list, tuple))
        paths = files_of(dataset_files, "MindDataset")
        if columns_list is not None and isinstance(columns_list, str):
            columns_list = [columns_list]
        self.dataset_files = paths
        self._list = paths if several else paths[0]
        self.columns_list = columns_list
        self.padded_sample = padded_sample
        self.num_padded = 0
        if padded_sample is not None:
            if not isinstance(padded_sample, dict):
                what = "MindDataset: padded_sample"
                raise wrong(TypeError, what, "a dictionary", repr(padded_sample))
            if num_padded is None:
                raise wrong(RuntimeError, "MindDataset: num_padded", "given", None)
            self.num_padded = integer(num_padded, "MindDataset: num_padded", 0)
        super().__init__(
            num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id, cache
        )
        self._opened: Record | None = None
        if num_shards is None and (shuffle is Shuffle.FILES or shuffle is Shuffle.INFILE):
            sizes = [len(file) for file in self._record.files]
            self.sampler = _FilesSampler(sizes, shuffle, self.num_samples)

    @property
    def _record(self) -> Record:
        if self._opened is None:
            self._opened = Record(self._list, self.columns_list)
        return self._opened

    def _columns(self) -> list[str]:
        return list(self._record.names)

    def _count(self) -> int:
        return len(self._record) + self.num_padded

    def _read(self, index: int) -> Row:
        record = self._record
        padded = self.padded_sample
        row = record.row(index) if padded is None or index < len(record) else padded
        return {name: _column(row[name], record.schema[name]) for name in record.names}

    def _many(self, indices) -> Columns:
        record = self._record
        if len(indices) and max(indices) >= len(record):
            raise LookupError("padded rows are made one by one")
        found = record.many(np.asarray(indices))
        return {name: found[name] for name in record.names}

    def _together(self, run: Run) -> Together | None:
        record = self._record
        if any(record.schema[name]["type"] == "bytes" for name in record.names):
            return None
        return super()._together(run)


def _column(value, field: dict) -> np.ndarray:
    kind = field["type"]
    if kind == "bytes" and isinstance(value, bytes):
        # Not np.array([value]): it would lose zeros at the end.
        return np.frombuffer(value.ljust(1, b"\0"), f"S{max(len(value), 1)}").copy()
    if kind in ("bytes", "string"):
        return np.array(value if value != "" else "", f"U{max(len(value), 1)}")
    return np.asarray(value, kind)


_STORED = {"b": "int32", "i": "int32", "u": "int64", "f": "float32"}


def _field_of(value: np.ndarray) -> dict:
    kind = value.dtype.kind
    if kind == "S":
        return {"type": "bytes"}
    if kind == "U":
        return {"type": "string"}
    name = str(value.dtype)
    if name not in ("int32", "int64", "float32", "float64"):
        name = "int32" if value.dtype.itemsize < 4 and kind == "u" else _STORED[kind]
    field: dict = {"type": name}
    if value.ndim:
        field["shape"] = [-1, *value.shape[1:]]
    return field


def save(dataset, file_name: str, num_files: int) -> None:
    """See `Dataset.save`."""
    pathlib.Path(file_name).resolve().parent.mkdir(parents=True, exist_ok=True)
    writer, schema, rows = FileWriter(file_name, num_files, overwrite=True), None, []
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        if schema is None:
            schema = {name: _field_of(value) for name, value in row.items()}
            writer.add_schema(schema)
        rows.append({name: _stored(value, schema[name]) for name, value in row.items()})
        if len(rows) == 1000:
            writer.write_raw_data(rows)
            rows = []
    if schema is None:
        raise RuntimeError(f"save: {dataset.name} has no rows that could be written.")
    if rows:
        writer.write_raw_data(rows)
    writer.commit()


def _stored(value: np.ndarray, field: dict):
    if field["type"] == "bytes":
        return value.tobytes()
    if field["type"] == "string":
        return str(value) if value.ndim == 0 else value
    return value.astype(field["type"]) if "shape" in field else value.astype(field["type"]).item()
