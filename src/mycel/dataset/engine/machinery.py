# SPDX-License-Identifier: Apache-2.0
"""Flows of rows, on Google's grain: the one file that knows it.

A flow is one pass over the data. As long as rows have numbers (a source with random access, then
operations that make one row of one row, or one batch of several) it is a `grain.MapDataset`:
several threads can make rows at once, and a saved state is a number. Behind the first operation
that must see rows one after the other it is a `grain.IterDataset`, whose saved state is that of
each operation.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mycel.dataset.transforms.operations import undefined

MISSING = (
    "mycel.dataset reads data with the package 'grain', which cannot be imported ({reason}). "
    "Install it: pip install 'mycel[data]'."
)
TOO_FEW = (
    "This state was saved behind row {expected}, but now there are only {actual} rows. A state "
    "fits the pipeline, and the data, that it was saved of."
)
Row = dict[str, Any]


@functools.cache
def grain():
    """The package grain, imported when the first dataset is gone through.

    Raises:
        ImportError: it is not installed; the text says how to install it.
    """
    try:
        import grain as package
    except ImportError as error:
        raise ImportError(MISSING.format(reason=error)) from None
    return package


class Steps:
    """An iterator over rows that can say where it is; what `Flow.then` puts into a flow."""

    def __next__(self) -> Row:
        raise undefined(self, "__next__")

    def get_state(self) -> dict:
        """Where it is, in numbers, texts, lists and dictionaries."""
        raise undefined(self, "get_state")

    def set_state(self, state: dict) -> None:
        """Go on behind the row that was the last one when `state` was taken."""
        raise undefined(self, "set_state")

    def close(self) -> None:
        """Let go of files, threads and processes."""


@functools.cache
def _adapter() -> type:
    """Our iterators as datasets of grain."""
    package = grain()

    class Adapted(package.IterDataset):
        def __init__(self, parents: Sequence, begin: Callable):
            super().__init__(list(parents))
            self._begin = begin
            self.begun_by = getattr(begin, "func", begin).__qualname__

        def __iter__(self):
            return AdaptedIterator([iter(parent) for parent in self._parents], self._begin)

        def __str__(self):
            return self.begun_by

    class AdaptedIterator(package.DatasetIterator):
        def __init__(self, parents: list, begin: Callable):
            super().__init__(parents)
            self._steps = begin(*parents)

        def __next__(self):
            return next(self._steps)

        def get_state(self):
            return self._steps.get_state()

        def set_state(self, state):
            self._steps.set_state(state)

        def close(self):
            self._steps.close()
            for parent in self._parents:
                parent.close()

    return Adapted


class Flow:
    """One pass over rows.

    Args:
        dataset: of grain.
        threads: how many threads may make rows at once, while rows have numbers.
    """

    def __init__(self, dataset, threads: int = 1):
        self.dataset = dataset
        self.threads = threads

    @property
    def numbered(self) -> bool:
        """Whether rows have numbers: any one can be asked for."""
        return isinstance(self.dataset, grain().MapDataset)

    def _with(self, dataset, threads: int = 1) -> Flow:
        return Flow(dataset, max(self.threads, threads))

    def in_order(self):
        """The same rows as a `grain.IterDataset`."""
        if not self.numbered:
            return self.dataset
        threads = min(self.threads, os.cpu_count() or 1)
        options = grain().ReadOptions(
            num_threads=threads if threads > 1 else 0,
            prefetch_buffer_size=2 * threads if threads > 1 else 0,
        )
        return self.dataset.to_iter_dataset(options)

    def map(self, function: Callable[[int, Row], Row], threads: int = 1) -> Flow:
        """Every row changed by a function of its number in this flow and itself."""
        return self._with(self.dataset.map_with_index(_Numbered(function)), threads)

    def batch(self, size: int, drop_remainder: bool, collate: Callable[[Sequence[Row]], Row]):
        """Rows put together, `size` at a time."""
        return self._with(self.dataset.batch(size, drop_remainder=drop_remainder, batch_fn=collate))

    def skip(self, count: int) -> Flow:
        """Without the first `count` rows."""
        if self.numbered:
            return self._with(self.dataset.slice(slice(count, None)))
        return self.then(functools.partial(_Skip, count))

    def take(self, count: int) -> Flow:
        """The first `count` rows."""
        if self.numbered:
            return self._with(self.dataset.slice(slice(0, count)))
        return self.then(functools.partial(_Take, count))

    def shuffle(self, window: int, seed: int) -> Flow:
        """Shuffled within windows."""
        made = grain().experimental.WindowShuffleIterDataset(
            self.in_order(), window_size=window, seed=seed
        )
        return Flow(made)

    def then(self, begin: Callable[..., Steps], *others: Flow) -> Flow:
        """Behind this flow (and others) an iterator of ours; `begin` gets theirs."""
        return Flow(_adapter()([flow.in_order() for flow in (self, *others)], begin))

    def begin(self, ahead: int = 0, *behind: Callable[..., Steps]) -> Begun:
        """An iterator over the rows, and steps behind it whose state is that of the rows; a thread
        makes up to `ahead` of them before they are asked."""
        flow = self
        for step in behind:
            flow = flow.then(step)
        made = flow.in_order()
        if ahead:
            prefetched = grain().experimental.ThreadPrefetchIterDataset
            made = prefetched(made, prefetch_buffer_size=ahead)
        return Begun(iter(made), _form(self.dataset))


def _form(dataset) -> str:
    """The steps that a flow is made of, down to where rows have numbers."""
    if isinstance(dataset, grain().MapDataset):
        return "numbered"
    name = getattr(dataset, "begun_by", type(dataset).__name__)
    below = ", ".join(map(_form, dataset.parents))
    # What `in_order` makes has the state of what it is made of.
    return below if name == "PrefetchIterDataset" else f"{name}({below})"


class Begun(Steps):
    """Rows that are gone through; a state of them fits the same rows made in another way.

    So it does where a program is in debug mode, or has other workers, than when it was saved.

    Args:
        rows: the iterator.
        form: of what steps it is made. The state of others is found again by counting.
    """

    def __init__(self, rows: Any, form: str):
        self._rows, self._form = rows, form
        self._count = 0

    def __iter__(self):
        return self

    def __next__(self) -> Row:
        row = next(self._rows)
        self._count += 1
        return row

    def get_state(self) -> dict:
        return {"form": self._form, "count": self._count, "rows": self._rows.get_state()}

    def set_state(self, state: dict) -> None:
        if state["form"] == self._form:
            self._rows.set_state(state["rows"])
            self._count = state["count"]
            return
        while self._count < state["count"]:
            if next(self, None) is None:
                raise ValueError(TOO_FEW.format(expected=state["count"], actual=self._count))

    def close(self) -> None:
        self._rows.close()


class _Numbered:
    """A function of number and row, with a name that grain may print."""

    def __init__(self, function: Callable):
        self.function = function

    def __call__(self, number: int, row: Row) -> Row:
        return self.function(number, row)


class _Chosen:
    """Random access to the rows that a sampler has chosen, in its order."""

    def __init__(self, order: Sequence | np.ndarray, read: Callable[[Any], Row]):
        self.order = order
        self.read = read

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> Row:
        return self.read(self.order[index])

    def __repr__(self) -> str:
        return f"rows({len(self)})"


def chosen(order: Sequence | np.ndarray, read: Callable[[Any], Row], threads: int = 1) -> Flow:
    """A flow of rows read by number, or by what else stands in the order."""
    return Flow(grain().MapDataset.source(_Chosen(order, read)), threads)


def produced(make: Callable[[], Iterator[Row]]) -> Flow:
    """A flow of what an iterator gives; a saved state is found again by counting."""
    return begun(functools.partial(_Produced, make))


def begun(begin: Callable[[], Steps]) -> Flow:
    """A flow of what an iterator of ours gives."""
    return Flow(_adapter()([], begin))


def of_passes(make: Callable[[int], Flow], count: int) -> Flow:
    """Several passes one after the other; a negative count never ends."""
    return begun(functools.partial(Passes, make, count))


class _Produced(Steps):
    def __init__(self, make: Callable[[], Iterator[Row]]):
        self._make = make
        self._rows: Iterator[Row] | None = None
        self._count = 0

    def __next__(self) -> Row:
        if self._rows is None:
            self._rows = self._make()
        row = next(self._rows)
        self._count += 1
        return row

    def get_state(self) -> dict:
        return {"count": self._count}

    def set_state(self, state: dict) -> None:
        self.close()
        self._rows, self._count = self._make(), 0
        while self._count < state["count"]:
            next(self)

    def close(self) -> None:
        close = getattr(self._rows, "close", None)
        if close is not None:
            close()
        self._rows = None


class _Skip(Steps):
    def __init__(self, count: int, parent):
        self._count = count
        self._parent = parent
        self._begun = False

    def __next__(self) -> Row:
        if not self._begun:
            for _ in range(self._count):
                next(self._parent)
            self._begun = True
        return next(self._parent)

    def get_state(self) -> dict:
        return {"begun": self._begun, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._begun = state["begun"]
        self._parent.set_state(state["parent"])


class _Take(Steps):
    def __init__(self, count: int, parent):
        self._count = count
        self._parent = parent
        self._taken = 0

    def __next__(self) -> Row:
        if self._taken >= self._count:
            raise StopIteration
        row = next(self._parent)
        self._taken += 1
        return row

    def get_state(self) -> dict:
        return {"taken": self._taken, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._taken = state["taken"]
        self._parent.set_state(state["parent"])


class Passes(Steps):
    """Pass after pass; each is built when it begins."""

    def __init__(self, make: Callable[[int], Flow], count: int):
        self._make = make
        self._count = count
        self._pass = 0
        self._rows: Begun | None = None
        self._empty = True

    def __next__(self) -> Row:
        while self._count < 0 or self._pass < self._count:
            if self._rows is None:
                self._rows, self._empty = self._make(self._pass).begin(), True
            try:
                row = next(self._rows)
            except StopIteration:
                self.close()
                self._pass += 1
                if self._empty and self._count < 0:
                    break
                continue
            self._empty = False
            return row
        raise StopIteration

    def get_state(self) -> dict:
        inner = None if self._rows is None else self._rows.get_state()
        return {"pass": self._pass, "empty": self._empty, "rows": inner}

    def set_state(self, state: dict) -> None:
        self.close()
        self._pass, self._empty = state["pass"], state["empty"]
        if state["rows"] is not None:
            self._rows = self._make(self._pass).begin()
            self._rows.set_state(state["rows"])

    def close(self) -> None:
        if self._rows is not None:
            self._rows.close()
        self._rows = None
