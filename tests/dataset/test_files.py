# SPDX-License-Identifier: Apache-2.0
"""Files: MindRecord byte for byte as MindSpore 2.10 writes it, TFRecord with its checksums, CIFAR
as its authors describe it, and what errors say. Oracles: the recorded files, NumPy, zlib.
"""

from __future__ import annotations

import gzip
import pathlib
import pickle
import sqlite3
import sys

import numpy as np
import pytest

import mycel.dataset as ds
from dataset.record_rows import write_integers, write_mindrecord
from mycel import mindrecord
from mycel.dataset.engine import tfrecord
from mycel.mindrecord import packing

FILES = pathlib.Path(__file__).parent / "files"


def index_of(path):
    database = sqlite3.connect(f"{path}.db")
    rows = database.execute("SELECT * FROM INDEXES").fetchall()
    names = database.execute("SELECT * FROM SHARD_NAME").fetchall()
    database.close()
    return rows, names


def test_mindrecord_files_are_those_of_mindspore(tmp_path):
    write_mindrecord(mindrecord.FileWriter, str(tmp_path / "a.mindrecord"))
    write_mindrecord(mindrecord.FileWriter, str(tmp_path / "many.mindrecord"), 8, 2)
    write_integers(mindrecord.FileWriter, str(tmp_path / "integers.mindrecord"))
    written = sorted(path.name for path in FILES.glob("*.mindrecord?") if path.suffix != ".db")
    for name in ["a.mindrecord", "integers.mindrecord", *written]:
        assert (tmp_path / name).read_bytes() == (FILES / name).read_bytes(), name
        assert index_of(tmp_path / name) == index_of(FILES / name), name


def test_mindrecord_of_many_pages(tmp_path):
    path = str(tmp_path / "pages.mindrecord")
    writer = mindrecord.FileWriter(path, 2)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema({"data": {"type": "bytes"}, "name": {"type": "string"}})
    rows = [{"data": bytes([n]) * 9000, "name": str(n) * 5000} for n in range(12)]
    writer.write_raw_data(rows[:6])
    writer.write_raw_data(rows[6:])
    writer.commit()
    found = list(mindrecord.FileReader(path + "0").get_next())
    assert sorted(found, key=lambda row: row["data"]) == sorted(rows, key=lambda row: row["data"])
    # A reader goes to another process without its open files.
    reader = pickle.loads(pickle.dumps(mindrecord.FileReader([path + "1"])))
    assert [row["name"][:1] for row in reader.get_next()] == ["3", "4", "5", "9", "1", "1"]


@pytest.mark.parametrize(
    ("schema", "row", "error"),
    [
        ({"x": {"type": "int8"}}, {}, mindrecord.MRMInvalidSchemaError),
        ({"x-y": {"type": "int32"}}, {}, mindrecord.MRMInvalidSchemaError),
        ({"x": {"type": "bytes", "shape": [1]}}, {}, mindrecord.MRMInvalidSchemaError),
        ({"x": {"type": "int32"}}, {"y": 1}, RuntimeError),
        ({"x": {"type": "int32"}}, {"x": "one"}, RuntimeError),
        ({"x": {"type": "int32", "shape": [2]}}, {"x": np.zeros(3, np.int32)}, RuntimeError),
    ],
)
def test_what_a_mindrecord_refuses(schema, row, error, tmp_path):
    path = tmp_path / "a.mindrecord"
    with pytest.raises(error):
        writer = mindrecord.FileWriter(str(path))
        writer.add_schema(schema)
        try:
            writer.write_raw_data([row])
        finally:
            writer.commit()
    with pytest.raises(RuntimeError, match="exists already"):
        path.touch()
        writer = mindrecord.FileWriter(str(path))
        writer.add_schema({"x": {"type": "int32"}})
        writer.commit()


def test_what_is_no_mindrecord(tmp_path):
    path = tmp_path / "a.mindrecord"
    path.write_bytes(b"\x05\0\0\0\0\0\0\0hello")
    with pytest.raises(mindrecord.MRMOpenError, match="index"):
        mindrecord.FileReader(str(path))
    pathlib.Path(f"{path}.db").touch()
    with pytest.raises(mindrecord.MRMOpenError, match="no MindRecord file"):
        mindrecord.FileReader(str(path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\x91\x01", "a list instead of a map"), (b"\x81\xa1a", "incomplete"), (b"", "incomplete")],
)
def test_bytes_that_are_no_row(content, reason):
    """The oracle is the format: a row is one whole map of MessagePack."""
    with pytest.raises(ValueError, match=f"This is no MindRecord row: .*{reason}"):
        packing.unpack_scalars(content)


def test_without_msgpack_the_error_says_what_to_install(monkeypatch):
    row = packing.pack_scalars({"x": 1})
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "msgpack", None)
        packing.msgpack.cache_clear()
        for call in (lambda: packing.pack_scalars({"x": 1}), lambda: packing.unpack_scalars(row)):
            with pytest.raises(ImportError, match=r"pip install 'mycel\[data\]'"):
                call()
    assert packing.unpack_scalars(row) == {"x": 1}


