# SPDX-License-Identifier: Apache-2.0
"""Data sets of files that are read from the beginning: lines of text, CSV, TFRecord."""

from __future__ import annotations

import csv
import functools
import glob
import gzip
import itertools
import pathlib
import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mycel.dataset import config
from mycel.dataset.engine import tfrecord
from mycel.dataset.engine.dataset import TextBaseDataset, UnionBaseDataset
from mycel.dataset.engine.machinery import Flow, Row, produced
from mycel.dataset.engine.nodes import name_list
from mycel.dataset.engine.reading import reading
from mycel.dataset.engine.schema import Schema
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.sources import SourceDataset, is_shuffled, of_one_class
from mycel.dataset.engine.together import Columns, Together
from mycel.dataset.samplers import Shuffle
from mycel.dataset.transforms import checks
from mycel.dataset.transforms.operations import undefined
from mycel.kernel.base.errors import wrong

WINDOW = 10000  # rows that a shuffle over files holds
CSV_WIDTH = (
    "{dataset}: line {line} of {path} has {actual} field(s), but there are {expected} columns."
)
CSV_VALUE = "{dataset}: line {line} of {path} has {value!r} in column {name!r}, which is no {kind}."
CSV_NAMES = (
    "{dataset}: the first line of {path} has a name twice: {names}. If it does not hold the names "
    "of the columns, give them as column_names."
)
CSV_HEADER = (
    " If it holds the names of the columns, leave column_names out, and they are taken from it."
)


def files_of(dataset_files, what: str) -> list[str]:
    """Paths from one or several, with `*` in them.

    Raises:
        TypeError: the argument is neither a path nor a list of paths.
        ValueError: a file does not exist.
    """
    given = [dataset_files] if isinstance(dataset_files, (str, pathlib.Path)) else dataset_files
    if not isinstance(given, (list, tuple)) or not given:
        raise wrong(TypeError, f"{what}: dataset_files", "a path or a list of paths", repr(given))
    found: list[str] = []
    for path in map(str, given):
        here = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
        if not here or not all(pathlib.Path(each).is_file() for each in here):
            raise wrong(ValueError, f"{what}: dataset_files", "files that exist", path)
        found += here
    return found


