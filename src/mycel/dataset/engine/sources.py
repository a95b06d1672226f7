# SPDX-License-Identifier: Apache-2.0
"""Sources: where rows come from, and the one that asks Python objects for them."""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType, GeneratorType

import numpy as np

from mycel.dataset import config
from mycel.dataset.engine import worker
from mycel.dataset.engine.batching import stacked
from mycel.dataset.engine.dataset import Dataset, UnionBaseDataset
from mycel.dataset.engine.machinery import Flow, Row, chosen, produced
from mycel.dataset.engine.nodes import RAISED, integer, name_list, operation_name
from mycel.dataset.engine.schema import Schema
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.together import Columns, Together
from mycel.dataset.engine.workers import InProcesses
from mycel.dataset.samplers import (
    BuiltinSampler,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    SequentialSampler,
    Shuffle,
    as_sampler,
)
from mycel.dataset.transforms.operations import undefined
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside

READING = "{dataset}: reading row {row} with {source}"
ROW_LENGTH = (
    "{dataset}: the source gave a row of {actual} value(s), but column_names has {expected}: "
    "{names}. Return a tuple with one value for each column."
)
NOT_TOGETHER = "{what} cannot be given together with {other}"


def check_shards(num_shards, shard_id, what: str) -> None:
    """Both or none, and a shard that exists.

    Raises:
        ValueError: they are not.
    """
    if num_shards is None and shard_id is None:
        return
    if num_shards is None or shard_id is None:
        missing = "num_shards" if num_shards is None else "shard_id"
        expected = "given together with the other of num_shards and shard_id"
        raise wrong(ValueError, f"{what}: {missing}", expected, None)
    integer(num_shards, f"{what}: num_shards", 1)
    if integer(shard_id, f"{what}: shard_id", 0) >= num_shards:
        raise wrong(ValueError, f"{what}: shard_id", f"below num_shards={num_shards}", shard_id)


def number_of_samples(num_samples, what: str) -> int | None:
    """A limit on rows; None and 0 set none."""
    if num_samples is None:
        return None
    return integer(num_samples, f"{what}: num_samples", 0) or None


def is_shuffled(shuffle, default: bool, what: str) -> bool:
    """Whether rows are to come in random order."""
    if shuffle is None:
        return default
    if not isinstance(shuffle, (bool, Shuffle)):
        raise wrong(TypeError, f"{what}: shuffle", "True, False or a Shuffle", repr(shuffle))
    return shuffle is not False and shuffle is not Shuffle.FALSE


