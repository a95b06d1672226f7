# SPDX-License-Identifier: Apache-2.0
"""Batches made as a whole. Oracles: the same operation on each row; the same pipeline with rows
made one by one, which debug mode does; counts of what is made one by one.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import struct

import numpy as np
import pytest

import mycel as ms
import mycel.dataset as ds
from mycel import mindrecord
from mycel.dataset import text, transforms, vision
from mycel.dataset.engine.together import Together
from mycel.dataset.transforms.chains import prepared
from mycel.dataset.transforms.together import Ragged, settled, together_of

DRAW = np.random.default_rng(0)
COLOURS = DRAW.integers(0, 256, (5, 6, 8, 3), np.uint8)
GREY = DRAW.integers(0, 256, (5, 28, 28, 1), np.uint8)
FLAT = DRAW.integers(0, 256, (5, 6, 8), np.uint8)
LARGE = DRAW.integers(0, 256, (3, 70, 65, 3), np.uint8)
FLOATS = DRAW.normal(0, 300, (5, 6, 8, 3))
NUMBERS = DRAW.integers(-500, 500, (4, 6))
LABELS = np.arange(4, dtype=np.uint32)
WORDS = text.Vocab.from_list(["<pad>", "a", "bc", "def"])
LINES = ["a bc", " def  a\ta bc ", "   ", "bc\u3000def"]
TOKENS = Ragged(["a", "bc", "def", "a"], [1, 3])
COUNTS = Ragged(np.array([3, 1, 4, 1, 5], np.int32), [2, 3])
MEANS = [120.0, 110.0, 100.0], [60.0, 50.0, 40.0]

CASES = [
    (vision.Rescale(1 / 255, -0.5), (COLOURS, GREY, FLAT, FLOATS, NUMBERS)),
    (vision.Normalize(*MEANS), (COLOURS, FLOATS)),
    (vision.Normalize([120.0], [3.0]), (COLOURS, GREY, FLAT)),
    (vision.Normalize(*MEANS, is_hwc=False), (COLOURS.transpose(0, 3, 1, 2),)),
    (vision.HWC2CHW(), (COLOURS, GREY, FLAT, FLOATS)),
    (vision.ToTensor(), (COLOURS, GREY, FLAT)),
    (vision.ToTensor(np.float64), (COLOURS, FLOATS)),
    (vision.Resize((9, 5)), (COLOURS, GREY, FLAT, FLOATS, LARGE)),
    (vision.Resize(7), (COLOURS, GREY)),
    (vision.Resize((3, 4), vision.Inter.AREA), (COLOURS, FLOATS)),
    (vision.Resize((3, 4), vision.Inter.PILCUBIC), (COLOURS, GREY)),
    (transforms.TypeCast(ms.int8), (NUMBERS, FLOATS, LABELS)),
    (transforms.PadEnd([2], 7), (NUMBERS, COUNTS)),
    (transforms.PadEnd([9]), (NUMBERS, COUNTS, TOKENS)),
    (transforms.PadEnd([2], "none"), (TOKENS,)),
    (transforms.Slice(slice(1, 4)), (NUMBERS, COLOURS)),
    (transforms.Slice([0, 2], 1), (COLOURS,)),
    (text.WhitespaceTokenizer(), (LINES,)),
    (text.Lookup(WORDS), (TOKENS, ["a", "def"], np.array([["a", "bc"], ["a", "a"]]))),
    (text.Lookup(WORDS, "a", ms.int64), (Ragged(["x", "bc"], [1, 1]), ["x"])),
]
ALL = [
    pytest.param(operation, rows, id=f"{type(operation).__name__}-{number}-{place}")
    for number, (operation, several) in enumerate(CASES)
    for place, rows in enumerate(several)
]


def each_of(rows):
    """The rows one by one, as arrays."""
    if not isinstance(rows, Ragged):
        return [np.array(row) for row in rows]
    ends = np.cumsum(rows.lengths)[:-1]
    return [np.array(part) for part in np.split(np.array(rows.values), ends)]


@pytest.mark.parametrize(("operation", "rows"), ALL)
def test_many_rows_are_changed_as_each_is(operation, rows):
    together = together_of(operation)
    assert together is not None
    own, expected = together(rows), [operation(row) for row in each_of(rows)]
    if isinstance(own, Ragged):
        assert own.lengths == [len(row) for row in expected]
        own, expected = np.asarray(own.values), [np.concatenate(expected)]
        own = own[None]
    own, expected = settled(own), np.stack(expected)
    assert (own.dtype, own.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(own, expected)


def test_every_operation_that_changes_many_rows_is_in_the_table():
    found = set()
    for package in (vision, transforms, text):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
            found |= {kind.__name__ for kind in kinds if "_together" in vars(kind)}
    assert found == {type(operation).__name__ for operation, _ in CASES}


@pytest.fixture
def folder(tmp_path):
    """Files of every kind that is read many rows at once."""
    images, labels = DRAW.integers(0, 256, (11, 28, 28), np.uint8), np.arange(11, dtype=np.uint8)
    head = struct.pack(">4i", 2051, 11, 28, 28)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(head + images.tobytes())
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, 11) + bytes(labels))
    batch = DRAW.integers(0, 256, (7, 3073), np.uint8)
    (tmp_path / "test_batch.bin").write_bytes(batch.tobytes())
    for name, first in (("a", 0), ("b", 7)):
        rows = [f"{n},{n / 7:.5f},{'x' * (n % 3)},{n - 3 if n % 4 else ''}" for n in range(7)]
        (tmp_path / f"{name}.csv").write_text("i,f,t,e\n" + "\n".join(rows) + "\n")
        lines = "\n\n".join(f"word{first + n} and {n}" for n in range(7))
        (tmp_path / f"{name}.txt").write_text(lines)
    write_record(tmp_path, {"x": {"type": "float32", "shape": [3]}, "n": {"type": "int64"}}, "one")
    shapes = {"x": {"type": "int32", "shape": [-1]}, "y": {"type": "float64", "shape": [2, 2]}}
    write_record(tmp_path, shapes | {"t": {"type": "string"}}, "two")
    return tmp_path


def write_record(folder, schema, name):
    kinds = {"x": lambda n: np.arange(n, n + 3), "y": lambda n: np.full((2, 2), n / 2)}
    kinds |= {"n": lambda n: n * 10**10, "t": lambda n: "t" * (n % 3)}
    writer = mindrecord.FileWriter(str(folder / name), 2)
    writer.add_schema(schema)
    rows = [{field: kinds[field](n) for field in schema} for n in range(9)]
    for row in rows:
        if "x" in schema:
            row["x"] = row["x"].astype(schema["x"]["type"])
    writer.write_raw_data(rows)
    writer.commit()


def lines(folder, **settings):
    names = [str(folder / "a.txt"), str(folder / "b.txt")]
    return ds.TextFileDataset(names, shuffle=False, **settings)


def table(folder, **settings):
    names = [str(folder / "a.csv"), str(folder / "b.csv")]
    kinds = [0, 0.0, "none", 5]
    return ds.CSVDataset(names, column_defaults=kinds, shuffle=False, **settings)


def digits(folder, **settings):
    return ds.MnistDataset(folder, "test", **settings)


def record(folder, name="one", **settings):
    return ds.MindDataset(str(folder / f"{name}0"), **settings)


TO_FLOATS = [vision.Resize(10), vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()]
PIPELINES = {
    "digits": lambda f: digits(f, shuffle=False).map(TO_FLOATS, "image").batch(4),
    "digits shuffled": lambda f: digits(f).map(transforms.Compose(TO_FLOATS)).batch(4, True),
    "both columns": lambda f: (
        digits(f).map(TO_FLOATS, "image").map(transforms.TypeCast(ms.int32), "label").batch(4)
    ),
    "other names": lambda f: (
        digits(f)
        .map(TO_FLOATS, "image", ["pixels"])
        .rename("label", "digit")
        .project(["digit", "pixels"])
        .batch(4)
    ),
    "parts": lambda f: digits(f, shuffle=False).skip(2).take(7).skip(1).batch(4),
    "a shard": lambda f: digits(f, num_shards=2, shard_id=1).batch(4),
    "a sampler": lambda f: digits(f, sampler=ds.SubsetSampler([3, 3, 0])).batch(2),
    "repeated": lambda f: digits(f).batch(4).repeat(2),
    "pictures": lambda f: ds.Cifar10Dataset(f, "test").map(TO_FLOATS, "image").batch(3),
    "lines": lambda f: lines(f).batch(4),
    "lines in turns": lambda f: lines(f, num_parallel_workers=2).batch(4),
    "some lines": lambda f: lines(f, num_samples=9).skip(2).batch(4),
    "shuffled files": lambda f: ds.TextFileDataset(
        str(f / "*.txt"), shuffle=ds.Shuffle.FILES
    ).batch(4),
    "shuffled lines": lambda f: ds.TextFileDataset(str(f / "*.txt")).batch(4),
    "words": lambda f: (
        lines(f)
        .map([text.WhitespaceTokenizer(), text.Lookup(WORDS, "<pad>"), transforms.PadEnd([2], 0)])
        .batch(4)
    ),
    "a table": lambda f: table(f).batch(4),
    "a shard of a table": lambda f: table(f, num_shards=3, shard_id=1).batch(2),
    "a record": lambda f: record(f, shuffle=False).batch(4),
    "a shuffled record": lambda f: record(f).batch(4),
    "some fields": lambda f: record(f, "two", columns_list=["y", "t"]).batch(4),
    "integers": lambda f: record(f, "two").batch(4),
    "arrays": lambda f: ds.NumpySlicesDataset({"x": FLOATS, "n": list("abcde")}).batch(2),
}


@pytest.fixture(autouse=True)
def settings():
    ds.config.set_seed(5)
    yield
    ds.config.settings.__init__()
    ms.kernel.record.generator.restore_seed(None)


def through(data):
    iterator = data.create_dict_iterator(num_epochs=2, output_numpy=True)
    return [[{k: (v.dtype, v.tolist()) for k, v in row.items()} for row in iterator] for _ in "12"]


def one_by_one(data):
    ds.config.set_debug_mode(True)
    found = through(data)
    ds.config.set_debug_mode(False)
    return found


@pytest.mark.parametrize("name", PIPELINES)
def test_batches_are_those_of_rows_made_one_by_one(name, folder, monkeypatch):
    expected = one_by_one(PIPELINES[name](folder))
    if name != "shuffled lines":
        # Not one row is: the last way out raises.
        monkeypatch.setattr("mycel.dataset.engine.batching.stacked", None)
    assert through(PIPELINES[name](folder)) == expected


@pytest.mark.parametrize("name", ["digits shuffled", "lines", "words", "a table", "a record"])
def test_an_interrupted_epoch_goes_on(name, folder):
    first = PIPELINES[name](folder).create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(first)
    state = json.loads(json.dumps(first.get_state()))
    rest = [[value.tolist() for value in row] for row in first]
    assert rest
    second = PIPELINES[name](folder).create_tuple_iterator(num_epochs=1, output_numpy=True)
    second.set_state(state)
    assert [[value.tolist() for value in row] for row in second] == rest


@pytest.mark.parametrize("name", ["digits", "arrays", "a record"])
def test_what_is_written_into_a_batch_stays_there(name, folder):
    data = PIPELINES[name](folder)
    before = through(data)
    for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
        for value in row.values():
            value[...] = value[0] if value.dtype.kind == "U" else 77
    assert through(data) == before


def error_of(data):
    with pytest.raises(Exception) as caught:
        through(data)
    # Behind `at` stands the line that called, which is one of grain here.
    return type(caught.value), str(caught.value).partition(" was given at ")[0]


WRONG = {
    "a word": lambda f: lines(f).map([text.WhitespaceTokenizer(), text.Lookup(WORDS)]),
    "lengths": lambda f: ds.TextFileDataset(str(f / "c.txt")).map(text.WhitespaceTokenizer()),
    "a number": lambda f: ds.CSVDataset(str(f / "c.csv"), column_defaults=[0, 0]),
    "a large number": lambda f: ds.CSVDataset(str(f / "d.csv"), column_defaults=[0, 0]),
    "a field": lambda f: ds.CSVDataset(str(f / "e.csv"), column_defaults=[0, 0]),
    "channels": lambda f: digits(f).map(vision.Normalize(*MEANS), "image"),
    "a dimension": lambda f: digits(f).map(vision.HWC2CHW(), "label"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_rows_made_one_by_one(name, folder):
    (folder / "c.txt").write_text("one\ntwo words\n")
    (folder / "c.csv").write_text("a,b\n1,2\n1,x\n")
    (folder / "d.csv").write_text(f"a,b\n1,2\n1,{2**40}\n")
    (folder / "e.csv").write_text("a,b\n1,2\n1\n")

    def data():
        # In one place, which errors name.
        return WRONG[name](folder).batch(3)

    ds.config.set_debug_mode(True)
    expected = error_of(data())
    ds.config.set_debug_mode(False)
    assert error_of(data()) == expected


class Doubled(vision.Rescale):
    def _array(self, image):
        return 2 * super()._array(image)


class Sevens(ds.MnistDataset):
    def _read(self, index):
        return super()._read(index) | {"label": np.array(7, np.uint32)}


def test_what_a_program_derives_is_not_passed_over(folder):
    assert together_of(Doubled(1.0, 0.0)) is None
    data = digits(folder, shuffle=False)
    (plain, _), *_ = data.map(vision.Rescale(1.0, 0.0)).batch(4)
    (doubled, _), *_ = data.map(Doubled(1.0, 0.0)).batch(4)
    np.testing.assert_array_equal(doubled.asnumpy(), 2 * plain.asnumpy())
    (_, labels), *_ = Sevens(folder, "test").batch(4)
    assert labels.asnumpy().tolist() == [7] * 4


def test_functions_of_a_program_are_called_for_each_row(folder):
    seen = []
    data = digits(folder, shuffle=False).map(
        lambda label: seen.append(int(label)) or label, "label"
    )
    list(data.batch(4))
    assert seen == list(range(11))


def test_origins_are_taken_in_parts():
    given = Together(range(10), lambda origins: {"x": np.array(origins)}, lambda n: {"x": n})
    assert list(given.part(2, None).part(1, 4).origins) == [3, 4, 5]
    begun = given._replace(origins=lambda: iter(range(10)))
    assert list(begun.part(2, None).part(1, 4).origins()) == [3, 4, 5]


@pytest.mark.parametrize("image", [COLOURS[0], FLOATS[0], FLAT[0]])
def test_channels_laid_apart_are_the_same(image):
    statistics = MEANS if image.ndim == 3 else ([120.0], [60.0])
    chain = [vision.Normalize(*statistics), vision.HWC2CHW()]
    expected = chain[1](chain[0](image))
    made = prepared(chain)[0](image)
    np.testing.assert_array_equal(made, chain[0](image))
    np.testing.assert_array_equal(chain[1](made), expected)
    np.testing.assert_array_equal(transforms.Compose(chain)(image), expected)
    data = ds.NumpySlicesDataset([image], ["x"]).map([*chain, lambda x: x.copy()], "x")
    np.testing.assert_array_equal(next(iter(data))[0].asnumpy(), expected)


def test_decoded_pixels_may_be_written_to(tmp_path):
    (tmp_path / "a").mkdir()
    vision.write_png(str(tmp_path / "a" / "one.png"), COLOURS[0])

    def inverted(image):
        image[...] = 255 - image
        return image

    data = ds.ImageFolderDataset(str(tmp_path), decode=True).map(inverted, "image")
    for _ in range(2):
        np.testing.assert_array_equal(next(iter(data))[0].asnumpy(), 255 - COLOURS[0])