class FilesDataset(SourceDataset):
    """Rows of several files.

    As in MindSpore `num_parallel_workers` readers take turns, each with a file of its own.
    """

    def __init__(
        self,
        dataset_files,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        what = type(self).__name__
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        is_shuffled(shuffle, True, what)
        self.dataset_files = files_of(dataset_files, what)

    def _rows(self, path: str) -> Iterator[Row]:
        """The rows of a file."""
        return map(self._row, self._origins(path))

    # A class says how rows are read, or what they are made of and how.
    def _origins(self, path: str) -> Iterator:
        """What the rows of a file are made of."""
        raise undefined(self, "_origins")

    def _row(self, origin) -> Row:
        """The row made of this."""
        raise undefined(self, "_row")

    def _many(self, origins: Sequence) -> Columns:
        """The rows made of these."""
        raise undefined(self, "_many")

    def _rows_in(self, path: str) -> int:
        """How many rows a file has."""
        rows = self._found.setdefault("rows", {})
        if path not in rows:
            with reading(self.name, path):
                rows[path] = self._rows_told(path)
        return rows[path]

    def _rows_told(self, path: str) -> int:
        return sum(1 for _ in self._rows(path))

    def _total(self) -> int:
        return sum(self._rows_in(path) for path in self.dataset_files)

    def _share(self) -> list[tuple[str, int, int | None]]:
        """Files, and the first row and the one behind the last, of this shard."""
        if not self.is_sharded():
            return [(path, 0, None) for path in self.dataset_files]
        total = self._total()
        each = -(-total // (self.num_shards or 1))
        first = each * (self.shard_id or 0)
        parts: list[tuple[str, int, int | None]] = []
        start = 0
        # Twice around: what is missing at the end comes from the beginning.
        for path in [*self.dataset_files, *self.dataset_files]:
            count = self._rows_in(path)
            low, high = max(first - start, 0), min(first + each - start, count)
            if low < high:
                parts.append((path, low, high))
            start += count
        return parts

    def _size(self):
        total = -(-self._total() // (self.num_shards or 1))
        return total if self.num_samples is None else min(total, self.num_samples)

    def _parts(self, run: Run) -> list[tuple[str, int, int | None]]:
        """The files of this pass in their order."""
        parts = self._share()
        if is_shuffled(self.shuffle_flag, True, "") and self.shuffle_flag is not Shuffle.INFILE:
            order = run.chances(self).own().permutation(len(parts))
            parts = [parts[number] for number in order]
        return parts

    def _mixes(self) -> bool:
        """Whether rows are shuffled, not only files."""
        return is_shuffled(self.shuffle_flag, True, "") and self.shuffle_flag is not Shuffle.FILES

    def _flow(self, run: Run) -> Flow:
        parts = self._parts(run)
        flow = produced(lambda: self._in_turns(parts, self._rows))
        if self._mixes():
            flow = flow.shuffle(WINDOW, int(run.chances(self).own().integers(1 << 31)))
        return flow if self.num_samples is None else flow.take(self.num_samples)

    def _together(self, run: Run) -> Together | None:
        if self._mixes() or type(self)._rows is not FilesDataset._rows:
            return None
        if not of_one_class(self, "_many", "_origins", "_row"):
            return None
        origins = functools.partial(self._in_turns, self._parts(run), self._origins)
        made = Together(origins, self._many, self._row)
        return made if self.num_samples is None else made.part(0, self.num_samples)

    def _in_turns(self, parts: list, read: Callable[[str], Iterator]) -> Iterator:
        """What is read of each file, in turns."""
        workers = config.workers_of(self.num_parallel_workers)
        if len(parts) == 1:
            yield from self._one_after_another(parts, read)
            return
        readers = [self._one_after_another(parts[n::workers], read) for n in range(workers)]
        while readers:
            left = []
            for reader in readers:
                row = next(reader, None)
                if row is not None:
                    left.append(reader)
                    yield row
            readers = left

    def _one_after_another(self, parts: list, read: Callable[[str], Iterator]) -> Iterator:
        for path, start, end in parts:
            with reading(self.name, path):
                yield from itertools.islice(read(path), start, end)


class TextFileDataset(FilesDataset, TextBaseDataset):
    """The lines of text files that are not empty: `text`.

    Args:
        dataset_files: paths, also with `*`.
        shuffle: a Shuffle; True means GLOBAL.
        others: as in GeneratorDataset.

    Example:
        >>> path = getfixture("tmp_path") / "a.txt"
        >>> _ = path.write_text("one\\n\\ntwo\\n")
        >>> [str(row[0]) for row in ds.TextFileDataset(str(path), shuffle=False)]
        ['one', 'two']
    """

    def _columns(self) -> list[str]:
        return ["text"]

    def _origins(self, path):
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                text = line.rstrip("\n").rstrip("\r")
                if text:
                    yield text

    def _row(self, origin):
        return {"text": np.array(origin)}

    def _many(self, origins):
        return {"text": origins}


class CSVDataset(FilesDataset, UnionBaseDataset):
    """The lines of CSV files.

    Args:
        dataset_files: paths, also with `*`.
        field_delim: one character.
        column_defaults: a value for each column, whose type is that of the column (Int32, Float32
            or text), and which stands where a field is empty; None reads texts.
        column_names: None takes the first line of each file.
        others: as in TextFileDataset.

    Example:
        >>> path = getfixture("tmp_path") / "a.csv"
        >>> _ = path.write_text("x,y\\n1,2.5\\n")
        >>> data = ds.CSVDataset(str(path), column_defaults=[0, 0.0], shuffle=False)
        >>> [(int(x), float(y)) for x, y in data]
        [(1, 2.5)]
    """

    def __init__(
        self,
        dataset_files,
        field_delim=",",
        column_defaults=None,
        column_names=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        super().__init__(
            dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        if not isinstance(field_delim, str) or len(field_delim) != 1 or field_delim in '"\n\r':
            raise wrong(ValueError, "CSVDataset: field_delim", "one character", repr(field_delim))
        if column_defaults is not None and not isinstance(column_defaults, list):
            what = "CSVDataset: column_defaults"
            raise wrong(TypeError, what, "a list", repr(column_defaults))
        self.field_delim, self.column_defaults = field_delim, column_defaults
        self.column_names = column_names and name_list(column_names, "CSVDataset: column_names")

    def _columns(self) -> list[str]:
        if self.column_names is not None:
            return list(self.column_names)
        path = self.dataset_files[0]
        with reading(self.name, path), open(path, encoding="utf-8", newline="") as file:
            names = next(csv.reader(file, delimiter=self.field_delim), [])
        if len(set(names)) < len(names):
            raise RuntimeError(CSV_NAMES.format(dataset=self.name, path=path, names=names))
        return names

    def _origins(self, path):
        # The fields of a line, the names of the columns, and where the line is.
        names = self._columns()
        if self.column_defaults is not None and len(self.column_defaults) != len(names):
            expected = f"{len(names)} values, one for each column of {path}"
            raise wrong(RuntimeError, "CSVDataset: column_defaults", expected, self.column_defaults)
        with open(path, encoding="utf-8", newline="") as file:
            lines = csv.reader(file, delimiter=self.field_delim)
            if self.column_names is None:
                next(lines, None)
            for fields in lines:
                if not fields:
                    continue
                if len(fields) != len(names):
                    raise RuntimeError(
                        CSV_WIDTH.format(
                            dataset=self.name,
                            line=lines.line_num,
                            path=path,
                            actual=len(fields),
                            expected=len(names),
                        )
                    )
                yield fields, names, path, lines.line_num

    def _row(self, origin):
        fields, names, *place = origin
        return {
            name: self._value(number, name, field, *place)
            for number, (name, field) in enumerate(zip(names, fields, strict=True))
        }

    def _many(self, origins):
        columns = zip(*[origin[0] for origin in origins], strict=True)
        return {
            name: self._values(number, fields)
            for number, (name, fields) in enumerate(zip(origins[0][1], columns, strict=True))
        }

    def _values(self, number: int, fields: Sequence[str]) -> np.ndarray:
        """One field of several lines; whatever is wrong raises."""
        default, kind = self._default(number)
        if kind is None:
            return np.array([field or checks.text(default, "column_defaults") for field in fields])
        read = type(default)
        if all(fields):
            return np.array(list(map(read, fields)), kind)
        return np.array([read(field) if field else default for field in fields], kind)

    def _default(self, number: int) -> tuple:
        """What stands for an empty field of a column, and the type of its numbers."""
        default = "" if self.column_defaults is None else self.column_defaults[number]
        return default, {int: np.int32, float: np.float32}.get(type(default))

    def _value(self, number: int, name: str, field: str, path: str, line: int) -> np.ndarray:
        default, kind = self._default(number)
        if kind is None:
            return np.array(field or default)
        try:
            return np.array(type(default)(field) if field else default, kind)
        except (ValueError, OverflowError):
            text = CSV_VALUE.format(
                dataset=self.name, value=field, name=name, path=path, line=line, kind=kind.__name__
            )
            raise RuntimeError(text + CSV_HEADER if line == 1 else text) from None


class TFRecordDataset(FilesDataset, UnionBaseDataset):
    """The examples (`tf.train.Example`) in TFRecord files, whose checksums are checked.

    Args:
        dataset_files: paths, also with `*`.
        schema: a Schema, or the path of one, with names, element types and shapes; without it
            features are Int64, Float32, or UInt8 for bytes, in the order of their names.
        columns_list: which features; None takes all.
        shard_equal_rows: divide rows among shards; otherwise files.
        compression_type: None, 'GZIP' or 'ZLIB'.
        others: as in TextFileDataset.

    Example:
        >>> from mycel.dataset.engine import tfrecord
        >>> path = getfixture("tmp_path") / "a.tfrecord"
        >>> example = tfrecord.pack_example({"x": np.array([1.5, 2.5], np.float32), "n": 3})
        >>> _ = path.write_bytes(tfrecord.pack_record(example))
        >>> for row in ds.TFRecordDataset(str(path)).create_dict_iterator(num_epochs=1):
        ...     print(row["n"], row["x"])
        [3] [1.5 2.5]
    """

    def __init__(
        self,
        dataset_files,
        schema=None,
        columns_list=None,
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        shard_equal_rows=False,
        cache=None,
        compression_type=None,
    ):
        super().__init__(
            dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        if schema is not None and not isinstance(schema, Schema):
            schema = Schema(schema)
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            what = "TFRecordDataset: compression_type"
            raise wrong(ValueError, what, "None, 'GZIP' or 'ZLIB'", repr(compression_type))
        self.schema, self.columns_list = schema, columns_list
        self.shard_equal_rows, self.compression_type = bool(shard_equal_rows), compression_type

    def _columns(self) -> list[str]:
        if self.columns_list:
            return list(self.columns_list)
        if self.schema is not None:
            return self.schema.names()
        columns = self._found.get("columns")
        if columns is None:
            with reading(self.name, self.dataset_files[0]):
                first = next(self._examples(self.dataset_files[0]), {})
            columns = self._found["columns"] = sorted(first)
        return list(columns)

    def _content(self, path: str) -> bytes:
        content = pathlib.Path(path).read_bytes()
        if self.compression_type == "GZIP":
            return gzip.decompress(content)
        return zlib.decompress(content) if self.compression_type == "ZLIB" else content

    def _examples(self, path: str) -> Iterator[dict]:
        for record in tfrecord.records(self._content(path), path):
            yield tfrecord.unpack_example(record)

    def _rows_told(self, path: str) -> int:
        return tfrecord.count(self._content(path), path)

    def _share(self):
        if not self.is_sharded() or self.shard_equal_rows:
            return super()._share()
        return [(path, 0, None) for path in self.dataset_files[self.shard_id :: self.num_shards]]

    def _size(self):
        if self.is_sharded() and not self.shard_equal_rows:
            total = sum(self._rows_in(path) for path, _, _ in self._share())
            return total if self.num_samples is None else min(total, self.num_samples)
        return super()._size()

    def _rows(self, path: str) -> Iterator[Row]:
        names = self._columns()
        for example in self._examples(path):
            row = {}
            for name in names:
                if name not in example:
                    known = sorted(example)
                    raise RuntimeError(
                        f"{self.name}: an example in {path} has no feature {name!r}, only {known}."
                    )
                row[name] = self._feature(name, example[name], path)
            yield row

    def _feature(self, name: str, value, path: str) -> np.ndarray:
        if self.schema is None or name not in self.schema.names():
            return _as_bytes(value) if isinstance(value, list) else value
        kind, shape = self.schema.type_of(name), self.schema.shape_of(name)
        if not isinstance(value, list):
            made = value.astype(kind)
        elif kind.kind == "U":
            made = np.array([text.decode("utf-8", "replace") for text in value])
        elif kind.kind == "S":
            made = np.array(value)
        else:
            made = np.frombuffer(b"".join(value), kind).copy()
        if shape is None:
            return made
        try:
            return made.reshape(shape)
        except ValueError:
            raise RuntimeError(
                f"{self.name}: the feature {name!r} in {path} has shape {made.shape}, but the "
                f"schema says {shape}."
            ) from None


def _as_bytes(texts: list[bytes]) -> np.ndarray:
    """Bytes as UInt8: one text flat, several of them padded with zeros to one length."""
    width = max(map(len, texts), default=0)
    rows = [np.frombuffer(text.ljust(width, b"\0"), np.uint8) for text in texts]
    made = np.stack(rows) if rows else np.zeros((0, 0), np.uint8)
    return made.reshape(-1) if len(texts) == 1 else made