class SourceDataset(Dataset):
    """The base of datasets that rows come from."""

    def __init__(
        self,
        num_parallel_workers=None,
        num_samples=None,
        shuffle: bool | Shuffle | None = True,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        super().__init__(None, num_parallel_workers, cache)
        what = type(self).__name__
        check_shards(num_shards, shard_id, what)
        self.num_samples = number_of_samples(num_samples, what)
        self.num_shards, self.shard_id = num_shards, shard_id
        self.shuffle_flag = shuffle

    def is_shuffled(self) -> bool:
        """Whether rows come in random order.

        Example:
            >>> ds.NumpySlicesDataset([1, 2], shuffle=False).is_shuffled()
            False
        """
        return is_shuffled(self.shuffle_flag, True, type(self).__name__)

    def is_sharded(self) -> bool:
        """Whether only the part of one process comes.

        Example:
            >>> ds.NumpySlicesDataset([1, 2]).is_sharded()
            False
        """
        return self.num_shards is not None and self.num_shards > 1


def of_one_class(dataset: Dataset, *methods: str) -> bool:
    """Whether one class says what all of these methods do: one that another goes past does not
    count."""
    kinds = type(dataset).__mro__
    return len({next(kind for kind in kinds if name in vars(kind)) for name in methods}) == 1


class MappableDataset(SourceDataset):
    """The base of sources with random access: samplers choose among their rows."""

    random_access = True

    def __init__(
        self,
        num_parallel_workers=None,
        sampler=None,
        num_samples=None,
        shuffle: bool | Shuffle | None = None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        super().__init__(num_parallel_workers, num_samples, shuffle, num_shards, shard_id, cache)
        what = type(self).__name__
        shuffled = is_shuffled(shuffle, True, what)
        if sampler is not None:
            if shuffle is False and not isinstance(sampler, BuiltinSampler):
                shuffle = None  # numbers come in their order anyway
            for other, value in (("shuffle", shuffle), ("num_shards", num_shards)):
                if value is not None:
                    expected = NOT_TOGETHER.format(what="None: it", other="sampler")
                    raise wrong(ValueError, f"{what}: {other}", expected, value)
            sampler = as_sampler(sampler)
            if self.num_samples is not None and isinstance(sampler, BuiltinSampler):
                sampler = copy.copy(sampler)
                sampler.num_samples = self.num_samples
        elif num_shards is not None:
            sampler = DistributedSampler(num_shards, shard_id, shuffled, self.num_samples)
        elif shuffled:
            sampler = RandomSampler(num_samples=self.num_samples)
        else:
            sampler = SequentialSampler(num_samples=self.num_samples)
        self.sampler: BuiltinSampler = sampler

    def use_sampler(self, new_sampler) -> None:
        """Let another sampler choose the rows.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3])
            >>> data.use_sampler(ds.SubsetSampler([2]))
            >>> [int(row[0]) for row in data]
            [3]
        """
        if new_sampler is None:
            raise wrong(TypeError, "use_sampler: new_sampler", "a sampler", None)
        self.sampler = as_sampler(new_sampler)

    def add_sampler(self, new_sampler) -> None:
        """Let another sampler choose among the rows that the sampler has chosen.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False)
            >>> data.add_sampler(ds.SubsetSampler([2, 0]))
            >>> [int(row[0]) for row in data]
            [3, 1]
        """
        if new_sampler is not None:
            before, self.sampler = self.sampler, copy.copy(as_sampler(new_sampler))
            self.sampler.add_child(before)

    def with_sampler(self, sampler: BuiltinSampler) -> MappableDataset:
        """The same source under another sampler."""
        made = copy.copy(self)
        made.sampler, made._found = sampler, {}
        return made

    # -- what each source says ----------------------------------------------------------------

    def _count(self) -> int:
        """How many rows there are to choose among."""
        raise undefined(self, "_count")

    def _read(self, index: int) -> Row:
        """The row with this number."""
        raise undefined(self, "_read")

    def _many(self, indices: Sequence | np.ndarray) -> Columns:
        """The rows with these numbers, in memory of their own."""
        raise undefined(self, "_many")

    def _labels(self) -> Sequence | None:
        """The class of each row, for PKSampler."""
        return None

    def _size(self):
        labels = self._labels if isinstance(self.sampler, PKSampler) else None
        return self.sampler.count(self._count(), labels)

    def _order(self, run: Run) -> np.ndarray:
        return self.sampler.order(self._count(), run.chances(self), self._labels)

    def _flow(self, run: Run) -> Flow:
        return chosen(self._order(run), self._read, self._threads(run))

    def _threads(self, run: Run) -> int:
        # Readers of ours open what they need for each row; threads do not disturb each other.
        return 1 if run.session.debug else self.num_parallel_workers or 1

    def _together(self, run: Run) -> Together | None:
        if not of_one_class(self, "_many", "_read"):
            return None
        return Together(self._order(run), self._many, self._read, self._threads(run))


class GeneratorDataset(MappableDataset, UnionBaseDataset):
    """Rows from Python: an object with random access, an iterable, or a function that gives one.

    A row is a tuple with a value for each column, or a single value.

    Args:
        source: has `__getitem__` and `__len__`, or can be iterated, or is a function that returns
            something to iterate (called for each epoch).
        column_names: one for each value of a row.
        column_types: the expected element types; others are an error.
        schema: gives column names and types instead.
        num_samples: at most this many rows.
        num_parallel_workers: how many processes (or threads) read a source with random access.
        shuffle: rows of a source with random access come in random order; True by default.
        sampler: a sampler, or an iterable of numbers; not together with shuffle and shards.
        num_shards, shard_id: the part of one of several processes.
        python_multiprocessing: more than one worker means processes, not threads.
        max_rowsize: accepted; rows of any size fit through a pipe.
        batch_sampler: gives lists of numbers; the rows of each make a batch.
        collate_fn: makes a batch, for batch_sampler: it is given a list for each column.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> class Squares:
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index, np.float32(index**2)
        >>> data = ds.GeneratorDataset(Squares(), ["number", "square"], shuffle=False)
        >>> [(int(number), float(square)) for number, square in data]
        [(0, 0.0), (1, 1.0), (2, 4.0)]
    """

    def __init__(
        self,
        source,
        column_names=None,
        column_types=None,
        schema=None,
        num_samples=None,
        num_parallel_workers=1,
        shuffle=None,
        sampler=None,
        num_shards=None,
        shard_id=None,
        python_multiprocessing=True,
        max_rowsize=None,
        batch_sampler=None,
        collate_fn=None,
    ):
        what = type(self).__name__
        if not any(hasattr(source, name) for name in ("__getitem__", "__iter__", "__call__")):
            expected = "something with __getitem__, __iter__ or __call__"
            raise wrong(TypeError, f"{what}: source", expected, repr(source))
        self.random_access = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if not self.random_access:
            if num_shards is not None:
                expected = "None: a source without __getitem__ and __len__ has no shards"
                raise wrong(ValueError, f"{what}: num_shards", expected, num_shards)
            if sampler is not None or batch_sampler is not None:
                expected = "None: a source without __getitem__ and __len__ has no samplers"
                raise wrong(ValueError, f"{what}: sampler", expected, sampler or batch_sampler)
        if isinstance(sampler, PKSampler):
            expected = "another sampler: the classes of its rows are not known"
            raise wrong(ValueError, f"{what}: sampler", expected, "a PKSampler")
        if batch_sampler is not None and (sampler is not None or shuffle is not None):
            expected = NOT_TOGETHER.format(what="None: it", other="sampler or shuffle")
            raise wrong(ValueError, f"{what}: batch_sampler", expected, "one")
        super().__init__(num_parallel_workers, sampler, num_samples, shuffle, num_shards, shard_id)
        # Its source cannot be written down, and is not kept twice.
        self.made_with = ((), {})
        self.source, self._again = source, None
        self.batch_sampler, self.collate_fn = batch_sampler, collate_fn
        self.python_multiprocessing, self.max_rowsize = python_multiprocessing, max_rowsize
        self._name_columns(column_names, column_types, schema)
        self._lock = threading.Lock()

    def _name_columns(self, column_names, column_types, schema) -> None:
        what = type(self).__name__
        if schema is not None:
            schema = schema if isinstance(schema, Schema) else Schema(schema)
            column_names = column_names or schema.names()
            column_types = column_types or [schema.type_of(name) for name in column_names]
        if column_names is None:
            expected = "given, or a schema"
            raise wrong(ValueError, f"{what}: column_names", expected, None)
        self.column_names = name_list(column_names, f"{what}: column_names")
        if column_types is not None and not isinstance(column_types, (list, tuple)):
            column_types = [column_types]
        self.column_types = column_types

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())

    def __copy__(self):
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __getitem__(self, index):
        """A row as the source has it, in the order of the source.

        Raises:
            TypeError: the source has no random access, or the rows are chosen by a sampler or
                shards; or the index is no integer.
            IndexError: there is no such row.
        """
        if not self.random_access or type(self.sampler) not in (SequentialSampler, RandomSampler):
            expected = "a source with __getitem__ and __len__, without sampler and shards"
            raise wrong(TypeError, f"{self.name}[{index!r}]", expected, repr(self.source))
        if not isinstance(index, (int, np.integer)):
            raise wrong(TypeError, f"{self.name}: the number of a row", "an integer", repr(index))
        if not 0 <= index < len(self.source):
            expected = f"from 0 to {len(self.source) - 1}"
            raise wrong(IndexError, f"{self.name}: the number of a row", expected, index)
        return self.source[int(index)]

    def get_batch_size(self) -> int:
        return 1 if self.batch_sampler is None else -1

    get_batch_size.__doc__ = Dataset.get_batch_size.__doc__

    def _columns(self) -> list[str]:
        return list(self.column_names)

    def _count(self) -> int:
        return len(self.source)

    def _size(self):
        if not self.random_access:
            known = len(self.source) if hasattr(self.source, "__len__") else None
            if known is None or self.num_samples is None:
                return known
            return min(known, self.num_samples)
        if self.batch_sampler is not None:
            return len(self.batch_sampler) if hasattr(self.batch_sampler, "__len__") else None
        return super()._size()

    def _row(self, row, as_column=worker.own_column) -> Row:
        """A row of the source with names, in memory of its own."""
        values = tuple(row) if isinstance(row, (tuple, list, GeneratorType)) else (row,)
        if len(values) != len(self.column_names):
            raise RuntimeError(
                ROW_LENGTH.format(
                    dataset=self.name,
                    actual=len(values),
                    expected=len(self.column_names),
                    names=self.column_names,
                )
            )
        made = {
            name: as_column(value) for name, value in zip(self.column_names, values, strict=True)
        }
        if self.column_types:
            for (name, value), wanted in zip(made.items(), self.column_types, strict=True):
                kind = np.dtype(getattr(wanted, "numpy", wanted))
                if value.dtype != kind and kind.kind not in "US":
                    what = f"{self.name}: column {name!r}"
                    raise RuntimeError(
                        f"{what} must hold elements of type {kind}, but holds {value.dtype}."
                    )
        return made

    def _named(self, number: int = 0) -> str:
        return READING.format(
            dataset=self.name, row="", source=operation_name(self.source)
        ).replace("row  ", "a row ")

    def _read(self, index) -> Row:
        try:
            # One at a time: nothing says that the source may be read by several threads.
            with self._lock:
                if isinstance(index, list):
                    rows = [self.source[each] for each in index]
                    row = rows if self.collate_fn is None else self._collated(rows)
                else:
                    row = self.source[int(index)]
        except Exception as error:
            if came_from_outside(error):
                raise
            raise self._failed(index, error) from error
        try:
            return self._batch(row) if isinstance(index, list) else self._row(row)
        except TypeError as error:
            raise self._failed(index, error) from error

    def _collated(self, rows: list):
        """What `collate_fn` makes of a batch: it is given a list for each column."""
        assert self.collate_fn is not None
        if not all(isinstance(row, tuple) for row in rows):
            return self.collate_fn(rows)
        return self.collate_fn(*map(list, zip(*rows, strict=True)))

    def _failed(self, index, error: Exception) -> RuntimeError:
        operation = READING.format(dataset=self.name, row=index, source=operation_name(self.source))
        return RuntimeError(
            RAISED.format(operation=operation, kind=type(error).__name__, text=error)
        )

    def _batch(self, rows) -> Row:
        """A batch of `batch_sampler`."""
        if self.collate_fn is not None:
            return self._row(rows)
        return stacked([self._row(row) for row in rows], self.name)

    def _flow(self, run: Run) -> Flow:
        if not self.random_access:
            flow = produced(self._iterated)
            return flow if self.num_samples is None else flow.take(self.num_samples)
        if self.batch_sampler is not None:
            order = [list(map(int, rows)) for rows in self.batch_sampler]
        else:
            order = self._order(run)
        workers = config.workers_of(self.num_parallel_workers)
        wanted = self.python_multiprocessing and self.batch_sampler is None
        if workers > 1 and wanted and not run.session.debug:
            # Its own method: no class of ours, which a worker would have to import.
            content = run.session.content(self, [self.source.__getitem__])
            if content is not None:
                return self._in_processes(run, content, order, workers)
        return chosen(order, self._read)

    def _in_processes(
        self, run: Run, content: bytes, order: Sequence | np.ndarray, workers: int
    ) -> Flow:
        def pool():
            several = (tuple, list)
            return run.session.pool(self, content, workers, self._named, several)

        numbers = run.numbers(self)
        flow = chosen(order, lambda index: {"index": index})
        return flow.then(
            lambda parent: InProcesses(
                pool,
                lambda row, number: (int(row["index"]),),
                lambda row, made: self._row(made, worker.as_column),
                numbers,
                parent,
            )
        )

    def _iterated(self) -> Iterator[Row]:
        number = 0
        try:
            made = self.source() if callable(self.source) else self._source_again()
            rows = made if isinstance(made, Iterable) else self._by_index(made)
            for row in rows:
                yield self._row(row)
                number += 1
        except RuntimeError:
            raise
        except Exception as error:
            if came_from_outside(error):
                raise
            raise self._failed(number, error) from error

    def _source_again(self):
        """The source, or what gives anew what it gives only once, as a generator: as MindSpore
        does, its rows are kept."""
        # Where Python code of a class answers, it may begin anew.
        begins = getattr(type(self.source), "__iter__", None)
        if not isinstance(self.source, Iterator) or isinstance(begins, FunctionType):
            return self.source
        with self._lock:
            self._again, rows = itertools.tee(self._again or self.source)
        return rows

    @staticmethod
    def _by_index(source) -> Iterable:
        number = 0
        while True:
            try:
                yield source[number]
            except IndexError:
                return
            number += 1
