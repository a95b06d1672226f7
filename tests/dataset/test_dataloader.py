# SPDX-License-Identifier: Apache-2.0
"""`mindspore.dataset.dataloader`; the oracle is real MindSpore 2.10 (record_loaded.py), and
where chance or threads have a part the documented rule.
"""

from __future__ import annotations

import collections
import doctest
import json
import pathlib
import threading
import time

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from dataset import loaded
from mycel.dataset import dataloader

HERE = pathlib.Path(__file__).parent
RECORDED = json.loads((HERE / "loaded_2_10.json").read_text())


@pytest.mark.parametrize("line", loaded.lines())
def test_loaders(line):
    assert loaded.answer(line, dataloader, ms) == RECORDED[line]


class Slow(dataloader.Dataset):
    def __init__(self):
        self.threads = set()

    def __len__(self):
        return 12

    def __getitem__(self, index):
        self.threads.add(threading.current_thread().name)
        time.sleep(0.01 * (index % 3))
        return index


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_workers_change_no_order(workers):
    data = Slow()
    loader = dataloader.DataLoader(data, 2, num_workers=workers)
    found = [batch.asnumpy().tolist() for batch in loader]
    assert found == [[n, n + 1] for n in range(0, 12, 2)]
    assert len(data.threads) == max(workers, 1)


class Counting(dataloader.IterableDataset):
    """Goes on where its worker begins."""

    def __iter__(self):
        info = dataloader.get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, 9, step))


def test_each_worker_goes_through_its_own():
    found = [n for batch in dataloader.DataLoader(Counting(), 2, num_workers=2) for n in batch]
    assert sorted(int(n) for n in found) == list(range(9))
    assert dataloader.get_worker_info() is None


def test_workers_are_told_who_they_are():
    told = []
    loader = dataloader.DataLoader(
        range(8), num_workers=3, worker_init_fn=told.append, generator=np.random.default_rng(1)
    )
    assert len(list(loader)) == 8
    assert sorted(told) == [0, 1, 2]


def test_errors_of_workers_reach_the_program():
    class Broken(dataloader.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return {}[index]

    with pytest.raises(RuntimeError, match="worker 0 raised KeyError"):
        list(dataloader.DataLoader(Broken(), num_workers=2))
    with pytest.raises(KeyError):
        list(dataloader.DataLoader(Broken()))


def test_a_worker_that_is_too_slow():
    class Still(dataloader.Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            time.sleep(1)
            return index

    with pytest.raises(RuntimeError, match=r"timeout=0\.1"):
        list(dataloader.DataLoader(Still(), num_workers=1, timeout=0.1))


def test_random_order_is_that_of_the_generator():
    def order(seed):
        generator = np.random.default_rng(seed)
        loader = dataloader.DataLoader(range(20), None, shuffle=True, generator=generator)
        return [int(n) for n in loader]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == list(range(20))
    drawn = list(dataloader.RandomSampler(range(4), True, 400, np.random.default_rng(0)))
    assert len(drawn) == 400 and min(np.bincount(drawn)) > 60
    twice = list(dataloader.RandomSampler(range(4), num_samples=6))
    assert sorted(twice[:4]) == [0, 1, 2, 3] and len(twice) == 6


def test_shards_are_shuffled_alike():
    samplers = [dataloader.DistributedSampler(range(10), 3, rank, seed=5) for rank in range(3)]
    for epoch in (0, 1):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        found = [n for sampler in samplers for n in sampler]
        assert set(found) == set(range(10)) and len(found) == 12
    assert list(dataloader.DistributedSampler(range(3))) != []


Pair = collections.namedtuple("Pair", "x y")


def test_containers_keep_their_kind():
    made = dataloader.default_collate([Pair(1, "a"), Pair(2, "b")])
    assert type(made) is Pair and made.x.asnumpy().tolist() == [1, 2] and made.y == ("a", "b")
    ordered = collections.OrderedDict(b=np.float32(1), a=2.5)
    made = dataloader.default_convert(ordered)
    assert type(made) is collections.OrderedDict and list(made) == ["b", "a"]
    assert isinstance(made["b"], ms.Tensor) and made["a"] == 2.5
    # Oracle: the original stays as it was.
    assert isinstance(ordered["b"], np.float32)


@pytest.mark.parametrize("name", dataloader.__all__)
def test_examples(name):
    """Oracle: what the examples say; every public name has one."""
    item = getattr(dataloader, name)
    known = {"np": np, "ms": ms, "ds": ds, "Tensor": ms.Tensor}
    parsed = doctest.DocTestParser().get_doctest(item.__doc__, known, name, None, 0)
    assert parsed.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(parsed).failed == 0
