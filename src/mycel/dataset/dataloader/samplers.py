# SPDX-License-Identifier: Apache-2.0
"""In which order a `DataLoader` takes elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from mycel.dataset.transforms import checks
from mycel.kernel.base.errors import wrong
from mycel.ops.collectives.groups import meet, world


class Sampler:
    """The base of samplers: write `__iter__`, which gives numbers, and `__len__`.

    Example:
        >>> from mycel.dataset.dataloader import Sampler
        >>> class Backwards(Sampler):
        ...     def __iter__(self):
        ...         return iter([2, 1, 0])
        >>> list(Backwards())
        [2, 1, 0]
    """

    def __init__(self, data_source=None):
        del data_source

    def __iter__(self) -> Iterator:
        raise NotImplementedError(f"{type(self).__name__} needs a method __iter__(self).")


class SequentialSampler(Sampler):
    """All numbers in order.

    Example:
        >>> from mycel.dataset.dataloader import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Numbers in random order.

    Args:
        data_source: has a length.
        replacement: whether a number can come again.
        num_samples: how many come; None means as many as there are.
        generator: of NumPy, where they are drawn; None follows NumPy's seed.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> from mycel.dataset.dataloader import RandomSampler
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source, replacement: bool = False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = checks.boolean(replacement, "replacement")
        if num_samples is not None:
            checks.integer(num_samples, "num_samples", 1)
        if generator is not None:
            checks.instance(generator, np.random.Generator, "generator", "a NumPy Generator")
        self._num_samples, self.generator = num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many numbers come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator, size = self.generator, len(self.data_source)
        if generator is None:
            generator = np.random.default_rng(np.random.randint(2**31))
        if self.replacement:
            yield from generator.integers(size, size=self.num_samples).tolist()
            return
        for begun in range(0, self.num_samples, size):
            yield from generator.permutation(size)[: self.num_samples - begun].tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Numbers of another sampler, so many at a time.

    Args:
        sampler: a sampler, or what can be iterated.
        batch_size: how many at a time.
        drop_last: whether to leave out a last batch that is smaller.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> from mycel.dataset.dataloader import BatchSampler
        >>> list(BatchSampler(range(5), 2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable, batch_size: int, drop_last: bool):
        self.sampler = sampler
        self.batch_size = checks.integer(batch_size, "batch_size", 1)
        self.drop_last = checks.boolean(drop_last, "drop_last")

    def __iter__(self) -> Iterator[list]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


class DistributedSampler(Sampler):
    """The numbers of one of several processes, as many for each.

    Args:
        dataset: has a length.
        num_replicas: how many processes there are; None means as many as compute together.
        rank: which one this is; None means this process.
        shuffle: whether they come in random order, the same in all processes.
        seed: of that order.
        drop_last: whether to leave numbers out, rather than repeat some, so that all get as many.

    Raises:
        TypeError, ValueError: an argument is wrong.
        RuntimeError: a launcher started several processes, and nothing tells where they meet.

    Example:
        >>> from mycel.dataset.dataloader import DistributedSampler
        >>> list(DistributedSampler("abcde", 2, 1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        self.dataset = dataset
        if num_replicas is None or rank is None:
            meet()
        count = world.size if num_replicas is None else num_replicas
        self.num_replicas = checks.integer(count, "num_replicas", 1)
        self.rank = checks.integer(world.rank if rank is None else rank, "rank", 0, count - 1)
        self.shuffle = checks.boolean(shuffle, "shuffle")
        self.seed = checks.integer(seed, "seed")
        self.drop_last = checks.boolean(drop_last, "drop_last")
        self.epoch = 0
        whole, rest = divmod(len(dataset), count)
        self.num_samples = whole + (rest > 0 and not drop_last)

    def __iter__(self) -> Iterator[int]:
        numbers = list(range(len(self.dataset)))
        if self.shuffle:
            numbers = np.random.default_rng(self.seed + self.epoch).permutation(numbers).tolist()
        total = self.num_samples * self.num_replicas
        numbers = (numbers * math.ceil(total / max(len(numbers), 1)))[:total]
        return iter(numbers[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the random order be that of an epoch.

        Example:
            >>> from mycel.dataset.dataloader import DistributedSampler
            >>> sampler = DistributedSampler(range(99), 1, 0)
            >>> first = list(sampler)
            >>> sampler.set_epoch(1)
            >>> first == list(sampler)
            False
        """
        if isinstance(epoch, bool) or not isinstance(epoch, int):
            raise wrong(TypeError, "epoch", "an int", repr(epoch))
        self.epoch = epoch
