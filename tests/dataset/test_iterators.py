# SPDX-License-Identifier: Apache-2.0
"""Iterators: seeds, epochs, states that an interrupted epoch goes on from, prefetching. Oracles:
the undisturbed pass, NumPy, and what MindSpore does with a chosen seed.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import ops
from mycel.dataset import transforms, vision
from mycel.dataset.engine import machinery
from mycel.kernel.base import log


@pytest.fixture(autouse=True)
def settings():
    ds.config.settings.seed = None
    ms.kernel.record.generator.restore_seed(None)
    yield
    ds.config.settings.__init__()


def numbers(count=8, **settings):
    return ds.NumpySlicesDataset(np.arange(count), ["x"], **settings)


def plain(row):
    return [value.tolist() for value in row]


def through(data, epochs=1):
    iterator = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[plain(row) for row in iterator] for _ in range(epochs)]


class Counted:
    """Iterable only; says how often a row was made."""

    def __init__(self, count):
        self.count, self.made = count, 0

    def __iter__(self):
        for number in range(self.count):
            self.made += 1
            yield (np.array(number),)


def noisy(x):
    from mycel.dataset.transforms import randomness

    return np.array([x, randomness.current().integers(1000)])


PIPELINES = {
    "rows with numbers": lambda: numbers().map(lambda x: x * 2, ["x"]).batch(3),
    "shuffled": lambda: numbers(shuffle=True).repeat(3).batch(2),
    "window": lambda: numbers(20, shuffle=False).shuffle(4).map(noisy, ["x"]),
    "iterable": lambda: ds.GeneratorDataset(Counted(9), ["x"]).skip(1).take(7).batch(2),
    "filtered": lambda: numbers().filter(lambda x: x % 3 > 0, ["x"]).map(noisy, ["x"]).batch(2),
    "joined": lambda: (numbers(3) + numbers(5)).zip(numbers(9).rename("x", "y")),
    "by size": lambda: numbers(10).batch(lambda info: info.get_batch_num() + 1),
    "buckets": lambda: ds.GeneratorDataset(
        [np.ones(n) for n in (1, 3, 2, 5, 4, 1, 3)], ["x"], shuffle=True
    ).bucket_batch_by_length(["x"], [3], [2, 2]),
    "threads": lambda: numbers(shuffle=True).map(noisy, ["x"], num_parallel_workers=2).batch(2),
    "part": lambda: numbers(9).map(noisy, ["x"]).split([6, 3])[0].batch(2),
}


@pytest.mark.parametrize("kind", PIPELINES)
def test_an_interrupted_epoch_goes_on(kind):
    ds.config.set_seed(3)
    data = PIPELINES[kind]()
    whole = through(data, 2)
    for stop in (0, 1, len(whole[1]) - 1):
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        assert [plain(row) for row in iterator] == whole[0]
        for _ in range(stop):
            next(iterator)
        state = json.loads(json.dumps(iterator.get_state()))
        iterator.stop()
        ds.config.set_seed(99)  # the state brings its own
        again = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        again.set_state(state)
        assert [plain(row) for row in again] == whole[1][stop:]
        ds.config.set_seed(3)


def test_a_state_of_random_access_reads_nothing_again():
    read = []

    class Source:
        def __len__(self):
            return 6

        def __getitem__(self, index):
            read.append(index)
            return np.array(index)

    data = ds.GeneratorDataset(Source(), ["x"], shuffle=False).batch(2)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator), next(iterator)
    state = iterator.get_state()
    iterator.stop()
    read.clear()
    again = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    again.set_state(state)
    assert [plain(row) for row in again] == [[[4, 5]]]
    assert read == [4, 5]


def test_a_state_of_another_pipeline_is_refused():
    state = numbers().create_dict_iterator().get_state()
    with pytest.raises(ValueError, match=r"columns \['x'\].*\['y'\]"):
        numbers().rename("x", "y").create_dict_iterator().set_state(state)


def test_a_state_with_rows_that_are_not_there_is_refused_and_the_iterator_begins_anew():
    iterator = numbers().create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = [next(iterator) for _ in range(3)]
    state = iterator.get_state()
    other = numbers().batch(4).create_tuple_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(ValueError, match="another pipeline, which has the same columns"):
        other.set_state(state)
    assert len(rows) == 3
    assert sorted(number for row in other for number in plain(row)[0]) == [*range(8)]


@pytest.mark.parametrize("kind", ["generator", "map", "iter", "file"])
def test_what_is_gone_through_only_once_gives_its_rows_in_every_epoch(kind):
    """Oracle: MindSpore 2.10, which keeps the rows of a generator."""
    source = {
        "generator": (number for number in range(4)),
        "map": map(float, range(4)),
        "iter": iter([0, 1, 2, 3]),
        "file": io.StringIO("0\n1\n2\n3\n"),
    }[kind]
    data = ds.GeneratorDataset(source, ["x"])
    for _ in range(2):
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        for _ in range(2):
            assert [float(row[0]) for row in iterator] == [0, 1, 2, 3]
    assert data.get_dataset_size() == 4


def test_seeds_and_epochs():
    # As in MindSpore: a chosen seed makes iterators alike, but not the epochs of one.
    ds.config.set_seed(3)
    first, second = through(numbers(shuffle=True), 2)
    assert first != second
    assert sorted(map(tuple, first)) == sorted(map(tuple, second)) == [(n,) for n in range(8)]
    assert through(numbers(shuffle=True), 2) == [first, second]
    assert through(numbers(shuffle=True).repeat(2))[0] == first + second
    ds.config.set_seed(4)
    assert through(numbers(shuffle=True))[0] != first
    pairs = ds.zip((numbers(shuffle=True), numbers(shuffle=True).rename("x", "y")))
    assert all(x == y for x, y in through(pairs)[0])


def test_without_a_seed_iterators_differ():
    data = numbers(30, shuffle=True)
    assert through(data) != through(data)


def test_the_seed_is_that_of_python_and_numpy_too():
    """Oracle: MindSpore 2.10, whose two functions that set a seed do this."""
    import random

    for set_seed in (ds.config.set_seed, ms.set_seed):
        set_seed(3)
        assert (round(np.random.rand(), 6), round(random.random(), 6)) == (0.550798, 0.237965)


def test_the_seed_of_the_program_is_that_of_its_data():
    ms.set_seed(11)
    assert through(numbers(30, shuffle=True)) == through(numbers(30, shuffle=True))


def test_shards_of_shuffled_rows_are_disjoint():
    rows = []
    for shard in range(2):
        data = numbers(8, shuffle=True, num_shards=2, shard_id=shard)
        rows.append([x for (x,) in through(data)[0]])
    assert sorted(rows[0] + rows[1]) == list(range(8))


def test_a_window_moves_rows_at_most_so_far():
    rows = [x for (x,) in through(numbers(40, shuffle=False).shuffle(5))[0]]
    assert sorted(rows) == list(range(40)) and rows != sorted(rows)
    assert all(abs(place - row) < 5 for place, row in enumerate(rows))


def test_samplers_with_chance():
    weighted = ds.WeightedRandomSampler([0, 1, 0, 3], 2000)
    counts = np.bincount([x for (x,) in through(numbers(4, sampler=weighted))[0]], minlength=4)
    assert counts[0] == counts[2] == 0
    assert 0.65 < counts[3] / 2000 < 0.85
    few = ds.WeightedRandomSampler([0, 1, 0, 3], 2, replacement=False)
    assert sorted(x for (x,) in through(numbers(4, sampler=few))[0]) == [1, 3]
    some = ds.RandomSampler(num_samples=3)
    assert len({x for (x,) in through(numbers(8, sampler=some))[0]}) == 3
    repeated = ds.RandomSampler(replacement=True)
    assert len(through(numbers(50, sampler=repeated))[0]) == 50


def test_parts_are_disjoint_and_stay_so():
    train, test = numbers(10, shuffle=True).split([0.7, 0.3])
    epochs = [{x for (x,) in rows} for rows in through(train, 3)]
    assert epochs[0] == epochs[1] == epochs[2]
    assert len(epochs[0]) == 7
    assert epochs[0] | {x for (x,) in through(test)[0]} == set(range(10))


@pytest.mark.parametrize("ahead", [1, 3])
def test_rows_are_made_ahead_but_not_without_end(ahead):
    ds.config.set_prefetch_size(ahead)
    source = Counted(100)
    iterator = ds.GeneratorDataset(source, ["x"]).create_dict_iterator(num_epochs=1)
    next(iterator)
    iterator.stop()
    # One is being made, one waits to be put, and `ahead` wait to be taken.
    assert 1 <= source.made <= 1 + ahead + 2
    assert not any(
        "prefetch" in thread.name and not thread.daemon for thread in threading.enumerate()
    )


def test_debug_mode_runs_in_the_calling_thread():
    ds.config.set_debug_mode(True)
    seen = []

    def look(x):
        seen.append(threading.current_thread())
        return x

    data = numbers(3, shuffle=False).map(look, ["x"], num_parallel_workers=4)
    iterator = data.create_dict_iterator(num_epochs=1)
    next(iterator)
    assert seen == [threading.main_thread()]


def test_rows_that_fail_can_be_left_out():
    def picky(x):
        if x % 3 == 1:
            raise ValueError("no")
        return x

    data = numbers(6, shuffle=False).map(picky, ["x"])
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    assert through(data)[0] == [[0], [2], [3], [5]]
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.REPLACE)
    assert through(data)[0] == [[0], [0], [2], [3], [3], [5]]


def test_an_operation_that_raises_is_named_with_its_column_and_place():
    def broken(x):
        return x / {}[0]

    with pytest.raises(RuntimeError) as caught:
        through(numbers(3).map([lambda x: x, broken], ["x"]))
    text = str(caught.value)
    assert "broken on the column(s) ['x'] of MapDataset" in text and "KeyError" in text
    assert "test_iterators.py" in text
    assert isinstance(caught.value.__cause__, KeyError)


def test_tensors_are_copies():
    array = np.zeros((2, 3), np.float32)
    data = ds.NumpySlicesDataset(array, ["x"], shuffle=False)
    rows = [row["x"] for row in data.create_dict_iterator(num_epochs=1)]
    array += 1
    assert [row.asnumpy().tolist() for row in rows] == [[0.0] * 3] * 2
    assert rows[0].dtype == ms.float32


def test_a_model_trains_on_it():
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(-1, 1)
    data = ds.NumpySlicesDataset((x, 3 * x), ["x", "y"]).batch(4)
    net = ms.nn.Dense(1, 1, has_bias=False)
    optimizer = ms.nn.SGD(net.trainable_params(), 0.2)
    model = ms.train.Model(net, ms.nn.MSELoss(), optimizer)
    model.train(20, data, dataset_sink_mode=False)
    np.testing.assert_allclose(net.weight.asnumpy(), [[3.0]], rtol=1e-3)


def test_settings_without_effect_are_kept_and_noted(caplog, monkeypatch):
    monkeypatch.setattr(log, "_noted", set())
    with caplog.at_level("INFO", logger="mycel"):
        ds.config.set_numa_enable(True)
    assert ds.config.get_numa_enable() is True
    assert "set_numa_enable has no effect" in caplog.text


def test_without_grain_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "grain", None)
    machinery.grain.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'mycel\[data\]'"):
        next(numbers().create_dict_iterator())
    machinery.grain.cache_clear()


def test_an_unfinished_iterator_ends_with_the_program():
    """It was ended when nothing of its modules was left, and said so. Oracle: nothing is said."""
    program = (
        "import numpy as np, mycel.dataset as ds\n"
        "data = ds.NumpySlicesDataset(np.arange(10), shuffle=False).batch(2)\n"
        "iterator = data.create_tuple_iterator(output_numpy=True)\n"
        "print(next(iterator)[0])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[0 1]\n", "")


def test_a_data_queue_gives_the_rows_of_a_dataset():
    """Oracle: the rows themselves; MindSpore 2.10 names the queue and has the same methods."""
    rows = [(np.full(2, n, np.float32), n) for n in range(3)]
    data = ds.GeneratorDataset(rows, ["x", "n"], shuffle=False).device_que(queue_name="mine")
    assert data.queue_name == "mine" and [int(n) for _, n in data] == [0, 1, 2]
    assert data.device_que().queue_name != data.device_que().queue_name
    take = ops.GetNext([ms.float32, ms.int64], [(2,), ()], 2, "mine")
    data.send(2)
    assert [int(take()[1]) for _ in range(6)] == [0, 1, 2, 0, 1, 2]
    with pytest.raises(RuntimeError, match="no row left after 6"):
        take()
    data.send()
    data.stop_send()
    data.continue_send()
    assert [int(take()[1]) for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    data.release()
    with pytest.raises(
        TypeError, match=r"^device_que: queue_name must be a string, but 3 was given"
    ):
        data.device_que(queue_name=3)


@pytest.mark.parametrize(
    "make",
    [
        lambda data, wrong: data.map(wrong, "x"),
        lambda data, wrong: data.map([transforms.Compose([lambda x: x, wrong])], "x"),
        lambda data, wrong: data.batch(2).map(wrong, "x", num_parallel_workers=2),
        lambda data, wrong: data.filter(wrong, "x"),
        lambda data, wrong: data.batch(2, per_batch_map=lambda x, info: x).map(wrong, "x"),
    ],
)
def test_what_an_operation_says_names_the_line_that_made_the_dataset(make):
    """Oracle: the line of the lambda; no frame of the user's calls the operation."""
    data = make(numbers(), vision.HWC2CHW())
    with pytest.raises(RuntimeError, match=r"of shape .* was given at") as caught:
        list(data.create_tuple_iterator(num_epochs=1))
    place = str(caught.value).rpartition(" was given at ")[2].rstrip(".")
    assert place == f"{__file__}:{make.__code__.co_firstlineno}" == str(data.place)
