# SPDX-License-Identifier: Apache-2.0
"""Batches out of a dataset, epoch by epoch: the one place that knows what a dataset can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import islice
from typing import Any

import numpy as np

from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place
from mycel.kernel.execute.graph import jit
from mycel.kernel.record.tensor import Tensor
from mycel.nn.checks import boolean, is_integer, positive_integer

EMPTY = (
    "The dataset gave no batch in epoch {epoch} (at {place}). A generator can be gone through "
    "only once: give a list, or an object whose __iter__ begins anew."
)
ENDLESS = -1
NO_DATA = "There is no batch in the dataset (at {place})."


def size_of(dataset) -> int | None:
    """How many batches a dataset has; None if nothing tells.

    Example:
        >>> from mycel.train.feed import size_of
        >>> size_of([(1, 2), (3, 4)]), size_of(iter([]))
        (2, None)
    """
    if hasattr(dataset, "get_dataset_size"):
        return dataset.get_dataset_size()
    return len(dataset) if hasattr(dataset, "__len__") else None


class Feed:
    """The batches of a dataset as tuples of Tensors.

    A dataset has `create_tuple_iterator(num_epochs=...)` or `create_dict_iterator(...)`, or is
    any iterable of tuples, dictionaries or single arrays.

    Args:
        epochs: how many times `epoch` will be called, or `ENDLESS`.
        steps: how many batches an epoch has; the next epoch goes on where it ended. None takes
            the whole dataset in each epoch.

    Raises:
        TypeError: the dataset cannot be iterated over.
        ValueError: the dataset has no batches.

    Example:
        >>> from mycel.train.feed import Feed
        >>> feed = Feed([(np.ones(1), 2.0), (np.zeros(1), 3.0)], epochs=1)
        >>> [len(batch) for batch in feed.epoch()]
        [2, 2]
    """

    def __init__(self, dataset, epochs: int = 1, steps: int | None = None):
        self.dataset = dataset
        self.size = size_of(dataset)
        self.steps = steps
        if self.size == 0:
            raise ValueError(NO_DATA.format(place=user_place(2)))
        self._passes = self._passes_of(epochs)
        self._made = _Maker(dataset)
        self._rows: Iterator | None = None
        self._endless = self._forever()
        self._number = 0

    def _passes_of(self, epochs: int) -> int:
        """How often so many epochs go through the dataset."""
        if self.steps is None or not self.size or epochs == ENDLESS:
            return epochs
        return math.ceil(epochs * self.steps / self.size)

    def begin_behind(self, done: int, epochs: int) -> None:
        """Give in the first epoch what a dataset has behind `done` ones, of `epochs` in all.

        A dataset that cannot tell is as new in each epoch.
        """
        if done and self.batches and hasattr(self.dataset, "set_init_step"):
            self._passes = self._passes_of(epochs)
            self._made.behind = done * self.batches

    @property
    def batches(self) -> int | None:
        """How many batches an epoch has; None until it is known."""
        return self.steps or self.size

    def epoch(self) -> Iterator[tuple]:
        """The batches of the next epoch."""
        self._number += 1
        rows = self._whole() if self.steps is None else islice(self._endless, self.steps)
        count = 0
        for row in rows:
            count += 1
            yield as_batch(row)
        if not count:
            raise ValueError(EMPTY.format(epoch=self._number, place=user_place(2)))
        if self.steps is None:
            if self.size is None:
                self.size = count
            if hasattr(self.dataset, "reset"):
                self.dataset.reset()

    def _whole(self) -> Iterator:
        """Every row once. An iterator over several epochs ends once for each of them."""
        came = False
        if self._rows is not None and self._made.goes_on:
            for row in self._rows:
                came = True
                yield row
        if not came:
            self._rows = iter(self._made(self._passes))
            yield from self._rows

    def _forever(self) -> Iterator:
        """Every row, and from the beginning again."""
        came = True
        while came:
            came = False
            for row in self._whole():
                came = True
                yield row


class _Maker:
    """Makes iterators over a dataset; `goes_on` says whether one serves several epochs."""

    def __init__(self, dataset):
        self._dataset = dataset
        names = ("create_tuple_iterator", "create_dict_iterator")
        creators = [getattr(dataset, name) for name in names if hasattr(dataset, name)]
        self._create: Callable | None = creators[0] if creators else None
        self.goes_on = bool(creators)
        self.behind = 0
        if not creators and not hasattr(dataset, "__iter__"):
            expected = "a dataset, or an iterable of batches"
            raise wrong(TypeError, "The dataset", expected, type(dataset).__name__)

    def __call__(self, passes: int) -> Iterator:
        if self._create is None:
            return iter(self._dataset)
        if not self.behind:
            return self._create(num_epochs=passes)
        before, behind, self.behind = self._dataset.get_init_step(), self.behind, 0
        self._dataset.set_init_step(before + behind)
        try:
            return self._create(num_epochs=passes)
        finally:
            self._dataset.set_init_step(before)


def as_batch(row) -> tuple:
    """What a dataset gives at once as a tuple of Tensors; what is no number stays.

    Example:
        >>> from mycel.train.feed import as_batch
        >>> as_batch({"x": 1.5, "name": "a"})
        (Tensor(shape=[], dtype=Float32, value= 1.5), 'a')
    """
    if isinstance(row, dict):
        row = tuple(row.values())
    elif not isinstance(row, (tuple, list)):
        row = (row,)
    return tuple([_as_tensor(column) for column in row])


def _as_tensor(column):
    if isinstance(column, Tensor):
        return column
    if isinstance(column, (np.ndarray, np.generic)):
        return Tensor(column) if column.dtype.kind in "biufc" else column
    return Tensor(column) if isinstance(column, (bool, int, float, complex)) else column


class DatasetHelper:
    """Goes through a dataset, for training loops that you write yourself.

    MindSpore can send data to the device ahead of the network, "sinking" it; XLA fetches data
    while the device computes in any case, so each batch comes out here, in sink mode too.

    Args:
        dataset_sink_mode: in sink mode an iteration has `sink_size` batches.
        sink_size: how many; -1 means all of the dataset.
        epoch_num: how many times the helper will be gone through.

    Raises:
        ValueError: `sink_size` is 0 or below -1.

    Source: MindSpore's `mindspore.DatasetHelper`.

    Example:
        >>> helper = ms.DatasetHelper([(np.ones(2), np.zeros(1))], dataset_sink_mode=False)
        >>> for data, label in helper:
        ...     print(data, label)
        [1. 1.] [0.]
    """

    def __init__(self, dataset, dataset_sink_mode=True, sink_size=-1, epoch_num=1):
        boolean(dataset_sink_mode, "DatasetHelper: dataset_sink_mode")
        size = as_sink_size(sink_size, "DatasetHelper")
        self.dataset = dataset
        self._sink = dataset_sink_mode
        limited = size if dataset_sink_mode and size != -1 else None
        self._feed = Feed(dataset, max(epoch_num, 1), limited)

    def __iter__(self) -> Iterator[tuple]:
        return self._feed.epoch()

    def sink_size(self) -> int:
        """How many batches go to the device at once: one."""
        return 1

    def types_shapes(self) -> tuple[list, list]:
        """Element types and shapes of the columns, as the first batch has them."""
        first = next(Feed(self.dataset).epoch())
        return [column.dtype for column in first], [list(column.shape) for column in first]

    def get_data_info(self) -> tuple[list, list]:
        """The same as `types_shapes`."""
        return self.types_shapes()

    def stop_send(self) -> None:
        """Accepted and harmless: nothing is sent ahead."""

    def continue_send(self) -> None:
        """Accepted and harmless: nothing is sent ahead."""

    def release(self) -> None:
        """Accepted and harmless: nothing is held."""


def as_sink_size(value, what: str) -> int:
    """The value, if it is -1 or a positive integer.

    Raises:
        TypeError: not an integer.
        ValueError: the number is 0 or below -1.
    """
    if not is_integer(value):
        raise wrong(TypeError, f"{what}: sink_size", "an integer", repr(value))
    if value < -1 or value == 0:
        raise wrong(ValueError, f"{what}: sink_size", "-1 or a positive integer", value)
    return value


def connect_network_with_dataset(network: Any, dataset_helper: DatasetHelper) -> Any:
    """The network itself: the batches come out of the helper.

    Source: MindSpore's `mindspore.connect_network_with_dataset`, whose network fetches its data.

    Example:
        >>> helper = ms.DatasetHelper([(Tensor([1.0]),)])
        >>> network = ms.connect_network_with_dataset(nn.ReLU(), helper)
        >>> print([network(*inputs).shape for inputs in helper])
        [(1,)]
    """
    if not isinstance(dataset_helper, DatasetHelper):
        what = "connect_network_with_dataset: dataset_helper"
        raise wrong(TypeError, what, "a DatasetHelper", type(dataset_helper).__name__)
    return network


def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: int = 1,
    jit_config: Any = None,
    input_signature: Any = None,
) -> Callable[..., Any]:
    """A function that takes its batches from a dataset: each call runs `fn` `sink_size` times.

    Behind the last batch of the dataset the first one follows again.

    Args:
        fn: called with the columns of a batch.
        jit_config: if given, `fn` is remembered as by `jit`.
        input_signature: accepted; shapes need no announcement here.

    Returns:
        A function without arguments; it returns what the last run of `fn` returned.

    Raises:
        ValueError: `sink_size` is not positive.

    Source: MindSpore's `mindspore.data_sink`.

    Example:
        >>> step = ms.data_sink(lambda x: x * 2, [(1.0,), (2.0,), (3.0,)], sink_size=2)
        >>> print(step(), step())
        4.0 2.0
    """
    positive_integer(sink_size, "data_sink: sink_size")
    del input_signature
    feed = Feed(dataset, ENDLESS, sink_size)
    called = fn if jit_config is None else jit(fn)

    @wraps(fn)
    def sink_process(*args, **kwargs):
        output = None
        for batch in feed.epoch():
            output = called(*batch)
        return output

    return sink_process
