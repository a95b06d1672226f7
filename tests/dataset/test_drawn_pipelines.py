# SPDX-License-Identifier: Apache-2.0
"""Pipelines that are drawn by chance. Oracle: the same pipeline with rows made one by one, which
debug mode does: values, types, order, random numbers, errors, states.
"""

from __future__ import annotations

import json
import pickle
import struct

import cloudpickle
import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import mindrecord
from mycel.dataset import text, transforms, vision
from mycel.dataset.engine import tfrecord

SPOKEN = ["a", "bc", "def\0", "zz"]
WORDS = text.Vocab.from_list(["<pad>", "a", "bc", "def"])
COUNT = 11


@pytest.fixture(autouse=True)
def settings():
    ds.config.set_seed(5)
    yield
    ds.config.settings.__init__()
    ms.kernel.record.generator.restore_seed(None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of every kind, of eleven rows each; lines and records stand in two files."""
    folder, draw = tmp_path_factory.mktemp("drawn"), np.random.default_rng(0)
    head = struct.pack(">4i", 2051, COUNT, 28, 28)
    pixels = draw.integers(0, 256, (COUNT, 28, 28, 1), np.uint8)
    (folder / "t10k-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
    labels = struct.pack(">2i", 2049, COUNT) + bytes(range(COUNT))
    (folder / "t10k-labels-idx1-ubyte").write_bytes(labels)
    for kind in ("cat", "dog"):
        (folder / "pictures" / kind).mkdir(parents=True)
    for number in range(COUNT):
        kind = "dog" if number % 3 else "cat"
        image = np.repeat(pixels[number], 3, 2)
        vision.write_png(str(folder / "pictures" / kind / f"{number:02}.png"), image)
    for name, rows in (("a", range(6)), ("b", range(6, COUNT))):
        table = "".join(f"{n},{n / 7:.4f},{'bc ' * (n % 3)}\n" for n in rows)
        (folder / f"{name}.csv").write_text(f"n,x,t\n{table}")
        lines = "".join(" ".join(SPOKEN[: 1 + n % 4]) + "\n" for n in rows)
        (folder / f"{name}.txt").write_text(lines)
        records = [{"x": np.arange(n, n + 3, dtype=np.float32), "n": n} for n in rows]
        packed = [tfrecord.pack_record(tfrecord.pack_example(record)) for record in records]
        (folder / f"{name}.tfrecord").write_bytes(b"".join(packed))
    writer = mindrecord.FileWriter(str(folder / "m"), 2)
    schema = {"x": {"type": "float32", "shape": [2, 2]}, "n": {"type": "int64"}}
    writer.add_schema(schema | {"t": {"type": "string"}, "b": {"type": "bytes"}})
    rows = [{"x": np.full((2, 2), n, np.float32), "n": n, "t": "a" * (n % 3)} for n in range(COUNT)]
    writer.write_raw_data([row | {"b": bytes(row["n"])} for row in rows])
    writer.commit()
    return folder


class Compose(transforms.Compose):
    """Derived, with a call of its own."""

    def __call__(self, *columns):
        return super().__call__(*columns) + np.float32(1000)


class SameCompose(transforms.Compose):
    """Derived, without one."""


class Rescale(vision.Rescale):
    """Derived from what changes many rows at once."""

    def __call__(self, *images):
        return -super().__call__(*images)


class Texts(ds.TextFileDataset):
    """Derived from what reads many rows at once."""

    def _row(self, origin):
        return {"text": np.array(origin + " a")}


class Points:
    """Rows of a program; of different lengths in one column."""

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return np.full((4, 5, 3), index, ">f4"), np.arange(index % 3), f"bc{index}"


def iterable():
    """Rows of a program, one after the other."""
    for number in range(COUNT):
        yield np.full((4, 5, 1), number, np.uint8), np.int16(number)


def in_place(array):
    """A function that writes into what it gets."""
    array += array.dtype.type(1)
    return array


def with_noise(array):
    """A function of a program that draws as operations do."""
    return array + np.float32(transforms.randomness.current().random())


def drawn_source(draw, folder):
    """A dataset, and the column to change."""
    shuffle = bool(draw.integers(2))
    kind = draw.integers(10)
    if kind == 0:
        return ds.MnistDataset(folder, "test", shuffle=shuffle), "image"
    if kind == 1:
        sampler = ds.SubsetSampler([3, 3, 0, 7, 9])
        return ds.MnistDataset(folder, "test", sampler=sampler), "image"
    if kind == 2:
        paths = [str(folder / "a.csv"), str(folder / "b.csv")]
        order = ds.Shuffle.FILES if shuffle else False
        defaults = [0, 0.0, "none"]
        return ds.CSVDataset(paths, column_defaults=defaults, shuffle=order), "x"
    if kind == 3:
        fields = None if draw.integers(2) else ["n", "x"]
        return ds.MindDataset(str(folder / "m0"), fields, shuffle=shuffle), "x"
    if kind in (4, 5):
        made = Texts if kind == 5 else ds.TextFileDataset
        workers = int(draw.integers(1, 3))
        paths = [str(folder / "a.txt"), str(folder / "b.txt")]
        return made(paths, shuffle=shuffle, num_parallel_workers=workers), "text"
    if kind == 6:
        dtype = str(draw.choice([">f4", ">i2", "u1", "f8", "?", "f2"]))
        columns = {"image": np.arange(COUNT * 24).reshape(COUNT, 2, 4, 3).astype(dtype)}
        columns["t"] = np.array(["a", "bc d", "bc\0 a"] * 4, "U9")[:COUNT]
        columns["n"] = np.arange(COUNT).astype(">i4")
        return ds.NumpySlicesDataset(columns, shuffle=shuffle), "image"
    if kind == 7:
        if draw.integers(2):
            return ds.GeneratorDataset(iterable, ["image", "n"]), "image"
        return ds.GeneratorDataset(Points(), ["image", "r", "t"], shuffle=shuffle), "image"
    if kind == 8:
        pictures = ds.ImageFolderDataset(folder / "pictures", decode=True, shuffle=shuffle)
        return pictures, "image"
    paths = [str(folder / "a.tfrecord"), str(folder / "b.tfrecord")]
    return ds.TFRecordDataset(paths, shuffle=shuffle), "x"


NUMBERS = [
    lambda draw: vision.Rescale(float(draw.normal()), 0.5),
    lambda draw: transforms.TypeCast([ms.float32, ms.uint8, ms.int32][draw.integers(3)]),
    lambda draw: lambda x: x * 2,
    lambda draw: in_place,
    lambda draw: with_noise,
    lambda draw: transforms.Compose([vision.Rescale(2.0, 0.0), transforms.TypeCast(ms.int32)]),
    lambda draw: SameCompose([vision.Rescale(2.0, 0.0), transforms.TypeCast(ms.float16)]),
    lambda draw: Compose([vision.Rescale(2.0, 0.0)]),
    lambda draw: transforms.Compose([Compose([vision.Rescale(3.0, 0.0)])]),
    lambda draw: Rescale(3.0, 1.0),
    lambda draw: transforms.RandomApply([vision.Rescale(2.0, 0.0)], 0.5),
]
VECTORS = [
    *NUMBERS,
    lambda draw: transforms.Slice(slice(0, 2)),
    lambda draw: transforms.PadEnd([int(draw.integers(1, 5))], 7),
]
IMAGES = [
    *NUMBERS,
    lambda draw: vision.Normalize([100.0], [float(draw.uniform(1, 9))]),
    lambda draw: vision.Resize(int(draw.integers(2, 9)), list(vision.Inter)[draw.integers(5)]),
    lambda draw: vision.Resize((3, 4)),
    lambda draw: vision.HWC2CHW(),
    lambda draw: vision.ToTensor(),
    lambda draw: vision.RandomHorizontalFlip(0.5),
]
TEXTS = [
    lambda draw: text.WhitespaceTokenizer(bool(draw.integers(5) == 0)),
    lambda draw: text.Lookup(WORDS, "<pad>" if draw.integers(4) else None),
    lambda draw: transforms.PadEnd([int(draw.integers(1, 5))], None if draw.integers(2) else 9),
    lambda draw: transforms.TypeCast(ms.float32),
    lambda draw: text.CaseFold(),
    lambda draw: lambda x: x,
]
WHAT = {"image": IMAGES, "x": VECTORS, "text": TEXTS}


def drawn(seed, folder):
    """A pipeline, always the same of one seed."""
    draw = np.random.default_rng(seed)
    data, column = drawn_source(draw, folder)
    chain, texts = WHAT[column], column == "text"
    for _ in range(draw.integers(0, 5)):
        step = draw.integers(11)
        if step < 5:
            in_order = texts and draw.integers(4) > 0
            several = chain if in_order else [chain[n] for n in draw.integers(len(chain), size=2)]
            operations = [make(draw) for make in several[: 1 + draw.integers(3)]]
            workers = [None, 1, 3][draw.integers(3)]
            data = data.map(operations, [column], num_parallel_workers=workers)
        elif step == 5:
            data = data.skip(int(draw.integers(4)))
        elif step == 6:
            data = data.take(int(draw.integers(1, 9)))
        elif step == 7:
            data, column = data.rename(column, f"{column}_"), f"{column}_"
        elif step == 8:
            data = data.project([column])
        elif step == 9:
            data = data.filter(lambda x: np.asarray(x).size % 2 == 0, [column])
        else:
            joined = [ds.Dataset.repeat, ds.Dataset.shuffle, lambda data, _: data + data.take(3)]
            data = joined[draw.integers(3)](data, 2)
    size, whole = int(draw.integers(1, 5)), bool(draw.integers(2))
    kind = draw.integers(8)
    if kind == 0:
        data = data.padded_batch(size, whole, pad_info={})
    elif kind == 1:
        data = data.batch(size, whole, per_batch_map=lambda *columns: columns[:-1])
    else:
        data = data.batch(size, whole)
    if kind == 2:
        data = data.repeat(2)
    if kind == 3:
        data = data.zip(ds.NumpySlicesDataset({"other": np.arange(9)}).batch(2))
    return data


def value_of(value):
    return (value.dtype.str, value.shape, value.tobytes())


def rows_of(iterator):
    """What comes of one epoch; an error, without the place of the call, is what comes last."""
    rows: list = []
    try:
        rows.extend({name: value_of(value) for name, value in row.items()} for row in iterator)
    except Exception as error:
        rows.append((type(error).__name__, str(error).partition(" was given at ")[0]))
    return rows


def failed(rows):
    return bool(rows) and isinstance(rows[-1], tuple)


def through(data):
    iterator = data.create_dict_iterator(num_epochs=2, output_numpy=True)
    first = rows_of(iterator)
    return [first] if failed(first) else [first, rows_of(iterator)]


def debugged(function):
    ds.config.set_debug_mode(True)
    try:
        return function()
    finally:
        ds.config.set_debug_mode(False)


@pytest.mark.parametrize("seed", [*range(24), 43, 52])
@pytest.mark.filterwarnings("ignore:.*(encountered in|non-nullptr|NumPy will stop)")
def test_rows_are_those_made_one_by_one(seed, folder):
    data = drawn(seed, folder)
    expected = debugged(lambda: through(data))
    assert through(data) == expected
    # Once more of the same dataset, of another copy, and of two iterators in turns.
    assert through(data) == expected
    if failed(expected[-1]):
        return
    assert data.get_dataset_size() == len(expected[0])
    left, right = (data.create_dict_iterator(num_epochs=1, output_numpy=True) for _ in "12")
    rows = [
        tuple({k: value_of(v) for k, v in row.items()} for row in pair)
        for pair in zip(left, right, strict=True)
    ]
    assert rows == [(row, row) for row in expected[0]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("saved_in_debug_mode", [False, True])
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_states_go_from_one_mode_to_the_other(seed, saved_in_debug_mode, folder):
    data = drawn(seed, folder)

    def saved():
        iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
        for _ in range(2):
            next(iterator)
        state = json.dumps(iterator.get_state())
        return state, rows_of(iterator)

    def went_on(state):
        iterator = data.create_dict_iterator(num_epochs=1, output_numpy=True)
        iterator.set_state(json.loads(state))
        return rows_of(iterator)

    expected = through(data)[0]
    if failed(expected) or len(expected) < 2:
        return
    state, rest = debugged(saved) if saved_in_debug_mode else saved()
    assert rest == expected[2:]
    assert went_on(state) == rest
    assert debugged(lambda: went_on(state)) == rest
    # An iterator that was left in the middle leaves nothing behind.
    assert through(data)[0] == expected


@pytest.mark.parametrize("debug", [False, True])
def test_operations_may_change_between_epochs(debug, folder):
    ds.config.set_debug_mode(debug)
    scale = vision.Rescale(1.0, 0.0)
    both = transforms.Compose([scale])
    data = ds.MnistDataset(folder, "test", shuffle=False).map(both, "image").batch(COUNT)
    iterator = data.create_dict_iterator(num_epochs=3, output_numpy=True)
    (first,) = [row["image"] for row in iterator]
    scale.rescale = 3.0
    (second,) = [row["image"] for row in iterator]
    both.transforms.append(lambda x: x + np.float32(1))
    (third,) = [row["image"] for row in iterator]
    np.testing.assert_array_equal(second, first * 3)
    np.testing.assert_array_equal(third, first * 3 + 1)
    data.children[0].children[0].use_sampler(ds.SubsetSampler([4]))
    (fourth,) = [row["image"] for row in data.create_dict_iterator(1, True)]
    np.testing.assert_array_equal(fourth, third[4:5])


KEPT = np.ones(3, np.float32)


def test_what_an_operation_keeps_is_not_written_to():
    """The operation was added to a Compose after `map`, which once looked only at the first."""
    both = transforms.Compose([vision.Rescale(1.0, 0.0)])
    data = ds.NumpySlicesDataset({"x": np.zeros((3, 3))}, shuffle=False).map(both, "x")
    data = data.map(in_place, "x")
    both.transforms.append(lambda x: KEPT)
    for _ in range(2):
        assert [row["x"].tolist() for row in data.create_dict_iterator(1, True)] == [[2.0] * 3] * 3


def test_worker_processes_get_what_is_there_when_they_start():
    """They once got it as it was at the first epoch of all."""

    class Shifted:
        """A source, or an operation, that a program changes; here, so that no worker has to import
        this module."""

        def __init__(self):
            self.shift = 0

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return np.array(index + self.shift)

        def __call__(self, x):
            return x + self.shift

    source, operation = Shifted(), Shifted()
    data = ds.GeneratorDataset(source, ["x"], shuffle=False, num_parallel_workers=2)
    data = data.map(operation, "x", num_parallel_workers=2, python_multiprocessing=True)
    found = []
    for source.shift, operation.shift in ((0, 0), (10, 200)):
        found.append([int(row["x"]) for row in data.create_dict_iterator(1, True)])
    assert found == [[0, 1, 2, 3], [210, 211, 212, 213]]


@pytest.mark.parametrize("seed", range(0, 18, 3))
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_pickled_pipelines_give_the_same_rows(seed, folder):
    data = drawn(seed, folder)
    again = pickle.loads(cloudpickle.dumps(data))
    expected = through(data)
    assert failed(expected[-1]) or through(again) == expected


def test_a_call_that_a_program_puts_in_counts(folder, monkeypatch):
    data = ds.MnistDataset(folder, "test", shuffle=False).map(vision.Rescale(1.0, 0.0), "image")
    called = []
    plain = vision.Rescale.__call__
    monkeypatch.setattr(
        vision.Rescale, "__call__", lambda self, x: called.append(1) or plain(self, x)
    )
    list(data.batch(4))
    assert len(called) == COUNT


def test_bytes_in_the_other_order_are_those_of_this_processor():
    numbers = np.arange(6).reshape(3, 2)
    for kind in (">f4", ">i2", ">u4", ">U2"):
        data = ds.NumpySlicesDataset({"x": numbers.astype(kind)}, shuffle=False)
        for each in (data, data.batch(3), data.map(lambda x: x, "x")):
            for row in each.create_dict_iterator(1):
                value = row["x"] if kind == ">U2" else row["x"].asnumpy()
                assert value.dtype.isnative
        np.testing.assert_array_equal(
            next(data.batch(3).create_dict_iterator(1, True))["x"], numbers.astype(kind)
        )


def test_a_state_of_more_rows_than_there_are_is_an_error(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo\nthree\n")
    data = ds.TextFileDataset(str(path), shuffle=False).batch(1)
    iterator = data.create_dict_iterator(1, True)
    assert len(rows_of(next(iterator) and iterator)) == 2
    iterator = data.create_dict_iterator(1, True)
    next(iterator), next(iterator)
    state = iterator.get_state()
    path.write_text("one\n")
    ds.config.set_debug_mode(True)
    again = data.create_dict_iterator(1, True)
    with pytest.raises(ValueError, match="behind row 2, but now there are only 1"):
        again.set_state(state)