def test_a_dataset_is_saved_and_read(tmp_path):
    path = str(tmp_path / "a.mindrecord")
    columns = {
        "byte": np.arange(4, dtype=np.uint8),
        "half": np.linspace(0, 1, 4).astype(np.float16),
        "grid": np.arange(16, dtype=np.int64).reshape(4, 2, 2),
        "text": ["a", "bc", "", "ü"],
    }
    ds.NumpySlicesDataset(columns, shuffle=False).save(path)
    rows = list(ds.MindDataset(path, shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [row["text"].item() for row in rows] == columns["text"]
    assert [row["byte"].dtype for row in rows] == [np.int32] * 4
    np.testing.assert_array_equal([row["grid"] for row in rows], columns["grid"])
    np.testing.assert_array_equal([row["half"] for row in rows], columns["half"])


def slow_crc32c(content):
    value = 0xFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000, 4099])
def test_checksums(count):
    content = np.random.default_rng(count).integers(0, 256, count, np.uint8).tobytes()
    assert tfrecord.crc32c(content) == slow_crc32c(content)


def test_examples_with_every_kind_of_feature():
    features = {
        "long": np.array([0, 127, 128, -1, 2**62, -(2**63)]),
        "real": np.array([1.5, -2.25], np.float32),
        "text": b"abc",
    }
    found = tfrecord.unpack_example(tfrecord.pack_example(features))
    np.testing.assert_array_equal(found["long"], features["long"])
    np.testing.assert_array_equal(found["real"], features["real"])
    assert found["text"] == [b"abc"]
    # Not packed: one field for each number.
    values = b"".join(b"\x08" + bytes([number]) for number in (3, 4))
    feature = b"\x1a" + bytes([len(values)]) + values
    entry = b"\x0a\x01n\x12" + bytes([len(feature)]) + feature
    entry = b"\x0a" + bytes([len(entry)]) + entry
    example = b"\x0a" + bytes([len(entry)]) + entry
    assert tfrecord.unpack_example(example)["n"].tolist() == [3, 4]


@pytest.mark.parametrize("place", [3, 9, 40, -3])
def test_a_damaged_tfrecord_is_noticed(place, tmp_path):
    content = bytearray((FILES / "a.tfrecord").read_bytes())
    content[place] ^= 1
    path = tmp_path / "a.tfrecord"
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match=r"a\.tfrecord is damaged at byte"):
        list(ds.TFRecordDataset(str(path), columns_list=["label"], shuffle=False))


def test_a_compressed_tfrecord(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(gzip.compress((FILES / "a.tfrecord").read_bytes()))
    data = ds.TFRecordDataset(str(path), None, ["label"], shuffle=False, compression_type="GZIP")
    assert [int(row[0][0]) for row in data] == [-1, 0, 1]


def test_cifar(tmp_path):
    # A row is the labels, then 1024 bytes each of red, green and blue.
    rng = np.random.default_rng(3)
    images = rng.integers(0, 256, (5, 2, 32, 32, 3), np.uint8)
    for number in range(5):
        flat = images[number].transpose(0, 3, 1, 2).reshape(2, -1)
        rows = np.concatenate([np.full((2, 1), number, np.uint8), flat], 1)
        (tmp_path / f"data_batch_{number + 1}.bin").write_bytes(rows.tobytes())
    data = ds.Cifar10Dataset(tmp_path, "train", shuffle=False)
    rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    np.testing.assert_array_equal([image for image, _ in rows], images.reshape(10, 32, 32, 3))
    assert [int(label) for _, label in rows] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert rows[0][1].dtype == np.uint32
    flat = images[0].transpose(0, 3, 1, 2).reshape(2, -1)
    labels = np.array([[1, 20], [2, 30]], np.uint8)
    (tmp_path / "test.bin").write_bytes(np.concatenate([labels, flat], 1).tobytes())
    data = ds.Cifar100Dataset(tmp_path, "test", shuffle=False)
    rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert [(int(coarse), int(fine)) for _, coarse, fine in rows] == [(1, 20), (2, 30)]
    np.testing.assert_array_equal(rows[1][0], images[0, 1])
    with pytest.raises(RuntimeError, match=r"finds no test_batch\.bin"):
        list(ds.Cifar10Dataset(tmp_path, "test"))


def test_lines_of_several_files_are_shuffled(tmp_path):
    for number in range(3):
        lines = [f"{number}{line:02d}" for line in range(20)]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines))
    pattern = str(tmp_path / "*.txt")

    def lines_with(shuffle):
        data = ds.TextFileDataset(pattern, shuffle=shuffle, num_parallel_workers=1)
        return [str(row[0]) for row in data]

    ordered = lines_with(False)
    assert ordered == sorted(ordered)
    mixed = lines_with(ds.Shuffle.GLOBAL)
    assert mixed != ordered and sorted(mixed) == ordered
    by_file = lines_with(ds.Shuffle.FILES)
    blocks = [by_file[start : start + 20] for start in (0, 20, 40)]
    assert sorted(blocks) == [ordered[start : start + 20] for start in (0, 20, 40)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ds.DistributedSampler(2, 2),
        lambda: ds.WeightedRandomSampler([0.0, 0.0], 2),
        lambda: ds.TextFileDataset("nowhere.txt"),
        lambda: ds.ImageFolderDataset("nowhere"),
        lambda: ds.NumpySlicesDataset([1]).batch(2).split([0.5, 0.6]),
        lambda: ds.config.set_prefetch_size(0),
    ],
)
def test_wrong_values_are_refused_at_once(make):
    with pytest.raises(ValueError, match=r"test_files\.py"):
        make()
