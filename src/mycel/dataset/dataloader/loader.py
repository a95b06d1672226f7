# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, made by the calling thread or by others ahead of it."""

from __future__ import annotations

import copy
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from typing import Any, NamedTuple

import numpy as np

from mycel.dataset.dataloader.collating import default_collate, default_convert
from mycel.dataset.dataloader.datasets import IterableDataset
from mycel.dataset.dataloader.samplers import BatchSampler, RandomSampler, SequentialSampler
from mycel.dataset.transforms import checks
from mycel.kernel.base import log
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.signals import came_from_outside

ITERABLE = "None: a dataset that is gone through has its own order"
EXCLUSIVE = "{default}: batch_sampler says which elements are in a batch"
FAILED = "DataLoader: worker {number} raised {kind}: {text}"
TOO_SLOW = "DataLoader: a batch was not ready after timeout={seconds} s."
_here = threading.local()


class WorkerInfo(NamedTuple):
    """Which worker this is.

    Args:
        id: its number.
        num_workers: how many there are.
        seed: another one for each.
        dataset: what this worker reads.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """Which worker of a `DataLoader` this thread is; None outside of workers.

    Example:
        >>> from mycel.dataset.dataloader import get_worker_info
        >>> print(get_worker_info())
        None
    """
    return getattr(_here, "info", None)


class DataLoader:
    """Batches of a dataset.

    Workers are threads of this process: they help where Python is not what takes the time, as with
    files, decoding and NumPy. Nothing needs to be pickled. For worker processes use
    `GeneratorDataset(..., num_parallel_workers=...)`.

    Args:
        dataset: has `__getitem__` and `__len__`, or is an `IterableDataset`.
        batch_size: how many elements are a batch; None gives them one by one.
        shuffle: whether they come in random order.
        sampler: their order, numbers; not with `shuffle`.
        batch_sampler: lists of numbers, one for each batch; not with the four before and after.
        num_workers: how many threads make batches; 0 makes them when they are asked for.
        collate_fn: makes a batch of a list of elements; `default_collate` by default.
        pin_memory: without effect.
        drop_last: whether to leave out a last batch that is smaller.
        timeout: how many seconds a batch of a worker may take; 0 sets no limit.
        worker_init_fn: called with its number in each worker.
        multiprocessing_context: without effect, since workers are threads.
        generator: of NumPy, for random order and the seeds of workers.
        prefetch_factor: how many batches a worker makes ahead, 2 by default.
        persistent_workers: without effect.
        in_order: without effect: batches always come in order.

    Raises:
        TypeError, ValueError: an argument is wrong.
        NotImplementedError: the dataset has no `__getitem__`.
        RuntimeError: a worker raised, or was too slow.

    Example:
        >>> from mycel.dataset.dataloader import DataLoader
        >>> loader = DataLoader(range(5), batch_size=2, num_workers=2)
        >>> [batch.asnumpy().tolist() for batch in loader], len(loader)
        ([[0, 1], [2, 3], [4]], 3)
    """

    def __init__(
        self,
        dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0.0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context=None,
        generator: np.random.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        in_order: bool = True,
    ):
        self.dataset = dataset
        self.iterable = isinstance(dataset, IterableDataset)
        self._check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.num_workers = checks.integer(num_workers, "num_workers", 0)
        self.timeout = checks.number(timeout, "timeout", 0)
        ahead = {"prefetch_factor": prefetch_factor, "persistent_workers": persistent_workers}
        for name, value in ahead.items():
            if value and not num_workers:
                raise wrong(ValueError, name, "left out without workers", repr(value))
        if prefetch_factor is not None:
            checks.integer(prefetch_factor, "prefetch_factor", 1)
        self.prefetch_factor = prefetch_factor or 2
        for name, value in (("pin_memory", pin_memory), ("in_order", in_order)):
            checks.boolean(value, name)
        unused = {"pin_memory": pin_memory, "multiprocessing_context": multiprocessing_context}
        log.without_effect("DataLoader", {name: value for name, value in unused.items() if value})
        if generator is not None:
            checks.instance(generator, np.random.Generator, "generator", "a NumPy Generator")
        self.generator = np.random.default_rng() if generator is None else generator
        self.worker_init_fn = worker_init_fn
        if sampler is None and not self.iterable:
            random = RandomSampler(dataset, generator=self.generator)
            sampler = random if shuffle else SequentialSampler(dataset)
        if sampler is not None and batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.batch_size, self.drop_last = batch_size, drop_last
        batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def _check_order(self, batch_size, shuffle, sampler, batch_sampler, drop_last) -> None:
        if batch_size is not None:
            checks.integer(batch_size, "batch_size", 1)
        if shuffle is not None:
            checks.boolean(shuffle, "shuffle")
        checks.boolean(drop_last, "drop_last")
        if self.iterable:
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler)):
                if value is not None:
                    raise wrong(ValueError, name, ITERABLE, repr(value))
            if batch_sampler is not None:
                raise wrong(ValueError, "batch_sampler", ITERABLE, repr(batch_sampler))
        elif not hasattr(self.dataset, "__getitem__"):
            kind = type(self.dataset).__name__
            raise NotImplementedError(f"{kind} needs a method __getitem__(self, index).")
        if sampler is not None and shuffle:
            raise wrong(ValueError, "shuffle", "False where there is a sampler", repr(shuffle))
        if batch_sampler is not None:
            given = {"batch_size": (batch_size, 1), "drop_last": (drop_last, False)}
            given |= {"shuffle": (shuffle or False, False), "sampler": (sampler, None)}
            for name, (value, default) in given.items():
                if value != default:
                    expected = EXCLUSIVE.format(default=default)
                    raise wrong(ValueError, name, expected, repr(value))

    def __len__(self) -> int:
        if not self.iterable:
            order = self.batch_sampler if self.batch_sampler is not None else self.sampler
            return len(order)  # type: ignore[arg-type]
        size = len(self.dataset)
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)

    def __iter__(self) -> Iterator:
        if self.num_workers:
            return self._of_workers()
        return self._passing() if self.iterable else map(self._made, self._order())

    def _order(self) -> Iterator:
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        assert order is not None  # only a dataset that is passed on has none
        return iter(order)

    def _made(self, index):
        """The batch, or the element, of these numbers."""
        if self.batch_sampler is None:
            return self.collate_fn(self.dataset[index])
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[each] for each in index])

    def _passing(self, dataset=None) -> Iterator:
        """The batches, or the elements, of a dataset that is gone through."""
        elements = iter(self.dataset if dataset is None else dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, elements)
            return
        while batch := list(itertools.islice(elements, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    # -- workers ---------------------------------------------------------------------------------

    def _of_workers(self) -> Iterator:
        """Batches that threads make ahead, in order."""
        seed = int(self.generator.integers(2**31))
        workers = [ThreadPoolExecutor(1, f"DataLoader {n}") for n in range(self.num_workers)]
        try:
            begun = [
                worker.submit(self._begin, number, seed + number)
                for number, worker in enumerate(workers)
            ]
            for number, future in enumerate(begun):
                self._result(number, future)
            yield from self._iterated(workers) if self.iterable else self._numbered(workers)
        finally:
            for worker in workers:
                worker.shutdown(wait=False, cancel_futures=True)

    def _begin(self, number: int, seed: int) -> None:
        dataset = copy.copy(self.dataset) if self.iterable else self.dataset
        _here.info = WorkerInfo(number, self.num_workers, seed, dataset)
        if self.worker_init_fn is not None:
            self.worker_init_fn(number)
        _here.batches = self._passing(dataset) if self.iterable else None

    def _numbered(self, workers: list) -> Iterator:
        waiting: deque[tuple[int, Future]] = deque()
        order = enumerate(self._order())
        ahead = self.prefetch_factor * self.num_workers
        while True:
            for number, index in itertools.islice(order, ahead - len(waiting)):
                worker = number % self.num_workers
                waiting.append((worker, workers[worker].submit(self._made, index)))
            if not waiting:
                return
            yield self._result(*waiting.popleft())

    def _iterated(self, workers: list) -> Iterator:
        """Batches of all workers in turns; each goes through a copy of the dataset."""
        waiting = deque(
            (number, workers[number].submit(_next))
            for _ in range(self.prefetch_factor)
            for number in range(self.num_workers)
        )
        while waiting:
            number, future = waiting.popleft()
            batch = self._result(number, future)
            if batch is not _END:
                waiting.append((number, workers[number].submit(_next)))
                yield batch

    def _result(self, number: int, future: Future):
        try:
            return future.result(self.timeout or None)
        except TimeoutError:
            if not future.done():
                raise RuntimeError(TOO_SLOW.format(seconds=self.timeout)) from None
            raise
        except Exception as error:
            if came_from_outside(error):
                raise
            text = FAILED.format(number=number, kind=type(error).__name__, text=error)
            raise RuntimeError(text) from error


_END = object()


def _next():
    """The next batch of this worker."""
    return next(_here.batches, _END)
