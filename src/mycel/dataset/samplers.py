# SPDX-License-Identifier: Apache-2.0
"""Samplers: which rows of a source with random access come, and in which order."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from mycel.dataset.engine import chance
from mycel.dataset.transforms.operations import Made, undefined
from mycel.kernel.base.errors import wrong

__all__ = [
    "BuiltinSampler",
    "DistributedSampler",
    "IterSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Shuffle",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
]

OUTSIDE = (
    "{sampler} chose row {index}, but the dataset has {size} rows, numbered from 0. "
    "Choose indices below {size}."
)
# Tells the class of each row; None where a dataset has none.
Labels: TypeAlias = Callable[[], Iterable | None]
NO_CLASSES = "PKSampler needs the classes of the rows, which {dataset} does not tell."


class Shuffle(str, enum.Enum):  # noqa: UP042 - as in MindSpore, str() gives the member
    """How a dataset of several files is shuffled.

    Example:
        >>> ds.Shuffle.FILES.value
        'files'
    """

    FALSE = "false"
    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


class Chances:
    """The seeds of one pass.

    Args:
        seed: of the iterator.
        number: of the pass, so that each is shuffled anew.
        place: of the dataset among those of the pipeline; 0 where a seed was chosen, as then
            datasets of one size are shuffled alike.
        shared: the seed that all processes have: the chosen one, or 0.
    """

    def __init__(self, seed: int, number: int, place: int = 0, shared: int = 0):
        self._numbers = (seed, number, place)
        self._shared = (shared, number)

    def own(self) -> np.random.Generator:
        """Random numbers of this pass over this dataset."""
        return np.random.default_rng(chance.seeded(self._numbers))

    def common(self) -> np.random.Generator:
        """Random numbers of this pass that every process has."""
        return np.random.default_rng(chance.seeded(self._shared))


def _count(num_samples, what: str) -> int | None:
    if num_samples is None:
        return None
    if isinstance(num_samples, bool) or not isinstance(num_samples, (int, np.integer)):
        raise wrong(TypeError, f"{what}: num_samples", "an integer or None", repr(num_samples))
    if num_samples < 0:
        raise wrong(ValueError, f"{what}: num_samples", "at least 0", num_samples)
    return int(num_samples) or None


class BuiltinSampler(Made):
    """What all samplers have.

    Args:
        num_samples: at most this many rows; None or 0 sets no limit.
    """

    def __init__(self, num_samples=None):
        self.num_samples = _count(num_samples, type(self).__name__)
        self.child_sampler: BuiltinSampler | None = None

    def order(self, size: int, chances: Chances, labels: Labels | None = None):
        """The numbers of the rows of one pass over a dataset of `size` rows."""
        if self.child_sampler is None:
            found = self._order(size, chances, labels)
        else:
            inner = self.child_sampler.order(size, chances, labels)
            found = inner[self._order(len(inner), chances, labels)]
        found = np.asarray(found, np.int64).reshape(-1)[: self.num_samples]
        outside = found[(found < 0) | (found >= size)]
        if outside.size:
            name = type(self).__name__
            raise RuntimeError(OUTSIDE.format(sampler=name, index=outside[0], size=size))
        return found

    def _order(self, size: int, chances: Chances, labels):
        raise undefined(self, "_order")

    def count(self, size: int, labels: Labels | None = None) -> int:
        """How many rows come in a pass."""
        return len(self.order(size, Chances(0, 0), labels))

    def add_child(self, sampler) -> None:
        """Choose among the rows that another sampler has chosen.

        Example:
            >>> sampler = ds.SequentialSampler(num_samples=2)
            >>> sampler.add_child(ds.SubsetSampler([4, 3, 2]))
            >>> [int(row[0]) for row in ds.NumpySlicesDataset([0, 1, 2, 3, 4], sampler=sampler)]
            [4, 3]
        """
        if self.child_sampler is not None:
            raise RuntimeError("This sampler has a child already; a sampler has one at most.")
        self.child_sampler = sampler

    def get_child(self):
        """The sampler given to `add_child`, or None.

        Example:
            >>> print(ds.SequentialSampler().get_child())
            None
        """
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """The limit on the number of rows, or None.

        Example:
            >>> ds.RandomSampler(num_samples=3).get_num_samples()
            3
        """
        return self.num_samples


class SequentialSampler(BuiltinSampler):
    """Rows in their order, from `start_index` on.

    Example:
        >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], sampler=ds.SequentialSampler(1, 2))
        >>> [int(row[0]) for row in data]
        [2, 3]
    """

    def __init__(self, start_index=None, num_samples=None):
        super().__init__(num_samples)
        self.start_index = _count(start_index, "SequentialSampler: start_index") or 0

    def _order(self, size, chances, labels):
        return np.arange(self.start_index, size)


class RandomSampler(BuiltinSampler):
    """Rows in random order.

    Args:
        replacement: a row may come several times.
        shuffle: accepted; the order is random over the whole dataset.

    Example:
        >>> data = ds.NumpySlicesDataset([1, 2, 3], sampler=ds.RandomSampler())
        >>> sorted(int(row[0]) for row in data)
        [1, 2, 3]
    """

    def __init__(self, replacement=False, num_samples=None, shuffle=Shuffle.GLOBAL):
        if not isinstance(replacement, bool):
            expected = "True or False"
            raise wrong(TypeError, "RandomSampler: replacement", expected, repr(replacement))
        super().__init__(num_samples)
        self.replacement = replacement
        self.shuffle = shuffle

    def _order(self, size, chances, labels):
        random = chances.own()
        return random.integers(0, size, size) if self.replacement else random.permutation(size)


class SubsetSampler(BuiltinSampler):
    """The rows with these numbers, in this order.

    Example:
        >>> data = ds.NumpySlicesDataset([10, 11, 12], sampler=ds.SubsetSampler([2, 0]))
        >>> [int(row[0]) for row in data]
        [12, 10]
    """

    def __init__(self, indices, num_samples=None):
        super().__init__(num_samples)
        self.indices = list(indices) if isinstance(indices, Iterable) else [indices]
        for index in self.indices:
            if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
                what = f"{type(self).__name__}: indices"
                raise wrong(TypeError, what, "integers", repr(index))

    def _order(self, size, chances, labels):
        return np.array(self.indices, np.int64)


class SubsetRandomSampler(SubsetSampler):
    """The rows with these numbers, in random order.

    Example:
        >>> data = ds.NumpySlicesDataset([10, 11, 12], sampler=ds.SubsetRandomSampler([2, 0]))
        >>> sorted(int(row[0]) for row in data)
        [10, 12]
    """

    def _order(self, size, chances, labels):
        return chances.own().permutation(super()._order(size, chances, labels))


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the given probabilities.

    Args:
        weights: one for each row; they need not add up to one.
        replacement: a row may come several times.

    Raises:
        ValueError: a weight is negative, or all are 0.

    Example:
        >>> sampler = ds.WeightedRandomSampler([0, 1.0, 0], num_samples=2)
        >>> [int(row[0]) for row in ds.NumpySlicesDataset([10, 11, 12], sampler=sampler)]
        [11, 11]
    """

    def __init__(self, weights, num_samples=None, replacement=True):
        if not isinstance(weights, (list, tuple, np.ndarray)) or not len(weights):
            raise wrong(TypeError, "WeightedRandomSampler: weights", "a list", repr(weights))
        super().__init__(num_samples)
        self.weights = np.asarray(weights, np.float64)
        if (self.weights < 0).any() or not self.weights.sum():
            expected = "at least 0, and not all of them 0"
            raise wrong(ValueError, "WeightedRandomSampler: weights", expected, list(weights))
        if not isinstance(replacement, bool):
            what = "WeightedRandomSampler: replacement"
            raise wrong(TypeError, what, "True or False", repr(replacement))
        self.replacement = replacement

    def _order(self, size, chances, labels):
        if len(self.weights) > size:
            raise RuntimeError(
                OUTSIDE.format(sampler="WeightedRandomSampler", index=size, size=size)
            )
        random = chances.own()
        if self.replacement:
            portion = self.weights / self.weights.sum()
            return random.choice(len(portion), self.num_samples or size, p=portion)
        # Waiting times: rows without weight wait for ever, and come last.
        with np.errstate(divide="ignore"):
            waiting = random.exponential(size=len(self.weights)) / self.weights
        return np.argsort(waiting, kind="stable")


