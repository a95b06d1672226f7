# SPDX-License-Identifier: Apache-2.0
"""Datasets of several datasets, side by side or one after the other; and parts of one."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence

import numpy as np

from mycel.dataset import config
from mycel.dataset.engine import chance
from mycel.dataset.engine.dataset import Dataset, UnionBaseDataset
from mycel.dataset.engine.machinery import Flow, Row, Steps, of_passes
from mycel.dataset.engine.nodes import TAKEN
from mycel.dataset.engine.session import Run
from mycel.dataset.engine.sources import MappableDataset
from mycel.dataset.samplers import BuiltinSampler, Chances, DistributedSampler, RandomSampler
from mycel.kernel.base.errors import wrong
from mycel.kernel.base.places import user_place

DIFFERENT = "{dataset}: the datasets have different columns: {first} and {other}."
SUM = (
    "split: the sizes add up to {total}, but the dataset has {size} rows (at {place}). Give sizes "
    "with that sum."
)


class ZipDataset(UnionBaseDataset):
    """Rows of several datasets side by side; made by `ds.zip` and `Dataset.zip`."""

    def __init__(self, datasets):
        super().__init__(datasets)

    def _columns(self) -> list[str]:
        found = list(itertools.chain.from_iterable(each._columns() for each in self.children))
        for name in found:
            if found.count(name) > 1:
                raise RuntimeError(TAKEN.format(dataset=self.name, name=name, columns=found))
        return found

    def _size(self):
        sizes = [child._size() for child in self.children]
        known = [size for size in sizes if size is not None]
        return min(known) if len(known) == len(sizes) else None

    def _flow(self, run: Run) -> Flow:
        self._columns()
        first, *others = [child._flow(run) for child in self.children]
        return first.then(_Zipped, *others)


class _Zipped(Steps):
    def __init__(self, *parents):
        self._parents = parents

    def __next__(self) -> Row:
        joined: Row = {}
        for parent in self._parents:
            joined.update(next(parent))
        return joined

    def get_state(self) -> dict:
        return {"parents": [parent.get_state() for parent in self._parents]}

    def set_state(self, state: dict) -> None:
        for parent, inner in zip(self._parents, state["parents"], strict=True):
            parent.set_state(inner)


class ConcatDataset(UnionBaseDataset):
    """Rows of several datasets one after the other; made by `Dataset.concat` and `+`.

    Example:
        >>> data = ds.ConcatDataset([ds.NumpySlicesDataset([1]), ds.NumpySlicesDataset([2])])
        >>> len(data)
        2
    """

    def __init__(self, datasets):
        if not isinstance(datasets, (list, tuple)) or not datasets:
            raise wrong(TypeError, "ConcatDataset: datasets", "a list of datasets", repr(datasets))
        super().__init__(datasets)
        self._sampler: BuiltinSampler | None = None

    def use_sampler(self, sampler) -> None:
        """Take the part of one shard out of all rows together, or shuffle all rows.

        Args:
            sampler: a DistributedSampler that does not shuffle, or a RandomSampler without
                replacement; neither with num_samples.

        Example:
            >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
            >>> data = data + ds.NumpySlicesDataset([3], shuffle=False)
            >>> data.use_sampler(ds.DistributedSampler(2, 0, shuffle=False))
            >>> [int(row[0]) for row in data]
            [1, 3]
        """
        if not isinstance(sampler, BuiltinSampler):
            raise wrong(TypeError, "use_sampler: sampler", "a sampler", repr(sampler))
        shard = isinstance(sampler, DistributedSampler) and not sampler.shuffle
        mixed = isinstance(sampler, RandomSampler) and not sampler.replacement
        if not (shard or mixed) or sampler.num_samples:
            expected = (
                "a DistributedSampler with shuffle=False, or a RandomSampler without replacement, "
                "and without num_samples"
            )
            raise wrong(ValueError, "use_sampler: sampler", expected, type(sampler).__name__)
        self._sampler = sampler

    def _columns(self) -> list[str]:
        first, *others = [child._columns() for child in self.children]
        for other in others:
            if first != other:
                raise RuntimeError(DIFFERENT.format(dataset=self.name, first=first, other=other))
        return first

    def _size(self):
        sizes = [child._size() for child in self.children]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return None
        total = sum(known)
        if not isinstance(self._sampler, DistributedSampler):
            return total
        return len(range(self._sampler.shard_id, total, self._sampler.num_shards))

    def _flow(self, run: Run) -> Flow:
        self._columns()
        children = self.children
        flow = of_passes(lambda made: children[made]._flow(run), len(children))
        if isinstance(self._sampler, DistributedSampler):
            shards, shard = self._sampler.num_shards, self._sampler.shard_id
            return flow.then(lambda parent: _EachShard(shards, shard, parent))
        if self._sampler is None:
            return flow
        seed = int(run.chances(self).own().integers(1 << 31))
        return flow.shuffle(max(self.get_dataset_size(), 1), seed)


class _EachShard(Steps):
    def __init__(self, shards: int, shard: int, parent):
        self._shards, self._shard, self._parent = shards, shard, parent
        self._number = 0

    def __next__(self) -> Row:
        while True:
            row = next(self._parent)
            self._number += 1
            if (self._number - 1) % self._shards == self._shard:
                return row

    def get_state(self) -> dict:
        return {"number": self._number, "parent": self._parent.get_state()}

    def set_state(self, state: dict) -> None:
        self._number = state["number"]
        self._parent.set_state(state["parent"])


class PartDataset(UnionBaseDataset):
    """A part of a pipeline with a fixed choice of rows; made by `Dataset.split`."""

    def __init__(self, input_dataset, start: int, count: int, randomize: bool, seed: int):
        super().__init__(input_dataset)
        self.start, self.count, self.randomize, self.seed = start, count, randomize, seed

    def _size(self):
        return self.count

    def _flow(self, run: Run) -> Flow:
        session = run.session
        # The order below is that of the split in every epoch; random operations still differ.
        flow = self.children[0]._flow(run._replace(order=0, session=_Fixed(session, self.seed)))
        if self.randomize:
            flow = flow.shuffle(self.children[0].get_dataset_size(), self.seed & 0x7FFFFFFF)
        return flow.skip(self.start).take(self.count)


class _Fixed:
    """A session whose datasets are ordered by the seed of a split."""

    def __init__(self, session, seed: int):
        self._session = session
        self.seed = seed
        self.chosen = True

    def __getattr__(self, name):
        return getattr(self._session, name)


class _PartSampler(BuiltinSampler):
    """A fixed part of what another sampler chooses."""

    def __init__(self, sampler, start: int, count: int, randomize: bool, seed: int):
        super().__init__()
        self._of = (sampler, start, count, randomize, seed)

    def _order(self, size, chances, labels):
        sampler, start, count, randomize, seed = self._of
        fixed = Chances(seed, 0, 0, seed)
        rows = sampler.order(size, fixed, labels)
        if randomize:
            rows = np.random.default_rng(chance.seeded((seed, 1))).permutation(rows)
        return rows[start : start + count]


def split(dataset: Dataset, sizes, randomize: bool) -> list[Dataset]:
    """See `Dataset.split`."""
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise wrong(TypeError, "split: sizes", "a list of integers or fractions", repr(sizes))
    total = dataset.get_dataset_size()
    counts = _counts(sizes, total)
    chosen = config.chosen_seed()
    seed = secrets.randbits(31) if chosen is None else chosen
    parts: list[Dataset] = []
    for start, count in zip(itertools.accumulate([0, *counts]), counts, strict=False):
        if isinstance(dataset, MappableDataset) and dataset.random_access:
            part = _PartSampler(dataset.sampler, start, count, randomize, seed)
            parts.append(dataset.with_sampler(part))
        else:
            parts.append(PartDataset(dataset, start, count, randomize, seed))
    return parts


def _counts(sizes: Sequence, total: int) -> list[int]:
    if all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) for size in sizes):
        if any(size < 1 for size in sizes):
            raise wrong(ValueError, "split: sizes", "at least 1 each", list(sizes))
        if sum(sizes) != total:
            place = user_place(2)
            raise RuntimeError(SUM.format(total=sum(sizes), size=total, place=place))
        return [int(size) for size in sizes]
    if not all(isinstance(size, float) for size in sizes):
        raise wrong(TypeError, "split: sizes", "all integers, or all fractions", list(sizes))
    if any(not 0 < size <= 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-9:
        raise wrong(ValueError, "split: sizes", "fractions that add up to 1", list(sizes))
    counts = [round(size * total) for size in sizes]
    # What rounding leaves over, or takes too much, is that of the first part that can bear it.
    left = total - sum(counts)
    able = [number for number, count in enumerate(counts) if count + left > 0]
    if able:
        counts[able[0]] += left
    if min(counts) < 1:
        raise RuntimeError(f"split: a part of {sizes} of {total} rows has no rows.")
    return counts
