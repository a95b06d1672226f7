# SPDX-License-Identifier: Apache-2.0
"""Batches out of every kind of dataset. Oracle: the rows that were put in."""

from __future__ import annotations

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import Tensor, nn
from mycel.train.feed import Feed


class Dictionaries:
    """A dataset of dictionaries, whose iterator serves one epoch after the other."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.resets = 0
        self.asked = []

    def get_dataset_size(self):
        return len(self.numbers)

    def create_dict_iterator(self, num_epochs):
        self.asked.append(num_epochs)
        return Rows([{"x": np.float32(n), "name": str(n)} for n in self.numbers])

    def reset(self):
        self.resets += 1


class Rows:
    def __init__(self, rows):
        self.rows, self.place = rows, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.place == len(self.rows):
            self.place = 0
            raise StopIteration
        self.place += 1
        return self.rows[self.place - 1]


def read(feed, epochs):
    return [[float(batch[0]) for batch in feed.epoch()] for _ in range(epochs)]


def test_a_dataset_is_asked_once_for_all_epochs():
    dataset = Dictionaries([1, 2, 3])
    feed = Feed(dataset, 2)
    assert feed.batches == 3
    assert read(feed, 2) == [[1, 2, 3], [1, 2, 3]]
    assert (dataset.asked, dataset.resets) == ([2], 2)
    assert [batch[1] for batch in Feed(dataset).epoch()] == ["1", "2", "3"]


def test_epochs_of_so_many_steps_go_on_where_the_last_ended():
    dataset = Dictionaries([1, 2, 3])
    assert read(Feed(dataset, 3, steps=2), 3) == [[1, 2], [3, 1], [2, 3]]
    assert dataset.asked == [2]
    assert read(Feed([1.0, 2.0, 3.0], 2, steps=4), 2) == [[1, 2, 3, 1], [2, 3, 1, 2]]


def test_iterables_and_generators():
    class Twice:
        def __iter__(self):
            return iter([(1,), (2,)])

    feed = Feed(Twice(), 2)
    assert feed.batches is None
    assert read(feed, 2) == [[1, 2], [1, 2]]
    assert feed.batches == 2
    feed = Feed(row for row in ([1, 2], [3, 4]))
    assert read(feed, 1) == [[1, 3]]
    with pytest.raises(ValueError, match="no batch in epoch 2") as caught:
        read(feed, 1)
    assert "test_feed.py" in str(caught.value)


def test_what_becomes_a_tensor():
    words = np.array(["a", "b"])
    ((number, array, texts, none, tensor),) = Feed(
        [(2, np.ones(2, np.float16), words, None, Tensor([1.0]))]
    ).epoch()
    assert (number.dtype, array.dtype, array.shape) == (ms.int64, ms.float16, (2,))
    assert texts is words
    assert none is None
    assert tensor.dtype is ms.float32


@pytest.mark.parametrize(("dataset", "kind"), [([], ValueError), (3, TypeError)])
def test_no_data(dataset, kind):
    with pytest.raises(kind, match=r"dataset .*test_feed\.py"):
        Feed(dataset)


def test_dataset_helper():
    helper = ms.DatasetHelper(Dictionaries([1, 2, 3]), sink_size=2, epoch_num=2)
    network = ms.connect_network_with_dataset(nn.ReLU(), helper)
    found = [[float(network(x)) for x, _ in helper] for _ in range(2)]
    assert found == [[1, 2], [3, 1]]
    helper = ms.DatasetHelper([(np.ones((2, 3), np.int8),)], dataset_sink_mode=False)
    assert helper.types_shapes() == ([ms.int8], [[2, 3]])
    with pytest.raises(ValueError, match="sink_size"):
        ms.DatasetHelper([1], sink_size=0)


def test_data_sink_begins_a_dataset_again_without_end():
    rows = ds.NumpySlicesDataset(np.arange(5.0, dtype=np.float32), "x", shuffle=False)
    for data in (rows, rows.batch(1).map(lambda x: x), rows.repeat(2)):
        sink = ms.data_sink(lambda x: x.sum(), data, sink_size=3)
        assert [float(sink()) for _ in range(9)] == [2, 0, 3, 1, 4, 2, 0, 3, 1]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_data_sink_trains(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(1, 1, "ones", "zeros")
    optimizer = nn.SGD(net.trainable_params(), 0.25)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    data = [(np.array([[n]], np.float32), np.zeros((1, 1), np.float32)) for n in (1.0, 0.5)]
    sink = ms.data_sink(step, data, sink_size=3)
    losses = [float(sink()), float(sink())]
    weight, bias, expected = 1.0, 0.0, []
    for number, x in enumerate([1.0, 0.5, 1.0, 0.5, 1.0, 0.5]):
        error = weight * x + bias
        if number % 3 == 2:
            expected.append(error**2)
        weight, bias = weight - 0.5 * error * x, bias - 0.5 * error
    np.testing.assert_allclose(losses, expected, 1e-6)
