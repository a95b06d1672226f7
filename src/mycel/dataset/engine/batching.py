# SPDX-License-Identifier: Apache-2.0
"""Batches: rows put together, as they are, padded, or by length."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mycel.dataset import config
from mycel.dataset.engine import chance, worker
from mycel.dataset.engine.dataset import UnionBaseDataset
from mycel.dataset.engine.machinery import Flow, Row, Steps
from mycel.dataset.engine.nodes import (
    FAILED,
    RAISED,
    TAKEN,
    WRONG_COUNT,
    integer,
    name_list,
    operation_name,
    outputs_in_place,
)
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.workers import InProcesses
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import MadeAt
from mycel.kernel.base.signals import came_from_outside

UNEVEN = (
    "{dataset}: the rows of a batch have different {what} in column {name!r}: {first} and {other}. "
    "Use padded_batch, or make them equal in a map before."
)
NO_ARRAY = (
    "{dataset}: the dictionaries of column {name!r} hold a value of type {kind}, and only arrays "
    "can be put together. Take it out in a map before."
)
NO_LENGTH = (
    "{dataset}: the length of a row must be an integer of at least 0, but element_length_function "
    "gave {length!r}."
)


@dataclass(frozen=True)
class BatchInfo:
    """What a function of `batch` learns about the batch.

    Example:
        >>> info = ds.BatchInfo(epoch=2, batch=5)
        >>> info.get_epoch_num(), info.get_batch_num()
        (2, 5)
    """

    epoch: int = 0
    batch: int = 0

    def get_epoch_num(self) -> int:
        """The number of the epoch, from 0.

        Example:
            >>> ds.BatchInfo().get_epoch_num()
            0
        """
        return self.epoch

    def get_batch_num(self) -> int:
        """The number of the batch in its pass, from 0.

        Example:
            >>> ds.BatchInfo().get_batch_num()
            0
        """
        return self.batch


def stacked(rows: Sequence[Row], dataset: str) -> Row:
    """Rows as one row, whose columns have a first dimension more.

    Raises:
        RuntimeError: shapes or element types differ.
    """
    return {name: _stack([row[name] for row in rows], name, dataset) for name in rows[0]}


def _stack(values: Sequence, name: str, dataset: str):
    first = values[0]
    if isinstance(first, dict):
        return {key: _stack([each[key] for each in values], name, dataset) for key in first}
    if not isinstance(first, np.ndarray):
        raise RuntimeError(NO_ARRAY.format(dataset=dataset, name=name, kind=type(first).__name__))
    for value in values:
        if value.shape != first.shape:
            raise RuntimeError(
                UNEVEN.format(
                    dataset=dataset,
                    what="shapes",
                    name=name,
                    first=first.shape,
                    other=value.shape,
                )
            )
        if value.dtype != first.dtype and value.dtype.kind not in "US":
            raise RuntimeError(
                UNEVEN.format(
                    dataset=dataset,
                    what="element types",
                    name=name,
                    first=first.dtype,
                    other=value.dtype,
                )
            )
    return np.stack(values)


class BatchDataset(UnionBaseDataset):
    """Rows put together; made by `Dataset.batch`."""

    def __init__(
        self,
        input_dataset,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        per_batch_map=None,
        input_columns=None,
        output_columns=None,
        python_multiprocessing=False,
        max_rowsize=None,
        **unknown,
    ):
        if unknown:
            expected = "per_batch_map, input_columns, output_columns and the like"
            raise wrong(TypeError, "The keywords of batch", expected, sorted(unknown))
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(batch_size):
            batch_size = integer(batch_size, "batch: batch_size", 1)
        if not isinstance(drop_remainder, bool):
            what = "batch: drop_remainder"
            raise wrong(TypeError, what, "True or False", repr(drop_remainder))
        if per_batch_map is not None and not callable(per_batch_map):
            raise wrong(TypeError, "batch: per_batch_map", "a function", repr(per_batch_map))
        self.batch_size, self.drop_remainder = batch_size, drop_remainder
        for node in self.children[0].nodes():
            node._batched(batch_size)
        self.per_batch_map = per_batch_map
        names = "batch: input_columns", "batch: output_columns"
        self.input_columns = name_list(input_columns, names[0]) if input_columns else []
        self.output_columns = name_list(output_columns, names[1]) if output_columns else []
        self.python_multiprocessing = bool(python_multiprocessing)
        self.max_rowsize = max_rowsize

    def get_batch_size(self) -> int:
        return -1 if callable(self.batch_size) else self.batch_size

    get_batch_size.__doc__ = UnionBaseDataset.get_batch_size.__doc__

    def _size(self):
        size = self.children[0]._size()
        if size is None or callable(self.batch_size):
            return None
        return size // self.batch_size if self.drop_remainder else -(-size // self.batch_size)

    def _inputs(self) -> list[str]:
        return self.children[0].checked(self.input_columns or self.children[0]._columns())

    def _columns(self) -> list[str]:
        columns = self.children[0]._columns()
        if self.per_batch_map is None:
            return columns
        inputs = self._inputs()
        outputs = self.output_columns or inputs
        for name in outputs:
            if name in columns and name not in inputs:
                raise RuntimeError(TAKEN.format(dataset=self.name, name=name, columns=columns))
        return outputs_in_place(columns, inputs, outputs)

    def _flow(self, run: Run) -> Flow:
        def collate(rows: Sequence[Row]) -> Row:
            return stacked(rows, self.name)

        size, whole = self.batch_size, self.drop_remainder
        if self.per_batch_map is not None:
            collate = _as_lists
        elif not callable(size) and not run.session.debug:
            together = self.children[0]._together(run)
            if together is not None:
                return together.batches(size, whole, collate)
        flow = self.children[0]._flow(run)
        if callable(size):
            flow = flow.then(lambda parent: _Sized(size, whole, run.epoch, collate, parent))
        else:
            flow = flow.batch(size, whole, collate)
        function = self.per_batch_map
        return flow if function is None else self._mapped(function, flow, run)

    def _named(self, number: int = 0) -> str:
        operation = f"batch: {operation_name(self.per_batch_map)}"
        return FAILED.format(operation=operation, columns=self._inputs(), dataset=self.name)

    def _mapped(self, function: Callable, flow: Flow, run: Run) -> Flow:
        inputs, columns = self._inputs(), self._columns()
        outputs = self.output_columns or inputs
        numbers = run.numbers(self)

        def join(row: Row, made: tuple) -> Row:
            if len(made) != len(outputs):
                raise RuntimeError(
                    WRONG_COUNT.format(
                        operation=self._named(),
                        actual=len(made),
                        expected=len(outputs),
                        names=outputs,
                    )
                )
            changed = dict(zip(outputs, made, strict=True))
            return {
                name: changed[name] if name in changed else _stack(row[name], name, self.name)
                for name in columns
            }

        def split(row: Row, number: int) -> tuple:
            return (*[row[name] for name in inputs], BatchInfo(run.epoch, number))

        def change(number: int, row: Row) -> Row:
            try:
                with chance.row(*numbers(number)), MadeAt(self.place):
                    made = worker.apply([function], split(row, number))
                return join(row, tuple([worker.own_column(value) for value in made]))
            except Exception as error:
                if came_from_outside(error):
                    raise
                raise RuntimeError(
                    RAISED.format(operation=self._named(), kind=type(error).__name__, text=error)
                ) from error

        workers = config.workers_of(self.num_parallel_workers)
        if self.python_multiprocessing and workers > 1 and not run.session.debug:
            content = run.session.content(self, [function])
            if content is not None:

                def pool():
                    return run.session.pool(self, content, workers, self._named)

                return flow.then(lambda parent: InProcesses(pool, split, join, numbers, parent))
        return flow.map(change, 1 if run.session.debug else self.num_parallel_workers or 1)


def _as_lists(rows: Sequence[Row]) -> Row:
    return {name: [row[name] for row in rows] for name in rows[0]}


class _Sized(Steps):
    """Batches whose size a function tells."""

    def __init__(self, size: Callable, whole: bool, epoch: int, collate: Callable, parent):
        self._size, self._whole, self._epoch, self._collate = size, whole, epoch, collate
        self._parent = parent
        self._number = 0

    def __next__(self) -> Row:
        info = BatchInfo(self._epoch, self._number)
        size = integer(self._size(info), "batch: what batch_size returns", 1)
        rows: list[Row] = []
        while len(rows) < size:
            try:
                rows.append(next(self._parent))
            except StopIteration:
                break
        if not rows or (self._whole and len(rows) < size):
            raise StopIteration
        self._number += 1
        return self._collate(rows)

    def get_state(self) -> dict:
        return {"number": self._number, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._number = state["number"]
        self._parent.set_state(state["parent"])


def _padding(pad_info, what: str) -> dict:
    if pad_info is None:
        return {}
    if not isinstance(pad_info, dict):
        raise wrong(TypeError, f"{what}: pad_info", "a dictionary by column", repr(pad_info))
    for name, wanted in pad_info.items():
        if wanted is not None and (not isinstance(wanted, tuple) or len(wanted) != 2):
            expected = f"None or a tuple (shape, value) for column {name!r}"
            raise wrong(TypeError, f"{what}: pad_info", expected, repr(wanted))
    return {name: wanted or (None, 0) for name, wanted in pad_info.items()}


def padded(rows: Sequence[Row], pad_info: dict, dataset: str, least: int | None = None) -> Row:
    """Rows as one row, their columns padded to one shape, or cut to it as in MindSpore.

    Args:
        least: what None within a shape of pad_info means, instead of the largest of the rows.

    Raises:
        RuntimeError: a row has another number of dimensions; rows of a column without an entry in
            pad_info differ in their shapes.
    """
    names = list(pad_info) or list(rows[0])
    changed = {}
    for name in names:
        shape, value = pad_info.get(name, (None, 0))
        changed[name] = _padded([row[name] for row in rows], shape, value, dataset, name, least)
    # Columns without an entry of pad_info must be equal already.
    for name in rows[0].keys() - changed.keys():
        changed[name] = _stack([row[name] for row in rows], name, dataset)
    return {name: changed[name] for name in rows[0]}


def _padded(values, shape, value, dataset: str, name: str, least: int | None) -> np.ndarray:
    largest = [max(sizes) for sizes in zip(*[each.shape for each in values], strict=True)]
    wanted = list(shape or [None] * len(largest))
    if len(wanted) != len(largest):
        raise RuntimeError(
            UNEVEN.format(
                dataset=dataset, what="dimensions", name=name, first=largest, other=wanted
            )
        )
    # As in MindSpore, a boundary is for lengths that are left open one by one.
    default = largest if least is None or shape is None else [least] * len(largest)
    target = [
        size if want in (None, -1) else want for want, size in zip(wanted, default, strict=True)
    ]
    kind = np.result_type(*[each.dtype for each in values])
    made = np.full((len(values), *target), 0 if value is None else value, kind)
    for number, each in enumerate(values):
        common = tuple(slice(min(sizes)) for sizes in zip(each.shape, target, strict=True))
        made[(number, *common)] = each[common]
    return made


class PaddedBatchDataset(UnionBaseDataset):
    """Rows padded and put together; made by `Dataset.padded_batch`."""

    def __init__(
        self,
        input_dataset,
        batch_size,
        drop_remainder=False,
        num_parallel_workers=None,
        pad_info=None,
    ):
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(batch_size):
            batch_size = integer(batch_size, "padded_batch: batch_size", 1)
        self.batch_size, self.drop_remainder = batch_size, bool(drop_remainder)
        self.pad_info = _padding(pad_info, "padded_batch")

    get_batch_size = BatchDataset.get_batch_size
    _size = BatchDataset._size

    def _flow(self, run: Run) -> Flow:
        self.children[0].checked(self.pad_info)
        flow = self.children[0]._flow(run)

        def collate(rows: Sequence[Row]) -> Row:
            return padded(rows, self.pad_info, self.name)

        size, whole = self.batch_size, self.drop_remainder
        if callable(size):
            return flow.then(lambda parent: _Sized(size, whole, run.epoch, collate, parent))
        return flow.batch(size, whole, collate)


class BucketBatchByLengthDataset(UnionBaseDataset):
    """Batches of rows of similar length; made by `Dataset.bucket_batch_by_length`."""

    def __init__(
        self,
        input_dataset,
        column_names,
        bucket_boundaries,
        bucket_batch_sizes,
        element_length_function=None,
        pad_info=None,
        pad_to_bucket_boundary=False,
        drop_remainder=False,
    ):
        super().__init__(input_dataset)
        what = "bucket_batch_by_length"
        self.column_names = name_list(column_names, f"{what}: column_names")
        self.boundaries = _integers(bucket_boundaries, f"{what}: bucket_boundaries")
        self.batch_sizes = _integers(bucket_batch_sizes, f"{what}: bucket_batch_sizes")
        if sorted(set(self.boundaries)) != self.boundaries:
            raise wrong(ValueError, f"{what}: bucket_boundaries", "growing", self.boundaries)
        if len(self.batch_sizes) != len(self.boundaries) + 1:
            expected = f"{len(self.boundaries) + 1} numbers, one more than there are boundaries"
            raise wrong(ValueError, f"{what}: bucket_batch_sizes", expected, self.batch_sizes)
        if element_length_function is None and len(self.column_names) != 1:
            expected = "a function, as there are several column_names"
            raise wrong(ValueError, f"{what}: element_length_function", expected, "None")
        self.length_function = element_length_function
        self.pad_info = _padding(pad_info, what)
        self.to_boundary, self.drop_remainder = bool(pad_to_bucket_boundary), bool(drop_remainder)

    def get_batch_size(self) -> int:
        return 1

    get_batch_size.__doc__ = UnionBaseDataset.get_batch_size.__doc__

    def _size(self):
        return None

    def length_of(self, row: Row) -> int:
        """The length of a row."""
        columns = [row[name] for name in self.column_names]
        length = len(columns[0]) if self.length_function is None else self.length_function(*columns)
        length = length.item() if isinstance(length, (np.ndarray, np.generic)) else length
        if isinstance(length, bool) or not isinstance(length, int) or length < 0:
            raise RuntimeError(NO_LENGTH.format(dataset=self.name, length=length))
        return length

    def _flow(self, run: Run) -> Flow:
        self.children[0].checked(self.column_names)
        return self.children[0]._flow(run).then(lambda parent: _Buckets(self, parent))


class _Buckets(Steps):
    """What waits in buckets is not saved: a state is found again from the beginning of the pass."""

    def __init__(self, dataset: BucketBatchByLengthDataset, parent):
        self._dataset, self._parent = dataset, parent
        self._start = parent.get_state()
        self._begin()

    def _begin(self) -> None:
        self._buckets: list[list[Row]] = [[] for _ in self._dataset.batch_sizes]
        self._rest: Iterator[tuple[int, list[Row]]] | None = None
        self._count = 0

    def __next__(self) -> Row:
        row = self._batch()
        self._count += 1
        return row

    def _batch(self) -> Row:
        dataset = self._dataset
        while self._rest is None:
            try:
                row = next(self._parent)
            except StopIteration:
                full = [] if dataset.drop_remainder else enumerate(self._buckets)
                self._rest = iter([(number, rows) for number, rows in full if rows])
                break
            number = bisect.bisect_right(dataset.boundaries, dataset.length_of(row))
            self._buckets[number].append(row)
            if len(self._buckets[number]) == dataset.batch_sizes[number]:
                rows, self._buckets[number] = self._buckets[number], []
                return self._padded(number, rows)
        return self._padded(*next(self._rest))

    def _padded(self, number: int, rows: list[Row]) -> Row:
        dataset = self._dataset
        # As in MindSpore: without pad_info no length is left open.
        bounded = dataset.to_boundary and dataset.pad_info and number < len(dataset.boundaries)
        least = dataset.boundaries[number] - 1 if bounded else None
        return padded(rows, dataset.pad_info, dataset.name, least)

    def get_state(self) -> dict:
        return {"count": self._count, "start": self._start}

    def set_state(self, state: dict) -> None:
        self._start = state["start"]
        self._parent.set_state(self._start)
        self._begin()
        while self._count < state["count"]:
            next(self)


def _integers(values, what: str) -> list[int]:
    if not isinstance(values, (list, tuple)) or not values:
        raise wrong(TypeError, what, "a list of integers", repr(values))
    return [integer(value, what, 1) for value in values]
