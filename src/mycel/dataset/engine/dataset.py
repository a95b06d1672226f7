# SPDX-License-Identifier: Apache-2.0
"""A dataset: a tree of operations over sources, that can be gone through again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import numpy as np

from mycel.dataset.engine.iterators import DictIterator, TupleIterator
from mycel.dataset.engine.machinery import Flow, Row
from mycel.dataset.engine.operations import Operations
from mycel.dataset.engine.session import Run, Session
from mycel.dataset.engine.together import Together
from mycel.dataset.transforms.operations import Made
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.missing import tell_nearest
from mycel.kernel.base.places import user_place
from mycel.report import html

UNKNOWN_COLUMN = (
    "{what} (made at {place}): there is no column {name!r}. The columns here are {columns}."
)


class Found(TypedDict, total=False):
    """What reading has told of a dataset; kept until `reset`."""

    size: int
    first: Row
    columns: list[str]
    rows: dict[str, int]  # by the path of their file


@tell_nearest
class Dataset(Operations, Made):
    """The base of all datasets. Its methods make datasets of datasets.

    A row has named columns; nothing is read until an iterator is asked for a row.

    Args:
        children: the dataset or datasets it is made of.
        num_parallel_workers: how many threads (or processes) work for it.
        cache: accepted; see DatasetCache.

    Raises:
        TypeError, ValueError: an argument is of the wrong kind, here and in all methods.
        RuntimeError: while rows are made: an operation raised, or columns do not fit.

    Example:
        >>> data = ds.NumpySlicesDataset({"x": [1, 2, 3]}, shuffle=False)
        >>> for batch in data.map(lambda x: x * 2, "x").batch(2).create_dict_iterator(num_epochs=1):
        ...     print(batch["x"])
        [2 4]
        [6]
    """

    def __init__(
        self,
        children: Dataset | list[Dataset] | tuple[Dataset, ...] | None = None,
        num_parallel_workers=None,
        cache=None,
    ):
        if children is None:
            children = []
        self.children: list[Dataset] = (
            list(children) if isinstance(children, (list, tuple)) else [children]
        )
        for child in self.children:
            if not isinstance(child, Dataset):
                what = f"{type(self).__name__}: its input"
                raise wrong(TypeError, what, "a dataset", type(child).__name__)
        if num_parallel_workers is not None:
            what = f"{type(self).__name__}: num_parallel_workers"
            if isinstance(num_parallel_workers, bool) or not isinstance(num_parallel_workers, int):
                raise wrong(TypeError, what, "an integer", repr(num_parallel_workers))
            if num_parallel_workers < 1:
                raise wrong(ValueError, what, "at least 1", num_parallel_workers)
        self.num_parallel_workers = num_parallel_workers
        self.cache = cache
        self.parent: list[Dataset] = []
        self.place = user_place()
        self._init_step = 0
        self._found: Found = {}

    # -- what each kind of dataset says -------------------------------------------------

    def _columns(self) -> list[str]:
        """The names of the columns."""
        return self.children[0]._columns()

    def _size(self) -> int | None:
        """The number of rows, if it is known without making them."""
        return self.children[0]._size()

    def _flow(self, run: Run) -> Flow:
        """One pass over the rows."""
        raise NotImplementedError(f"{type(self).__name__} has no rows of its own.")

    def _together(self, run: Run) -> Together | None:
        """The same pass in rows that are made many at once; None where they cannot be."""
        return None

    def _batched(self, size) -> None:
        """Rows of this dataset are put together by a `batch` above."""

    # -- the tree -------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """How errors call it."""
        return f"{type(self).__name__} (made at {self.place})"

    def nodes(self) -> Iterator[Dataset]:
        """This dataset and all below it."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def checked(self, names) -> list[str]:
        """These names as a list, if the dataset has all of them.

        Raises:
            RuntimeError: a column is missing.
        """
        columns = self._columns()
        for name in names:
            if name not in columns:
                raise RuntimeError(
                    UNKNOWN_COLUMN.format(
                        what=type(self).__name__, place=self.place, name=name, columns=columns
                    )
                )
        return list(names)

    def _repr_html_(self) -> str:
        """What a notebook shows: nothing is read for it but what tells the names of columns."""
        first = self._found.get("first")
        rows = [(name, *_described(first, name)) for name in self._columns()]
        size = self.dataset_size
        count = "an unknown number of rows" if size is None else f"{size:,} rows"
        made = " ← ".join(type(node).__name__ for node in self.nodes())
        heads = ("column", "shape", "type")[: 3 if first else 1]
        head = html.line(html.heading(type(self).__name__, count))
        return html.box(head, html.table(heads, rows), html.line(html.heading("", made)))

    # -- going through it -------------------------------------------------------------------

    def __iter__(self):
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self) -> int:
        return self.get_dataset_size()

    def create_dict_iterator(self, num_epochs=-1, output_numpy=False, do_copy=False):
        """An iterator over rows as dictionaries from column names to Tensors.

        Args:
            num_epochs: how often it can be gone through; -1 sets no limit.
            output_numpy: NumPy arrays instead of Tensors. Texts are NumPy arrays in any case.
            do_copy: accepted; every row has memory of its own.

        Example:
            >>> data = ds.NumpySlicesDataset({"x": [1.5], "name": ["a"]})
            >>> for row in data.create_dict_iterator(num_epochs=1):
            ...     print(row["x"].dtype, row["name"])
            Float64 a
        """
        del do_copy
        return DictIterator(self, num_epochs, output_numpy)

    def create_tuple_iterator(self, columns=None, num_epochs=-1, output_numpy=False, do_copy=False):
        """An iterator over rows as lists of Tensors.

        Args:
            columns: which columns, in which order; None takes all.
            others: as in `create_dict_iterator`.

        Example:
            >>> data = ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)
            >>> iterator = data.create_tuple_iterator(["y"], num_epochs=2, output_numpy=True)
            >>> [[int(y) for (y,) in iterator] for epoch in range(2)]
            [[3, 4], [3, 4]]
        """
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def reset(self) -> None:
        """Forget what was found out about sizes and shapes, as after a change of the source.

        Example:
            >>> ds.NumpySlicesDataset([1]).reset()
        """
        for node in self.nodes():
            node._found = {}

    def close_pool(self) -> None:
        """Accepted and harmless: worker processes end with their iterator.

        Example:
            >>> ds.NumpySlicesDataset([1]).close_pool()
        """

    def set_init_step(self, init_step) -> None:
        """Let iterators begin behind this many rows, counted over epochs.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False)
            >>> data.set_init_step(2)
            >>> [int(row[0]) for row in data]
            [3]
        """
        self._init_step = int(init_step)

    def get_init_step(self) -> int:
        """What `set_init_step` was called with, else 0.

        Example:
            >>> ds.NumpySlicesDataset([1]).get_init_step()
            0
        """
        return self._init_step

    # -- what is known of it ------------------------------------------------------------------

    def get_col_names(self) -> list[str]:
        """The names of the columns.

        Example:
            >>> ds.NumpySlicesDataset({"x": [1], "y": [2]}).get_col_names()
            ['x', 'y']
        """
        return list(self._columns())

    def get_dataset_size(self) -> int:
        """How many rows (batches, behind a `batch`) an epoch has.

        Where nothing tells, as behind a `filter`, the rows are made once and counted.

        Example:
            >>> ds.NumpySlicesDataset([1, 2, 3]).batch(2).get_dataset_size()
            2
        """
        size = self.dataset_size
        if size is None:
            session = Session(self)
            try:
                size = sum(1 for _ in self._flow(Run(session, 0, 0, 0)).begin())
            finally:
                session.close()
            self._found["size"] = size
        return size

    @property
    def dataset_size(self) -> int | None:
        """How many rows (batches, behind a `batch`) an epoch has; None if only a pass would tell.

        Example:
            >>> ds.NumpySlicesDataset([1, 2, 3]).batch(2).dataset_size
            2
        """
        size = self._size()
        return self._found.get("size") if size is None else size

    def get_batch_size(self) -> int:
        """How many rows of the source are in a batch: 1 without `batch`, -1 where it changes.

        Example:
            >>> ds.NumpySlicesDataset([1, 2, 3]).batch(2).get_batch_size()
            2
        """
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """How often the rows are repeated in an epoch.

        Example:
            >>> ds.NumpySlicesDataset([1, 2, 3]).repeat(4).get_repeat_count()
            4
        """
        return self.children[0].get_repeat_count() if self.children else 1

    def get_class_indexing(self) -> dict:
        """The number of each class, where the source has classes.

        Example:
            >>> ds.NumpySlicesDataset([1, 2, 3]).get_class_indexing()
            {}
        """
        return self.children[0].get_class_indexing() if self.children else {}

    def num_classes(self) -> int | None:
        """How many classes the source has, if it has classes.

        Example:
            >>> print(ds.NumpySlicesDataset([1, 2, 3]).num_classes())
            None
        """
        return self.children[0].num_classes() if self.children else None

    def output_shapes(self, estimate=False) -> list:
        """The shapes of the columns, as the first row has them.

        Args:
            estimate: look at all rows; None stands where they differ.

        Example:
            >>> ds.NumpySlicesDataset([[1, 2], [3, 4]]).batch(2).output_shapes()
            [[2, 2]]
        """
        if estimate:
            return self._shapes_of_all()
        return [_shape(value) for value in self._first().values()]

    def _shapes_of_all(self) -> list:
        shapes: list | None = None
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            here = [_shape(value) for value in row]
            if shapes is None:
                shapes = here
            shapes = [_common(*pair) for pair in zip(shapes, here, strict=True)]
        return shapes or []

    def output_types(self) -> list:
        """The element types of the columns, as NumPy has them.

        Example:
            >>> ds.NumpySlicesDataset({"x": [1], "y": [2.5]}).output_types()
            [dtype('int64'), dtype('float64')]
        """
        return [_kind(value) for value in self._first().values()]

    def _first(self) -> dict:
        first = self._found.get("first")
        if first is None:
            session = Session(self)
            # One row is not worth a process.
            session.debug = True
            try:
                first = next(self._flow(Run(session, 0, 0, 0)).begin(), {})
            finally:
                session.close()
            self._found["first"] = first
        return first


def _described(row: dict | None, name: str) -> tuple:
    """Shape and type of a column of a row, if there is one."""
    return () if not row else (str(_shape(row[name])), str(_kind(row[name])))


def _shape(value) -> list:
    return [0] if isinstance(value, dict) else list(np.shape(value))


def _kind(value) -> np.dtype:
    if isinstance(value, dict):
        return np.dtype(object)
    kind = value.dtype
    return np.dtype(kind.kind) if kind.kind in "US" else kind


def _common(first: list, second: list) -> list:
    if len(first) != len(second):
        return [None] * len(first)
    return [a if a == b else None for a, b in zip(first, second, strict=True)]


class VisionBaseDataset(Dataset):
    """The base of datasets of images."""


class TextBaseDataset(Dataset):
    """The base of datasets of texts."""


class AudioBaseDataset(Dataset):
    """The base of datasets of sounds."""


class UnionBaseDataset(VisionBaseDataset, TextBaseDataset, AudioBaseDataset):
    """The base of datasets of anything."""