class DistributedSampler(BuiltinSampler):
    """Every `num_shards`-th row: the part of one of several processes.

    The last rows are filled up from the beginning, so that all shards have as many.

    Args:
        shuffle: rows are shuffled first, in the same way in every shard.
        offset: with 0 or more, rows are dealt out from this shard on, and nothing is filled up.

    Raises:
        ValueError: `shard_id` is not below `num_shards`.

    Example:
        >>> sampler = ds.DistributedSampler(num_shards=2, shard_id=1, shuffle=False)
        >>> [int(row[0]) for row in ds.NumpySlicesDataset([0, 1, 2, 3, 4], sampler=sampler)]
        [1, 3, 0]
    """

    def __init__(self, num_shards, shard_id, shuffle=True, num_samples=None, offset=-1):
        for name, value in (("num_shards", num_shards), ("shard_id", shard_id)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise wrong(TypeError, f"DistributedSampler: {name}", "an integer", repr(value))
        if not isinstance(shuffle, bool):
            raise wrong(TypeError, "DistributedSampler: shuffle", "True or False", repr(shuffle))
        if num_shards < 1:
            raise wrong(ValueError, "DistributedSampler: num_shards", "at least 1", num_shards)
        if not 0 <= shard_id < num_shards:
            expected = f"at least 0 and below num_shards={num_shards}"
            raise wrong(ValueError, "DistributedSampler: shard_id", expected, shard_id)
        if offset >= num_shards:
            expected = f"below num_shards={num_shards}"
            raise wrong(ValueError, "DistributedSampler: offset", expected, offset)
        super().__init__(num_samples)
        self.num_shards, self.shard_id = int(num_shards), int(shard_id)
        self.shuffle, self.offset = shuffle, int(offset)

    def _order(self, size, chances, labels):
        # Without a chosen seed every process must still shuffle alike.
        rows = chances.common().permutation(size) if self.shuffle else np.arange(size)
        if self.offset >= 0:
            return rows[(self.shard_id - self.offset) % self.num_shards :: self.num_shards]
        if not size:
            return rows
        each = -(-size // self.num_shards)
        return rows[(np.arange(each) * self.num_shards + self.shard_id) % size]


class PKSampler(BuiltinSampler):
    """`num_val` rows of each of P classes.

    Args:
        num_class: accepted as None only: all classes take part.
        shuffle: the classes come in random order.

    Example:
        >>> ds.PKSampler(2).get_num_samples() is None
        True
    """

    def __init__(
        self, num_val, num_class=None, shuffle=False, class_column="label", num_samples=None
    ):
        if isinstance(num_val, bool) or not isinstance(num_val, int):
            raise wrong(TypeError, "PKSampler: num_val", "an integer", repr(num_val))
        if num_val < 1:
            raise wrong(ValueError, "PKSampler: num_val", "at least 1", num_val)
        if num_class is not None:
            raise wrong(NotImplementedError, "PKSampler: num_class", "None", num_class)
        if not isinstance(shuffle, bool):
            raise wrong(TypeError, "PKSampler: shuffle", "True or False", repr(shuffle))
        super().__init__(num_samples)
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column

    def _order(self, size, chances, labels):
        if labels is None:
            raise RuntimeError(NO_CLASSES.format(dataset="this dataset"))
        known = np.asarray(list(labels()))
        random = chances.own()
        classes = np.unique(known)
        if self.shuffle:
            classes = random.permutation(classes)
        found = []
        for label in classes:
            rows = np.flatnonzero(known == label)
            found.append(random.choice(rows, self.num_val, replace=len(rows) < self.num_val))
        return np.concatenate(found) if found else np.zeros(0, np.int64)


class Sampler(BuiltinSampler):
    """The base of samplers that a program writes: `__iter__` gives numbers of rows.

    `self.dataset_size` and `self.num_samples` are there when it is called.

    Example:
        >>> class Backwards(ds.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
        >>> [int(row[0]) for row in ds.NumpySlicesDataset([1, 2, 3], sampler=Backwards())]
        [3, 2, 1]
    """

    def __init__(self, num_samples=None):
        super().__init__(num_samples)
        self.dataset_size = 0

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__ that gives indices.")

    def _order(self, size, chances, labels):
        self.dataset_size = size
        return np.fromiter(itertools.islice(iter(self), self.num_samples), np.int64)

    def get_indices(self) -> np.ndarray:
        """The numbers of the rows that come next.

        Example:
            >>> print(ds.IterSampler([3, 1]).get_indices())
            [3 1]
        """
        return np.fromiter(itertools.islice(iter(self), self.num_samples), np.int64)


class IterSampler(Sampler):
    """The numbers that an iterable gives, anew for each pass.

    Example:
        >>> data = ds.NumpySlicesDataset([5, 6, 7], sampler=ds.IterSampler([2, 2]))
        >>> [int(row[0]) for row in data]
        [7, 7]
    """

    def __init__(self, sampler, num_samples=None):
        super().__init__(num_samples)
        if not _is_iterable(sampler):
            raise wrong(TypeError, "IterSampler: sampler", "something iterable", repr(sampler))
        self.sampler = sampler

    def __iter__(self):
        if isinstance(self.sampler, Iterable) or not hasattr(self.sampler, "__len__"):
            return iter(self.sampler)
        return (self.sampler[number] for number in range(len(self.sampler)))

    def count(self, size, labels=None):
        """How many rows come in a pass; an iterable that knows its length is not gone through."""
        known = len(self.sampler) if hasattr(self.sampler, "__len__") else None
        if known is None or self.child_sampler is not None:
            return super().count(size, labels)
        return known if self.num_samples is None else min(known, self.num_samples)


def _is_iterable(sampler) -> bool:
    """Whether numbers can be taken from it one after the other, if only by `__getitem__`."""
    return isinstance(sampler, Iterable) or hasattr(type(sampler), "__getitem__")


def as_sampler(sampler) -> BuiltinSampler:
    """A sampler, from a sampler, a list of numbers, or anything iterable or with `__getitem__`.

    Raises:
        TypeError: it is neither a sampler nor something to make one of.
    """
    if isinstance(sampler, BuiltinSampler):
        if not isinstance(getattr(sampler, "child_sampler", None), (BuiltinSampler, type(None))):
            raise wrong(TypeError, "The child of a sampler", "a sampler", "something else")
        if not hasattr(sampler, "child_sampler"):
            # A class of the program that does not call our __init__.
            BuiltinSampler.__init__(sampler, getattr(sampler, "num_samples", None))
        return sampler
    if _is_iterable(sampler):
        return IterSampler(sampler)
    raise wrong(TypeError, "sampler", "a sampler, or an iterable of indices", repr(sampler))
